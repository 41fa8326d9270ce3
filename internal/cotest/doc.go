// Package cotest runs coroutines in tests: on libuv and in virtual time, one body for all. For tests only.
//
//	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
//		e.MustRun(func(co *scheduler.Coroutine) error {
//			e.Spawn(co, e.Sayer("child"))
//			cotest.Yields(co, 1)
//			assert.Equal(t, []string{"child"}, e.Said())
//			return nil
//		})
//	})
package cotest
