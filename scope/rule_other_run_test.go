package scope_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/internal/simreactor"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

// With -race: a scope that is awaited by mistake in a run that goes on at the same time.
func TestScope_GEN11_AwaitedInAnotherRunAtTheSameTime(t *testing.T) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			var all []*scope.Scope
			for range 100 {
				s := scope.New(co)
				e.Spawn(s, cotest.Sleeper(ms))
				all = append(all, s)
			}
			done := make(chan struct{})
			go func() {
				defer close(done)
				r := simreactor.New(1)
				defer r.Close()
				assert.NoError(t, scheduler.New(r, scheduler.Options{}).Run(context.Background(), func(co *scheduler.Coroutine) error {
					for _, s := range all {
						_, err := co.Await(s)
						cotest.IsUsage(t, err, "Await")
					}
					return nil
				}))
			}()
			for _, s := range all {
				assert.NoError(t, s.AwaitCompletion(co))
			}
			<-done
			return nil
		})
	})
}
