package scheduler

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/uvasync/uvasync/event"
)

// A zombie is a coroutine that runs on in a scope that was cancelled or disposed safely. It stays listed there, and is not
// active any more: neither its scope nor the run waits for it.

// ZombieLog says where zombies are told of, with records of three kinds:
//
//	"a coroutine became a zombie"  Warn
//	"a zombie lingers"             Warn; more than once
//	"a zombie has ended"           Info; Warn if it ended with an error
//
// Their attributes: run, coroutine (its id), name (see [Named]), started (the function that it runs, or the spawning line with
// Options.SpawnLines), suspended (where; not while it runs, and neither before it began nor after it has ended), waits_for
// (on what; not when the wait is over), reason (why it became one, if the scope was given one), lingered (how long it has
// been one), error (what it ended with).
type ZombieLog struct {
	// Logger gets the records. Nil in the options of a run means that of the run; nil for a scope, nobody.
	Logger *slog.Logger
	// Linger is after what time a zombie is told of that has not ended, and how often from then on; 0 means 10 s, a negative
	// value never.
	Linger time.Duration
}

// LogZombies says where the zombies of the scope, and of those below that were not told otherwise, are told of, from now on.
// The loop only.
func (sc *Scope) LogZombies(l ZombieLog) { sc.logBy(sc.zombieLog, &l) }

func (sc *Scope) logBy(old, l *ZombieLog) {
	if sc.zombieLog != old {
		return
	}
	sc.zombieLog = l
	for c := sc.children.first; c != nil; c = c.next {
		c.logBy(old, l)
	}
}

// makeZombie makes co one, unless it has ended.
func (sc *Scope) makeZombie(co *Coroutine, reason error) {
	if co.state == completed || co.marks.has(markZombie) {
		return
	}
	co.marks |= markZombie
	sc.zombies++
	sc.s.zombies++
	if !co.marks.has(markHidden) {
		defer sc.tellIdle(sc.loseActive())
	}
	if l := cmp.Or(sc.zombieLog, &sc.s.opts.Zombies); l.Logger != nil {
		sc.s.ghosts.add(co, *l, reason)
	}
}

// zombie is one that is logged.
type zombie struct {
	co         *Coroutine
	log        ZombieLog
	since      time.Time
	due        time.Time // when it is told of next; zero: never
	prev, next *zombie
}

// ghosts are the zombies that are logged, in the order in which they became such.
type ghosts struct {
	first, last *zombie
	wake        event.Deadline // hidden; nil while it was not needed
	due         time.Time      // of wake; zero: it is not running
}

func (g *ghosts) add(co *Coroutine, l ZombieLog, reason error) {
	s := co.scope.s
	if !s.enabled(l.Logger, slog.LevelWarn) {
		return
	}
	z := &zombie{co: co, log: l, since: s.reactor.Now(), prev: g.last}
	if g.last == nil {
		g.first = z
	} else {
		g.last.next = z
	}
	g.last = z
	co.rarely().zombie = z
	var why []slog.Attr
	if reason != nil {
		why = append(why, slog.String("reason", s.textOf(reason)))
	}
	z.tell("a coroutine became a zombie", slog.LevelWarn, why...)
	if linger := cmp.Or(l.Linger, 10*time.Second); linger > 0 {
		z.due = z.since.Add(linger)
		g.arm(s, z.due)
	}
}

func (g *ghosts) remove(z *zombie) {
	if z.prev == nil {
		g.first = z.next
	} else {
		z.prev.next = z.next
	}
	if z.next == nil {
		g.last = z.prev
	} else {
		z.next.prev = z.prev
	}
	z.prev, z.next = nil, nil
	if g.first == nil && g.wake != nil {
		g.wake.Stop()
		g.due = time.Time{}
	}
}

// arm makes lingering zombies be told of at due, or earlier.
func (g *ghosts) arm(s *Scheduler, due time.Time) {
	if !g.due.IsZero() && !due.Before(g.due) {
		return
	}
	if g.wake == nil {
		g.wake = s.reactor.NewDeadline(func() { g.linger(s) })
		g.wake.SetHidden(true)
	}
	g.wake.Stop()
	if err := g.wake.Start(max(due.Sub(s.reactor.Now()), time.Millisecond)); err == nil {
		g.due = due
	}
}

// linger tells of those that are due.
func (g *ghosts) linger(s *Scheduler) {
	g.due = time.Time{}
	now := s.reactor.Now()
	var next time.Time
	for z := g.first; z != nil; z = z.next {
		if z.due.IsZero() {
			continue
		}
		if !z.due.After(now) {
			z.tell("a zombie lingers", slog.LevelWarn, slog.Duration("lingered", now.Sub(z.since)))
			z.due = now.Add(cmp.Or(z.log.Linger, 10*time.Second))
		}
		if next.IsZero() || z.due.Before(next) {
			next = z.due
		}
	}
	if !next.IsZero() {
		g.arm(s, next)
	}
}

// ended tells that the zombie has ended, with err.
func (z *zombie) ended(err error) {
	s := z.co.scope.s
	s.ghosts.remove(z)
	level, more := slog.LevelInfo, []slog.Attr{slog.Duration("lingered", s.reactor.Now().Sub(z.since))}
	if err != nil {
		level = slog.LevelWarn
		more = append(more, slog.String("error", s.textOf(err)))
	}
	z.tell("a zombie has ended", level, more...)
}

// tell writes a record. The logger is somebody else's.
func (z *zombie) tell(what string, level slog.Level, more ...slog.Attr) {
	co := z.co
	s := co.scope.s
	if !s.enabled(z.log.Logger, level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("run", s.name),
		slog.Uint64("coroutine", co.id),
		slog.String("name", co.Name()),
		slog.String("started", co.SpawnLocation()),
	}
	if where := co.SuspendLocation(); where != "" {
		attrs = append(attrs, slog.String("suspended", where))
	}
	if what := co.WaitsFor(); what != "" {
		attrs = append(attrs, slog.String("waits_for", what))
	}
	attrs = append(attrs, more...)
	s.call(func() error { z.log.Logger.LogAttrs(context.Background(), level, what, attrs...); return nil })
}

// textOf is the text of an error, which is somebody else's. fmt survives what an Error may do.
func (s *Scheduler) textOf(err error) (text string) {
	s.call(func() error { text = fmt.Sprint(err); return nil })
	return text
}

// enabled asks a logger, which is somebody else's, whether it takes records of a level.
func (s *Scheduler) enabled(l *slog.Logger, level slog.Level) (enabled bool) {
	s.call(func() error { enabled = l.Enabled(context.Background(), level); return nil })
	return enabled
}
