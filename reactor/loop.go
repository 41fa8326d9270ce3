package reactor

import (
	"cmp"
	"errors"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/uvasync/uvasync/cuv"
	"github.com/uvasync/uvasync/event"
)

// Options configure a Loop; the zero value is what most programs want.
type Options struct {
	// IdleTime measures the time spent waiting for events, for Stats.
	IdleTime bool
	// BlockSignal is blocked while the loop waits. libuv accepts only SIGPROF here: under a CPU profile it would end
	// many waits early.
	BlockSignal syscall.Signal
	// YieldEvery is how much loop time may pass before the loop lets other goroutines have the thread once; 0 means 5 ms,
	// a negative value never. A goroutine that never reschedules is marked by Go's monitor after 10 ms, and from then on
	// loses its processor at the first system call that is seen.
	YieldEvery time.Duration
}

// Loop is a libuv loop and its events. Its methods, and those of its events, are for the goroutine that runs it, except
// where they say "any goroutine". Close it when it is no longer needed: it owns C memory.
type Loop struct {
	binding    *cuv.Loop
	live       event.Count
	deadlines  wheel
	fds        map[int]*descriptor
	signals    map[syscall.Signal]*signalWatch
	orphans    map[*event.Base]struct{}
	closed     bool
	stop       atomic.Bool
	yielded    uint64 // loop time in ms of the last runtime.Gosched
	yieldEvery uint64 // ms
	onWake     func()
}

// New opens a loop. It fails with a *cuv.Error when descriptors or memory have run out, or when an option is not
// supported by libuv (EINVAL).
func New(opts Options) (*Loop, error) {
	binding, err := cuv.NewLoop(cuv.Options{IdleTime: opts.IdleTime, BlockSignal: opts.BlockSignal})
	if err != nil {
		return nil, err
	}
	l := &Loop{
		binding: binding,
		fds:     map[int]*descriptor{},
		signals: map[syscall.Signal]*signalWatch{},
		orphans: map[*event.Base]struct{}{},
	}
	l.deadlines.init(l)
	l.yieldEvery = uint64(cmp.Or(opts.YieldEvery, defaultYield) / time.Millisecond)
	if opts.YieldEvery < 0 {
		l.yieldEvery = never
	}
	return l, nil
}

// Binding returns the layer below, whose Handle is the uv_loop_t for C libraries that share the loop.
func (l *Loop) Binding() *cuv.Loop { return l.binding }

// Live is the number of visible events that are started: what keeps Run going, and what a deadlock check looks at.
func (l *Loop) Live() int { return l.live.Value() }

// Count is the count behind Live, for what lives in the loop without a handle of it: who adds to it takes the same away
// again.
func (l *Loop) Count() *event.Count { return &l.live }

// Pending reports whether something that was posted has not run yet. Once a Post has returned, on whatever goroutine,
// Pending knows of it: with none pending and none live, only somebody who has not asked the loop for anything yet can
// still bring it something to do.
func (l *Loop) Pending() bool { return l.binding.Poster().Pending() }

// Now is the time, with a monotonic reading of the clock by which timers and deadlines are never early. Any goroutine may
// call it, also once the loop is closed.
func (l *Loop) Now() time.Time { return time.Now() }

// Run turns the loop until no visible event is started and nothing is posted, or until Stop. ErrClosed on a closed loop;
// a *event.UsageError when called from one of the loop's own callbacks. A panic of a callback passes through; the loop
// can be run again after it, and delivers what was left.
func (l *Loop) Run() error {
	if l.closed {
		return l.closedError("Loop.Run")
	}
	if l.binding.Dispatching() {
		return l.dispatching("Loop.Run")
	}
	for !l.stop.Swap(false) {
		if l.live.Value() == 0 && !l.binding.Poster().Pending() && l.binding.Undelivered() == 0 {
			return nil
		}
		if _, err := l.turn("Loop.Run", true); err != nil {
			return err
		}
	}
	return nil
}

// Stop makes Run return after the turn it is in, or the next Run at once. Any goroutine may call it, at any time.
func (l *Loop) Stop() {
	l.stop.Store(true)
	// A post, unlike a bare wake-up, also counts for a loop that is just about to sleep. A closed loop needs none.
	_ = l.binding.Poster().Post(func() {})
}

// Tick is one turn: what was started and stopped since the last is applied, libuv runs once, and what happened is
// dispatched. With block it waits until something happens or is posted. It returns how many things happened; 0 is not an
// end. ErrClosed on a closed loop; a *event.UsageError when called from one of the loop's own callbacks.
func (l *Loop) Tick(block bool) (int, error) { return l.turn("Loop.Tick", block) }

func (l *Loop) turn(call string, block bool) (int, error) {
	if l.closed {
		return 0, l.closedError(call)
	}
	if l.binding.Dispatching() {
		return 0, l.dispatching(call)
	}
	n := l.binding.Undelivered()
	if n == 0 {
		n = l.advance(block)
	}
	l.binding.Dispatch()
	return n, nil
}

// advance runs libuv once. What a panic has left from the turn before is dispatched first, without it.
func (l *Loop) advance(block bool) int {
	l.deadlines.submit()
	// It fails on a closed loop and within a dispatch only.
	n, _ := l.binding.Tick(block)
	l.deadlines.place()
	l.yield()
	if l.onWake != nil {
		l.onWake()
	}
	return n
}

const defaultYield = 5 * time.Millisecond

// yield goes by time, because every turn would be ruinous, and every so many turns fails when turns are long.
func (l *Loop) yield() {
	if now := l.binding.LoopTime(); now-l.yielded >= l.yieldEvery {
		l.yielded = now
		runtime.Gosched()
	}
}

// Elapsed returns the time since the process began, about: the cheapest look at the monotonic clock. Any goroutine.
func (l *Loop) Elapsed() time.Duration { return time.Since(began) }

var began = time.Now()

// OnWake has fn called in every turn, when the loop has waited and before it calls anybody; nil ends that. It is for those who
// watch how long the callbacks take.
func (l *Loop) OnWake(fn func()) { l.onWake = fn }

// Flush applies at once what was started, stopped and closed since the last turn, instead of in the next one: for
// descriptors that the loop owns and that are wanted back now, because there are no more (EMFILE). On a closed loop it
// does nothing.
func (l *Loop) Flush() { l.binding.Flush() }

// Post has fn run on the loop's goroutine, in the order of the calls. Any goroutine may call it, at any time. What was
// accepted runs, at the latest in Close. Errors: *event.InvalidArgumentError when fn is nil, ErrClosed once the loop is
// being closed.
func (l *Loop) Post(fn func()) error {
	if fn == nil {
		return nilFunction("Loop.Post")
	}
	if l.binding.Poster().Post(fn) != nil {
		return l.closedError("Loop.Post")
	}
	return nil
}

// Close ends the loop: what was posted runs, every event is closed without being told, every handle is closed and waited
// for. Nothing happens on the loop afterwards; every call answers ErrClosed. Idempotent. Errors: a *event.UsageError
// from one of the loop's own callbacks; an error that wraps EBUSY and names them while C code's own handles are open on
// it, after which Close can be called again.
func (l *Loop) Close() (err error) {
	if l.binding.Dispatching() {
		return usage("Loop.Close", "it was called from a callback of the loop", "call Stop here, and Close after Run returned")
	}
	// Deferred, because what was posted runs first, and may panic or exit the goroutine.
	defer func() {
		l.closed = true
		l.deadlines.close()
		err = l.binding.Close()
	}()
	l.binding.Shut()
	return nil
}

// Stats are figures about a loop at one moment.
type Stats struct {
	Live      int                          // visible events that are started
	Deadlines int                          // deadlines that are running
	Orphans   int                          // events that are started though their reference was collected
	Handles   map[cuv.Kind]cuv.HandleCount // C handles opened and closed since the loop was made
	IdleTime  time.Duration                // time spent waiting, with Options.IdleTime
	Turns     uint32                       // turns so far
}

// Stats returns the figures of the moment.
func (l *Loop) Stats() Stats {
	s := Stats{
		Live:      l.live.Value(),
		Deadlines: l.deadlines.running,
		Orphans:   len(l.orphans),
		Handles:   map[cuv.Kind]cuv.HandleCount{},
		IdleTime:  l.binding.IdleTime(),
		Turns:     l.binding.Turn(),
	}
	for _, k := range cuv.Kinds {
		s.Handles[k] = l.binding.Handles(k)
	}
	return s
}

func (l *Loop) closedError(call string) error {
	return &event.ClosedError{Call: "reactor: " + call, What: "the loop"}
}

func usage(call, problem, fix string) error {
	return &event.UsageError{Call: "reactor: " + call, Problem: problem, Fix: fix}
}

func invalid(call, arg string, got any, legal string) error {
	return &event.InvalidArgumentError{Call: "reactor: " + call, Arg: arg, Got: got, Legal: legal}
}

func (l *Loop) dispatching(call string) error {
	return usage(call, "it was called from a callback of the loop", "return to the loop, or post what shall happen next")
}

// unmade is for the zero value of a type that has a constructor.
func unmade(call string) error {
	return usage(call, "the event was not made by a loop", "make it with the constructor of its type")
}

func nilFunction(call string) error {
	return invalid(call, "function", nil, "pass the function to call")
}

// ErrNotPollable: a descriptor that is always ready, such as a regular file, a directory or /dev/null, cannot be polled.
var ErrNotPollable = errors.New("reactor: this kind of descriptor is always ready and cannot be polled; read and write it directly")
