package cuv

// #include "cuv.h"
import "C"

// Timer is one uv_timer_t. It has a handle from Start to Close only, so that a timer that was never started, or was
// closed, owns nothing. The zero value is ready.
type Timer struct{ slot int32 }

// Start arms the timer: it fires once, when delay nanoseconds have passed since the flush that applies this (the next
// Tick), never earlier. A running timer is armed anew, and a completion of its earlier life is dropped. ErrClosed on a closed
// loop, like all the starts.
func (t *Timer) Start(l *Loop, owner Owner, delay uint64, hidden bool) error {
	return t.start(l, owner, C.CUV_OP_TIMER_START, hiddenFlag(hidden), delay)
}

// StartAt is Start with an absolute time in nanoseconds of the clock that Loop.Now reads.
func (t *Timer) StartAt(l *Loop, owner Owner, at uint64, hidden bool) error {
	return t.start(l, owner, C.CUV_OP_TIMER_AT, hiddenFlag(hidden), at)
}

// StartSooner is Start, except that a running timer which is due earlier stays as it is.
func (t *Timer) StartSooner(l *Loop, owner Owner, delay uint64, hidden bool) error {
	return t.start(l, owner, C.CUV_OP_TIMER_SOONER, hiddenFlag(hidden), delay)
}

// StartPeriodic fires every period nanoseconds, the k-th time not before k periods have passed; firings that were missed
// merge into one. period must be positive.
func (t *Timer) StartPeriodic(l *Loop, owner Owner, period uint64, hidden bool) error {
	return t.start(l, owner, C.CUV_OP_TIMER_START, hiddenFlag(hidden)|C.CUV_FLAG_PERIODIC, period)
}

func (t *Timer) start(l *Loop, owner Owner, op, flags uint16, arg uint64) error {
	if l.state != loopOpen {
		return ErrClosed
	}
	if t.slot == 0 {
		t.slot = l.take(owner)
	}
	s := &l.slots[t.slot]
	s.gen++
	if l.nsub == len(l.sub) {
		l.growSubmissions()
	}
	l.sub[l.nsub] = s.record(op, flags, arg)
	l.nsub++
	return nil
}

// Close stops the timer and gives its handle back. Nothing of it is delivered afterwards. Idempotent; Start may follow.
func (t *Timer) Close(l *Loop) {
	if l.holds(t.slot) {
		l.closeSlot(t.slot, 0)
	}
	t.slot = 0
}

// Hide changes whether the running timer is hidden.
func (t *Timer) Hide(l *Loop, hidden bool) { l.hide(t.slot, hidden) }

// IsOpen reports whether the timer has a handle.
func (t *Timer) IsOpen() bool { return t.slot != 0 }

// hide makes a handle leave or enter what keeps a uv_run of somebody else's going.
func (l *Loop) hide(i int32, hidden bool) {
	if l.holds(i) {
		l.submit(C.CUV_OP_HIDE, hiddenFlag(hidden), &l.slots[i], 0)
	}
}

func hiddenFlag(hidden bool) uint16 {
	if hidden {
		return C.CUV_FLAG_HIDDEN
	}
	return 0
}
