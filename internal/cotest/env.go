package cotest

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/reactortest"
	"github.com/uvasync/uvasync/scheduler"
)

// Env is one event loop and the runs on it.
type Env struct {
	T     *testing.T
	W     reactortest.World
	S     *scheduler.Scheduler // of the latest run; set before its main begins
	steps []string
}

// Each runs body as a subtest on libuv, on the simulation, and on the simulation with shuffled simultaneous events.
func Each(t *testing.T, body func(t *testing.T, e *Env)) {
	t.Helper()
	reactortest.Each(t, func(t *testing.T, w reactortest.World) { body(t, &Env{T: t, W: w}) })
}

// EachInOrder is Each for a body that needs the order of the starts among what happens at the same time.
func EachInOrder(t *testing.T, body func(t *testing.T, e *Env)) {
	t.Helper()
	reactortest.EachInOrder(t, func(t *testing.T, w reactortest.World) { body(t, &Env{T: t, W: w}) })
}

// EachMain runs body as the main of a run on libuv and of one in the simulation, each of which must end well.
func EachMain(t *testing.T, body func(t *testing.T, co *scheduler.Coroutine)) {
	t.Helper()
	EachInOrder(t, func(t *testing.T, e *Env) {
		assert.NoError(t, e.Run(func(co *scheduler.Coroutine) error {
			body(t, co)
			return nil
		}, WithName("the run of "+t.Name())))
	})
}

// OnLibuv runs body on libuv alone: for the garbage collector and other goroutines, which no simulation can wait for.
func OnLibuv(t *testing.T, body func(t *testing.T, e *Env)) {
	t.Helper()
	EachInOrder(t, func(t *testing.T, e *Env) {
		if _, real := e.W.(reactortest.Real); real {
			body(t, e)
		}
	})
}

// Simulated runs body in virtual time alone: for exact times.
func Simulated(t *testing.T, body func(t *testing.T, e *Env)) {
	t.Helper()
	Each(t, func(t *testing.T, e *Env) {
		if _, real := e.W.(reactortest.Real); !real {
			body(t, e)
		}
	})
}

// Option changes the options of a run.
type Option func(*scheduler.Options)

// WithGrace sets how long the run waits for those who do not end.
func WithGrace(d time.Duration) Option { return func(o *scheduler.Options) { o.Grace = d } }

// WithName names the run.
func WithName(name string) Option { return func(o *scheduler.Options) { o.Name = name } }

// WithZombies says what is logged of zombies.
func WithZombies(l scheduler.ZombieLog) Option { return func(o *scheduler.Options) { o.Zombies = l } }

// WithOptions replaces all options.
func WithOptions(o scheduler.Options) Option { return func(all *scheduler.Options) { *all = o } }

// Patience ends a test binary that hangs; no run that works comes near it.
const Patience = 120 * time.Second

// Defaults are the options that a run begins with: a slow machine must not end somebody's slice in the middle of a test of order.
// A package that tests slices sets others in its TestMain.
var Defaults = scheduler.Options{Slice: time.Hour}

// Prepare makes the scheduler of the next run, for those who need it before.
func (e *Env) Prepare(opts ...Option) *scheduler.Scheduler {
	o := Defaults
	for _, opt := range opts {
		opt(&o)
	}
	e.S = scheduler.New(e.W, o)
	return e.S
}

// Run runs main with a scheduler of its own, checks that nothing of the run is left, and returns what Scheduler.Run did.
func (e *Env) Run(main func(co *scheduler.Coroutine) error, opts ...Option) error {
	return e.Start(e.Prepare(opts...), context.Background(), main)
}

// Start is Run with a prepared scheduler.
func (e *Env) Start(s *scheduler.Scheduler, ctx context.Context, main func(co *scheduler.Coroutine) error) error {
	dog := time.AfterFunc(Patience, func() {
		buf := make([]byte, 1<<20)
		panic(e.T.Name() + ": the run hangs\n" + string(buf[:runtime.Stack(buf, true)]))
	})
	defer dog.Stop()
	err := s.Run(ctx, main)
	e.nothingLeft(s)
	return err
}

func (e *Env) nothingLeft(s *scheduler.Scheduler) {
	e.T.Helper()
	st := s.Stats()
	assert.Zero(e.T, st.Active, "active coroutines after the run")
	assert.Zero(e.T, st.Zombies, "zombies after the run")
	assert.Zero(e.T, st.Total, "coroutines after the run")
	assert.Zero(e.T, st.Contexts, "contexts after the run")
}

// MustRun is Run for what ends without an error.
func (e *Env) MustRun(main func(co *scheduler.Coroutine) error, opts ...Option) {
	e.T.Helper()
	require.NoError(e.T, e.Run(main, opts...))
}

// Exits runs a main in whose run something calls runtime.Goexit, and checks that the goroutine of Run exits by it after everything
// else has ended.
func (e *Env) Exits(main func(co *scheduler.Coroutine) error, opts ...Option) {
	e.T.Helper()
	returned := false
	Foreign(func() {
		s := e.Prepare(opts...)
		defer e.nothingLeft(s)
		_ = e.Start(s, context.Background(), main)
		returned = true
	})
	assert.False(e.T, returned, "the goroutine of Run exits")
}

// Say notes a step.
func (e *Env) Say(step string) { e.steps = append(e.steps, step) }

// Said returns the steps so far and forgets them.
func (e *Env) Said() []string {
	steps := e.steps
	e.steps = nil
	return steps
}

// Steps is how many steps Said would return.
func (e *Env) Steps() int { return len(e.steps) }

// Counts checks the figures of the run.
func (e *Env) Counts(active, zombies, total int) {
	e.T.Helper()
	st := e.S.Stats()
	assert.Equal(e.T, []int{active, zombies, total}, []int{st.Active, st.Zombies, st.Total}, "active, zombies, total of the run")
}

// After has fn called on the loop, outside of any coroutine, once d is over; it counts as a visible event until then.
func (e *Env) After(d time.Duration, fn func()) {
	require.NoError(e.T, e.W.NewDeadline(fn).Start(d))
}

// Timer makes a one-shot timer that is not started; it is gone after the test.
func (e *Env) Timer(d time.Duration) reactortest.Event {
	e.T.Helper()
	timer, err := e.W.NewTimer(d)
	require.NoError(e.T, err)
	return timer
}

// Trigger makes a trigger; it is gone after the test.
func (e *Env) Trigger() reactortest.Trigger {
	e.T.Helper()
	trigger, err := e.W.NewTrigger()
	require.NoError(e.T, err)
	return trigger
}
