package scope_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

// Twenty thousand scopes below each other: with time that grows with the square of it, this would take minutes.
func TestStorm_VeryDeepTrees(t *testing.T) {
	for name, end := range map[string]func(all []*scope.Scope){
		"cancel": func(all []*scope.Scope) { _ = all[0].Cancel(nil) },
		"close each, innermost first": func(all []*scope.Scope) {
			for i := len(all) - 1; i >= 0; i-- {
				_ = all[i].Close()
			}
		},
		"left to the end of the run": func([]*scope.Scope) {},
	} {
		t.Run(name, func(t *testing.T) {
			cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
				e.MustRun(func(co *scheduler.Coroutine) error {
					var owner scheduler.Scoped = co
					var all []*scope.Scope
					g := e.Gate()
					for range 20_000 {
						s := scope.Inherit(owner)
						owner, all = s, append(all, s)
						e.Spawn(s, cotest.Waiter(g))
					}
					require.NoError(t, co.Yield())
					end(all)
					g.Open(nil, nil)
					return nil
				})
			})
		})
	}
}
