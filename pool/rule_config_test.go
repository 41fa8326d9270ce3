package pool_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/pool"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

// kindOf makes the parts of a depot by methods.
type kindOf struct{ d *depot }

func (k kindOf) Create(*scheduler.Coroutine) (*part, error) { return k.d.make(), nil }

func (k kindOf) Destroy(_ *scheduler.Coroutine, v *part) error {
	k.d.gone = append(k.d.gone, v.id)
	return nil
}

func TestPool_POOL01_RefusesBadConfigurations(t *testing.T) {
	for name, change := range map[string]func(d *depot){
		"Min":               func(d *depot) { d.cfg.Min = -1 },
		"Max":               func(d *depot) { d.cfg.Max = -1 },
		"Min above Max":     func(d *depot) { d.cfg.Min, d.cfg.Max = 3, 2 },
		"Min above default": func(d *depot) { d.cfg.Min, d.cfg.Max = 11, 0 },
		"HealthInterval":    func(d *depot) { d.cfg.HealthInterval = -1 },
		"MaxLifetime":       func(d *depot) { d.cfg.MaxLifetime = -1 },
		"MaxIdleTime":       func(d *depot) { d.cfg.MaxIdleTime = -time.Hour },
		"AcquireTimeout":    func(d *depot) { d.cfg.AcquireTimeout = -1 },
		"Jitter, negative":  func(d *depot) { d.cfg.Jitter = -0.5 },
		"Jitter, large":     func(d *depot) { d.cfg.Jitter = 1.01 },
		"Jitter, NaN":       func(d *depot) { d.cfg.Jitter = math.NaN() },
		"no Create":         func(d *depot) { d.cfg.Create = nil },
		"Create and Kind":   func(d *depot) { d.cfg.Kind = kindOf{d} },
		"Destroy and Kind":  func(d *depot) { d.cfg.Create, d.cfg.Kind = nil, kindOf{d} },
		"BeforeRelease and Kind": func(d *depot) {
			d.cfg.Create, d.cfg.Destroy, d.cfg.Kind, d.cfg.BeforeRelease = nil, nil, kindOf{d}, fine
		},
	} {
		t.Run(name, func(t *testing.T) {
			inRun(t, 3, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
				d.cfg.Min = 1
				change(d)
				p, err := pool.New(co, d.cfg)
				var invalid *event.InvalidArgumentError
				require.ErrorAs(t, err, &invalid)
				assert.ErrorIs(t, err, event.ErrInvalidArgument)
				assert.Equal(t, "pool: New", invalid.Call)
				assert.NotEmpty(t, invalid.Arg)
				assert.NotEmpty(t, invalid.Legal)
				assert.Nil(t, p)
				assert.Empty(t, d.made)
			})
		})
	}
}

func TestPool_POOL01_TakesTheBoundsAndDefaults(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.cfg.Jitter, d.cfg.MaxLifetime = pool.NoJitter, 1
		assert.Equal(t, 1, d.open(co).Stats().Max)
		require.NoError(t, d.p.Close(co))

		d.cfg.Min, d.cfg.Max, d.cfg.Jitter, d.cfg.MaxLifetime = 10, 0, 1, hour
		st := d.open(co).Stats()
		assert.Equal(t, []int{10, 10}, []int{st.Min, st.Max}, "min is max, the default")
		d.has(10, 10, 0)
	})
}

func TestPool_POOL01_AKindAlone(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.cfg = pool.Config[*part]{Kind: kindOf{d}, Max: 1}
		d.open(co)
		h := d.take(co, 1)[0]
		assert.Equal(t, 1, h.Value().id)
		require.NoError(t, h.Destroy(co))
		assert.Equal(t, []int{1}, d.gone)
	})
}

func TestPool_POOL02_MinAreMadeOneAfterTheOther(t *testing.T) {
	inRun(t, 5, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.cfg.Min = 3
		making := 0
		d.creates(func(co *scheduler.Coroutine, _ int) error {
			making++
			assert.Equal(t, 1, making)
			defer func() { making-- }()
			return co.Delay(ms)
		})
		d.open(co)
		assert.Equal(t, []int{1, 2, 3}, d.made)
		d.has(3, 3, 0)
		hs := d.take(co, 3)
		assert.Equal(t, []int{1, 2, 3}, ids(hs...), "oldest first")
		give(t, co, hs...)
		assert.Equal(t, uint64(3), d.p.Stats().Created)
	})
}

func TestPool_POOL02_AFailureStopsItAndIsReturned(t *testing.T) {
	inRun(t, 5, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.cfg.Min = 5
		calls := 0
		d.creates(func(_ *scheduler.Coroutine, call int) error {
			if calls = call; call == 3 {
				return errMake
			}
			return nil
		})
		p, err := pool.New(co, d.cfg)
		assert.ErrorIs(t, err, errMake)
		assert.Nil(t, p)
		assert.Equal(t, 3, calls)
		assert.ElementsMatch(t, []int{1, 2}, d.gone, "destroyed before New returns")
	})
}

func TestPool_POOL02_GEN08_AFailureOfDestroyIsNotLost(t *testing.T) {
	inRun(t, 5, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.cfg.Min = 2
		d.creates(func(_ *scheduler.Coroutine, call int) error {
			if call == 2 {
				return errMake
			}
			return nil
		})
		d.destroys(func(*scheduler.Coroutine, *part) error { return errRuin })
		_, err := pool.New(co, d.cfg)
		assert.ErrorIs(t, err, errMake)
		assert.ErrorIs(t, errors.Join(append(d.told, err)...), errRuin)
	})
}

func TestPool_POOL02_OtherFailures(t *testing.T) {
	for name, test := range map[string]struct {
		create func(co *scheduler.Coroutine) (*part, error)
		check  func(t *testing.T, err error)
	}{
		"a panic": {func(*scheduler.Coroutine) (*part, error) { panic(errBoom) }, func(t *testing.T, err error) {
			var p *event.PanicError
			assert.ErrorAs(t, err, &p)
			assert.ErrorIs(t, err, errBoom)
		}},
		"nothing": {func(*scheduler.Coroutine) (*part, error) { return nil, nil }, func(t *testing.T, err error) {
			assert.ErrorIs(t, err, pool.ErrNoResource)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
				d.cfg.Min, d.cfg.Create = 1, test.create
				p, err := pool.New(co, d.cfg)
				test.check(t, err)
				assert.Nil(t, p)
			})
		})
	}
}

func TestPool_POOL02_CancelledWhileMinAreMade(t *testing.T) {
	inRun(t, 3, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.cfg.Min = 3
		d.creates(func(co *scheduler.Coroutine, call int) error {
			if call == 2 {
				return co.Delay(5 * ms)
			}
			return nil
		})
		child := d.e.Spawn(co, func(co *scheduler.Coroutine) error {
			p, err := pool.New(co, d.cfg)
			cotest.IsCancelled(t, err, errStop)
			assert.Nil(t, p)
			return nil
		})
		settle(co)
		require.NoError(t, child.Cancel(errStop))
		require.NoError(t, co.Delay(20*ms))
		assert.True(t, child.Completed())
		assert.NotContains(t, d.made, 3)
		assert.ElementsMatch(t, d.made, d.gone, "nobody has the pool")
	})
}

func TestPool_New_OfAScopeThatIsClosed(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		s := scope.New(co)
		require.NoError(t, s.Dispose())
		d.cfg.Scope, d.cfg.Min = s, 1
		p, err := pool.New(co, d.cfg)
		assert.ErrorIs(t, err, event.ErrClosed)
		assert.Nil(t, p)
		assert.Empty(t, d.made)
	})
}

func TestPool_SCOPE07_NewInAClosedScope(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			sc, err := co.Scope().New()
			require.NoError(t, err)
			require.NoError(t, sc.Dispose(errReason))
			d := newDepot(e, 1)
			d.cfg.Scope, d.cfg.Min = sc, 1
			_, err = pool.New(co, d.cfg)
			assert.ErrorIs(t, err, event.ErrClosed)
			assert.Empty(t, d.made)
			return nil
		})
	})
}
