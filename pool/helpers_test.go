package pool_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/pool"
	"github.com/uvasync/uvasync/scheduler"
)

const (
	ms   = time.Millisecond
	hour = time.Hour
)

var (
	errBoom    = errors.New("boom")
	errStop    = errors.New("stop")
	errMake    = errors.New("cannot be made")
	errRuin    = errors.New("cannot be destroyed")
	errCheck   = errors.New("cannot be checked")
	errReason  = errors.New("the reason")
	errOutcome = errors.New("the outcome")
)

// inRun runs body as the main coroutine on each loop, with a depot for a pool of that many at most. The run must end without an
// error, and unless something is still out when body ends, all that was made must be destroyed then, each once.
func inRun(t *testing.T, limit int, body func(t *testing.T, d *depot, co *scheduler.Coroutine)) {
	t.Helper()
	cotest.Each(t, func(t *testing.T, e *cotest.Env) { runOf(t, e, limit, body) })
}

// inVirtualTime is inRun for exact times.
func inVirtualTime(t *testing.T, limit int, body func(t *testing.T, d *depot, co *scheduler.Coroutine)) {
	t.Helper()
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) { runOf(t, e, limit, body) })
}

func runOf(t *testing.T, e *cotest.Env, limit int, body func(t *testing.T, d *depot, co *scheduler.Coroutine)) {
	d := newDepot(e, limit)
	var end pool.Stats
	e.MustRun(func(co *scheduler.Coroutine) error {
		body(t, d, co)
		if d.p != nil {
			end = d.p.Stats()
			agree(t, end)
		}
		return nil
	})
	if end.Active == 0 && end.Waiting == 0 && end.Hijacked == 0 {
		gone := slices.Clone(d.gone)
		slices.Sort(gone)
		assert.Equal(t, d.made, gone, "each that was made is destroyed when the run ends, and once")
	}
}

// passes waits for the gate and returns what it was opened with.
func passes(co *scheduler.Coroutine, g *cotest.Gate) error {
	_, err := co.Await(g)
	return err
}

// settle lets everything happen that needs no time.
func settle(co *scheduler.Coroutine) { cotest.Yields(co, 8) }

// pause lets d and a bit more go by.
func pause(t *testing.T, co *scheduler.Coroutine, d time.Duration) {
	t.Helper()
	require.NoError(t, co.Delay(d))
	settle(co)
}

// until waits for what a hidden timer brings about.
func until(t *testing.T, co *scheduler.Coroutine, done func() bool) {
	t.Helper()
	for end := co.Now().Add(cotest.Patience / 2); !done(); {
		require.NoError(t, co.Delay(time.Millisecond))
		require.True(t, co.Now().Before(end), "what was waited for does not come")
	}
	settle(co)
}

func isOneOf(err error, wanted ...error) bool {
	return slices.ContainsFunc(wanted, func(w error) bool { return errors.Is(err, w) })
}

// isOfHook checks that err is this failure of that hook, as the pool tells it.
func isOfHook(t *testing.T, err error, hook string, failure error) {
	t.Helper()
	var of *pool.HookError
	if assert.ErrorAs(t, err, &of) {
		assert.Equal(t, hook, of.Hook)
		assert.Same(t, failure, of.Err)
	}
}
