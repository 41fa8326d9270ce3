package scheduler_test

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

const (
	ms   = time.Millisecond
	hour = time.Hour
)

var (
	errBoom  = errors.New("boom")
	errOther = errors.New("other")
	errStop  = errors.New("stop")
)

func withLuck(n int) cotest.Option            { return func(o *scheduler.Options) { o.Luck = n } }
func withBudget(n int) cotest.Option          { return func(o *scheduler.Options) { o.Budget = n } }
func withSlice(d time.Duration) cotest.Option { return func(o *scheduler.Options) { o.Slice = d } }
func withShuffledReady(seed uint64) cotest.Option {
	return func(o *scheduler.Options) { o.Rand = rand.New(rand.NewPCG(seed, 1)) }
}
func withSwitch(h *scheduler.SwitchHandlers) cotest.Option {
	return func(o *scheduler.Options) { o.Switch = h }
}

// outcome is an event that completes once and stores what it completed with, as a future does.
type outcome struct {
	event.Base
	done   bool
	result any
	err    error
}

type outcomeKind struct {
	event.NopKind
	o *outcome
}

func (k outcomeKind) Outcome() (any, bool, error) { return k.o.result, k.o.done, k.o.err }
func (k outcomeKind) Info() string                { return "outcome" }

func newOutcome() *outcome {
	o := &outcome{}
	o.Init(outcomeKind{o: o}, nil, 0)
	return o
}

func (o *outcome) complete(result any, err error) {
	o.done, o.result, o.err = true, result, err
	_ = o.Notify(result, err)
}

// line is a Waiting that notes who left it.
type line struct{ left []*scheduler.Coroutine }

func (l *line) Leave(co *scheduler.Coroutine) { l.left = append(l.left, co) }
func (l *line) Info() string                  { return "line" }

// park is what packages do that build waits of their own.
func park(co *scheduler.Coroutine, l *line, opts ...scheduler.WaitOption) error {
	if err := co.Enter("test: Park"); err != nil {
		return err
	}
	return co.Park("test: Park", l, opts...)
}

func TestHelpers_RunOnEveryLoop(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		g := e.Gate()
		e.MustRun(func(co *scheduler.Coroutine) error {
			e.Spawn(co, func(co *scheduler.Coroutine) error {
				result, err := co.Await(g)
				assert.Equal(t, 1, result)
				return err
			})
			e.After(2*ms, func() { g.Open(1, nil) })
			return co.Delay(ms)
		})
		assert.Equal(t, 1, g.Starts)
		assert.Equal(t, 1, g.Stops)
	})
}
