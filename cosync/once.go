package cosync

import (
	"github.com/uvasync/uvasync/internal/waitq"
	"github.com/uvasync/uvasync/scheduler"
)

// Once has something done one time, however many coroutines ask for it: the first does it, and those that come meanwhile
// wait until it is done. The zero value is one whose work is not done.
//
// Work that fails is not done: the error is that of the caller who did it, and the next in line does it again, with its own
// function. sync.Once counts even a panic as done, and then everybody goes on without what was to be prepared. Here it
// would be worse: coroutines are cancelled as a matter of course, and the cancellation of one must not be the end for all.
//
// The loop only.
type Once struct {
	bound  bound
	done   bool                  // loop goroutine only
	worker *scheduler.Coroutine  // loop goroutine only; whose turn it is; it may have been woken and not have run yet
	line   waitq.Queue[struct{}] // loop goroutine only
}

// Do returns nil when the work is done, at once if it was done before. Otherwise it calls fn, after those that have asked
// before have failed, and returns its error; only one fn runs at a time. The work is done when fn returns nil. An error, a
// panic and runtime.Goexit leave it undone.
//
// Errors of its own: the cancellation of co; ErrTimeout and *event.CancelledError of the options, which bound the wait and not
// fn; *event.UsageError when fn calls Do of the same Once; *event.InvalidArgumentError. Only the coroutine itself may call
// it.
func (o *Once) Do(co *scheduler.Coroutine, fn func(co *scheduler.Coroutine) error, opts ...scheduler.WaitOption) error {
	const call = "cosync: Once.Do"
	if err := o.bound.enter(call, "once", co); err != nil {
		return err
	}
	if fn == nil {
		return noFunction(call)
	}
	if err := scheduler.CheckOptions(call, opts); err != nil {
		return err
	}
	switch {
	case o.done:
		co.Lucky()
		return nil
	case o.worker == nil:
		o.worker = co
		return o.work(co, fn)
	case o.worker == co:
		return usage(call, who(co)+" is doing the work already and would wait for itself", "do not call Do within the function that it runs")
	}
	o.line.Init((*onceLine)(o))
	w := o.line.Push(co, struct{}{})
	err := w.Park(call, opts...)
	w.Free()
	if err != nil || o.worker != co {
		return err
	}
	return o.work(co, fn)
}

func (o *Once) work(co *scheduler.Coroutine, fn func(co *scheduler.Coroutine) error) (err error) {
	returned := false
	defer func() {
		if returned && err == nil {
			o.finish()
		} else {
			o.pass()
		}
	}()
	err = fn(co)
	returned = true
	return err
}

// finish lets everybody go.
func (o *Once) finish() {
	o.done, o.worker = true, nil
	for w := o.line.First(); w != nil; w = o.line.First() {
		o.line.Release(w)
	}
}

// pass gives the turn to the next in line.
func (o *Once) pass() {
	w := o.line.First()
	if w == nil {
		o.worker = nil
		return
	}
	o.worker = w.Coroutine()
	o.line.Reserve(w)
}

// Done reports whether the work is done.
func (o *Once) Done() bool {
	o.bound.check("cosync: Once.Done")
	return o.done
}

// OnceStats is what a Once is doing.
type OnceStats struct {
	Done    bool
	Worker  *scheduler.Coroutine // does the work, or was woken to do it and has not run yet; nil for nobody
	Waiting int
}

// Stats returns what o is doing.
func (o *Once) Stats() OnceStats {
	o.bound.check("cosync: Once.Stats")
	return OnceStats{Done: o.done, Worker: o.worker, Waiting: o.line.Waiting()}
}

// Info describes o for people: who does the work.
func (o *Once) Info() string {
	switch {
	case o.done:
		return "once, done"
	case o.worker == nil:
		return "once, not done"
	}
	return "once, being done by " + who(o.worker)
}

// onceLine is the owner of a Once's line.
type onceLine Once

func (l *onceLine) Departed(_ *waitq.Waiter[struct{}], reserved bool) {
	if reserved {
		(*Once)(l).pass()
	}
}

func (l *onceLine) WaitInfo() string { return (*Once)(l).Info() }
