package scope

import (
	"unsafe"

	"github.com/uvasync/uvasync/scheduler"
)

// task is the part of a task that knows neither its key nor its value. Loop goroutine only.
type task struct {
	prev, next *task  // of one group, in the order in which they were spawned
	after      *task  // the next of those that have ended
	err        error  // what it has ended with
	order      uint64 // of a group: in which it was spawned; of a set: in which it has ended
	lost       int32  // one more than its place in core.lost, when nobody has dealt with its failure
	state      taskState
}

type taskState uint8

const (
	taskQueued  taskState = iota // waits for its turn; it has no coroutine
	taskRunning                  // has a coroutine, which may not have begun
	taskSettled                  // has ended
	taskNamed                    // is not one yet: its spawner is in line, and has its key
	taskAside                    // has ended, and was set aside for a coroutine that was woken for it
)

// typed is the part of a group that knows keys and values.
type typed interface {
	// start makes the coroutine of a task. An error is that of the scope, which takes no more.
	start(t *task) error
	// unstarted is called in place of start when the task will never have one.
	unstarted(t *task)
	// forgotten is called when the key of a task is free: a set hands it out, or its spawner has left the line.
	forgotten(t *task)
	// recycle is called after that, when nobody looks at it any more.
	recycle(t *task)
	// keyOf is the key of a task, for reports.
	keyOf(t *task) any
	// settleAll settles the futures that wait for all tasks.
	settleAll()
}

// entry is a task, with all that is kept of it.
type entry[K comparable, T any] struct {
	task   // the first field: see entryOf
	engine *engine[K, T]
	fn     func(co *scheduler.Coroutine) (T, error) // nil once it runs
	key    K
	value  T // the zero value after an error
}

var (
	_ scheduler.Task = (*entry[int, int])(nil)
	_ typed          = (*engine[int, int])(nil)
)

func (e *engine[K, T]) newEntry(fn func(co *scheduler.Coroutine) (T, error)) *entry[K, T] {
	var t *entry[K, T]
	if e.free != nil {
		t = entryOf(e, e.free)
		e.free, t.next = t.next, nil
	} else {
		if e.used == len(e.spare) {
			e.spare, e.used = make([]entry[K, T], min(max(2*e.used, 1), mostSpare)), 0
		}
		t = &e.spare[e.used]
		e.used++
		t.engine = e
	}
	t.fn = fn
	return t
}

// mostSpare is how many tasks are made in one allocation at most.
const mostSpare = 32

// entryOf returns the entry that a task of a group is part of: without a pointer back, because groups keep many.
func entryOf[K comparable, T any](_ *engine[K, T], t *task) *entry[K, T] {
	return (*entry[K, T])(unsafe.Pointer(t))
}

func (e *engine[K, T]) start(t *task) error {
	entry := entryOf(e, t)
	_, err := e.inside.SpawnTask("scope: Spawn", entry, entry.fn)
	return err
}

func (e *engine[K, T]) unstarted(t *task) { entryOf(e, t).fn = nil }

func (e *engine[K, T]) keyOf(t *task) any { return entryOf(e, t).key }

func (e *engine[K, T]) forgotten(t *task) { e.unclaim(entryOf(e, t).key) }

func (e *engine[K, T]) recycle(t *task) {
	*entryOf(e, t) = entry[K, T]{engine: e}
	t.next = e.free
	e.free = t
}

// Run is called by the scheduler as the body of the coroutine.
func (t *entry[K, T]) Run(co *scheduler.Coroutine) (err error) {
	fn := t.fn
	t.fn = nil // the outcome may be kept for long; what fn holds must not
	t.value, err = fn(co)
	return err
}

// Settle is called by the scheduler with what became of the coroutine.
func (t *entry[K, T]) Settle(_ *scheduler.Coroutine, err error) {
	if err != nil {
		var zero T
		t.fn, t.value = nil, zero
	}
	t.engine.ended(&t.task, err)
}

// taskList is linked through after, in the order in which the tasks have ended.
type taskList struct{ first, last *task }

func (l *taskList) push(t *task) {
	if l.last == nil {
		l.first = t
	} else {
		l.last.after = t
	}
	l.last = t
}

// pop takes the first one out; nil when there is none.
func (l *taskList) pop() *task {
	t := l.first
	if t == nil {
		return nil
	}
	l.first, t.after = t.after, nil
	if l.first == nil {
		l.last = nil
	}
	return t
}

// insert puts back a task that was in the list before. Those that are in front of it were put back, too.
func (l *taskList) insert(t *task) {
	var before *task
	for u := l.first; u != nil && u.order < t.order; u = u.after {
		before = u
	}
	if before == nil {
		t.after, l.first = l.first, t
	} else {
		t.after, before.after = before.after, t
	}
	if t.after == nil {
		l.last = t
	}
}
