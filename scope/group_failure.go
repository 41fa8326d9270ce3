package scope

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
)

// TaskError is a failure of a task that nobody took, in the *event.CompositeError that the scope around the group gets (TG-22).
type TaskError struct {
	Key   any    // of the task
	Group string // "group made at main.go:12"
	Err   error
}

func (e *TaskError) Error() string {
	return fmt.Sprintf("task %v of the %s, whose failure nobody took: %v", e.Key, e.Group, e.Err)
}

// Unwrap returns the failure.
func (e *TaskError) Unwrap() error { return e.Err }

// made is the line that made the group.
func (c *core) made() string {
	frame, _ := runtime.CallersFrames([]uintptr{c.at}).Next()
	return fmt.Sprintf("%s:%d", frame.File, frame.Line)
}

// lose keeps a failure that nobody has seen. A cancellation is none (CANC-19).
func (c *core) lose(t *task) {
	if event.IsCancellation(t.err) {
		return
	}
	c.lost = append(c.lost, t)
	t.lost = int32(len(c.lost))
	if len(c.lost) == 1 {
		c.around.Own(&c.surface, (*surfacing)(c))
	}
}

// see says that somebody deals with the failure of t, if there is one.
func (c *core) see(t *task) {
	if t.lost == 0 {
		return
	}
	last := len(c.lost) - 1
	moved := c.lost[last]
	c.lost[t.lost-1], moved.lost = moved, t.lost
	c.lost[last], t.lost = nil, 0
	c.lost = c.lost[:last]
	if last == 0 {
		c.surface.Release()
	}
}

// seeAll says that somebody deals with all failures that there are now (TG-13).
func (c *core) seeAll() {
	if len(c.lost) == 0 {
		return
	}
	for _, t := range c.lost {
		t.lost = 0
	}
	c.lost = nil
	c.surface.Release()
}

// unhandled returns the failures that nobody has seen, nil for none, and counts them as seen.
func (c *core) unhandled() error {
	if len(c.lost) == 0 {
		return nil
	}
	lost := c.lost
	c.seeAll()
	slices.SortFunc(lost, func(a, b *task) int { return cmp.Compare(a.order, b.order) })
	errs := make([]error, len(lost))
	for i, t := range lost {
		errs[i] = &TaskError{Key: c.typed.keyOf(t), Group: c.kind.String() + " made at " + c.made(), Err: t.err}
	}
	return &event.CompositeError{Errors: errs}
}

// report tells the scope that the group was made in what nobody has seen and nobody can see any more (TG-22).
func (c *core) report() {
	if err := c.unhandled(); err != nil {
		c.around.Fail(nil, err)
	}
}

// surfacing is a group with failures that nobody has seen, as a thing of the scope that it was made in.
type surfacing core

var _ scheduler.Belonging = (*surfacing)(nil)

// ScopeClosed does nothing: the scope of the tasks is told, too.
func (*surfacing) ScopeClosed(error) {}

// ScopeDone returns the failures, once.
func (o *surfacing) ScopeDone() error { return (*core)(o).unhandled() }
