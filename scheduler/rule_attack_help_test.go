package scheduler_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/uvasync/uvasync/internal/simreactor"
)

func newSim(t *testing.T) *simreactor.Reactor {
	r := simreactor.New(1)
	t.Cleanup(func() { assert.NoError(t, r.Close()) })
	return r
}
