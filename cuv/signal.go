package cuv

// #include "cuv.h"
import "C"

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// Signal is one uv_signal_t. The zero value is closed.
type Signal struct {
	slot int32
	num  syscall.Signal
}

// Open starts watching for the signal. Go's own os/signal, and C handlers from before, go on receiving it. The caller
// makes sure that the number is not one that the Go runtime needs. An *Error for what the system refuses.
func (s *Signal) Open(l *Loop, owner Owner, num syscall.Signal, hidden bool) error {
	if l.state != loopOpen {
		return ErrClosed
	}
	keeper.hold(num)
	i := l.take(owner)
	code := C.cuv_signal_open(l.slots[i].cell, C.int(num), C.uint32_t(l.slots[i].gen), C.uint16_t(hiddenFlag(hidden)))
	if code != 0 {
		l.putBack(i)
		keeper.drop(num)
		return NewError("uv_signal_start", int(code))
	}
	s.slot, s.num = i, num
	return nil
}

// Close stops watching; with the last watcher of the process the disposition from before the first is back when this
// returns. Idempotent.
func (s *Signal) Close(l *Loop) {
	if l.holds(s.slot) {
		C.cuv_signal_close(l.closing(s.slot).cell)
		keeper.drop(s.num)
	}
	s.slot = 0
}

// Hide changes whether the handle is hidden.
func (s *Signal) Hide(l *Loop, hidden bool) { l.hide(s.slot, hidden) }

// keeper holds a registration of our own with os/signal for every signal that is watched: without one, Go's handler, to
// which ours passes the signal on, would take its default action, which for SIGINT is death.
var keeper = signalKeeper{held: map[syscall.Signal]*keptSignal{}}

type signalKeeper struct {
	mu   sync.Mutex
	held map[syscall.Signal]*keptSignal // guarded by mu; over all loops
}

type keptSignal struct {
	watchers int
	sink     chan os.Signal
}

func (k *signalKeeper) hold(num syscall.Signal) {
	k.mu.Lock()
	defer k.mu.Unlock()
	kept := k.held[num]
	if kept == nil {
		// Never read: os/signal drops what does not fit.
		kept = &keptSignal{sink: make(chan os.Signal, 1)}
		k.held[num] = kept
		signal.Notify(kept.sink, num)
	}
	kept.watchers++
}

func (k *signalKeeper) drop(num syscall.Signal) {
	k.mu.Lock()
	defer k.mu.Unlock()
	kept := k.held[num]
	kept.watchers--
	if kept.watchers == 0 {
		delete(k.held, num)
		signal.Stop(kept.sink)
	}
}
