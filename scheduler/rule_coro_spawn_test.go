package scheduler_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

// strategy notes the calls of its hooks, and fails where it is told to.
type strategy struct {
	e     *cotest.Env
	scope *scheduler.Scope
	fails map[string]error
	seen  *scheduler.Coroutine
}

func (s *strategy) ProvideScope() (*scheduler.Scope, error) {
	s.e.Say("provide")
	return s.scope, s.fails["provide"]
}

func (s *strategy) BeforeEnqueue(co *scheduler.Coroutine) error {
	s.e.Say("before")
	s.seen = co
	return s.fails["before"]
}

func (s *strategy) AfterEnqueue(co *scheduler.Coroutine) error {
	s.e.Say("after")
	assert.Same(s.e.T, s.seen, co)
	assert.True(s.e.T, co.Queued())
	return s.fails["after"]
}

func TestCoroutine_CORO26_ProviderChoosesTheScope(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			sub, err := co.Scope().New()
			require.NoError(t, err)
			given := e.Spawn(co, e.Sayer("body"), scheduler.By(&strategy{e: e, scope: sub}))
			assert.Same(t, sub, given.Scope())
			current := e.Spawn(sub, e.Sayer("body"), scheduler.By(&strategy{e: e}))
			assert.Same(t, sub, current.Scope(), "nil is the scope of the call")
			assert.Equal(t, []string{"provide", "before", "after", "provide", "before", "after"}, e.Said(), "asked once each")

			before := e.S.Stats()
			refused, err := co.Spawn(e.Sayer("never"), scheduler.By(&strategy{e: e, fails: map[string]error{"provide": errBoom}}))
			assert.Nil(t, refused)
			assert.Equal(t, errBoom, err)
			assert.Equal(t, []string{"provide"}, e.Said())
			assert.Equal(t, before.Ready, e.S.Stats().Ready, "nothing is queued")
			assert.Equal(t, before.Total, e.S.Stats().Total)

			require.NoError(t, sub.Cancel(errStop))
			_, err = co.Spawn(e.Sayer("never"), scheduler.By(&strategy{e: e, scope: sub}))
			cotest.IsUsage(t, err, "Spawn")
			_, err = sub.Spawn(e.Sayer("body"), scheduler.By(&strategy{e: e, scope: co.Scope()}))
			assert.NoError(t, err, "the provided scope is open")
			e.Said()
			return nil
		})
		assert.Equal(t, []string{"body"}, e.Said(), "the first two were cancelled with their scope")
	})
}

func TestCoroutine_CORO27_HooksComeInOrderAndTheirErrorsStopTheStart(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			e.Spawn(co, e.Sayer("body"), scheduler.By(&strategy{e: e}))
			e.Say("spawned")
			cotest.Yields(co, 2)
			assert.Equal(t, []string{"provide", "before", "after", "spawned", "body"}, e.Said())

			for _, hook := range []string{"before", "after"} {
				st := &strategy{e: e, fails: map[string]error{hook: errBoom}}
				refused, err := co.Spawn(e.Sayer("never"), scheduler.By(st))
				assert.Nil(t, refused)
				assert.Equal(t, errBoom, err)
				assert.Equal(t, 1, e.S.Stats().Active)
				assert.Equal(t, 1, e.S.Stats().Total)
				cotest.Yields(co, 3)
				assert.NotContains(t, e.Said(), "never")
				assert.True(t, st.seen.Completed())
				assert.NotPanics(t, func() { _ = st.seen.Cancel(errStop) })
			}
			return nil
		})
	})
}

// nosy does with the coroutine what a hook may do.
type nosy struct {
	strategy
	before, after func(co *scheduler.Coroutine)
}

func (n *nosy) BeforeEnqueue(co *scheduler.Coroutine) error {
	if n.before != nil {
		n.before(co)
	}
	return n.strategy.BeforeEnqueue(co)
}

func (n *nosy) AfterEnqueue(co *scheduler.Coroutine) error {
	if n.after != nil {
		n.after(co)
	}
	return n.strategy.AfterEnqueue(co)
}

func TestCoroutine_GEN10_HooksMaySpawnSuspendAndCancel(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			st := &nosy{strategy: strategy{e: e}}
			st.before = func(*scheduler.Coroutine) {
				e.Spawn(co, e.Sayer("nested"))
				assert.NoError(t, co.Yield(), "the spawner is whose body runs")
			}
			e.Spawn(co, e.Sayer("body"), scheduler.By(st))
			cotest.Yields(co, 2)
			assert.Equal(t, []string{"provide", "nested", "before", "after", "body"}, e.Said())

			st.before, st.after = nil, func(child *scheduler.Coroutine) { assert.NoError(t, child.Cancel(errStop)) }
			child := e.Spawn(co, e.Sayer("never"), scheduler.By(st))
			cotest.Yields(co, 2)
			assert.NotContains(t, e.Said(), "never")
			cotest.IsCancelled(t, child.Error(), errStop)

			st.before, st.after = func(child *scheduler.Coroutine) { assert.NoError(t, child.Cancel(errStop)) }, nil
			child = e.Spawn(co, e.Sayer("never"), scheduler.By(st))
			cotest.Yields(co, 2)
			assert.NotContains(t, e.Said(), "never")
			cotest.IsCancelled(t, child.Error(), errStop)

			return nil
		})
	})
}

func TestCoroutine_CORO27_PanicOfAHookIsTheSpawners(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			panics := func(*scheduler.Coroutine) { panic(errBoom) }
			for _, st := range []*nosy{{before: panics}, {after: panics}} {
				st.e = e
				assert.PanicsWithValue(t, errBoom, func() { _, _ = co.Spawn(e.Sayer("never"), scheduler.By(st)) })
			}
			cotest.Yields(co, 2)
			assert.NotContains(t, e.Said(), "never")
			return nil
		})
	})
}

func TestCoroutine_CORO28_SpawnWhereThereIsNothingToRunIn(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		never := func(*scheduler.Coroutine) error { t.Error("it ran"); return nil }
		s := e.Prepare()
		_, err := s.Main().Spawn(never)
		cotest.IsUsage(t, err, "Spawn", "not running", "Run")
		var main *scheduler.Coroutine
		require.NoError(t, e.Start(s, t.Context(), func(co *scheduler.Coroutine) error {
			main = co
			sub, err := co.Scope().New()
			require.NoError(t, err)
			require.NoError(t, sub.Cancel(errStop))
			for _, opts := range [][]scheduler.SpawnOption{nil, {scheduler.Named("x")}} {
				_, err = sub.Spawn(never, opts...)
				cotest.IsUsage(t, err, "Spawn", "stop")
			}
			_, err = sub.New()
			cotest.IsUsage(t, err, "Scope.New")
			_, err = co.Spawn(nil)
			assert.ErrorContains(t, err, "Spawn")
			_, err = (*scheduler.Coroutine)(nil).Spawn(never)
			cotest.IsUsage(t, err, "Spawn")
			_, err = (*scheduler.Scope)(nil).Spawn(never)
			cotest.IsUsage(t, err, "Spawn")
			cotest.Foreign(func() {
				_, err := co.Spawn(never)
				cotest.IsUsage(t, err, "Spawn", "goroutine")
				_, err = co.Scope().Spawn(never)
				cotest.IsUsage(t, err, "Spawn", "goroutine")
			})
			return nil
		}))
		_, err = main.Spawn(never)
		cotest.IsUsage(t, err, "Spawn", "not running")
		_, err = s.Main().Spawn(never)
		cotest.IsUsage(t, err, "Spawn", "not running")
	})
}

// A coroutine of a scope that was cancelled cannot start others in it, and can elsewhere.
func TestCoroutine_CORO28_SpawnByACoroutineOfACancelledScope(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			sub, err := co.Scope().New()
			require.NoError(t, err)
			e.Spawn(sub, func(self *scheduler.Coroutine) error {
				require.NoError(t, sub.Cancel(errStop))
				_, err := self.Spawn(e.Sayer("never"))
				cotest.IsUsage(t, err, "Spawn")
				e.Spawn(co, e.Sayer("elsewhere"))
				return nil
			})
			return nil
		})
		assert.Equal(t, []string{"elsewhere"}, e.Said())
	})
}
