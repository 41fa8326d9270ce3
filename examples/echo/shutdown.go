package main

import (
	"errors"
	"syscall"
	"time"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/reactor"
)

// drainTime is how long connections may take to finish after the first signal.
const drainTime = time.Second

var errImpatient = errors.New("ended by a second signal")

// openShutdown watches for the signals. They are hidden: a server that has nothing else to do shall not stay for them.
// Nobody keeps what NewSignal returns, because the loop keeps what is started.
func (s *server) openShutdown() error {
	s.patience.Init(s.loop, func(*reactor.Deadline) { s.loop.Stop() })
	s.patience.SetHidden(true)
	for _, num := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		sig, err := s.loop.NewSignal(num)
		if err != nil {
			return err
		}
		sig.SetHidden(true)
		if _, err := sig.Subscribe(s.signalled); err != nil {
			return err
		}
		if err := sig.Start(); err != nil {
			return err
		}
	}
	return nil
}

func (s *server) signalled(_ *event.Base, _ *event.Callback, sig any, _ error) {
	if s.draining {
		s.fail(errImpatient)
		return
	}
	if s.stats.open > 0 {
		s.say("%v: ending; %s may finish, for %v at most", sig, count(s.stats.open, "connection"), drainTime)
	} else {
		s.say("%v: ending", sig)
	}
	s.drain()
}

// drain begins the orderly end: nobody new is let in, and each connection ends as soon as all that has arrived on it is
// sent back. Run returns after the last one.
func (s *server) drain() {
	s.draining = true
	s.listener.close()
	_ = s.second.Close()
	if err := s.patience.Start(drainTime); err != nil {
		s.fail(err)
	}
	for c := range s.conns {
		c.settle(nil)
	}
}

// cutOff ends the connections that have not finished in time.
func (s *server) cutOff() {
	for c := range s.conns {
		s.stats.cutOff++
		s.stats.unsent += c.backlog.size()
		s.goodbye(c, nil)
	}
}
