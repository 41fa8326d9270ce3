package scope_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/internal/simreactor"
	"github.com/uvasync/uvasync/scheduler"
)

func TestGroup_GEN11_AwaitedInAnotherRun(t *testing.T) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			for _, g := range []event.Event{groupOf(t, co), groupSet(t, co)} {
				cotest.Foreign(func() {
					r := simreactor.New(1)
					defer r.Close()
					assert.NoError(t, scheduler.New(r, scheduler.Options{Name: "the-other"}).Run(context.Background(), func(co *scheduler.Coroutine) error {
						_, err := co.Await(g)
						cotest.IsUsage(t, err, "the-first", "the-other")
						_, _, err = co.AwaitFirst([]event.Event{g})
						cotest.IsUsage(t, err, "the-first", "the-other")
						return nil
					}))
				})
			}
			return nil
		}, cotest.WithName("the-first"))
	})
}
