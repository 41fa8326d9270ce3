package cosync

import (
	"strconv"

	"github.com/uvasync/uvasync/internal/waitq"
	"github.com/uvasync/uvasync/scheduler"
)

// RWMutex is a lock that is held by one writer, or by any number of readers. There is one line for both: readers that are
// next to each other in it enter together, and who comes after a writer waits for it, so nobody starves. Each holder must
// unlock it itself, and must not lock it again, be it for reading: with a writer in between that would be a deadlock, so
// it is refused always. The zero value is unlocked.
//
// The loop only.
type RWMutex struct {
	bound   bound
	writer  *scheduler.Coroutine              // loop goroutine only; as Mutex.holder
	readers map[*scheduler.Coroutine]struct{} // loop goroutine only; as Mutex.holder
	line    waitq.Queue[access]               // loop goroutine only
}

// access is what somebody waits for.
type access bool

const (
	reading access = false
	writing access = true
)

// Lock locks m for writing, after those that have asked before. Errors as for [Mutex.Lock].
func (m *RWMutex) Lock(co *scheduler.Coroutine, opts ...scheduler.WaitOption) error {
	return m.lock("cosync: RWMutex.Lock", co, writing, opts)
}

// RLock locks m for reading, after those that have asked before, together with other readers. Errors as for [Mutex.Lock].
func (m *RWMutex) RLock(co *scheduler.Coroutine, opts ...scheduler.WaitOption) error {
	return m.lock("cosync: RWMutex.RLock", co, reading, opts)
}

func (m *RWMutex) lock(call string, co *scheduler.Coroutine, what access, opts []scheduler.WaitOption) error {
	if err := m.bound.enter(call, "read-write mutex", co); err != nil {
		return err
	}
	if err := scheduler.CheckOptions(call, opts); err != nil {
		return err
	}
	if m.line.Waiting() == 0 && m.admits(what) && !m.reads(co) {
		m.admit(co, what)
		co.Lucky()
		return nil
	}
	if m.writer == co || m.reads(co) {
		return usage(call, who(co)+" holds it already and would wait for itself", "lock it once, for writing when there is anything to write")
	}
	m.line.Init((*rwLine)(m))
	w := m.line.Push(co, what)
	err := w.Park(call, opts...)
	w.Free()
	return err
}

// TryLock locks m for writing if nobody holds it or waits for it, and reports whether it did. Panics as [Mutex.TryLock].
func (m *RWMutex) TryLock(co *scheduler.Coroutine) bool {
	return m.try("cosync: RWMutex.TryLock", co, writing)
}

// TryRLock locks m for reading if only readers hold it and nobody waits for it, and reports whether it did. It does not for
// one of those readers. Panics as [Mutex.TryLock].
func (m *RWMutex) TryRLock(co *scheduler.Coroutine) bool {
	return m.try("cosync: RWMutex.TryRLock", co, reading)
}

func (m *RWMutex) try(call string, co *scheduler.Coroutine, what access) bool {
	m.bound.must(call, "read-write mutex", co)
	if m.line.Waiting() > 0 || !m.admits(what) || m.reads(co) {
		return false
	}
	m.admit(co, what)
	return true
}

// admits reports whether the holders leave room for one more.
func (m *RWMutex) admits(what access) bool {
	return m.writer == nil && (what == reading || len(m.readers) == 0)
}

func (m *RWMutex) admit(co *scheduler.Coroutine, what access) {
	if what == writing {
		m.writer = co
		return
	}
	if m.readers == nil {
		m.readers = map[*scheduler.Coroutine]struct{}{}
	}
	m.readers[co] = struct{}{}
}

func (m *RWMutex) reads(co *scheduler.Coroutine) bool {
	_, ok := m.readers[co]
	return ok
}

// Unlock ends writing, and lets the next in line in. It panics with an *event.UsageError when the caller is not the
// coroutine that holds m for writing.
func (m *RWMutex) Unlock() {
	const call = "cosync: RWMutex.Unlock"
	m.bound.check(call)
	if m.writer == nil || m.writer != m.bound.current() {
		panic(m.notHeld(call, "for writing", "Lock"))
	}
	m.writer = nil
	m.serve()
}

// RUnlock ends reading, and lets the next in line in. It panics with an *event.UsageError when the caller is not one of the
// coroutines that hold m for reading.
func (m *RWMutex) RUnlock() {
	const call = "cosync: RWMutex.RUnlock"
	m.bound.check(call)
	caller := m.bound.current()
	if !m.reads(caller) {
		panic(m.notHeld(call, "for reading", "RLock"))
	}
	delete(m.readers, caller)
	m.serve()
}

func (m *RWMutex) notHeld(call, how, lock string) error {
	return usage(call, "the caller does not hold it "+how+": "+m.Info(),
		"have the coroutine that locked it unlock it, once for each "+lock+" that returned nil")
}

// serve lets in who is next in line, and those behind that may hold the lock together.
func (m *RWMutex) serve() {
	for w := m.line.First(); w != nil && m.admits(w.Data); w = m.line.First() {
		m.admit(w.Coroutine(), w.Data)
		m.line.Reserve(w)
	}
}

// With runs fn with m locked for writing, and returns what it returns, or the error of Lock. m is unlocked in whatever way
// fn ends.
func (m *RWMutex) With(co *scheduler.Coroutine, fn func(co *scheduler.Coroutine) error, opts ...scheduler.WaitOption) error {
	if fn == nil {
		return noFunction("cosync: RWMutex.With")
	}
	if err := m.Lock(co, opts...); err != nil {
		return err
	}
	defer m.Unlock()
	return fn(co)
}

// RWith is With for reading.
func (m *RWMutex) RWith(co *scheduler.Coroutine, fn func(co *scheduler.Coroutine) error, opts ...scheduler.WaitOption) error {
	if fn == nil {
		return noFunction("cosync: RWMutex.RWith")
	}
	if err := m.RLock(co, opts...); err != nil {
		return err
	}
	defer m.RUnlock()
	return fn(co)
}

// RWMutexStats is what a read-write mutex is doing. Holders may have been woken with the lock and not have run yet.
type RWMutexStats struct {
	Writer  *scheduler.Coroutine // nil: nobody writes
	Readers int                  // how many hold it for reading
	Waiting int                  // of both kinds
}

// Stats returns what m is doing.
func (m *RWMutex) Stats() RWMutexStats {
	m.bound.check("cosync: RWMutex.Stats")
	return RWMutexStats{Writer: m.writer, Readers: len(m.readers), Waiting: m.line.Waiting()}
}

// Info describes m for people: who holds it, of several readers the oldest coroutine.
func (m *RWMutex) Info() string {
	switch {
	case m.writer != nil:
		return "read-write mutex, held for writing by " + who(m.writer)
	case len(m.readers) == 0:
		return "read-write mutex, not locked"
	}
	var oldest *scheduler.Coroutine
	for co := range m.readers {
		if oldest == nil || co.ID() < oldest.ID() {
			oldest = co
		}
	}
	text := "read-write mutex, held for reading by " + who(oldest)
	if more := len(m.readers) - 1; more > 0 {
		text += " and " + strconv.Itoa(more) + " more"
	}
	return text
}

// rwLine is the owner of a read-write mutex's line.
type rwLine RWMutex

func (l *rwLine) Departed(w *waitq.Waiter[access], reserved bool) {
	m := (*RWMutex)(l)
	switch {
	case reserved && w.Data == writing:
		m.writer = nil
	case reserved:
		delete(m.readers, w.Coroutine())
	}
	m.serve() // also when nothing was set aside: those behind a writer that has left may be readers (GEN-05)
}

func (l *rwLine) WaitInfo() string { return (*RWMutex)(l).Info() }
