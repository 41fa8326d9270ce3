package main

import (
	"fmt"
	"net/netip"
	"syscall"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/reactor"
)

// acceptBurst is how many connections are accepted in one turn, so that a crowd at the door does not keep those who are
// inside waiting. The poll happens again while there are more.
const acceptBurst = 128

// listener accepts connections, while it can.
type listener struct {
	server *server
	fd     int
	addr   netip.AddrPort
	poll   *reactor.Poll
	told   bool // that there is trouble, and that is not over yet
}

func newListener(s *server, addr netip.AddrPort) (*listener, error) {
	fd, err := listenTCP(addr)
	if err != nil {
		return nil, err
	}
	l := &listener{server: s, fd: fd}
	if err := l.open(); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

func (l *listener) open() (err error) {
	if l.addr, err = boundAddr(l.fd); err != nil {
		return err
	}
	if l.poll, err = l.server.loop.NewPoll(l.fd, reactor.Readable); err != nil {
		return err
	}
	if _, err = l.poll.Subscribe(l.readable); err != nil {
		return err
	}
	return l.poll.Start()
}

// readable accepts until there is nobody left at the door.
func (l *listener) readable(_ *event.Base, _ *event.Callback, _ any, err error) {
	if err != nil {
		l.pause(err)
		return
	}
	for range acceptBurst {
		fd, err := accept(l.fd)
		switch err {
		case nil:
			l.server.welcome(fd)
		case syscall.EAGAIN:
			return
		case syscall.EINTR, syscall.ECONNABORTED, syscall.EPROTO, syscall.ENOPROTOOPT, syscall.EOPNOTSUPP,
			syscall.ENETDOWN, syscall.ENETUNREACH, syscall.EHOSTDOWN, syscall.EHOSTUNREACH, syscall.ENONET:
			// Trouble of this one connection, which is gone; accept(2) lists them.
		default:
			l.pause(err)
			return
		}
	}
}

// pause stops accepting when descriptors or memory have run out: whoever is at the door stays there, and the poll would
// happen again at once, and again.
func (l *listener) pause(err error) {
	_ = l.poll.Stop()
	if !l.told {
		l.told = true
		l.server.complain("accept: %v, with %d connections open; trying again when one closes", err, l.server.stats.open)
	}
}

// tick is called once a second: what others have used up may be there again.
func (l *listener) tick() {
	l.told = l.told && !l.poll.Started()
	l.resume()
}

// resume is called when a connection has closed.
func (l *listener) resume() {
	if err := started(l.poll, true); err != nil {
		l.server.fail(fmt.Errorf("accept: %w", err))
	}
}

func (l *listener) close() {
	if l.poll != nil {
		_ = l.poll.Close()
	}
	_ = syscall.Close(l.fd)
}
