package reactor

import (
	"fmt"

	"github.com/uvasync/uvasync/cuv"
	"github.com/uvasync/uvasync/event"
)

// Readiness is what a descriptor is ready for, or is watched for: a set of the constants below.
type Readiness = cuv.Readiness

const (
	// Readable: a read would not block; the end of the stream counts.
	Readable = cuv.Readable
	// Writable: a write would not block.
	Writable = cuv.Writable
	// Disconnect: the peer has closed its side. Who watches Readable is woken by it too, who watches Writable is not,
	// because a half-closed peer can still be written to.
	Disconnect = cuv.Disconnect
	// Prioritized: out-of-band data on a socket, or an event of a special file.
	Prioritized = cuv.Prioritized
)

const allReadiness = Readable | Writable | Disconnect | Prioritized

// Poll is an event that happens in every turn in which a descriptor is ready for what it watches (level-triggered). Any
// number of polls may watch the same descriptor on a loop; they share one uv_poll_t, and each is told only about its own
// (REACT-12). The result given to callbacks is the [Readiness] that came true.
//
// A poll that happens and has no callback is stopped, because the descriptor would stay ready.
//
// An error of the descriptor (a reset, a broken pipe, a pending ICMP error) stops all its polls. Each is told that
// everything it watched is ready, with no error: it retries its own system call, gets that call's error, and may start
// again (REACT-21). So a callback that goes on reading after a read has succeeded checks Started. Close the
// polls before the descriptor: of one that is closed under them the kernel mostly says nothing, and they wait for ever;
// where the loop notices, they are told with the error EBADF.
type Poll struct {
	reference
	poll *poll
}

// PollProxy is a further waiter on the descriptor of a [Poll], with a mask of its own.
type PollProxy = Poll

type poll struct {
	event.NopKind
	base      event.Base
	fd        *lease
	mask      Readiness
	triggered Readiness
	sub       event.Callback // on the descriptor, while started
}

// PollOption is an option of NewPoll.
type PollOption func(*descriptor)

// CloseFD makes the loop the owner of the descriptor, unless NewPoll fails: it is closed in the turn after the last poll
// on it was closed, or in [Loop.Flush].
func CloseFD() PollOption { return func(d *descriptor) { d.closeFD = true } }

// NewPoll makes an event for the readiness of a descriptor, which becomes non-blocking for everybody who shares it, other
// processes included; it is put back when the last poll on it is closed. Close the poll before the descriptor. Errors:
// *event.InvalidArgumentError for a negative descriptor or an empty or unknown mask, [ErrNotPollable] for a regular file
// and its like, a *cuv.Error that matches EBADF for a descriptor that is not open, or EEXIST for one that C code on the
// same loop watches, ErrClosed on a closed loop.
func (l *Loop) NewPoll(fd int, mask Readiness, options ...PollOption) (*Poll, error) {
	const call = "Loop.NewPoll"
	if l.closed {
		return nil, l.closedError(call)
	}
	if fd < 0 {
		return nil, invalid(call, "descriptor", fd, "it must not be negative")
	}
	if err := checkMask(call, mask); err != nil {
		return nil, err
	}
	d, err := l.descriptor(call, fd)
	if err != nil {
		return nil, err
	}
	for _, option := range options {
		option(d)
	}
	return newPoll(d, mask), nil
}

// NewProxy makes a further waiter on the same descriptor. Errors: *event.InvalidArgumentError for an empty or unknown
// mask, ErrClosed when p or its loop is closed.
func (p *Poll) NewProxy(mask Readiness) (*PollProxy, error) {
	const call = "Poll.NewProxy"
	if p.poll == nil {
		return nil, unmade(call)
	}
	d := p.poll.fd.descriptor
	if p.Closed() || d.loop.closed {
		return nil, &event.ClosedError{Call: "reactor: " + call, What: p.Info()}
	}
	if err := checkMask(call, mask); err != nil {
		return nil, err
	}
	return newPoll(d, mask), nil
}

func checkMask(call string, mask Readiness) error {
	if mask == 0 || mask&^allReadiness != 0 {
		return invalid(call, "mask", fmt.Sprintf("%#x", uint8(mask)), "combine Readable, Writable, Disconnect, Prioritized")
	}
	return nil
}

func newPoll(d *descriptor, mask Readiness) *Poll {
	p := &poll{fd: d.lease(), mask: mask}
	flags := event.FlagPeriodic
	if d.closeFD {
		flags |= event.FlagCloseFD
	}
	p.base.Init(p, &d.loop.live, flags)
	p.sub.Init(p.ready, nil, nil)
	ref := &Poll{poll: p}
	ref.Init(&p.base)
	ref.watch(d.loop, p.fd)
	return ref
}

// OnReady has fn called whenever p happens, with what is ready, and the error if the descriptor was closed under the loop.
// Errors as for AddCallback; *event.InvalidArgumentError when fn is nil.
func (p *Poll) OnReady(fn func(ready Readiness, err error)) (*event.Callback, error) {
	if fn == nil {
		return nil, nilFunction("Poll.OnReady")
	}
	return p.Subscribe(func(_ *event.Base, _ *event.Callback, result any, err error) { fn(result.(Readiness), err) })
}

// FD is the descriptor. Like Mask and Triggered it is for polls that a loop has made.
func (p *Poll) FD() int { return p.poll.fd.descriptor.fd }

// Mask is what p watches.
func (p *Poll) Mask() Readiness { return p.poll.mask }

// Triggered is what came true when p happened last; 0 before.
func (p *Poll) Triggered() Readiness { return p.poll.triggered }

// Close stops p and, if it is the last poll on the descriptor, closes the C handle. When it returns the loop does not
// touch the descriptor any more, except to close one that it owns. Idempotent, always nil.
func (p *Poll) Close() error {
	err := p.reference.Close()
	if p.poll != nil {
		p.poll.fd.release()
	}
	return err
}

func (p *poll) StartEvent() error {
	d := p.fd.descriptor
	switch {
	case d.loop.closed:
		return d.loop.closedError("Poll.Start")
	case p.fd.released:
		return &event.ClosedError{Call: "reactor: Poll.Start", What: p.Info()}
	case d.gone:
		return fmt.Errorf("reactor: Poll.Start: fd %d: %w", d.fd, errGone)
	}
	if err := d.waiters.AddCallback(&p.sub); err != nil {
		return err
	}
	p.base.AddRef()
	d.count(p, 1)
	return nil
}

func (p *poll) StopEvent() {
	p.left()
	p.base.Dispose()
}

func (p *poll) left() {
	d := p.fd.descriptor
	d.waiters.DelCallback(&p.sub)
	d.count(p, -1)
}

func (p *poll) HideEvent(hidden bool) {
	delta := 1
	if hidden {
		delta = -1
	}
	p.fd.descriptor.visible += delta
	p.fd.descriptor.update()
}

func (p *poll) DisposeEvent() {
	delete(p.fd.descriptor.loop.orphans, &p.base)
	p.fd.release()
}

// ready is called by the descriptor, for every started poll on it.
func (p *poll) ready(*event.Base, *event.Callback, any, error) {
	d := p.fd.descriptor
	switch {
	case d.loop.closed:
		p.base.MarkClosed()
	case d.failing:
		p.fail(d.failure)
	case d.gone: // told by a pass of its own
	default:
		p.match(d.fired)
	}
}

func (p *poll) match(fired Readiness) {
	if fired&Disconnect != 0 {
		fired |= p.mask & Readable
	}
	fired &= p.mask
	if fired == 0 {
		return
	}
	p.triggered = fired
	if p.base.Callbacks() == 0 {
		p.base.Deactivate()
		p.StopEvent()
		return
	}
	_ = p.base.Notify(fired, nil)
}

// fail ends the wait first, so that a callback can start the poll again.
func (p *poll) fail(err error) {
	p.triggered = p.mask
	p.base.Deactivate()
	p.left()
	defer p.base.Dispose()
	_ = p.base.Notify(p.mask, err)
}

func (p *poll) Info() string {
	return fmt.Sprintf("poll of fd %d for %v%s", p.fd.descriptor.fd, p.mask, state(&p.base))
}
