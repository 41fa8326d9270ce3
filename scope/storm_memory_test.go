package scope_test

import (
	"math"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

// stormHeap is how many bytes are in use.
func stormHeap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// stormGrowth is by how many bytes the heap grows when fn is called again. What is lost every time is lost in every round; what the
// runtime itself takes now and then is not.
func stormGrowth(fn func()) int64 {
	fn()
	least := int64(math.MaxInt64)
	for range 3 {
		before := stormHeap()
		fn()
		least = min(least, stormHeap()-before)
	}
	return least
}

func TestStorm_AMillionCoroutinesInALongLivedScope(t *testing.T) {
	cotest.EachInOrder(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			defer s.Close()
			ended := 0
			body := func(co *scheduler.Coroutine) error {
				ended++
				if ended%10 == 0 {
					return co.Yield()
				}
				return nil
			}
			spawned := 0
			grown := stormGrowth(func() {
				for range 250 / stormDivisor {
					for range 1000 {
						e.Spawn(s, body)
						spawned++
					}
					require.NoError(t, s.AwaitCompletion(co))
				}
			})
			assert.Equal(t, spawned, ended)
			counts(t, s, 0, 0, 0)
			assert.Less(t, grown, int64(128<<10), "bytes after %d coroutines", spawned)
			return nil
		})
	})
}

func TestStorm_TheMemoryOfABurstComesBack(t *testing.T) {
	cotest.EachInOrder(t, func(t *testing.T, e *cotest.Env) {
		for _, end := range []string{"by themselves", "disposed", "as zombies"} {
			e.MustRun(func(co *scheduler.Coroutine) error {
				s := scope.New(co)
				burst := func(in *scope.Scope) {
					for range 100_000 / stormDivisor {
						e.Spawn(in, func(*scheduler.Coroutine) error { return nil })
					}
					switch end {
					case "disposed":
						require.NoError(t, in.Dispose())
					case "as zombies":
						require.NoError(t, in.DisposeSafely())
					}
					require.NoError(t, in.AwaitCompletion(co))
					require.NoError(t, co.Yield())
				}
				burst(scope.New(co)) // what the run keeps: the queue of those that are ready
				before := stormHeap()
				burst(s)
				counts(t, s, 0, 0, 0)
				// The list alone of so many coroutines is 800,000 bytes.
				assert.Less(t, stormHeap()-before, int64(256<<10)/stormDivisor, end)
				runtime.KeepAlive(s)
				return nil
			})
		}
	})
}

func TestStorm_AHundredThousandScopesInALongLivedOne(t *testing.T) {
	cotest.EachInOrder(t, func(t *testing.T, e *cotest.Env) {
		nothing := func(*scope.Scope, *scheduler.Coroutine, error) error { return nil }
		for name, life := range map[string]func(t *testing.T, co *scheduler.Coroutine, s *scope.Scope){
			"closed":   func(*testing.T, *scheduler.Coroutine, *scope.Scope) {},
			"disposed": func(_ *testing.T, _ *scheduler.Coroutine, s *scope.Scope) { _ = s.Dispose() },
			"with a coroutine": func(t *testing.T, co *scheduler.Coroutine, s *scope.Scope) {
				e.Spawn(s, cotest.Sleeper(hour))
				_ = co.Yield()
				_ = s.Dispose()
				_ = s.AwaitAfterCancellation(co, nil)
			},
			"with a zombie": func(t *testing.T, co *scheduler.Coroutine, s *scope.Scope) {
				e.Spawn(s, func(co *scheduler.Coroutine) error { return co.Yield() })
				_ = co.Yield()
				_ = s.Cancel(nil)
				_ = s.AwaitAfterCancellation(co, nil)
			},
			"with handlers": func(t *testing.T, co *scheduler.Coroutine, s *scope.Scope) {
				_ = s.OnError(nothing)
				_ = s.OnChildError(nothing)
				_ = s.OnFinally(func(self *scheduler.Coroutine, _ *scope.Scope) error { return self.Yield() })
				e.Spawn(scope.New(s), cotest.Fails(errBoom))
				_ = s.AwaitCompletion(co)
				_ = s.Close()
				cotest.Yields(co, 2)
			},
			"with a limit": func(t *testing.T, co *scheduler.Coroutine, s *scope.Scope) {
				e.Spawn(s, func(co *scheduler.Coroutine) error { return co.Yield() })
				_ = s.DisposeAfterTimeout(hour)
				_ = s.AwaitCompletion(co)
			},
		} {
			t.Run(name, func(t *testing.T) {
				e.T = t
				n := 25_000 / stormDivisor
				e.MustRun(func(co *scheduler.Coroutine) error {
					parent := scope.New(co)
					defer parent.Close()
					grown := stormGrowth(func() {
						for range n {
							s := scope.New(parent)
							life(t, co, s)
							_ = s.Close()
						}
						cotest.Yields(co, 3)
					})
					assert.Empty(t, parent.ChildScopes())
					counts(t, parent, 0, 0, 0)
					assert.Less(t, grown, int64(64<<10), "bytes after %d scopes", n)
					return nil
				})
			})
		}
	})
}

func TestStorm_TenThousandHandlesAreDropped(t *testing.T) {
	for name, safe := range map[string]bool{"safe": true, "not safe": false} {
		t.Run(name, func(t *testing.T) {
			cotest.OnLibuv(t, func(t *testing.T, e *cotest.Env) {
				const n = 10_000
				ended, cancelled, finally := 0, 0, 0
				e.MustRun(func(co *scheduler.Coroutine) error {
					for i := range n {
						s := scope.New(co)
						if !safe {
							s.AsNotSafely()
						}
						require.NoError(t, s.OnFinally(func(*scheduler.Coroutine, *scope.Scope) error { finally++; return nil }))
						if i%10 == 0 {
							g := e.Gate()
							e.After(ms, func() { g.Open(nil, nil) })
							e.Spawn(s, func(co *scheduler.Coroutine) error {
								for {
									_, err := co.Await(g)
									if err != nil {
										require.ErrorIs(t, err, scope.ErrDropped)
										cancelled++
										return err
									}
									if co.Zombie() {
										ended++
										return nil
									}
									e.After(ms, func() { g.Open(nil, nil) })
								}
							})
						}
					}
					cotest.Collect(t, co, func() bool {
						require.NoError(t, co.Delay(ms))
						return len(scope.Of(co).ChildScopes()) == 0
					})
					return nil
				})
				assert.Equal(t, n, finally)
				if safe {
					assert.Equal(t, []int{n / 10, 0}, []int{ended, cancelled})
				} else {
					assert.Equal(t, []int{0, n / 10}, []int{ended, cancelled})
				}
			})
		})
	}
}
