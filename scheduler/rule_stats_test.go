package scheduler_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/scheduler"
)

func TestScheduler_SwitchHandlers_AreCalledInOrderAndOutsideOfCoroutines(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		note := func(what string) func(*scheduler.Coroutine) {
			return func(co *scheduler.Coroutine) {
				e.say(what + " " + co.Name())
				assert.Nil(t, e.s.Current())
				isUsage(t, co.Yield())
			}
		}
		e.mustRun(func(co *scheduler.Coroutine) error {
			e.spawn(co, e.sayer("child runs"), scheduler.Named("child"))
			return co.Yield()
		}, withSwitch(&scheduler.SwitchHandlers{Enter: note("enter"), Leave: note("leave"), Finish: note("finish")}))
		assert.Equal(t, []string{
			"enter main", "leave main", "enter child", "child runs", "leave child", "finish child",
			"enter main", "leave main", "finish main",
		}, e.said())
	})
}

func TestScheduler_Stats_AreRightAtEveryMoment(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			st := e.s.Stats()
			assert.Equal(t, []int{1, 1, 0, 1, 0}, []int{st.Active, st.Total, st.Ready, st.Contexts, st.Idle})
			assert.Equal(t, uint64(1), st.Spawned)
			g := e.gate()
			for i := range 10 {
				var opts []scheduler.SpawnOption
				if i >= 6 {
					opts = append(opts, scheduler.Hidden())
				}
				e.spawn(co, waiter(g), opts...)
			}
			st = e.s.Stats()
			assert.Equal(t, []int{7, 11, 10, 1, 0}, []int{st.Active, st.Total, st.Ready, st.Contexts, st.Idle})
			_ = co.Yield()
			st = e.s.Stats()
			assert.Equal(t, []int{7, 11, 0, 11, 0}, []int{st.Active, st.Total, st.Ready, st.Contexts, st.Idle})
			g.open(nil, nil)
			assert.Equal(t, 10, e.s.Stats().Ready)
			_ = co.Yield()
			st = e.s.Stats()
			assert.Equal(t, []int{1, 1, 0, 11, 10}, []int{st.Active, st.Total, st.Ready, st.Contexts, st.Idle})
			assert.Equal(t, uint64(11), st.Spawned)
			turns := st.Turns
			require.NoError(t, co.Delay(ms))
			assert.Greater(t, e.s.Stats().Turns, turns)
			return nil
		})
	})
}

func TestScheduler_CoroutinesAreListedInOrderHiddenOnesToo(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			child, err := co.Scope().New()
			require.NoError(t, err)
			beside, err := e.s.NewRoot()
			require.NoError(t, err)
			g := e.gate()
			want := []*scheduler.Coroutine{co}
			for _, in := range []scheduler.Spawner{child, co, beside, co.Scope()} {
				want = append(want, e.spawn(in, waiter(g)), e.spawn(in, waiter(g), scheduler.Hidden()))
			}
			assert.Equal(t, want, e.s.Coroutines())
			_ = co.Yield()
			assert.Equal(t, want, e.s.Coroutines())
			g.open(nil, nil)
			_ = co.Yield()
			assert.Equal(t, want[:1], e.s.Coroutines())
			return nil
		})
	})
}

func TestScheduler_GEN09_HiddenHelpersAreServedButNeverKeepTheRunAlive(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		helped := 0
		e.mustRun(func(co *scheduler.Coroutine) error {
			e.spawn(co, func(co *scheduler.Coroutine) error {
				defer e.say("helper ended")
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
		assert.Equal(t, []string{"helper ended"}, e.said())
	})
}
