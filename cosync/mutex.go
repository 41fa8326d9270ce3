package cosync

import (
	"slices"

	"github.com/uvasync/uvasync/internal/waitq"
	"github.com/uvasync/uvasync/scheduler"
)

// Mutex is a lock that one coroutine holds at a time: the one that locked it, which alone may unlock it. To have somebody
// else give back what a coroutine took, use a [Semaphore] of size 1. The zero value is an unlocked mutex.
//
// The loop only.
type Mutex struct {
	bound  bound
	holder *scheduler.Coroutine // loop goroutine only; it may have been woken with the lock and not have run yet
	// The data of a waiter is the condition whose signal it has had; nil for those of Lock. Loop goroutine only.
	line waitq.Queue[*Cond]
	// Coroutines that were unwound where they would have waited to get the lock back: their deferred Unlock does nothing,
	// because a panic would turn the end of a run into a failure. Loop goroutine only.
	excused []*scheduler.Coroutine
}

// Lock locks m for co, after those that have asked before. When it returns nil, co has the lock until its Unlock. Errors:
// the cancellation of co; ErrTimeout and *event.CancelledError of the options; *event.UsageError when co holds m already;
// *event.InvalidArgumentError. Only the coroutine itself may call it.
func (m *Mutex) Lock(co *scheduler.Coroutine, opts ...scheduler.WaitOption) error {
	const call = "cosync: Mutex.Lock"
	if err := m.bound.enter(call, "mutex", co); err != nil {
		return err
	}
	if err := scheduler.CheckOptions(call, opts); err != nil {
		return err
	}
	if m.holder == nil {
		m.holder = co
		co.Lucky()
		return nil
	}
	if m.holder == co {
		return usage(call, who(co)+" holds the mutex already and would wait for itself", "lock it in the outermost function, and call the others with the lock held")
	}
	return m.wait(call, co, nil, opts...)
}

// wait waits in line and has the lock when it returns nil.
func (m *Mutex) wait(call string, co *scheduler.Coroutine, signalled *Cond, opts ...scheduler.WaitOption) error {
	m.line.Init((*mutexLine)(m))
	w := m.line.Push(co, signalled)
	err := w.Park(call, opts...)
	w.Free()
	return err
}

// TryLock locks m for co if nobody holds it or waits for it, and reports whether it did. It panics with an *event.UsageError
// when it is called by somebody else than co.
func (m *Mutex) TryLock(co *scheduler.Coroutine) bool {
	m.bound.must("cosync: Mutex.TryLock", "mutex", co)
	if m.holder != nil {
		return false
	}
	m.holder = co
	return true
}

// Unlock unlocks m, which passes to the coroutine that has waited longest. It panics with an *event.UsageError when the
// caller is not the coroutine that holds m.
func (m *Mutex) Unlock() {
	const call = "cosync: Mutex.Unlock"
	m.bound.check(call)
	if caller := m.bound.current(); m.holder == nil || m.holder != caller {
		m.refuseUnlock(call, caller)
		return
	}
	m.pass()
}

// pass gives the lock to the next in line.
func (m *Mutex) pass() {
	w := m.line.First()
	if w == nil {
		m.holder = nil
		return
	}
	m.holder = w.Coroutine()
	m.line.Reserve(w)
}

func (m *Mutex) refuseUnlock(call string, caller *scheduler.Coroutine) {
	if i := slices.Index(m.excused, caller); i >= 0 && caller != nil {
		m.excused = slices.Delete(m.excused, i, i+1)
		return
	}
	if m.holder == nil {
		panic(usage(call, "the mutex is not locked", "call it once for each Lock that returned nil"))
	}
	panic(usage(call, "the mutex is held by "+who(m.holder)+", not by the caller",
		"have the coroutine that locked it unlock it; a Semaphore can be released by anybody"))
}

// With runs fn with m locked, and returns what it returns, or the error of Lock. m is unlocked in whatever way fn ends.
func (m *Mutex) With(co *scheduler.Coroutine, fn func(co *scheduler.Coroutine) error, opts ...scheduler.WaitOption) error {
	if fn == nil {
		return noFunction("cosync: Mutex.With")
	}
	if err := m.Lock(co, opts...); err != nil {
		return err
	}
	defer m.Unlock()
	return fn(co)
}

// MutexStats is what a mutex is doing.
type MutexStats struct {
	Holder  *scheduler.Coroutine // nil: it is unlocked; otherwise it may have been woken with the lock and not have run yet
	Waiting int
}

// Stats returns what m is doing.
func (m *Mutex) Stats() MutexStats {
	m.bound.check("cosync: Mutex.Stats")
	return MutexStats{Holder: m.holder, Waiting: m.line.Waiting()}
}

// Info describes m for people: who holds it.
func (m *Mutex) Info() string {
	if m.holder == nil {
		return "mutex, not locked"
	}
	return "mutex, held by " + who(m.holder)
}

// mutexLine is the owner of a mutex's line.
type mutexLine Mutex

func (l *mutexLine) Departed(w *waitq.Waiter[*Cond], reserved bool) {
	if reserved {
		(*Mutex)(l).pass()
	}
	if w.Data != nil {
		w.Data.signal()
	}
}

func (l *mutexLine) WaitInfo() string { return (*Mutex)(l).Info() }
