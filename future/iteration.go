package future

import (
	"context"
	"errors"
	"strconv"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
)

// errIterated is why what a ForEach leaves behind is cancelled.
var errIterated = errors.New("future: the iteration that spawned it has ended")

// iteration is a ForEach under way: one coroutine reads the sequence and waits, others run the calls. Loop goroutine only.
type iteration struct {
	call         string
	fn           any // the user's function, for reports
	co           *scheduler.Coroutine
	scope        *scheduler.Scope // of the calls and what they spawn
	limit        int
	awaitPending bool

	running int    // calls that have not ended
	calls   *visit // those
	errs    []error
	stopped bool
	parked  bool
	until   int // the number of running calls that wakes co
}

// visit is one call.
type visit struct {
	it         *iteration
	co         *scheduler.Coroutine
	prev, next *visit
}

var (
	_ scheduler.Settler = (*visit)(nil)
	_ scheduler.Waiting = (*iteration)(nil)
)

// run lets each read the sequence, and ends the iteration.
func (it *iteration) run(each func(it *iteration) error) (err error) {
	if it.scope, err = it.co.Scope().New(); err != nil {
		return err
	}
	it.scope.OnError(it.failed)
	read := false
	defer func() {
		if !read { // the sequence panicked, or its goroutine exits
			_ = it.scope.Dispose(errIterated)
		}
	}()
	unread := each(it) // the calls that were made by then run on
	read = true
	it.finish()
	return event.Join(append(it.errs, unread)...)
}

// over reports whether no more calls are to be made.
func (it *iteration) over() bool { return it.stopped || len(it.errs) > 0 }

// next makes a call of its own, waits until there is room for another one, and reports whether one is wanted. It waits
// after the call and not before, so that the sequence is not asked for a value that nobody will see.
func (it *iteration) next(fn func(co *scheduler.Coroutine) error) bool {
	v := &visit{it: it}
	co, err := it.scope.Spawn(func(co *scheduler.Coroutine) error {
		if it.over() {
			return nil // ended since it was spawned
		}
		return fn(co)
	}, scheduler.SettledBy(v), scheduler.EntryOf(it.fn))
	if err != nil {
		it.fail(err)
		return false
	}
	v.co = co
	it.enter(v)
	for !it.over() && it.running >= it.limit {
		if err := it.park(it.limit - 1); err != nil {
			it.fail(err)
		}
	}
	return !it.over()
}

// finish waits for the calls, and sees to what they have spawned.
func (it *iteration) finish() {
	err := it.drain()
	if err == nil && it.awaitPending {
		err = it.awaitSpawned()
	}
	if err != nil {
		it.fail(err)
	}
	must(it.scope.Dispose(errIterated))
	if it.scope.Left() == nil {
		return
	}
	// What was cancelled ends before ForEach returns, because it may use what belongs to the caller.
	err = it.co.Protect(func(context.Context) error {
		if err := it.drain(); err != nil {
			return err
		}
		return it.awaitSpawned()
	})
	if err != nil && len(it.errs) == 0 {
		it.errs = append(it.errs, err)
	}
}

// drain waits for the calls.
func (it *iteration) drain() error {
	for it.running > 0 {
		if err := it.park(0); err != nil {
			return err
		}
	}
	return nil
}

// awaitSpawned waits for the coroutines that the calls have left behind. The error is that of the wait.
func (it *iteration) awaitSpawned() error {
	for left := it.scope.Left(); left != nil; left = it.scope.Left() {
		_, err := it.co.Await(left)
		switch {
		case err == nil:
		case left.Completed() && it.co.Err() == nil: // its own, not that of the wait
			it.failed(nil, left, err)
		default:
			return err
		}
	}
	return nil
}

// failed is the failure of something that a call has spawned. It ends the iteration, as that of a call does.
func (it *iteration) failed(_ *scheduler.Scope, _ *scheduler.Coroutine, err error) error {
	if !event.IsCancellation(err) {
		it.fail(err)
		it.wake()
	}
	return nil
}

// fail notes a failure and cancels the calls that run.
func (it *iteration) fail(err error) {
	it.errs = append(it.errs, err)
	if !it.awaitPending {
		must(it.scope.Dispose(err))
		return
	}
	for v, n := it.calls, it.running; n > 0; v, n = v.next, n-1 {
		must(v.co.Cancel(err))
	}
}

// Settle is called by the scheduler when a call has ended.
func (v *visit) Settle(_ *scheduler.Coroutine, err error) {
	it := v.it
	it.leave(v)
	switch {
	case err == nil:
	case errors.Is(err, ErrStop):
		it.stopped = true
	case len(it.errs) > 0 && event.IsCancellation(err): // it was cancelled because of them
	default:
		it.fail(err)
	}
	it.wake()
}

// wake resumes co if what it waits for has come.
func (it *iteration) wake() {
	if it.parked && (it.running <= it.until || it.over()) {
		it.parked = false
		must(it.co.Unpark())
	}
}

// park suspends co until at most so many calls run, or the iteration is over.
func (it *iteration) park(running int) error {
	if err := it.co.Enter(it.call); err != nil {
		return err
	}
	it.until, it.parked = running, true
	return it.co.Park(it.call, it)
}

// Leave is called when the wait ends otherwise.
func (it *iteration) Leave(*scheduler.Coroutine) { it.parked = false }

// Info describes the wait for reports.
func (it *iteration) Info() string {
	return it.call + ": " + strconv.Itoa(it.running) + " calls running"
}

func (it *iteration) enter(v *visit) {
	it.running++
	if it.calls == nil {
		v.prev, v.next = v, v
		it.calls = v
		return
	}
	last := it.calls.prev
	v.prev, v.next = last, it.calls
	last.next, it.calls.prev = v, v
}

func (it *iteration) leave(v *visit) {
	it.running--
	v.prev.next, v.next.prev = v.next, v.prev
	switch {
	case it.running == 0:
		it.calls = nil
	case it.calls == v:
		it.calls = v.next
	}
}
