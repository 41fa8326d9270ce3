package main

import (
	"errors"
	"syscall"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/reactor"
)

// conn is one connection. Two polls share its descriptor: one waits for something to read, the other until there is room
// to write. Which of them are started is the whole state of the conversation, see settle.
type conn struct {
	server  *server
	fd      int
	reader  *reactor.Poll
	writer  *reactor.PollProxy
	backlog backlog
	ended   bool // nothing more will be read
}

// newConn takes over the descriptor, also when it fails.
func newConn(s *server, fd int) (*conn, error) {
	c := &conn{server: s, fd: fd, backlog: backlog{spares: &s.spares}}
	if err := c.open(); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

func (c *conn) open() (err error) {
	if c.reader, err = c.server.loop.NewPoll(c.fd, reactor.Readable); err != nil {
		return err
	}
	if c.writer, err = c.reader.NewProxy(reactor.Writable); err != nil {
		return err
	}
	if _, err = c.reader.Subscribe(c.readable); err != nil {
		return err
	}
	if _, err = c.writer.Subscribe(c.writable); err != nil {
		return err
	}
	return c.reader.Start()
}

// readable reads once only: what is left makes the poll happen again in the next turn, and in between it is everybody
// else's turn.
func (c *conn) readable(_ *event.Base, _ *event.Callback, _ any, err error) {
	if err == nil {
		err = c.receive()
	}
	c.settle(err)
}

func (c *conn) writable(_ *event.Base, _ *event.Callback, _ any, err error) {
	if err == nil {
		err = c.flush()
	}
	if err == nil && c.server.draining && c.backlog.empty() {
		err = c.receive()
	}
	c.settle(err)
}

// receive reads what has arrived, and sends it back.
func (c *conn) receive() error {
	// One buffer does for all connections, because it is empty again before anybody else reads.
	buf := c.server.scratch[:c.backlog.room()]
	n, err := read(c.fd, buf)
	switch {
	case err == syscall.EAGAIN:
		// At the server's end, all that has arrived is all that there will be.
		c.ended = c.server.draining
		return nil
	case err != nil:
		return err
	case n == 0:
		c.ended = true
		return nil
	}
	return c.send(buf[:n])
}

// send writes at once what the socket takes, and keeps the rest for the writer.
func (c *conn) send(data []byte) error {
	if c.backlog.empty() {
		n, err := c.write(data)
		if err != nil {
			return err
		}
		data = data[n:]
	}
	if len(data) > 0 {
		c.backlog.add(data)
	}
	return nil
}

func (c *conn) flush() error {
	if c.backlog.empty() {
		return nil
	}
	n, err := c.write(c.backlog.pending())
	if err == nil {
		c.backlog.drop(n)
	}
	return err
}

// write returns 0 and no error when the socket takes nothing at the moment.
func (c *conn) write(data []byte) (n int, err error) {
	n, err = write(c.fd, data)
	if err == syscall.EAGAIN {
		return 0, nil
	}
	c.server.stats.echoed += uint64(n)
	return n, err
}

// settle ends every callback: it decides what to wait for next, or that it is over.
//
// The reader waits while there is room to keep what it reads. This is the back-pressure: a peer that does not take its
// echo is not read from, so the kernel's buffers fill up and the peer has to wait. The writer waits while something is
// owed. While the server drains it always waits, to ask whether there is anything left to read: a reader would wait for
// it instead.
func (c *conn) settle(err error) {
	over := c.ended && c.backlog.empty()
	if err == nil && !over {
		err = errors.Join(
			started(c.reader, !c.ended && c.backlog.room() > 0),
			started(c.writer, !c.backlog.empty() || c.server.draining),
		)
	}
	if err != nil || over {
		c.server.goodbye(c, err)
	}
}

// started starts or stops a poll; an error of its descriptor may have stopped it too.
func started(p *reactor.Poll, want bool) error {
	switch {
	case want == p.Started():
		return nil
	case want:
		return p.Start()
	}
	return p.Stop()
}

// close lets go of everything; the polls before the descriptor, whose number may be somebody else's right afterwards.
func (c *conn) close() {
	for _, p := range []*reactor.Poll{c.writer, c.reader} {
		if p != nil {
			_ = p.Close()
		}
	}
	_ = syscall.Close(c.fd)
	c.backlog.clear()
}
