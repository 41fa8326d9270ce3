package scope

import (
	"iter"
	"runtime"

	"github.com/uvasync/uvasync/scheduler"
)

// Outcome is what became of a task.
type Outcome[K comparable, T any] struct {
	Key   K
	Value T     // the zero value with an error
	Err   error // what the task has failed with, or was cancelled with
}

// Outcomes returns what became of each task, in the order in which they have ended, each once, also those that end or are
// spawned meanwhile; it waits for them until the group is closed and all were delivered (TG-20, TG-21):
//
//	for o, err := range group.Outcomes(co) {
//		if err != nil {
//			return err // of the wait
//		}
//		use(o.Key, o.Value, o.Err)
//	}
//
// What was delivered was dealt with. The options bound each wait. The error, if any, comes last and is that of the wait: the
// cancellation of co, those of the options, *event.UsageError when co is not the calling coroutine, or is one of another run.
// Each loop begins with the first.
func (g *Group[K, T]) Outcomes(co *scheduler.Coroutine, opts ...scheduler.WaitOption) iter.Seq2[Outcome[K, T], error] {
	const call = "scope: Group.Outcomes"
	return func(yield func(Outcome[K, T], error) bool) {
		defer runtime.KeepAlive(g)
		e := g.inner()
		var last *task
		for {
			if err := e.enter(call, co, opts); err != nil {
				yield(Outcome[K, T]{}, err)
				return
			}
			t := e.done.first
			if last != nil {
				t = last.after
			}
			switch {
			case t != nil:
				last = t
				co.Lucky()
				if !yield(e.outcome(t), nil) {
					return
				}
			case e.over:
				return
			default:
				if _, err := e.await(call, co, opts); err != nil {
					yield(Outcome[K, T]{}, err)
					return
				}
			}
		}
	}
}

// outcome is for somebody who deals with it.
func (e *engine[K, T]) outcome(t *task) Outcome[K, T] {
	e.see(t)
	entry := entryOf(e, t)
	return Outcome[K, T]{entry.key, entry.value, t.err}
}
