package scheduler_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/reactortest"
	"github.com/uvasync/uvasync/scheduler"
)

const ms = time.Millisecond

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

// onLibuv runs body on libuv alone: for what other goroutines do to the loop, which no simulation can wait for.
func onLibuv(t *testing.T, body func(t *testing.T, e *env)) {
	t.Helper()
	eachInOrder(t, func(t *testing.T, e *env) {
		if _, real := e.w.(reactortest.Real); real {
			body(t, e)
		}
	})
}

type option func(*scheduler.Options)

func withGrace(d time.Duration) option { return func(o *scheduler.Options) { o.Grace = d } }
func withLuck(n int) option            { return func(o *scheduler.Options) { o.Luck = n } }
func withBudget(n int) option          { return func(o *scheduler.Options) { o.Budget = n } }
func withSlice(d time.Duration) option { return func(o *scheduler.Options) { o.Slice = d } }
func withName(name string) option      { return func(o *scheduler.Options) { o.Name = name } }
func withShuffledReady(seed uint64) option {
	return func(o *scheduler.Options) { o.Rand = rand.New(rand.NewPCG(seed, 1)) }
}
func withSwitch(h *scheduler.SwitchHandlers) option {
	return func(o *scheduler.Options) { o.Switch = h }
}

// patience ends a test binary that hangs; no run that works comes near it.
const patience = 120 * time.Second

// prepare makes the scheduler of the next run, for those who need it before.
func (e *env) prepare(opts ...option) *scheduler.Scheduler {
	var o scheduler.Options
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

// sayer is a body that notes a step and ends.
func (e *env) sayer(step string) func(*scheduler.Coroutine) error {
	return func(*scheduler.Coroutine) error { e.say(step); return nil }
}

// yields is Yield n times, without regard to what it answers.
func yields(co *scheduler.Coroutine, n int) {
	for range n {
		_ = co.Yield()
	}
}

// gate is an event that happens as often as it is told to, on the loop, and stores nothing.
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

// gate makes a hidden one: waiting for it is no reason to wait for the event loop.
func (e *env) gate() *gate {
	g := &gate{}
	g.Init(gateKind{g: g}, e.w.Count(), event.FlagPeriodic|event.FlagHidden)
	return g
}

// liveGate makes one that is a visible event while somebody waits for it.
func (e *env) liveGate() *gate {
	g := &gate{}
	g.Init(gateKind{g: g}, e.w.Count(), event.FlagPeriodic)
	return g
}

func (g *gate) open(result any, err error) { _ = g.Notify(result, err) }

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

func (e *env) outcome() *outcome {
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

// timer makes a one-shot timer, trigger a started trigger; both are gone after the test.
func (e *env) timer(d time.Duration) reactortest.Event {
	timer, err := e.w.NewTimer(d)
	require.NoError(e.t, err)
	return timer
}

func (e *env) trigger() reactortest.Trigger {
	trigger, err := e.w.NewTrigger()
	require.NoError(e.t, err)
	return trigger
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

// isTimeout checks that err is that of a time limit.
func isTimeout(t *testing.T, err error) {
	t.Helper()
	assert.ErrorIs(t, err, event.ErrTimeout)
	assert.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestHelpers_RunOnEveryLoop(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		g := e.gate()
		e.mustRun(func(co *scheduler.Coroutine) error {
			e.spawn(co, func(co *scheduler.Coroutine) error {
				result, err := co.Await(g)
				assert.Equal(t, 1, result)
				return err
			})
			e.after(2*ms, func() { g.open(1, nil) })
			return co.Delay(ms)
		})
		assert.Equal(t, 1, g.starts)
		assert.Equal(t, 1, g.stops)
	})
}
