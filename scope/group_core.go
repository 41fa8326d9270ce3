package scope

import (
	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/waitq"
	"github.com/uvasync/uvasync/scheduler"
)

// core is the part of a group or a set that knows neither keys nor values: who runs, who waits, and what has become of the
// tasks. Nothing in it takes longer the more tasks there are. Loop goroutine only, except what is immutable.
//
// Whatever happens, its state is complete before anybody is told (GEN-10): first the counts and the lists, then who waits in
// line for a place, and last announce, which settles futures and so may run code of users, which may call anything here.
type core struct {
	s      *scheduler.Scheduler // immutable
	around *scheduler.Scope     // immutable; what the group was made in
	inside *scheduler.Scope     // immutable; of the tasks
	keeper scheduler.Scoped     // immutable; the handle of around, which would end it when it is collected; nil: there is none
	typed  typed                // immutable; what it is part of
	at     uintptr              // immutable; where it was made
	kind   variety              // immutable
	limit  int                  // immutable; of those that run; 0: none
	places int                  // immutable; of those that have not ended

	first, last *task // all that are kept, in the order in which they were spawned
	ahead       *task // the first that waits for its turn; all behind it do, too
	count       int   // of all that are kept
	queued      int
	running     int
	succeeded   int    // of those that are kept
	failed      int    // of those that are kept
	ordered     uint64 // the last task.order

	line     waitq.Queue[*task]    // who waits to spawn; what is set aside is a place
	firsts   waitq.Queue[consumer] // who waits for the next task to end; what is set aside is a task of a set
	wins     waitq.Queue[consumer] // who waits for the next success; futures only
	enders   waitq.Queue[struct{}] // who waits for the end of all
	arrivals uint64                // numbers consumers

	done        taskList // of a group: all that have ended
	earliest    *task    // of a group: of those that have ended, the first that was spawned
	earliestWin *task    // of a group: the same of those that have succeeded
	raced, won  bool     // those were told to somebody, and stay
	good, bad   taskList // of a set: what is there to be handed out

	lost    []*task         // with failures that nobody has seen
	surface scheduler.Owned // in around, while there are any

	belongs scheduler.Owned // in inside, until it is over
	closed  bool
	reason  error              // why it was closed; nil: by Close
	turned  *event.ClosedError // what those got who were in line then; see turnedAway
	over    bool               // closed, and all have ended
	handles int                // that were not collected; and one while finally handlers run
	handle  any                // the first one, while it is young; see owner.go
	owner   owner              // of that
	leaving bool               // leave was called
	finally []finalizer
	base    *event.Base // nil until somebody asks for it
}

func (c *core) init(k variety, t typed, around, inside *scheduler.Scope, cfg GroupConfig) {
	c.s, c.around, c.inside = around.Scheduler(), around, inside
	c.kind, c.typed = k, t
	c.limit, c.places = cfg.Concurrency, cfg.places()
	c.line.Init((*spawners)(c))
	c.firsts.Init((*consumers)(c))
	c.wins.Init((*consumers)(c))
	c.enders.Init((*enders)(c))
	inside.Own(&c.belongs, (*belonging)(c))
}

// isClosed reports whether it takes no more tasks.
func (c *core) isClosed() bool { return c.closed || c.inside.Sealed() }

// idle reports whether nothing is to be waited for. A spawner that was promised a place is about to use it.
func (c *core) idle() bool {
	return c.running == 0 && c.queued == 0 && (c.line.Reserved() == 0 || c.isClosed())
}

// ended is the end of a task's coroutine.
func (c *core) ended(t *task, err error) {
	c.running--
	c.note(t, err)
	c.pump()
	c.announce()
}

// note keeps what has become of a task.
func (c *core) note(t *task, err error) {
	t.state = taskSettled
	if err == nil {
		c.succeeded++
	} else {
		t.err = err
		c.failed++
		c.lose(t)
	}
	if c.kind == aSet {
		c.ordered++
		t.order = c.ordered
		c.offered(err).push(t)
		return
	}
	c.done.push(t)
	if c.earliest == nil || !c.raced && t.order < c.earliest.order {
		c.earliest = t
	}
	if err == nil && (c.earliestWin == nil || !c.won && t.order < c.earliestWin.order) {
		c.earliestWin = t
	}
}

// announce tells those who wait for what is the case now.
func (c *core) announce() {
	if c.firsts.Waiting() == 0 && c.wins.Waiting() == 0 && !c.idle() {
		return
	}
	told := false
	defer func() {
		if !told { // code of a user has panicked or exited; the others are told all the same
			c.announce()
		}
	}()
	if c.kind == aSet {
		c.hand()
	} else {
		c.race()
	}
	if c.idle() {
		c.rest()
	}
	told = true
}

// rest tells those who wait for all tasks, and ends what is closed.
func (c *core) rest() {
	c.typed.settleAll()
	if c.kind == aSet {
		c.handFailures()
	} else {
		c.failWins()
	}
	if c.isClosed() && c.idle() {
		c.end()
	}
}

// end is what follows when it is closed and all tasks have ended. It may be called again.
func (c *core) end() {
	c.over, c.closed = true, true
	c.belongs.Release()
	c.turnAway()
	for w := c.enders.First(); w != nil; w = c.enders.First() {
		c.enders.Release(w)
	}
	c.startFinally()
	c.leave()
	if c.handles == 0 {
		c.report()
	} else if len(c.lost) == 0 { // there will never be anything to report
		c.owner.release(c.s)
		c.handle = nil
	}
	c.notify()
}
