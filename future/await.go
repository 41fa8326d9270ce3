package future

import "github.com/uvasync/uvasync/scheduler"

// Await returns the outcome of the future, and suspends co until there is one; on a settled future it returns at once,
// any number of times (AWAIT-01). opts bound the wait: scheduler.Timeout, scheduler.Token; a future that has settled
// wins over both (AWAIT-03).
//
// Who gives up, by a timeout, a token or a cancellation, has not taken an error that comes later: it is reported when the
// scope completes (FUT-12). Ignore or Dispose the future then.
//
// Errors: the one that the future has settled with; [event.CancelledError] when co is cancelled meanwhile or the token
// fires; [event.ErrTimeout]; [event.InvalidArgumentError] for an illegal option; [event.UsageError] when co is not the
// calling coroutine, or is one of another run (GEN-11). The value is the zero value then.
func (f *Future[T]) Await(co *scheduler.Coroutine, opts ...scheduler.WaitOption) (T, error) {
	var zero T
	if f == nil {
		return zero, nilArgument("future: Await", "future", "make it with Go or New before it is awaited")
	}
	over, err := f.core.await(co, opts)
	if !over {
		// Here and not further down: see scheduler's Parking.
		co.Switch()
		err = co.Parked()
	}
	if err != nil {
		return zero, err
	}
	return f.value, nil
}

// await does everything that comes before the suspension. over: there is none.
func (c *core) await(co *scheduler.Coroutine, opts []scheduler.WaitOption) (over bool, err error) {
	const call = "future: Await"
	if err := co.Enter(call); err != nil {
		return true, err
	}
	if c.scope == nil {
		return true, nilArgument(call, "future", "make it with Go or New before it is awaited")
	}
	if s := c.scope.Scheduler(); s != co.Scheduler() {
		return true, sameRun(call, s, co)
	}
	if len(opts) > 0 {
		if err := scheduler.CheckOptions(call, opts); err != nil {
			return true, err
		}
	}
	c.use()
	if !c.has(isSettled) {
		return c.park(call, co, opts)
	}
	co.Lucky()
	return true, c.take()
}

// park makes co wait for the outcome. An error of the future comes from the wait itself, see wake.
func (c *core) park(call string, co *scheduler.Coroutine, opts []scheduler.WaitOption) (over bool, err error) {
	if c.waiter == nil && c.first == nil {
		c.waiter = co
		c.gain()
		return co.Parking(call, (*single)(c), opts)
	}
	a := &awaiter{co: co}
	c.add(&a.node, a, true)
	a.future = c
	return co.Parking(call, a, opts)
}

// single is the wait of the first who awaits a future: the future itself.
type single core

var _ scheduler.Waiting = (*single)(nil)

// Leave is called when the wait ends without the outcome, or the outcome does not count any more.
func (s *single) Leave(co *scheduler.Coroutine) {
	if c := (*core)(s); c.waiter == co {
		c.waiter = nil
		c.lose()
	}
}

// Info describes the wait for reports.
func (s *single) Info() string { return (*core)(s).info("future") + ": await" }

// awaiter is the wait of one who is not the first.
type awaiter struct {
	node
	co     *scheduler.Coroutine
	future *core
}

var (
	_ scheduler.Waiting = (*awaiter)(nil)
	_ listener          = (*awaiter)(nil)
)

func (a *awaiter) settled(c *core) { c.wake(a.co) }

// Leave is called when the wait ends without the outcome, or the outcome does not count any more.
func (a *awaiter) Leave(*scheduler.Coroutine) { a.leave() }

// Info describes the wait for reports.
func (a *awaiter) Info() string { return a.future.info("future") + ": await" }
