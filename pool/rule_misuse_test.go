package pool_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/internal/simreactor"
	"github.com/uvasync/uvasync/pool"
	"github.com/uvasync/uvasync/scheduler"
)

// callsWith are the calls of a pool and a handle that take the coroutine that calls.
func callsWith(d *depot, h handle, co *scheduler.Coroutine) map[string]func() error {
	return map[string]func() error{
		"Acquire":    func() error { _, err := d.p.Acquire(co); return err },
		"TryAcquire": func() error { _, _, err := d.p.TryAcquire(co); return err },
		"With": func() error {
			return d.p.With(co, func(*scheduler.Coroutine, *part) error { d.t.Error("called"); return nil })
		},
		"Reset":       func() error { return d.p.Reset(co) },
		"Close":       func() error { return d.p.Close(co) },
		"AwaitClosed": func() error { return d.p.AwaitClosed(co) },
		"Release":     func() error { return h.Release(co) },
		"Destroy":     func() error { return h.Destroy(co) },
	}
}

// callsWithout are the others, which are for the loop.
func callsWithout(d *depot, h handle) map[string]func() error {
	panics := func(fn func()) func() error {
		return func() error { return cotest.PanicOf(d.t, fn) }
	}
	return map[string]func() error{
		"Hijack":         func() error { _, err := h.Hijack(); return err },
		"AcquireAllIdle": func() error { _, err := d.p.AcquireAllIdle(); return err },
		"Activate":       d.p.Activate,
		"Deactivate":     d.p.Deactivate,
		"Recover":        d.p.Recover,
		"SetStrategy":    func() error { return d.p.SetStrategy(&recorder{}) },
		"Stats":          panics(func() { d.p.Stats() }),
		"Info":           panics(func() { _ = d.p.Info() }),
		"State":          panics(func() { d.p.State() }),
	}
}

// unharmed has main acquire and release in a pool of two, and everything in between change nothing.
func unharmed(t *testing.T, between func(t *testing.T, d *depot, h handle, co *scheduler.Coroutine)) {
	t.Helper()
	inRun(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		p := d.open(co)
		hs := d.take(co, 2)
		give(t, co, hs[0])
		before := p.Stats()
		between(t, d, hs[1], co)
		assert.Equal(t, before, p.Stats())
		assert.Empty(t, d.gone)
		give(t, co, hs[1])
		d.works(co)
	})
}

func TestPool_CORO30_WrongCoroutines(t *testing.T) {
	unharmed(t, func(t *testing.T, d *depot, h handle, co *scheduler.Coroutine) {
		ended := d.e.Spawn(co, func(*scheduler.Coroutine) error { return nil })
		other := d.e.Spawn(co, cotest.Sleeper(ms))
		fresh := d.e.Spawn(co, func(*scheduler.Coroutine) error { return nil })
		cotest.Yields(co, 2)
		for who, bad := range map[string]*scheduler.Coroutine{"nil": nil, "ended": ended, "another": other, "fresh": fresh} {
			for name, call := range callsWith(d, h, bad) {
				t.Run(name+" with "+who, func(t *testing.T) { cotest.IsUsage(t, call(), name) })
			}
			p, err := pool.New(bad, d.cfg)
			cotest.IsUsage(t, err, "New")
			assert.Nil(t, p)
		}
	})
}

// From a callback, in which no coroutine runs.
func TestPool_CORO30_InACallback(t *testing.T) {
	unharmed(t, func(t *testing.T, d *depot, h handle, co *scheduler.Coroutine) {
		called := false
		d.e.After(ms, func() {
			called = true
			for name, call := range callsWith(d, h, co) {
				cotest.IsUsage(t, call(), name)
			}
			_, err := pool.New(co, d.cfg)
			cotest.IsUsage(t, err, "New")
		})
		require.NoError(t, co.Delay(5*ms))
		assert.True(t, called)
	})
}

func TestPool_ForeignGoroutine(t *testing.T) {
	unharmed(t, func(t *testing.T, d *depot, h handle, co *scheduler.Coroutine) {
		cotest.Foreign(func() {
			for name, call := range callsWith(d, h, co) {
				cotest.IsUsage(t, call(), name)
			}
			for name, call := range callsWithout(d, h) {
				cotest.IsUsage(t, call(), name)
			}
			_, err := pool.New(co, d.cfg)
			cotest.IsUsage(t, err, "New")
		})
		assert.Equal(t, pool.Active, d.p.State())
	})
}

// With -race: Release from a foreign goroutine while the loop uses the resource.
func TestPool_CORO30_ReleaseOnAForeignGoroutineWhileTheLoopGoesOn(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.open(co)
		h := d.take(co, 1)[0]
		var wg sync.WaitGroup
		wg.Add(1)
		go func() {
			defer wg.Done()
			cotest.IsUsage(t, h.Release(co))
		}()
		require.NoError(t, h.Release(co))
		wg.Wait()
	})
}

// What no loop is needed for.
func TestPool_ForeignGoroutine_MayLookAtAHandle(t *testing.T) {
	unharmed(t, func(t *testing.T, d *depot, h handle, _ *scheduler.Coroutine) {
		cotest.Foreign(func() { assert.Equal(t, 2, h.Value().id) })
	})
}

func TestPool_GEN11_AnotherRun(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			d := newDepot(e, 2)
			p := d.open(co)
			hs := d.take(co, 2)
			give(t, co, hs[0])
			before := p.Stats()
			cotest.Foreign(func() {
				r := simreactor.New(1)
				defer r.Close()
				both := []string{"the one run", "the other run"}
				run := scheduler.New(r, scheduler.Options{Name: "the other run"})
				assert.NoError(t, run.Run(context.Background(), func(other *scheduler.Coroutine) error {
					for name, call := range callsWith(d, hs[1], other) {
						cotest.IsUsage(t, call(), append(both, name)...)
					}
					for name, call := range callsWithout(d, hs[1]) {
						cotest.IsUsage(t, call(), name)
					}
					cfg := d.cfg
					cfg.Scope = co
					_, err := pool.New(other, cfg)
					cotest.IsUsage(t, err, append(both, "New")...)
					return nil
				}))
			})
			assert.Equal(t, before, p.Stats())
			give(t, co, hs[1])
			d.works(co)
			return nil
		}, cotest.WithName("the one run"))
	})
}

// The event of the pool, and as a token.
func TestPool_GEN11_AwaitedInAnotherRun(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			p := newDepot(e, 2).open(co)
			cotest.Foreign(func() {
				r := simreactor.New(1)
				defer r.Close()
				both := []string{"the one run", "the other run"}
				run := scheduler.New(r, scheduler.Options{Name: "the other run"})
				assert.NoError(t, run.Run(context.Background(), func(other *scheduler.Coroutine) error {
					for name, opts := range map[string][]scheduler.WaitOption{"target": nil, "timed": {scheduler.Timeout(ms)}} {
						_, err := other.Await(p, opts...)
						if assert.ErrorIs(t, err, event.ErrUsage, name) {
							cotest.IsUsage(t, err, append(both, "Await")...)
						} else {
							return nil
						}
					}
					_, _, err := other.AwaitFirst([]event.Event{p})
					cotest.IsUsage(t, err, append(both, "AwaitFirst")...)
					_, err = other.Await(cotest.NewGate(nil), scheduler.Token(p))
					cotest.IsUsage(t, err, append(both, "Await")...)
					return nil
				}))
			})
			return nil
		}, cotest.WithName("the one run"))
	})
}

// The coroutine of another run, used here.
func TestPool_GEN11_ACoroutineOfAnotherRun(t *testing.T) {
	unharmed(t, func(t *testing.T, d *depot, h handle, _ *scheduler.Coroutine) {
		started, done := make(chan *scheduler.Coroutine), make(chan struct{})
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			r := simreactor.New(1)
			defer r.Close()
			assert.NoError(t, scheduler.New(r, scheduler.Options{Name: "other"}).Run(context.Background(), func(co *scheduler.Coroutine) error {
				started <- co
				<-done
				return nil
			}))
		}()
		other := <-started
		for name, call := range callsWith(d, h, other) {
			cotest.IsUsage(t, call(), name)
		}
		close(done)
		<-ended
	})
}

// After the run everything is closed, and nothing can be done.
func TestPool_AfterTheRun(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		d := newDepot(e, 2)
		var main *scheduler.Coroutine
		var h handle
		e.MustRun(func(co *scheduler.Coroutine) error {
			main = co
			d.open(co)
			hs := d.take(co, 2)
			h = hs[1]
			give(t, co, hs[0])
			return nil
		})
		assert.Contains(t, d.gone, 1)
		for name, call := range callsWith(d, h, main) {
			if err := call(); assert.Error(t, err, name) {
				assert.True(t, isUsage(err), "%s: %v", name, err)
			}
		}
		assert.Equal(t, 2, h.Value().id)
	})
}

func isUsage(err error) bool {
	_, is := err.(*event.UsageError)
	return is
}

// Whoever has not looked at the error of New has no pool.
func TestPool_WithoutNew(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			for what, p := range map[string]*pool.Pool[*part]{"nil": nil, "zero": {}} {
				d := newDepot(e, 1)
				d.p = p
				for name, call := range callsWith(d, handle{}, co) {
					t.Run(what+" "+name, func(t *testing.T) { cotest.IsUsage(t, call(), name) })
				}
				for name, call := range callsWithout(d, handle{}) {
					t.Run(what+" "+name, func(t *testing.T) { cotest.IsUsage(t, call(), name) })
				}
			}
			return nil
		})
	})
}

func TestPool_NameAndNowOfNone(t *testing.T) {
	for _, p := range []*pool.Pool[int]{nil, {}} {
		cotest.IsUsage(t, cotest.PanicOf(t, func() { p.Name() }))
		cotest.IsUsage(t, cotest.PanicOf(t, func() { p.Now() }))
	}
}

func TestPool_With_NilFunction(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		err := d.open(co).With(co, nil)
		assert.ErrorIs(t, err, event.ErrInvalidArgument)
		assert.Empty(t, d.made)
		d.has(0, 0, 0)
	})
}
