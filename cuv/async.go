package cuv

// #include "cuv.h"
import "C"

import "sync"

// Async is one uv_async_t: a wake-up that any goroutine can send. The zero value is closed.
type Async struct {
	mu   sync.Mutex // fences senders off before the handle closes
	cell *C.cuv_cell
	slot int32 // loop goroutine only
}

// Open makes the handle. An *Error when descriptors have run out.
func (a *Async) Open(l *Loop, owner Owner, hidden bool) error {
	if l.state != loopOpen {
		return ErrClosed
	}
	i := l.take(owner)
	if code := C.cuv_async_open(l.slots[i].cell, C.uint32_t(l.slots[i].gen), C.uint16_t(hiddenFlag(hidden))); code != 0 {
		l.putBack(i)
		return NewError("uv_async_init", int(code))
	}
	a.slot = i
	l.asyncs[a] = struct{}{}
	a.mu.Lock()
	a.cell = l.slots[i].cell
	a.mu.Unlock()
	return nil
}

// Send makes the loop deliver a completion; several sends before it turns may merge into one. Any goroutine may call it,
// at any time; false once it is closed.
func (a *Async) Send() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.cell != nil && C.cuv_async_send(a.cell) == 0
}

// Close waits for senders to leave and closes the handle. Idempotent.
func (a *Async) Close(l *Loop) {
	a.mu.Lock()
	a.cell = nil
	a.mu.Unlock()
	delete(l.asyncs, a)
	if l.holds(a.slot) {
		l.closeSlot(a.slot, 0)
	}
	a.slot = 0
}

// Hide changes whether the handle is hidden.
func (a *Async) Hide(l *Loop, hidden bool) { l.hide(a.slot, hidden) }
