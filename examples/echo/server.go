package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/reactor"
)

// server is the loop and all that happens on it.
type server struct {
	cfg       config
	out, errs io.Writer
	loop      *reactor.Loop
	listener  *listener
	conns     map[*conn]struct{}
	scratch   block // what a connection reads into
	spares    spares
	stats     stats
	ticker    ticker
	second    *reactor.Timer
	patience  reactor.Deadline // how long draining may take
	draining  bool             // nobody new is let in, and the others may finish
	failure   error            // what serve returns
}

// serve runs the server until a signal ends it.
func serve(cfg config, out, errs io.Writer) error {
	loop, err := reactor.New(reactor.Options{})
	if err != nil {
		return err
	}
	s := &server{cfg: cfg, out: out, errs: errs, loop: loop, conns: map[*conn]struct{}{}}
	if err := s.open(); err != nil {
		return errors.Join(err, loop.Close())
	}
	s.say("listening on %v (Ctrl-C ends it)", s.listener.addr)
	err = loop.Run()
	s.cutOff()
	err = errors.Join(s.failure, err, loop.Close())
	s.say("%s", s.stats.summary())
	return err
}

// open makes and starts the events that are there from the beginning. Run returns when no visible event is started any
// more: the listener, the timer and the connections are visible, what only watches is hidden.
func (s *server) open() (err error) {
	if s.listener, err = newListener(s, s.cfg.addr); err != nil {
		return err
	}
	if s.second, err = s.loop.NewPeriodicTimer(time.Second); err != nil {
		return err
	}
	if _, err = s.second.Subscribe(s.tick); err != nil {
		return err
	}
	if err = s.second.Start(); err != nil {
		return err
	}
	return s.openShutdown()
}

func (s *server) tick(*event.Base, *event.Callback, any, error) {
	s.listener.tick()
	if line := s.ticker.line(s.stats); line != "" && !s.cfg.quiet {
		s.say("%s", line)
	}
}

// welcome makes a connection of an accepted descriptor.
func (s *server) welcome(fd int) {
	s.stats.opened()
	c, err := newConn(s, fd)
	if err != nil {
		s.stats.closed(err)
		return
	}
	s.conns[c] = struct{}{}
}

// goodbye ends a connection, and with err says why it could not go on. Nobody else is concerned.
func (s *server) goodbye(c *conn, err error) {
	c.close()
	delete(s.conns, c)
	s.stats.closed(err)
	if !s.draining {
		s.listener.resume()
	}
}

// fail ends the server: for what a server cannot live with.
func (s *server) fail(err error) {
	s.failure = errors.Join(s.failure, err)
	s.loop.Stop()
}

// say may block the loop, if whoever reads the output does not. One short line a second is worth no more effort here.
func (s *server) say(format string, args ...any) { fmt.Fprintf(s.out, format+"\n", args...) }

func (s *server) complain(format string, args ...any) {
	fmt.Fprintf(s.errs, "echo: "+format+"\n", args...)
}
