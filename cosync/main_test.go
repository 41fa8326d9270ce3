package cosync_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/internal/leak"
	"github.com/uvasync/uvasync/internal/simreactor"
	"github.com/uvasync/uvasync/scheduler"
)

// Nobody is made to rest between two steps of a test because time has passed.
var steady = scheduler.Options{Budget: 1 << 20, Slice: time.Minute}

func TestMain(m *testing.M) {
	cotest.Defaults = steady
	leak.Main(m)
}

type (
	coroutine = scheduler.Coroutine
	option    = scheduler.WaitOption
	body      = func(co *coroutine) error
)

var errBoom = errors.New("boom")

// simulate runs main in the simulation.
func simulate(t require.TestingT, main body) {
	r := simreactor.New(1)
	defer func() { assert.NoError(t, r.Close()) }()
	require.NoError(t, scheduler.New(r, steady).Run(context.Background(), main))
}

// gate keeps one coroutine until it is opened.
type gate struct {
	co     *coroutine
	opened bool
}

func (g *gate) pass(co *coroutine) error {
	if err := co.Enter("gate: pass"); err != nil {
		return err
	}
	if g.opened {
		return nil
	}
	g.co = co
	return co.Park("gate: pass", g)
}

func (g *gate) open() {
	g.opened = true
	if g.co != nil && g.co.Unpark() == nil {
		g.co = nil
	}
}

func (g *gate) Leave(*coroutine) { g.co = nil }
func (g *gate) Info() string     { return "a gate" }

// short names what an error is, everything that it is.
func short(err error) string {
	names := ""
	for _, known := range []struct {
		name string
		err  error
	}{
		{"cancelled", context.Canceled}, {"timeout", event.ErrTimeout}, {"late", context.DeadlineExceeded},
		{"usage", event.ErrUsage}, {"invalid", event.ErrInvalidArgument}, {"boom", errBoom},
	} {
		if errors.Is(err, known.err) {
			names += " " + known.name
		}
	}
	if tokenFired(err) {
		names += " token"
	}
	if names == "" {
		return err.Error()
	}
	return names[1:]
}

func tokenFired(err error) bool {
	var cancelled *event.CancelledError
	return errors.As(err, &cancelled) && cancelled.Token
}

// scene is a primitive, who waits for it, and what happened in order.
type scene struct {
	t    *testing.T
	co   *coroutine
	o    *object
	gate gate // keeps the holder
	all  []*coroutine
	log  []string
}

// is compares and begins anew.
func (s *scene) is(want ...string) {
	s.t.Helper()
	assert.Equal(s.t, want, s.log)
	s.log = nil
}

func (s *scene) spawn(name string, fn body) *coroutine {
	co, err := s.co.Spawn(fn, scheduler.Named(name))
	require.NoError(s.t, err)
	s.all = append(s.all, co)
	return co
}

// hold starts a coroutine that makes others wait until the gate is opened.
func (s *scene) hold() *coroutine {
	co := s.spawn("holder", func(co *coroutine) error { return s.o.hold(co, s.gate.pass) })
	s.yield()
	require.NotNil(s.t, s.gate.co, "the holder holds")
	return co
}

// wait starts a coroutine that waits; what becomes of it is logged.
func (s *scene) wait(name string, opts ...option) *coroutine {
	before := s.o.waiting()
	co := s.spawn(name, func(co *coroutine) error { s.enter(name, co, opts...); return nil })
	s.yield()
	require.Equal(s.t, before+1, s.o.waiting(), "%s waits", name)
	return co
}

func (s *scene) enter(name string, co *coroutine, opts ...option) {
	err := s.o.with(co, func(*coroutine) error { s.log = append(s.log, name); return nil }, opts...)
	if err != nil {
		s.log = append(s.log, name+": "+short(err))
	}
}

func (s *scene) yield() { require.NoError(s.t, s.co.Yield()) }

// finish waits for everybody, and sees that the primitive is as it was.
func (s *scene) finish() {
	s.t.Helper()
	s.gate.open()
	for _, co := range s.all {
		_, err := s.co.Await(co)
		if !event.IsCancellation(err) {
			require.NoError(s.t, err)
		}
	}
	s.all = nil
	assert.Zero(s.t, s.o.waiting())
	if s.o.try != nil {
		assert.True(s.t, s.o.try(s.co), "free at the end")
	}
}

// scenes runs play with each primitive on each reactor.
func scenes(t *testing.T, play func(s *scene, p *primitive)) {
	for _, p := range primitives {
		t.Run(p.name, func(t *testing.T) {
			cotest.EachMain(t, func(t *testing.T, co *coroutine) {
				play(&scene{t: t, co: co, o: p.make()}, &p)
			})
		})
	}
}

func sorted(log []string) []string {
	log = slices.Clone(log)
	slices.Sort(log)
	return log
}
