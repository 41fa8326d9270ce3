package scope_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/uvasync/uvasync/scope"
)

const (
	ms   = time.Millisecond
	hour = time.Hour
)

var (
	errBoom  = errors.New("boom")
	errOther = errors.New("other")
	errStop  = errors.New("stop")
)

// counts checks the figures of a scope's own coroutines.
func counts(t *testing.T, s *scope.Scope, active, zombies, total int) {
	t.Helper()
	assert.Equal(t, scope.Stats{Active: active, Zombies: zombies, Total: total}, s.Stats())
}
