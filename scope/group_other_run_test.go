package scope_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/simreactor"
	"github.com/uvasync/uvasync/scheduler"
)

func TestGroup_GEN11_AwaitedInAnotherRun(t *testing.T) {
	simulated(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			for _, g := range []event.Event{groupOf(t, co), groupSet(t, co)} {
				foreign(func() {
					r := simreactor.New(1)
					defer r.Close()
					assert.NoError(t, scheduler.New(r, scheduler.Options{Name: "the-other"}).Run(context.Background(), func(co *scheduler.Coroutine) error {
						_, err := co.Await(g)
						isUsage(t, err, "the-first", "the-other")
						_, _, err = co.AwaitFirst([]event.Event{g})
						isUsage(t, err, "the-first", "the-other")
						return nil
					}))
				})
			}
			return nil
		}, withName("the-first"))
	})
}
