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
	errBoom = errors.New("boom")
	errStop = errors.New("stop")
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

// destroys replaces Destroy, with the note that a resource is gone.
func (d *depot) destroys(fn func(co *scheduler.Coroutine, v *part) error) {
	d.cfg.Destroy = func(co *scheduler.Coroutine, v *part) error {
		d.gone = append(d.gone, v.id)
		return fn(co, v)
	}
}

// creates has fn run in each Create, with the number of the call, 1 the first: before the part is made, if fn returns no error.
func (d *depot) creates(fn func(co *scheduler.Coroutine, call int) error) {
	calls := 0
	d.cfg.Create = func(co *scheduler.Coroutine) (*part, error) {
		calls++
		if err := fn(co, calls); err != nil {
			return nil, err
		}
		return d.make(), nil
	}
}

// passes waits for the gate and returns what it was opened with.
func passes(co *scheduler.Coroutine, g *cotest.Gate) error {
	_, err := co.Await(g)
	return err
}

// gates makes n of them.
func (d *depot) gates(n int) []*cotest.Gate {
	all := make([]*cotest.Gate, n)
	for i := range all {
		all[i] = d.e.Gate()
	}
	return all
}

// got checks that the visits have got these resources, in that order; 0: none, and no error, so far.
func got(t *testing.T, vs []*visit, want ...int) {
	t.Helper()
	var all []int
	for _, v := range vs {
		id := 0
		if v.over && assert.NoError(t, v.err) {
			id = v.h.Value().id
		}
		all = append(all, id)
	}
	assert.Equal(t, want, all)
}

// join waits until they are over.
func join(t *testing.T, co *scheduler.Coroutine, vs ...*visit) {
	t.Helper()
	for _, v := range vs {
		_, err := co.Await(v.co)
		require.NoError(t, err)
	}
}

// tries is TryAcquire that must not fail.
func (d *depot) tries(co *scheduler.Coroutine) (h handle, ok bool) {
	d.t.Helper()
	h, ok, err := d.p.TryAcquire(co)
	assert.NoError(d.t, err)
	return h, ok
}

// works checks that the pool is usable, to its limit, and that nothing is left out by that.
func (d *depot) works(co *scheduler.Coroutine) {
	d.t.Helper()
	hs := d.take(co, d.p.Stats().Max)
	d.has(len(hs), 0, len(hs))
	give(d.t, co, hs...)
	d.has(len(hs), len(hs), 0)
}

// spyStrategy counts what a strategy is told, and calls functions that look.
type spyStrategy struct {
	asked              int
	successes          int
	failures           []error
	onSuccess, onError func(src pool.Source)
}

func (s *spyStrategy) ReportSuccess(src pool.Source) {
	s.successes++
	if s.onSuccess != nil {
		s.onSuccess(src)
	}
}

func (s *spyStrategy) ReportFailure(src pool.Source, err error) {
	s.failures = append(s.failures, err)
	if s.onError != nil {
		s.onError(src)
	}
}

func (s *spyStrategy) ShouldRecover(pool.Source) bool { s.asked++; return false }

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
