package reactor

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/uvasync/uvasync/cuv"
	"github.com/uvasync/uvasync/event"
)

// descriptor is the one uv_poll_t for a file descriptor on a loop: the masks of all started polls on it are merged, and
// libuv is told only when the merged mask changes. It is an event of its own, whose callbacks are the started polls.
type descriptor struct {
	event.NopKind
	loop    *Loop
	fd      int
	handle  cuv.Poll
	waiters event.Base
	closeFD bool
	gone    bool // the number means another file by now, or nothing
	leases  int

	sole     *poll     // the started poll, where it was the first and is the only one; else nil
	watchers [4]int    // started polls by bit of the mask
	visible  int       // started polls that are not hidden
	merged   Readiness // what libuv watches
	hidden   bool      // as libuv was told

	fired   Readiness // while the waiters are told
	failing bool      // while they are told of a failure
	failure error     // what the user gets to see of it
}

// lease is one poll's share in a descriptor. It is an object of its own, so that it can be given back when the poll was
// collected, without anything that leads to the poll.
type lease struct {
	descriptor *descriptor
	released   bool
}

func (d *descriptor) Info() string { return fmt.Sprintf("fd %d", d.fd) }

// errGone is what the polls of a descriptor that was closed under them are told.
var errGone = cuv.NewError("poll", -int(syscall.EBADF))

// descriptor returns the entry for fd, opened if there is none. An entry whose number means another file by now belongs
// to a descriptor that was closed without its polls: they are told, and the number starts anew.
func (l *Loop) descriptor(call string, fd int) (*descriptor, error) {
	if d := l.fds[fd]; d != nil {
		if d.handle.SameFile(l.binding) {
			return d, nil
		}
		d.abandon()
	}
	d := &descriptor{loop: l, fd: fd}
	d.waiters.Init(d, nil, 0)
	if err := d.handle.Open(l.binding, d, fd); err != nil {
		if errors.Is(err, syscall.EPERM) {
			return nil, fmt.Errorf("reactor: %s: fd %d: %w (%w)", call, fd, ErrNotPollable, err)
		}
		return nil, fmt.Errorf("reactor: %s: fd %d: %w", call, fd, err)
	}
	l.fds[fd] = d
	return d, nil
}

func (d *descriptor) lease() *lease {
	d.leases++
	return &lease{descriptor: d}
}

// release gives the share back. Idempotent.
func (s *lease) release() {
	if s.released {
		return
	}
	s.released = true
	d := s.descriptor
	d.leases--
	if d.leases > 0 {
		d.loop.binding.Flush()
		return
	}
	d.close()
}

func (d *descriptor) close() {
	d.handle.Close(d.loop.binding, d.closeFD)
	if d.loop.fds[d.fd] == d {
		delete(d.loop.fds, d.fd)
	}
}

// abandon is for a descriptor that was closed while polls were on it. They are told in the next turn, because one of them
// may be what is running.
func (d *descriptor) abandon() {
	d.gone = true
	d.handle.Close(d.loop.binding, false)
	delete(d.loop.fds, d.fd)
	_ = d.loop.binding.Poster().Post(func() { d.fail(errGone) })
}

// count takes a started poll in (+1) or out (-1).
func (d *descriptor) count(p *poll, delta int) {
	d.sole = nil
	if delta > 0 && d.waiters.Callbacks() == 1 {
		d.sole = p
	}
	for i := range d.watchers {
		if p.mask&(1<<i) != 0 {
			d.watchers[i] += delta
		}
	}
	if !p.base.Has(event.FlagHidden) {
		d.visible += delta
	}
	d.update()
}

// update tells libuv what is watched now, if that changed. What was recorded for the mask before is dropped, unless the
// mask merely grew.
func (d *descriptor) update() {
	merged := Readiness(0)
	for i, n := range d.watchers {
		if n > 0 {
			merged |= 1 << i
		}
	}
	hidden := d.visible == 0
	if d.failing || !d.handle.IsOpen() || merged == d.merged && (hidden == d.hidden || merged == 0) {
		return
	}
	fresh := d.merged&^merged != 0
	d.merged, d.hidden = merged, hidden
	d.handle.Watch(d.loop.binding, merged, fresh, hidden)
}

// Complete is called with what libuv reports. For any error condition of the descriptor it reports EBADF, and has stopped
// watching.
func (d *descriptor) Complete(status int, payload uint64) {
	if status < 0 {
		d.merged = 0
		d.fail(d.diagnose(status))
		return
	}
	if d.sole != nil {
		d.sole.match(Readiness(payload))
		return
	}
	d.fired = Readiness(payload)
	_ = d.waiters.Notify(nil, nil)
}

// diagnose returns nil where the descriptor is alive and whoever waits finds out by its own system call.
func (d *descriptor) diagnose(status int) error {
	if err := cuv.NewError("poll", status); !errors.Is(err, syscall.EBADF) || !d.handle.SameFile(d.loop.binding) {
		return err
	}
	return nil
}

func (d *descriptor) fail(err error) {
	d.failing, d.failure = true, err
	defer func() {
		d.failing, d.failure = false, nil
		d.update()
	}()
	_ = d.waiters.Notify(nil, nil)
}

// LoopClosing passes it on through the callbacks, which may leave while they are called.
func (d *descriptor) LoopClosing() {
	_ = d.waiters.Notify(nil, nil)
	d.close()
}
