package pool_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/pool"
	"github.com/uvasync/uvasync/scheduler"
)

// A hook that exits its goroutine, as t.FailNow does, ends Run's, once all is over; what the pool has is destroyed all the same, and counted to the end.
func TestPool_CORO25_AHookThatExits(t *testing.T) {
	exit := func() { runtime.Goexit() }
	ask := func(on *bool) func(*scheduler.Coroutine, *part) (bool, error) {
		return func(*scheduler.Coroutine, *part) (bool, error) {
			if *on {
				*on = false
				exit()
			}
			return true, nil
		}
	}
	for name, arm := range map[string]func(d *depot, on *bool){
		"Create": func(d *depot, on *bool) {
			d.creates(func(*scheduler.Coroutine, int) error {
				if *on {
					*on = false
					exit()
				}
				return nil
			})
		},
		"Destroy": func(d *depot, on *bool) {
			d.destroys(func(*scheduler.Coroutine, *part) error {
				if *on {
					*on = false
					exit()
				}
				return nil
			})
		},
		"BeforeAcquire": func(d *depot, on *bool) { d.cfg.BeforeAcquire = ask(on) },
		"BeforeRelease": func(d *depot, on *bool) { d.cfg.BeforeRelease = ask(on) },
		"HealthCheck":   func(d *depot, on *bool) { d.cfg.HealthCheck, d.cfg.HealthInterval = ask(on), ms },
	} {
		t.Run(name, func(t *testing.T) {
			cotest.Each(t, func(t *testing.T, e *cotest.Env) {
				d := newDepot(e, 3)
				on := false
				arm(d, &on)
				var p *pool.Pool[*part]
				e.Exits(func(co *scheduler.Coroutine) error {
					p = d.open(co)
					d.stock(co, 2)
					h := d.take(co, 1)[0]
					on = true
					user := e.Spawn(co, func(co *scheduler.Coroutine) error { // it may be what exits
						if err := h.Release(co); err != nil {
							return err
						}
						for range 3 {
							h, err := p.Acquire(co)
							if err != nil {
								return err
							}
							defer h.Release(co)
						}
						return p.Reset(co)
					})
					_, _ = co.Await(user)
					if on { // there must be something to check
						d.stock(co, 1)
					}
					for on {
						if err := co.Delay(ms); err != nil {
							return err
						}
					}
					return nil
				})
				assert.False(t, on, "the hook was called")
				assert.ElementsMatch(t, d.made, d.gone, "each is destroyed, or its Destroy was begun")
			})
		})
	}
}
