package scope_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/reactortest"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
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

// env is one event loop and the runs on it.
type env struct {
	t     *testing.T
	w     reactortest.World
	s     *scheduler.Scheduler // of the latest run; set before its main begins
	steps []string
}

// each runs body as a subtest on libuv, on the simulation, and on the simulation with shuffled simultaneous events.
func each(t *testing.T, body func(t *testing.T, e *env)) {
	t.Helper()
	reactortest.Each(t, func(t *testing.T, w reactortest.World) { body(t, &env{t: t, w: w}) })
}

// eachInOrder is each for a body that needs the order of the starts among what happens at the same time.
func eachInOrder(t *testing.T, body func(t *testing.T, e *env)) {
	t.Helper()
	reactortest.EachInOrder(t, func(t *testing.T, w reactortest.World) { body(t, &env{t: t, w: w}) })
}

// onLibuv runs body on libuv alone: for the garbage collector and other goroutines, which no simulation can wait for.
func onLibuv(t *testing.T, body func(t *testing.T, e *env)) {
	t.Helper()
	eachInOrder(t, func(t *testing.T, e *env) {
		if _, real := e.w.(reactortest.Real); real {
			body(t, e)
		}
	})
}

// simulated runs body in virtual time alone: for exact times.
func simulated(t *testing.T, body func(t *testing.T, e *env)) {
	t.Helper()
	each(t, func(t *testing.T, e *env) {
		if _, real := e.w.(reactortest.Real); !real {
			body(t, e)
		}
	})
}

// option changes the options of a run.
type option func(*scheduler.Options)

func withGrace(d time.Duration) option         { return func(o *scheduler.Options) { o.Grace = d } }
func withName(name string) option              { return func(o *scheduler.Options) { o.Name = name } }
func withZombies(l scheduler.ZombieLog) option { return func(o *scheduler.Options) { o.Zombies = l } }
func withOptions(o scheduler.Options) option   { return func(all *scheduler.Options) { *all = o } }

// patience ends a test binary that hangs; no run that works comes near it.
const patience = 20 * time.Second

// prepare makes the scheduler of the next run, for those who need it before.
func (e *env) prepare(opts ...option) *scheduler.Scheduler {
	// A slow machine must not end somebody's slice in the middle of a test of order.
	o := scheduler.Options{Slice: hour}
	for _, opt := range opts {
		opt(&o)
	}
	e.s = scheduler.New(e.w, o)
	return e.s
}

// run runs main with a scheduler of its own, checks that nothing of the run is left, and returns what Run did.
func (e *env) run(main func(co *scheduler.Coroutine) error, opts ...option) error {
	return e.start(e.prepare(opts...), context.Background(), main)
}

// start is run with a prepared scheduler.
func (e *env) start(s *scheduler.Scheduler, ctx context.Context, main func(co *scheduler.Coroutine) error) error {
	dog := time.AfterFunc(patience, func() {
		buf := make([]byte, 1<<20)
		panic(e.t.Name() + ": the run hangs\n" + string(buf[:runtime.Stack(buf, true)]))
	})
	defer dog.Stop()
	err := s.Run(ctx, main)
	st := s.Stats()
	assert.Zero(e.t, st.Active, "active coroutines after the run")
	assert.Zero(e.t, st.Zombies, "zombies after the run")
	assert.Zero(e.t, st.Total, "coroutines after the run")
	assert.Zero(e.t, st.Contexts, "contexts after the run")
	return err
}

// mustRun is run for what ends without an error.
func (e *env) mustRun(main func(co *scheduler.Coroutine) error, opts ...option) {
	e.t.Helper()
	require.NoError(e.t, e.run(main, opts...))
}

// say notes a step; said returns the steps so far and forgets them.
func (e *env) say(step string) { e.steps = append(e.steps, step) }

func (e *env) said() []string {
	steps := e.steps
	e.steps = nil
	return steps
}

// spawn is Spawn that must succeed.
func (e *env) spawn(in scheduler.Spawner, fn func(co *scheduler.Coroutine) error, opts ...scheduler.SpawnOption) *scheduler.Coroutine {
	e.t.Helper()
	co, err := in.Spawn(fn, opts...)
	require.NoError(e.t, err)
	return co
}

// sayer is a body that notes a step and ends; sleeper one that takes some time; fails one that fails.
func (e *env) sayer(step string) func(*scheduler.Coroutine) error {
	return func(*scheduler.Coroutine) error { e.say(step); return nil }
}

func sleeper(d time.Duration) func(*scheduler.Coroutine) error {
	return func(co *scheduler.Coroutine) error { return co.Delay(d) }
}

func fails(err error) func(*scheduler.Coroutine) error {
	return func(*scheduler.Coroutine) error { return err }
}

// yields is Yield n times, without regard to what it answers.
func yields(co *scheduler.Coroutine, n int) {
	for range n {
		_ = co.Yield()
	}
}

// gate is an event that happens as often as it is told to, on the loop, and stores nothing. Waiting for one is no reason to wait
// for the event loop.
type gate struct {
	event.Base
	starts, stops int
}

type gateKind struct {
	event.NopKind
	g *gate
}

func (k gateKind) StartEvent() error { k.g.starts++; return nil }
func (k gateKind) StopEvent()        { k.g.stops++ }
func (k gateKind) Info() string      { return "gate" }

func (e *env) gate() *gate {
	g := &gate{}
	g.Init(gateKind{g: g}, e.w.Count(), event.FlagPeriodic|event.FlagHidden)
	return g
}

func (g *gate) open(result any, err error) { _ = g.Notify(result, err) }

// waiter is a body that waits for the gate once and returns the error of that.
func waiter(g *gate) func(*scheduler.Coroutine) error {
	return func(co *scheduler.Coroutine) error { _, err := co.Await(g); return err }
}

// after has fn called on the loop, outside of any coroutine, once d is over; it counts as a visible event until then.
func (e *env) after(d time.Duration, fn func()) {
	require.NoError(e.t, e.w.NewDeadline(fn).Start(d))
}

// foreign runs fn in a goroutine of its own and waits for it.
func foreign(fn func()) {
	done := make(chan struct{})
	go func() { defer close(done); fn() }()
	<-done
}

// panicOf calls fn and returns what it panics with, as an error.
func panicOf(t *testing.T, fn func()) (err error) {
	t.Helper()
	defer func() {
		v := recover()
		var ok bool
		err, ok = v.(error)
		assert.True(t, ok, "it panics with an error, not %v", v)
	}()
	fn()
	return nil
}

// isCancelled checks that err is a cancellation, not of a token, with the reason.
func isCancelled(t *testing.T, err, reason error) {
	t.Helper()
	var c *event.CancelledError
	if !assert.ErrorAs(t, err, &c) {
		return
	}
	assert.ErrorIs(t, err, context.Canceled)
	assert.False(t, c.Token, "it is the coroutine's own")
	if reason == nil {
		assert.NoError(t, c.Reason)
		return
	}
	assert.ErrorIs(t, c.Reason, reason)
}

// isTokens checks that err is what a wait answers whose token fired, with the token's error.
func isTokens(t *testing.T, err, reason error) {
	t.Helper()
	var c *event.CancelledError
	if !assert.ErrorAs(t, err, &c) {
		return
	}
	assert.ErrorIs(t, err, context.Canceled)
	assert.True(t, c.Token, "it is a token's")
	assert.Equal(t, reason, c.Reason)
}

// isUsage checks that err is a UsageError that mentions each of the words.
func isUsage(t *testing.T, err error, words ...string) {
	t.Helper()
	var u *event.UsageError
	if !assert.ErrorAs(t, err, &u) {
		return
	}
	assert.ErrorIs(t, err, event.ErrUsage)
	for _, word := range words {
		assert.Contains(t, err.Error(), word)
	}
	assert.NotEmpty(t, u.Fix)
}

// isInvalid checks that err is an InvalidArgumentError that names the call and the argument.
func isInvalid(t *testing.T, err error, call, arg string) {
	t.Helper()
	var i *event.InvalidArgumentError
	if !assert.ErrorAs(t, err, &i) {
		return
	}
	assert.ErrorIs(t, err, event.ErrInvalidArgument)
	assert.Equal(t, call, i.Call)
	assert.Equal(t, arg, i.Arg)
	assert.NotEmpty(t, i.Legal)
}

// isTimeout checks that err is that of a time limit.
func isTimeout(t *testing.T, err error) {
	t.Helper()
	assert.ErrorIs(t, err, event.ErrTimeout)
	assert.ErrorIs(t, err, context.DeadlineExceeded)
}

// counts checks the figures of a scope's own coroutines.
func counts(t *testing.T, s *scope.Scope, active, zombies, total int) {
	t.Helper()
	assert.Equal(t, scope.Stats{Active: active, Zombies: zombies, Total: total}, s.Stats())
}

// counts checks the figures of the run.
func (e *env) counts(active, zombies, total int) {
	e.t.Helper()
	st := e.s.Stats()
	assert.Equal(e.t, []int{active, zombies, total}, []int{st.Active, st.Zombies, st.Total}, "active, zombies, total of the run")
}

// collect runs the garbage collector, and the loop with it, until done, or the test fails.
func collect(t *testing.T, co *scheduler.Coroutine, done func() bool) {
	t.Helper()
	for end := time.Now().Add(patience / 2); !done(); {
		runtime.GC()
		require.NoError(t, co.Delay(ms)) // what is collected is told of by another goroutine
		require.True(t, time.Now().Before(end), "what was dropped is not collected")
	}
}

// storm collects garbage some times, with turns of the loop between, for those who must not lose anything by it.
func storm(co *scheduler.Coroutine) {
	for range 5 {
		runtime.GC()
		_ = co.Delay(ms)
	}
}
