package cuv

// #include "cuv.h"
import "C"

import (
	"sync"
	"sync/atomic"
)

// Poster is the one way in from other goroutines. It is separate from the loop so that whoever holds it, a cleanup of a
// collected object, say, does not keep the loop alive.
type Poster struct {
	mu      sync.Mutex
	queue   []func()    // guarded by mu
	queued  atomic.Bool // set under mu; whether queue has something, to be asked without the lock
	waiting bool        // guarded by mu: the loop sleeps, or is about to
	shutOff bool        // guarded by mu: no more senders, the wake-up handle may close
	loop    *C.cuv_loop
	batch   []func() // loop goroutine only: what was taken from queue to run; its memory is used again
	ran     int      // loop goroutine only: how many of batch have been called
}

// Post has fn run on the loop's goroutine, in the order of the calls, and wakes the loop if it sleeps. Any goroutine may
// call it, at any time. ErrClosed once the loop is being closed; fn is not run then. What was accepted is run, at the
// latest by Close.
func (p *Poster) Post(fn func()) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shutOff {
		return ErrClosed
	}
	p.queue = append(p.queue, fn)
	p.queued.Store(true)
	if p.waiting {
		p.waiting = false
		// Under the lock, which fences the send off against the handle's close.
		C.cuv_wake(p.loop)
	}
	return nil
}

// mayWait tells the senders that the loop goes to sleep, unless there is something to run.
func (p *Poster) mayWait() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = len(p.queue) == 0 && p.ran == len(p.batch)
	return p.waiting
}

func (p *Poster) awake() {
	p.mu.Lock()
	p.waiting = false
	p.mu.Unlock()
}

// Pending reports whether something that was posted has not run yet. Loop goroutine only.
func (p *Poster) Pending() bool { return p.queued.Load() || p.ran < len(p.batch) }

// run runs what is queued now; what that posts runs in the next turn. When one panics, the rest of the batch runs in the
// next turn, before anything else.
func (p *Poster) run() {
	if !p.Pending() {
		return
	}
	if p.ran == len(p.batch) {
		p.mu.Lock()
		p.batch, p.queue = p.queue, p.batch[:0]
		p.queued.Store(false)
		p.mu.Unlock()
		p.ran = 0
	}
	for p.ran < len(p.batch) {
		fn := p.batch[p.ran]
		p.batch[p.ran] = nil
		p.ran++
		fn()
	}
}

func (p *Poster) shut() {
	p.mu.Lock()
	p.shutOff, p.waiting = true, false
	p.mu.Unlock()
}
