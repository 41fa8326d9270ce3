package pool

import (
	"strconv"
	"strings"
)

// Info describes the pool for people: "pool db 3/10, idle 1, active 2, reserved 0, waiting 0, breaker closed, in use by a, b"
// (EVT-16). It panics with a *event.UsageError on a foreign goroutine.
func (p *Pool[T]) Info() string {
	return must(p.onLoop("pool: Info")).info()
}

func (c *core[T]) info() string {
	var b strings.Builder
	b.WriteString(c.brief())
	idle := c.idle.Len() + c.line.Reserved()
	for _, n := range []struct {
		what string
		n    int
	}{{"idle", idle}, {"active", c.total - idle}, {"reserved", c.line.Reserved()}, {"waiting", c.line.Waiting()}} {
		b.WriteString(", " + n.what + " " + strconv.Itoa(n.n))
	}
	b.WriteString(", breaker " + [...]string{"closed", "open", "half-open"}[c.breaker.state()])
	if c.reason != nil {
		b.WriteString(", closed")
	}
	b.WriteString(c.users())
	return b.String()
}

// brief is "pool db 3/10": how many resources there are, of how many.
func (c *core[T]) brief() string {
	return named(c.name) + " " + strconv.Itoa(c.total) + "/" + strconv.Itoa(c.max)
}

// named is "pool db".
func named(name string) string {
	if name == "" {
		return "pool"
	}
	return "pool " + name
}

// WaitInfo names those who have what the others wait for: who looks for a deadlock wants to know.
func (o *waiting[T]) WaitInfo() string {
	c := (*core[T])(o)
	return c.brief() + ": acquire" + c.users()
}

// users is ", in use by a, b, 1 being made", or as much of it as there is.
func (c *core[T]) users() string {
	const most = 5
	var names []string
	more := 0
	for _, e := range c.entries {
		switch {
		case !e.isOut():
		case len(names) < most:
			names = append(names, e.user())
		default:
			more++
		}
	}
	text := ""
	if len(names) > 0 {
		text = ", in use by " + strings.Join(names, ", ")
	}
	if more > 0 {
		text += " and " + strconv.Itoa(more) + " more"
	}
	if c.builds > 0 {
		text += ", " + strconv.Itoa(c.builds) + " being made"
	}
	return text
}

// user names who has acquired e.
func (e *entry[T]) user() string {
	if e.holder == nil {
		return "a callback"
	}
	name := e.holder.Name()
	if e.holder.Completed() {
		name += " (which has ended without a Release)"
	}
	return name
}

// culprit is user with the place where it was started.
func (e *entry[T]) culprit() string {
	if e.holder == nil {
		return e.user()
	}
	return e.holder.Name() + ", started " + e.holder.SpawnLocation()
}
