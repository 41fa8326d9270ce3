package simreactor

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/uvasync/uvasync/event"
)

// posts is the queue of posted functions.
type posts struct {
	batch  []func()                    // loop goroutine only: what was taken from queue; from ran on not yet called
	ran    int                         // loop goroutine only
	onLoop atomic.Pointer[func() bool] // see SetOnLoop

	mu     sync.Mutex
	queue  []func() // guarded by mu
	closed bool     // guarded by mu: nothing more is accepted
}

// SetOnLoop tells the reactor how to recognise its own goroutine, which changes when a scheduler runs on the stacks of its
// coroutines: onLoop reports whether the caller is part of the simulation, and must be able to answer on any goroutine.
// Everybody else's Post and Trigger.Fire are refused. nil, as at first, lets everybody in: what other goroutines do is
// safe then, but when it happens is not determined by the seed. Any goroutine may call it.
func (r *Reactor) SetOnLoop(onLoop func() bool) {
	if onLoop == nil {
		r.posts.onLoop.Store(nil)
		return
	}
	r.posts.onLoop.Store(&onLoop)
}

// Post has fn run in the next turn, in the order of the calls. What was accepted runs, at the latest in Close. Any
// goroutine may call it, but see SetOnLoop. Errors: *event.InvalidArgumentError when fn is nil; one that wraps
// event.ErrNotSimulated when the caller is known not to be part of the simulation; ErrClosed once the loop is being
// closed.
func (r *Reactor) Post(fn func()) error {
	const call = "Reactor.Post"
	if fn == nil {
		return nilFunction(call)
	}
	if r.posts.outside() {
		return outsideError(call)
	}
	if !r.posts.add(fn) {
		return closedError(call)
	}
	return nil
}

// Pending reports whether something that was posted has not run yet.
func (r *Reactor) Pending() bool {
	p := &r.posts
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.queue) > 0 || p.ran < len(p.batch)
}

// outside reports whether the caller is known not to be part of the simulation. The answer is not asked for under mu,
// because nobody knows what it takes to give it.
func (p *posts) outside() bool {
	onLoop := p.onLoop.Load()
	return onLoop != nil && !(*onLoop)()
}

func outsideError(call string) error {
	return fmt.Errorf("simreactor: %s: it was called by a goroutine that is not part of the simulation: %w", call, event.ErrNotSimulated)
}

func (p *posts) add(fn func()) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.queue = append(p.queue, fn)
	return true
}

// run runs what is queued now; what that posts runs in the next turn. When one panics, the rest of the batch runs in the
// next turn, before anything that was posted later.
func (p *posts) run() {
	if p.ran == len(p.batch) {
		p.mu.Lock()
		p.batch, p.queue = p.queue, p.batch[:0]
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

func (p *posts) shut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
}

func (p *posts) isClosed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}
