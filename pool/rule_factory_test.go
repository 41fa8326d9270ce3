package pool_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/pool"
	"github.com/uvasync/uvasync/scheduler"
)

func TestPool_POOL04_NeverMoreThanMaxAreMadeAtOnce(t *testing.T) {
	inRun(t, 3, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		g := d.e.Gate()
		begun := 0
		d.creates(func(co *scheduler.Coroutine, _ int) error {
			begun++
			agree(t, d.p.Stats())
			return passes(co, g)
		})
		p := d.open(co)
		vs := d.queued(co, 10)
		assert.Equal(t, 3, begun)
		d.has(3, 0, 3)
		assert.Equal(t, 3, p.Stats().Constructing)
		_, ok := d.tries(co)
		assert.False(t, ok, "those in the making count")
		assert.Equal(t, 3, begun)
		g.Open(nil, nil)
		settle(co)
		got(t, vs, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0)
		for i, v := range vs {
			join(t, co, v)
			give(t, co, v.h)
			agree(t, p.Stats())
			assert.Equal(t, i%3+1, v.h.Value().id)
		}
		assert.Equal(t, 3, begun)
		d.has(3, 3, 0)
	})
}

func TestPool_POOL04_AllAtOnce(t *testing.T) {
	inRun(t, 3, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.creates(func(co *scheduler.Coroutine, _ int) error {
			assert.LessOrEqual(t, d.p.Stats().Total, 3)
			return co.Delay(ms)
		})
		p := d.open(co)
		var vs []*scheduler.Coroutine
		for range 10 {
			vs = append(vs, d.e.Spawn(co, func(co *scheduler.Coroutine) error {
				return p.With(co, func(co *scheduler.Coroutine, _ *part) error {
					agree(t, p.Stats())
					return co.Delay(ms)
				})
			}))
		}
		for _, v := range vs {
			_, err := co.Await(v)
			require.NoError(t, err)
		}
		assert.Equal(t, []int{1, 2, 3}, d.made)
		d.has(3, 3, 0)
	})
}

// failures are the ways in which a Create fails.
var failures = map[string]struct {
	fail  func() error
	check func(t *testing.T, err error)
}{
	"an error": {
		func() error { return errMake },
		func(t *testing.T, err error) { isOfHook(t, err, "Create", errMake) },
	},
	"a panic": {
		func() error { panic(errMake) },
		func(t *testing.T, err error) {
			var p *event.PanicError
			require.ErrorAs(t, err, &p)
			assert.Equal(t, any(errMake), p.Value)
			assert.ErrorIs(t, err, errMake)
		},
	},
}

func TestPool_POOL05_TheErrorGoesToTheCaller(t *testing.T) {
	for name, f := range failures {
		t.Run(name, func(t *testing.T) {
			inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
				d.creates(func(co *scheduler.Coroutine, call int) error {
					switch call {
					case 1:
						return f.fail()
					case 2:
						_ = co.Delay(ms)
						return f.fail()
					case 3:
						return f.fail()
					}
					return nil
				})
				p := d.open(co)
				for range 2 {
					_, err := p.Acquire(co)
					f.check(t, err)
					d.has(0, 0, 0)
				}
				h, ok, err := p.TryAcquire(co)
				f.check(t, err)
				assert.False(t, ok)
				assert.Nil(t, h.Value())
				d.has(0, 0, 0)
				st := p.Stats()
				assert.Equal(t, []int{0, 0, 0}, []int{st.Waiting, st.Constructing, st.Reserved})
				assert.Equal(t, []uint64{3, 0, 0}, []uint64{st.CreateFailures, st.Created, st.Destroyed})
				d.works(co)
				assert.Empty(t, d.gone)
				assert.Empty(t, d.told, "the caller has it")
			})
		})
	}
}

// GEN-05: the place of a failed creation goes to the next, who gets a creation of his own.
func TestPool_POOL05_TheNextMakesItsOwn(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		gs := d.gates(3)
		d.creates(func(co *scheduler.Coroutine, call int) error { return passes(co, gs[call-1]) })
		p := d.open(co)
		vs := d.queued(co, 3)
		gs[0].Open(nil, errMake)
		settle(co)
		isOfHook(t, vs[0].err, "Create", errMake)
		assert.False(t, vs[1].over)
		assert.Equal(t, 1, p.Stats().Constructing)
		gs[1].Open(nil, nil)
		settle(co)
		got(t, vs[1:], 1, 0)
		give(t, co, vs[1].h)
		join(t, co, vs[2])
		got(t, vs[1:], 1, 1)
		give(t, co, vs[2].h)
		assert.Equal(t, []int{1}, d.made)
		assert.Zero(t, gs[2].Starts)
	})
}

// Only who has started it gets the error, whoever is first in line.
func TestPool_POOL05_OnlyWhoHasStartedIt(t *testing.T) {
	inRun(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		gs := d.gates(2)
		d.creates(func(co *scheduler.Coroutine, call int) error { return passes(co, gs[call-1]) })
		d.open(co)
		vs := d.queued(co, 2)
		gs[1].Open(nil, errMake)
		settle(co)
		assert.False(t, vs[0].over)
		isOfHook(t, vs[1].err, "Create", errMake)
		gs[0].Open(nil, nil)
		join(t, co, vs[0])
		got(t, vs[:1], 1)
		give(t, co, vs[0].h)
	})
}

// nothings checks that Acquire and TryAcquire of a pool whose Create gives nil have nothing, and keep working.
func nothings[T any](t *testing.T, nothing, something T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			v := nothing
			p, err := pool.New(co, pool.Config[T]{Max: 1, Create: func(*scheduler.Coroutine) (T, error) { return v, nil }})
			require.NoError(t, err)
			_, err = p.Acquire(co)
			assert.ErrorIs(t, err, pool.ErrNoResource)
			_, ok, err := p.TryAcquire(co)
			assert.False(t, ok)
			assert.NoError(t, err)
			st := p.Stats()
			assert.Equal(t, []int{0, 0, 0, 0}, []int{st.Total, st.Idle, st.Active, st.Waiting})
			v = something
			h, ok, err := p.TryAcquire(co)
			assert.True(t, ok)
			assert.NoError(t, err)
			return h.Release(co)
		})
	})
}

func TestPool_POOL06_CreateGivesNothing(t *testing.T) {
	t.Run("pointer", func(t *testing.T) { nothings(t, nil, new(int)) })
	t.Run("interface", func(t *testing.T) { nothings[error](t, nil, errBoom) })
	t.Run("func", func(t *testing.T) { nothings(t, nil, func() {}) })
	t.Run("chan", func(t *testing.T) { nothings(t, nil, make(chan int)) })
}

// The error may also be Create's own choice.
func TestPool_POOL06_CreateSaysThatItHasNothing(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.creates(func(co *scheduler.Coroutine, call int) error {
			if call <= 2 {
				return pool.ErrNoResource
			}
			return nil
		})
		p := d.open(co)
		_, err := p.Acquire(co)
		assert.ErrorIs(t, err, pool.ErrNoResource)
		_, ok := d.tries(co)
		assert.False(t, ok)
		d.works(co)
	})
}
