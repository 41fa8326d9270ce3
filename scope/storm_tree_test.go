package scope_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
	"github.com/uvasync/uvasync/uvtest"
)

// stormEnds are the manners in which a scope is ended.
var stormEnds = []struct {
	name   string
	unsafe bool // every scope is made so
	end    func(s *scope.Scope) error
	spares bool  // started coroutines run on
	begins bool  // those that have not begun do
	reason error // of those that are cancelled
}{
	{"cancel", false, func(s *scope.Scope) error { return s.Cancel(errStop) }, true, false, errStop},
	{"cancel, not safe", true, func(s *scope.Scope) error { return s.Cancel(errStop) }, false, false, errStop},
	{"dispose", false, (*scope.Scope).Dispose, false, false, scope.ErrDisposed},
	{"dispose safely", true, (*scope.Scope).DisposeSafely, true, true, nil},
	{"close", false, (*scope.Scope).Close, true, true, nil},
	{"close, not safe", true, (*scope.Scope).Close, false, false, scope.ErrScopeClosed},
	{"limit", false, func(s *scope.Scope) error { return s.DisposeAfterTimeout(0) }, false, false, scope.ErrTimeLimit},
	{"cancel, then dispose", false, func(s *scope.Scope) error {
		return errors.Join(s.Cancel(errStop), s.Dispose())
	}, false, false, nil},
	{"dispose safely, then dispose", false, func(s *scope.Scope) error {
		return errors.Join(s.DisposeSafely(), s.Dispose())
	}, false, false, scope.ErrDisposed},
}

// stormTree is a tree of scopes with coroutines, and what has become of these.
type stormTree struct {
	root                     *scope.Scope
	scopes                   []*scope.Scope
	spawned, begun           int
	ended, cancelled, strays int
	finally                  int
}

func (st *stormTree) spawn(t *testing.T, s *scope.Scope, reason error) {
	st.spawned++
	_, err := s.Spawn(func(co *scheduler.Coroutine) error {
		st.begun++
		err := co.Delay(10 * ms)
		st.ended++
		switch {
		case err == nil:
		case event.IsCancellation(err) && (reason == nil || errors.Is(err, reason)):
			st.cancelled++
		default:
			st.strays++
		}
		return err
	})
	require.NoError(t, err)
}

// stormIn builds a tree in every way of ending it, lets its coroutines begin, adds one to each scope that has not, ends the tree and checks
// that everything comes to its end. build makes the scopes.
func stormIn(t *testing.T, coroutines int, build func(root *scope.Scope, below func(in *scope.Scope) *scope.Scope)) {
	for _, end := range stormEnds {
		t.Run(end.name, func(t *testing.T) {
			uvtest.Run(t, func(co *scheduler.Coroutine) error {
				st := &stormTree{}
				below := func(in scheduler.Scoped) *scope.Scope {
					s := scope.New(in)
					if end.unsafe {
						s.AsNotSafely()
					}
					st.scopes = append(st.scopes, s)
					require.NoError(t, s.OnFinally(func(*scheduler.Coroutine, *scope.Scope) error { st.finally++; return nil }))
					return s
				}
				st.root = below(co)
				build(st.root, func(in *scope.Scope) *scope.Scope { return below(in) })
				for _, s := range st.scopes {
					for range coroutines {
						st.spawn(t, s, end.reason)
					}
				}
				require.NoError(t, co.Delay(ms))
				started := st.begun
				require.Equal(t, st.spawned, started)
				for _, s := range st.scopes {
					st.spawn(t, s, end.reason)
				}
				require.NoError(t, end.end(st.root))
				all := co.Scheduler().Stats()
				assert.Equal(t, st.spawned+1, all.Total)
				switch {
				case end.spares && end.begins:
					assert.Equal(t, st.spawned, all.Zombies)
				case end.spares:
					assert.Equal(t, started, all.Zombies)
				}
				_, err := st.root.Spawn(cotest.Sleeper(ms))
				cotest.IsUsage(t, err)
				require.NoError(t, st.root.AwaitCompletion(co))
				require.NoError(t, st.root.AwaitAfterCancellation(co, nil))
				require.NoError(t, co.Yield())
				for _, s := range st.scopes {
					if s.Stats() != (scope.Stats{}) || !s.IsClosed() || !s.IsFinished() || len(s.ChildScopes()) > 0 {
						t.Fatalf("a scope is left: %v", s.Info())
					}
				}
				assert.Empty(t, scope.Of(co).ChildScopes())
				want := stormTree{spawned: st.spawned, begun: started, ended: started, finally: len(st.scopes)}
				if end.begins && end.spares {
					want.begun, want.ended = st.spawned, st.spawned
				}
				if !end.spares {
					want.cancelled = started
				}
				st.root, st.scopes = nil, nil
				assert.Equal(t, want, *st)
				return nil
			})
		})
	}
}

func TestStorm_TenThousandScopesBelowOne(t *testing.T) {
	stormIn(t, 1, func(root *scope.Scope, below func(in *scope.Scope) *scope.Scope) {
		for range 10_000 / stormDivisor {
			below(root)
		}
	})
}

func TestStorm_TenThousandCoroutinesInOneScope(t *testing.T) {
	stormIn(t, 10_000/stormDivisor, func(*scope.Scope, func(*scope.Scope) *scope.Scope) {})
}

func TestStorm_TwoThousandScopesDeep(t *testing.T) {
	stormIn(t, 1, func(in *scope.Scope, below func(in *scope.Scope) *scope.Scope) {
		for range stormDepth {
			in = below(in)
		}
	})
}

func TestStorm_AFailureTwoThousandScopesDeep(t *testing.T) {
	for _, handled := range []bool{true, false} {
		t.Run(fmt.Sprint("handled ", handled), func(t *testing.T) {
			cotest.Each(t, func(t *testing.T, e *cotest.Env) {
				const depth = stormDepth
				told, cancelled := 0, 0
				err := e.Run(func(co *scheduler.Coroutine) error {
					root := scope.New(co)
					if handled {
						require.NoError(t, root.OnChildError(func(_ *scope.Scope, _ *scheduler.Coroutine, err error) error {
							told++
							assert.ErrorIs(t, err, errBoom)
							return nil
						}))
					}
					in := root
					for range depth {
						in = scope.New(in)
						e.Spawn(in, func(co *scheduler.Coroutine) error {
							err := co.Delay(hour)
							if errors.Is(err, errBoom) {
								cancelled++
							}
							return err
						})
					}
					require.NoError(t, co.Yield())
					e.Spawn(in, cotest.Fails(errBoom))
					if err := root.AwaitCompletion(co); !handled {
						cotest.IsCancelled(t, err, errBoom)
						return nil
					}
					assert.False(t, root.IsCancelled())
					return nil
				})
				assert.Equal(t, depth, cancelled)
				if handled {
					require.NoError(t, err)
					assert.Equal(t, 1, told)
				} else {
					require.ErrorIs(t, err, errBoom)
				}
			})
		})
	}
}

// Waits of all kinds come to their ends, and those who wait are cancelled, in the same turn and in an order that the seed chooses.
func TestStorm_SearchWakeUpsAgainstCancellations(t *testing.T) {
	uvtest.Search(t, func(co *scheduler.Coroutine) error {
		const n = 12
		outcomes := make([]error, n)
		waiters := make([]*scheduler.Coroutine, n)
		asked := make([]bool, n)
		ran, handled, told := 0, 0, 0
		require.NoError(t, scope.Main(co).OnError(func(_ *scope.Scope, _ *scheduler.Coroutine, err error) error {
			assert.ErrorIs(t, err, errBoom)
			told++
			return nil
		}))
		var targets []*scope.Scope
		for i := range n {
			s := scope.New(co)
			targets = append(targets, s)
			mustSpawn(t, s, func(co *scheduler.Coroutine) error {
				if err := co.Delay(5 * ms); err != nil || i%4 != 3 {
					return err
				}
				return errBoom
			})
			if i%4 == 3 {
				require.NoError(t, s.DisposeSafely())
			}
			waiters[i] = mustSpawn(t, co, func(co *scheduler.Coroutine) (err error) {
				switch i % 4 {
				case 0:
					err = s.AwaitCompletion(co)
				case 1:
					_, err = co.Await(s)
				case 2:
					_, _, err = co.AwaitFirst([]event.Event{s, scope.Main(co).ChildScopes()[0]})
				case 3:
					err = s.AwaitAfterCancellation(co, func(err error, _ *scope.Scope) error {
						assert.ErrorIs(t, err, errBoom)
						handled++
						return nil
					})
				}
				ran++
				outcomes[i] = err
				if asked[i] {
					assert.ErrorIs(t, co.Err(), errStop)
				}
				return nil
			})
		}
		require.NoError(t, co.Delay(ms))
		// Those that wait are woken at 5 ms, whenever in it; the cancellations come then, too.
		for i := range n {
			if i%2 == 1 || i == 0 {
				mustSpawn(t, co, func(co *scheduler.Coroutine) error {
					if err := co.Delay(4 * ms); err != nil {
						return err
					}
					asked[i] = !waiters[i].Completed()
					return waiters[i].Cancel(errStop)
				})
			}
		}
		require.NoError(t, co.Delay(20*ms))
		assert.Equal(t, n, ran)
		failed := 0
		for i, err := range outcomes {
			switch {
			case asked[i]:
				assert.ErrorIs(t, err, errStop, "waiter %d was cancelled before it ran", i)
			default:
				assert.NoError(t, err, "waiter %d", i)
			}
			if errors.Is(err, errBoom) {
				failed++
			}
			assert.True(t, targets[i].IsFinished())
			assert.Zero(t, targets[i].AsEvent().Callbacks())
			assert.NoError(t, targets[i].Close())
		}
		// Each failure is told once: to the handler of the wait, by its error, or to the scope around when nobody waits any more.
		assert.Equal(t, n/4, handled+failed+told)
		return nil
	})
}

func mustSpawn(t *testing.T, in scheduler.Spawner, fn func(co *scheduler.Coroutine) error) *scheduler.Coroutine {
	t.Helper()
	co, err := in.Spawn(fn)
	require.NoError(t, err)
	return co
}
