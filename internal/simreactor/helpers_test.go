package simreactor_test

import (
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/simreactor"
)

// What the simulation has in common with libuv is tested in internal/reactortest.

const ms = time.Millisecond

type tester interface {
	require.TestingT
	Cleanup(func())
}

func newReactor(t tester) *simreactor.Reactor {
	r := simreactor.New(1)
	t.Cleanup(func() {
		assert.NoError(t, r.Close())
		assert.Zero(t, r.Live())
	})
	return r
}

func start(t tester, r *simreactor.Reactor, d time.Duration, fn func()) event.Deadline {
	deadline := r.NewDeadline(fn)
	require.NoError(t, deadline.Start(d))
	return deadline
}

func tick(t tester, r *simreactor.Reactor, block bool) int {
	n, err := r.Tick(block)
	require.NoError(t, err)
	return n
}

func run(t tester, r *simreactor.Reactor) {
	for r.Live() > 0 || r.Pending() {
		tick(t, r, true)
	}
}

func elapsed(r *simreactor.Reactor) time.Duration { return r.Now().Sub(simreactor.Epoch) }
