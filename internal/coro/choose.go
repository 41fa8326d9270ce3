package coro

import "sync"

// symmetricWorks tries, once a process, whether contexts can step into each other's mailboxes.
var symmetricWorks = sync.OnceValue(func() bool { return !alwaysPlain && selfTest(true) })

// selfTest sends a turn around three contexts whose mailboxes get mixed on the way, ends one early, and ends the rest.
func selfTest(symmetric bool) (works bool) {
	defer func() {
		if recover() != nil {
			works = false
		}
	}()
	var root Context
	g := newGroup(&root, symmetric)
	var order []int
	var cs [3]Context
	for i := range cs {
		g.New(&cs[i], plainBody(func() {
			for range 3 {
				order = append(order, i)
				to := &root
				if i < 2 {
					to = &cs[i+1]
				}
				if !g.Switch(&cs[i], to) {
					return
				}
			}
			g.Leave(&root)
		}))
	}
	for range 3 {
		g.Switch(&root, &cs[0])
	}
	g.Switch(&root, &cs[1]) // leaves
	g.EndAll()
	if len(order) != 9 || g.count != 0 {
		return false
	}
	for i, c := range order {
		if c != i%3 {
			return false
		}
	}
	return true
}

// plainBody is a body that nothing exits.
type plainBody func()

func (b plainBody) Run()    { b() }
func (b plainBody) Exited() {}
