package simreactor

import (
	"math/rand/v2"

	"github.com/uvasync/uvasync/event"
)

// Reactor is a loop in virtual time. Its methods, and those of what it makes, are for the goroutine that runs it, except
// where they say "any goroutine". Make one with New.
type Reactor struct {
	live     event.Count
	clock    clock
	agenda   agenda     // what happens at some time to come
	starts   uint64     // how many entries ever came into it
	triggers []*trigger // the started ones, in the order of their starts
	shuffle  bool
	rand     *rand.Rand
	turn     turn
	posts    posts
	closed   bool
}

// New makes a reactor whose clock stands at [Epoch]. Two with the same seed that are asked for the same do the same.
func New(seed uint64) *Reactor { return &Reactor{rand: rand.New(rand.NewPCG(seed, 0))} }

// SetShuffle says whether what happens at the very same time is shuffled by the seed; at first it is not.
func (r *Reactor) SetShuffle(on bool) { r.shuffle = on }

// Live is the number of visible events and deadlines that are started.
func (r *Reactor) Live() int { return r.live.Value() }

// Count is the count behind Live, for what lives in the loop without an event: who adds to it takes the same away again.
func (r *Reactor) Count() *event.Count { return &r.live }

// Close ends the loop as a real one does: what was posted runs, and every event and deadline that is started ends without
// being told. Every later call answers ErrClosed. Idempotent. A *event.UsageError from one of the loop's own callbacks.
func (r *Reactor) Close() error {
	if r.turn.dispatching {
		return usage("Reactor.Close", "it was called from a callback of the loop", "call it when Tick has returned")
	}
	r.posts.shut()
	for r.Pending() {
		r.turn.run(r.posts.run)
	}
	r.closed = true
	for e := range r.turn.waiting() { // what a panic has left
		e.owner.loopClosing()
	}
	for len(r.agenda) > 0 {
		r.agenda[0].owner.loopClosing()
	}
	for len(r.triggers) > 0 {
		r.triggers[0].loopClosing()
	}
	return nil
}

func closedError(call string) error {
	return &event.ClosedError{Call: "simreactor: " + call, What: "the loop"}
}

func usage(call, problem, fix string) error {
	return &event.UsageError{Call: "simreactor: " + call, Problem: problem, Fix: fix}
}

func invalid(call, arg string, got any, legal string) error {
	return &event.InvalidArgumentError{Call: "simreactor: " + call, Arg: arg, Got: got, Legal: legal}
}

func nilFunction(call string) error {
	return invalid(call, "function", nil, "pass the function to call")
}
