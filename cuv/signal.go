package cuv

// #include "cuv.h"
// int cuv_signal_handled(int signum);
// void cuv_signal_renew(int signum);
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
// makes sure that the number is not one that the Go runtime needs, and its LoopClosing has to Close the signal, because
// closing the handle alone does not put the disposition back. An *Error for what the system refuses.
func (s *Signal) Open(l *Loop, owner Owner, num syscall.Signal, hidden bool) error {
	if l.state != loopOpen {
		return ErrClosed
	}
	keeper.mu.Lock()
	defer keeper.mu.Unlock()
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

// Renew puts the signal in force again, after signal.Reset, signal.Ignore or C code have put it out of force since Open. A
// handler that they have set goes on receiving it. Open does the same for all that watch the number.
func (s *Signal) Renew(l *Loop) {
	if l.holds(s.slot) {
		keeper.mu.Lock()
		defer keeper.mu.Unlock()
		keeper.renew(s.num)
		C.cuv_signal_renew(C.int(s.num))
	}
}

// Close stops watching; with the last watcher of the process the disposition from before the first is back when this
// returns. Idempotent.
func (s *Signal) Close(l *Loop) {
	if l.holds(s.slot) {
		keeper.mu.Lock()
		defer keeper.mu.Unlock()
		C.cuv_signal_close(l.closing(s.slot).cell)
		keeper.drop(s.num)
	}
	s.slot = 0
}

// Hide changes whether the handle is hidden.
func (s *Signal) Hide(l *Loop, hidden bool) { l.hide(s.slot, hidden) }

// keeper holds a registration of our own with os/signal for signals that are watched: without one, Go's handler, to
// which ours passes the signal on, would take its default action, which for SIGINT is death.
var keeper = signalKeeper{held: map[syscall.Signal]*keptSignal{}}

type signalKeeper struct {
	mu   sync.Mutex                     // also makes what is looked at here and what libuv then does one step
	held map[syscall.Signal]*keptSignal // guarded by mu; over all loops
}

type keptSignal struct {
	watchers int
	sink     chan os.Signal
}

// hold is called before a signal is watched once more.
func (k *signalKeeper) hold(num syscall.Signal) {
	kept := k.held[num]
	if kept == nil {
		// Never read: os/signal drops what does not fit.
		kept = &keptSignal{sink: make(chan os.Signal, 1)}
		k.held[num] = kept
	}
	kept.watchers++
	k.renew(num)
}

// renew registers every time, because signal.Reset and signal.Ignore cancel what was registered before.
func (k *signalKeeper) renew(num syscall.Signal) {
	if takesAction(num) {
		signal.Notify(k.held[num].sink, num)
	}
}

// takesAction reports whether Go's handler may come to take the default action. Where it does not, a registration is not
// only useless: os/signal sets a handler for it that it would not take away again.
func takesAction(num syscall.Signal) bool {
	switch num {
	case syscall.SIGHUP, syscall.SIGINT:
		return true // under nohup too: for these two it takes the handler away
	case syscall.SIGCONT, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU:
		return false // Go's handler does nothing
	}
	return C.cuv_signal_handled(C.int(num)) != 0
}

// drop is called after a watch has ended.
func (k *signalKeeper) drop(num syscall.Signal) {
	kept := k.held[num]
	kept.watchers--
	if kept.watchers == 0 {
		delete(k.held, num)
		signal.Stop(kept.sink)
	}
}
