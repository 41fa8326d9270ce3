package pool_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/pool"
	"github.com/uvasync/uvasync/scheduler"
)

// plainKind makes parts.
type plainKind struct{}

func (plainKind) Create(*scheduler.Coroutine) (*part, error)            { return &part{}, nil }
func (plainKind) Destroy(_ *scheduler.Coroutine, _ *part) error         { return nil }
func (plainKind) HealthCheck(*scheduler.Coroutine, *part) (bool, error) { return true, nil }

// guardedKind looks at parts when they change hands.
type guardedKind struct {
	plainKind
	acquired, released *int
}

func (k guardedKind) BeforeAcquire(_ *scheduler.Coroutine, v *part) (bool, error) {
	*k.acquired++
	return !v.bad, nil
}

func (k guardedKind) BeforeRelease(_ *scheduler.Coroutine, v *part) (bool, error) {
	*k.released++
	return !v.bad, nil
}

// silent is a strategy that does nothing.
type silent struct{}

func (silent) ReportSuccess(pool.Source)        {}
func (silent) ReportFailure(pool.Source, error) {}
func (silent) ShouldRecover(pool.Source) bool   { return true }

// allocConfigs are pools of which nothing is allocated when a resource changes hands.
func allocConfigs() map[string]pool.Config[*part] {
	create := func(*scheduler.Coroutine) (*part, error) { return &part{}, nil }
	n := new(int)
	return map[string]pool.Config[*part]{
		"functions":            {Create: create},
		"guarded by functions": {Create: create, BeforeAcquire: fine, BeforeRelease: fine},
		"kind":                 {Kind: plainKind{}},
		"guarded kind":         {Kind: guardedKind{acquired: n, released: n}},
		"strategy":             {Create: create, Strategy: silent{}},
		"consecutive failures": {Create: create, Strategy: &pool.ConsecutiveFailures{}},
		"failure rate":         {Create: create, Strategy: &pool.FailureRate{}},
		"limits": {Create: create, MaxLifetime: hour, MaxIdleTime: hour, HealthInterval: hour, HealthCheck: fine,
			AcquireTimeout: time.Hour},
	}
}

func TestPool_Kind_ItsMethodsAreTheHooks(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		var acquired, released int
		e.MustRun(func(co *scheduler.Coroutine) error {
			p, err := pool.New(co, pool.Config[*part]{Max: 1, Kind: guardedKind{acquired: &acquired, released: &released}})
			require.NoError(t, err)
			h, err := p.Acquire(co)
			require.NoError(t, err)
			require.NoError(t, h.Release(co))
			assert.Equal(t, []int{0, 1}, []int{acquired, released}, "not asked for a new one (POOL-20)")
			h, err = p.Acquire(co)
			require.NoError(t, err)
			h.Value().bad = true
			require.NoError(t, h.Release(co))
			assert.Equal(t, []int{1, 2}, []int{acquired, released})
			assert.Zero(t, p.Stats().Total)
			return nil
		})
	})
}

func TestPool_AcquireAndReleaseAllocateNothing(t *testing.T) {
	for name, cfg := range allocConfigs() {
		t.Run(name, func(t *testing.T) {
			cotest.Each(t, func(t *testing.T, e *cotest.Env) {
				e.MustRun(func(co *scheduler.Coroutine) error {
					cfg.Max = 4
					p, err := pool.New(co, cfg)
					require.NoError(t, err)
					round := func() {
						a, _ := p.Acquire(co)
						b, ok, _ := p.TryAcquire(co)
						if !ok || a.Release(co) != nil || b.Release(co) != nil {
							panic("it does not work")
						}
					}
					for range 10 {
						round()
					}
					assert.Zero(t, testing.AllocsPerRun(100, round))
					timed := func() {
						a, _ := p.Acquire(co, scheduler.Timeout(time.Hour))
						if a.Release(co) != nil {
							panic("it does not work")
						}
					}
					timed()
					if cfg.BeforeAcquire == nil && name != "guarded kind" { // which the timeout bounds: that is a block of the coroutine
						assert.Zero(t, testing.AllocsPerRun(100, timed), "with a timeout")
					}
					assert.EqualValues(t, 2, p.Stats().Created)
					return nil
				})
			})
		})
	}
}

func TestPool_WithAllocatesNothing(t *testing.T) {
	for name, cfg := range allocConfigs() {
		t.Run(name, func(t *testing.T) {
			cotest.Each(t, func(t *testing.T, e *cotest.Env) {
				e.MustRun(func(co *scheduler.Coroutine) error {
					p, err := pool.New(co, cfg)
					require.NoError(t, err)
					fn := func(*scheduler.Coroutine, *part) error { return nil }
					assert.Zero(t, testing.AllocsPerRun(100, func() { _ = p.With(co, fn) }))
					return nil
				})
			})
		})
	}
}

func TestPool_WaitingAllocatesNothing(t *testing.T) {
	for name, cfg := range allocConfigs() {
		t.Run(name, func(t *testing.T) {
			cotest.Each(t, func(t *testing.T, e *cotest.Env) {
				e.MustRun(func(co *scheduler.Coroutine) error {
					cfg.Max = 1
					p, err := pool.New(co, cfg)
					require.NoError(t, err)
					stop := false
					var rivals []*scheduler.Coroutine
					for range 3 {
						rivals = append(rivals, e.Spawn(co, func(co *scheduler.Coroutine) error {
							for !stop {
								h, err := p.Acquire(co)
								if err != nil {
									return err
								}
								if err := co.Yield(); err != nil {
									return err
								}
								if err := h.Release(co); err != nil {
									return err
								}
							}
							return nil
						}))
					}
					round := func() {
						h, err := p.Acquire(co)
						if err != nil || co.Yield() != nil || h.Release(co) != nil {
							panic("it does not work")
						}
					}
					for range 20 {
						round()
					}
					before := p.Stats().EmptyAcquired
					assert.Zero(t, testing.AllocsPerRun(100, round))
					assert.GreaterOrEqual(t, p.Stats().EmptyAcquired-before, uint64(400), "everybody has waited each time")
					stop = true
					for _, r := range rivals {
						_, err := co.Await(r)
						require.NoError(t, err)
					}
					assert.EqualValues(t, 1, p.Stats().Created)
					return nil
				})
			})
		})
	}
}

func TestPool_HealthChecksAllocateNothingForEachResource(t *testing.T) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			costs := func(n int) float64 {
				p, err := pool.New(co, pool.Config[*part]{Kind: plainKind{}, Min: n, Max: n, HealthInterval: ms})
				require.NoError(t, err)
				defer func() { require.NoError(t, p.Close(co)) }()
				return testing.AllocsPerRun(100, func() { _ = co.Delay(2 * ms) })
			}
			few, many := costs(1), costs(100)
			assert.Less(t, many-few, 50.0, "for 200 checks")
			return nil
		})
	})
}
