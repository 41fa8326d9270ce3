package scheduler_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

func TestScheduler_SwitchHandlers_AreCalledInOrderAndOutsideOfCoroutines(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		note := func(what string) func(*scheduler.Coroutine) {
			return func(co *scheduler.Coroutine) {
				e.Say(what + " " + co.Name())
				assert.Nil(t, e.S.Current())
				cotest.IsUsage(t, co.Yield())
			}
		}
		e.MustRun(func(co *scheduler.Coroutine) error {
			e.Spawn(co, e.Sayer("child runs"), scheduler.Named("child"))
			return co.Yield()
		}, withSwitch(&scheduler.SwitchHandlers{Enter: note("enter"), Leave: note("leave"), Finish: note("finish")}))
		assert.Equal(t, []string{
			"enter main", "leave main", "enter child", "child runs", "leave child", "finish child",
			"enter main", "leave main", "finish main",
		}, e.Said())
	})
}

func TestScheduler_Stats_AreRightAtEveryMoment(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			st := e.S.Stats()
			assert.Equal(t, []int{1, 1, 0, 1, 0}, []int{st.Active, st.Total, st.Ready, st.Contexts, st.Idle})
			assert.Equal(t, uint64(1), st.Spawned)
			g := e.Gate()
			for i := range 10 {
				var opts []scheduler.SpawnOption
				if i >= 6 {
					opts = append(opts, scheduler.Hidden())
				}
				e.Spawn(co, cotest.Waiter(g), opts...)
			}
			st = e.S.Stats()
			assert.Equal(t, []int{7, 11, 10, 1, 0}, []int{st.Active, st.Total, st.Ready, st.Contexts, st.Idle})
			_ = co.Yield()
			st = e.S.Stats()
			assert.Equal(t, []int{7, 11, 0, 11, 0}, []int{st.Active, st.Total, st.Ready, st.Contexts, st.Idle})
			g.Open(nil, nil)
			assert.Equal(t, 10, e.S.Stats().Ready)
			_ = co.Yield()
			st = e.S.Stats()
			assert.Equal(t, []int{1, 1, 0, 11, 10}, []int{st.Active, st.Total, st.Ready, st.Contexts, st.Idle})
			assert.Equal(t, uint64(11), st.Spawned)
			turns := st.Turns
			require.NoError(t, co.Delay(ms))
			assert.Greater(t, e.S.Stats().Turns, turns)
			return nil
		})
	})
}

func TestScheduler_CoroutinesAreListedInOrderHiddenOnesToo(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			child, err := co.Scope().New()
			require.NoError(t, err)
			beside, err := e.S.NewRoot()
			require.NoError(t, err)
			g := e.Gate()
			want := []*scheduler.Coroutine{co}
			for _, in := range []scheduler.Spawner{child, co, beside, co.Scope()} {
				want = append(want, e.Spawn(in, cotest.Waiter(g)), e.Spawn(in, cotest.Waiter(g), scheduler.Hidden()))
			}
			assert.Equal(t, want, e.S.Coroutines())
			_ = co.Yield()
			assert.Equal(t, want, e.S.Coroutines())
			g.Open(nil, nil)
			_ = co.Yield()
			assert.Equal(t, want[:1], e.S.Coroutines())
			return nil
		})
	})
}

func TestScheduler_GEN09_HiddenHelpersAreServedButNeverKeepTheRunAlive(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		helped := 0
		e.MustRun(func(co *scheduler.Coroutine) error {
			e.Spawn(co, func(co *scheduler.Coroutine) error {
				defer e.Say("helper ended")
				for {
					if err := co.Delay(ms); err != nil {
						return err
					}
					helped++
				}
			}, scheduler.Hidden())
			for helped < 3 {
				if err := co.Delay(ms); err != nil {
					return err
				}
			}
			return nil
		})
		assert.Equal(t, []string{"helper ended"}, e.Said())
	})
}
