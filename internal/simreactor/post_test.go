package simreactor_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/goid"
)

func TestPost_ByAnotherGoroutineIsRefusedWhereItIsKnown(t *testing.T) {
	r := newReactor(t)
	trigger, err := r.NewTrigger()
	require.NoError(t, err)
	elsewhere := func(fn func()) {
		var group sync.WaitGroup
		group.Go(fn)
		group.Wait()
	}
	elsewhere(func() { assert.NoError(t, r.Post(func() {}), "nothing is known at first") })
	run(t, r)

	loop := goid.Get()
	r.SetOnLoop(func() bool { return goid.Get() == loop })
	require.NoError(t, r.Post(func() {}))
	trigger.Fire()
	run(t, r)
	elsewhere(func() {
		err := r.Post(func() { t.Error("it was refused") })
		assert.ErrorIs(t, err, event.ErrNotSimulated)
		assert.ErrorContains(t, err, "Reactor.Post")
		defer func() {
			err, _ := recover().(error)
			assert.ErrorIs(t, err, event.ErrNotSimulated)
			assert.ErrorContains(t, err, "Trigger.Fire")
		}()
		trigger.Fire()
	})
	assert.False(t, r.Pending())

	r.SetOnLoop(nil)
	elsewhere(func() { assert.NoError(t, r.Post(func() {})) })
	run(t, r)
}

func TestTrigger_REACT14_FiredByAnybodyOnceTheLoopIsClosedIsHarmless(t *testing.T) {
	r := newReactor(t)
	trigger, err := r.NewTrigger()
	require.NoError(t, err)
	r.SetOnLoop(func() bool { return false })
	require.NoError(t, r.Close())
	trigger.Fire()
}

func TestPost_ByManyGoroutinesIsSafe(t *testing.T) {
	r := newReactor(t)
	ran := 0
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 500 {
				assert.NoError(t, r.Post(func() { ran++ }))
			}
		})
	}
	for range 10 {
		tick(t, r, false)
	}
	group.Wait()
	run(t, r)
	assert.Equal(t, 2000, ran)
}
