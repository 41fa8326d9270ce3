package future

import (
	"log/slog"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
)

// A future that settled and whose outcome nobody took belongs to its scope from then on, until somebody does; used ones
// are never kept. When the scope completes, an error is returned to it (CORO-16, FUT-12) and a value is told to the
// logger (FUT-11). One that waits for an event by itself belongs to its scope until it has settled, too, so that the event
// does not stay started when the scope is over.

// use says that somebody cares for the outcome.
func (c *core) use() {
	if !c.has(isUsed) {
		c.state |= isUsed
		c.account()
	}
}

// observe says that somebody has taken the error, or will without fail.
func (c *core) observe() {
	c.state |= isUsed | isObserved
	c.account()
}

// take returns the error to somebody who deals with it.
func (c *core) take() error {
	if !c.has(isFailed) {
		return nil
	}
	c.observe()
	return c.extra.err
}

func (c *core) ignore() {
	c.state |= isIgnored
	c.account()
}

// lost reports whether there is an error that nobody has taken. A cancellation is none (CANC-19).
func (c *core) lost() bool {
	return c.has(isFailed) && !c.has(isObserved|isIgnored) && !event.IsCancellation(c.extra.err)
}

// unused reports whether there is a value that nobody has asked for.
func (c *core) unused() bool { return !c.has(isFailed | isUsed | isIgnored | isQuiet) }

// account keeps a settled future in its scope while something is left to be told, and only then.
func (c *core) account() {
	if !c.has(isSettled) {
		return
	}
	switch told := !c.unused() && !c.lost(); {
	case !told && !c.has(isOwned):
		c.own()
	case told && c.has(isOwned):
		c.state &^= isOwned
		c.extra.owned.Release()
	}
}

func (c *core) own() {
	c.state |= isOwned
	c.scope.Own(&c.more().owned, (*belonging)(c))
}

// belonging is a core as its scope sees it.
type belonging core

var _ scheduler.Belonging = (*belonging)(nil)

// ScopeClosed ends the wait of a future that waits by itself; any other is settled by whoever completes it.
func (b *belonging) ScopeClosed(reason error) {
	if c := (*core)(b); !c.has(isSettled) {
		c.abort(reason)
	}
}

// ScopeDone tells what nobody has taken, once.
func (b *belonging) ScopeDone() error {
	c := (*core)(b)
	if !c.has(isSettled) {
		return nil
	}
	lost, unused, awaited := c.lost(), c.unused(), c.has(isUsed)
	c.observe()
	switch {
	case lost:
		return &UnhandledError{CreatedAt: location(c.created), Err: c.extra.err, GivenUp: awaited}
	case unused:
		c.scope.Scheduler().Logger().Warn("future: never used", slog.String("created", location(c.created)))
	}
	return nil
}
