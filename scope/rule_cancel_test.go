package scope_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/channel"
	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

// The mission's first table of section 5, cell by cell, for both kinds of scope: started and unstarted coroutines, of the scope
// and of one below of the other kind.
func TestScope_SCOPE04_SCOPE24_SCOPE25_TheTableOfCalls(t *testing.T) {
	type fate int
	const (
		unstarted fate = iota // never began
		cancelled
		finished
		finishedAsZombie
	)
	const d = 4 * ms
	rows := []struct {
		name            string
		safe            bool
		end             func(s *scope.Scope) error
		reason          error
		started, queued fate
		below           fate // a started one in a scope below that has the other flag
		closed          bool // at once
		cancelled       bool // at once
	}{
		{"Cancel, safe", true, func(s *scope.Scope) error { return s.Cancel(errStop) }, errStop, finishedAsZombie, unstarted, cancelled, false, true},
		{"Cancel, not safe", false, func(s *scope.Scope) error { return s.Cancel(errStop) }, errStop, cancelled, unstarted, finishedAsZombie, false, true},
		{"Dispose, safe", true, (*scope.Scope).Dispose, scope.ErrDisposed, cancelled, unstarted, cancelled, true, true},
		{"Dispose, not safe", false, (*scope.Scope).Dispose, scope.ErrDisposed, cancelled, unstarted, cancelled, true, true},
		{"DisposeSafely, safe", true, (*scope.Scope).DisposeSafely, nil, finishedAsZombie, finishedAsZombie, finishedAsZombie, true, false},
		{"DisposeSafely, not safe", false, (*scope.Scope).DisposeSafely, nil, finishedAsZombie, finishedAsZombie, finishedAsZombie, true, false},
		{"DisposeAfterTimeout, safe", true, func(s *scope.Scope) error { return s.DisposeAfterTimeout(d) }, scope.ErrTimeLimit, cancelled, cancelled, cancelled, true, false},
		{"DisposeAfterTimeout, not safe", false, func(s *scope.Scope) error { return s.DisposeAfterTimeout(d) }, scope.ErrTimeLimit, cancelled, cancelled, cancelled, true, false},
		{"DisposeAfterTimeout, in time", true, func(s *scope.Scope) error { return s.DisposeAfterTimeout(hour) }, nil, finished, finished, finished, true, false},
		{"Close, safe", true, (*scope.Scope).Close, nil, finishedAsZombie, finishedAsZombie, finishedAsZombie, true, false},
		{"Close, not safe", false, (*scope.Scope).Close, scope.ErrScopeClosed, cancelled, unstarted, cancelled, true, true},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			cotest.Each(t, func(t *testing.T, e *cotest.Env) {
				e.MustRun(func(co *scheduler.Coroutine) error {
					s := scope.New(co)
					below := scope.New(s)
					beside := scope.New(co).AsNotSafely()
					if row.safe {
						below.AsNotSafely()
					} else {
						s.AsNotSafely()
					}
					begun := map[string]bool{}
					body := func(name string) func(co *scheduler.Coroutine) error {
						return func(co *scheduler.Coroutine) error {
							begun[name] = true
							if err := co.Delay(8 * ms); err != nil {
								return err
							}
							co.SetResult(name)
							return nil
						}
					}
					started, deep := e.Spawn(s, body("started")), e.Spawn(below, body("below"))
					other := e.Spawn(beside, body("beside"))
					require.NoError(t, co.Yield())
					queued := e.Spawn(s, body("queued"))
					require.NoError(t, row.end(s))

					assert.Equal(t, row.closed, s.IsClosed())
					assert.Equal(t, row.cancelled, s.IsCancelled())
					assert.False(t, beside.IsClosed())
					assert.False(t, beside.IsCancelled())
					assert.False(t, scope.Main(co).IsCancelled(), "never up")
					_, err := s.Spawn(cotest.Fails(nil))
					cotest.IsUsage(t, err)

					all := []struct {
						name string
						co   *scheduler.Coroutine
						want fate
					}{{"started", started, row.started}, {"queued", queued, row.queued}, {"below", deep, row.below}}
					for _, is := range all {
						assert.Equal(t, is.want == finishedAsZombie, is.co.Zombie(), is.name)
						assert.Equal(t, row.cancelled && (is.want == cancelled || is.want == unstarted), is.co.CancellationRequested(), is.name)
					}
					for _, is := range all {
						result, err := co.Await(is.co)
						assert.Equal(t, is.want != unstarted, begun[is.name], is.name)
						if is.want == unstarted || is.want == cancelled {
							cotest.IsCancelled(t, err, row.reason)
							assert.True(t, is.co.Cancelled(), is.name)
							continue
						}
						assert.NoError(t, err, is.name)
						assert.Equal(t, is.name, result)
						assert.False(t, is.co.Cancelled(), is.name)
					}
					assert.True(t, s.IsClosed(), "nothing is left")
					assert.True(t, s.IsFinished())
					counts(t, s, 0, 0, 0)
					assert.Equal(t, row.cancelled || row.reason != nil, s.IsCancelled())
					_, err = co.Await(other)
					assert.Equal(t, "beside", other.Result())
					return err
				})
			})
		})
	}
}

func TestScope_SCOPE03_CancelOfAnUnsafeOne(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			s := scope.New(co).AsNotSafely()
			var all []*scheduler.Coroutine
			g := e.Gate()
			for range 3 {
				all = append(all, e.Spawn(s, func(co *scheduler.Coroutine) error {
					_, err := co.Await(g)
					cotest.IsCancelled(t, err, errStop)
					assert.Equal(t, err, co.Delay(hour), "each later wait, too")
					assert.NoError(t, co.Protect(func(context.Context) error { return co.Delay(2 * ms) }))
					return err
				}))
			}
			require.NoError(t, co.Yield())
			require.NoError(t, s.Cancel(errStop))
			assert.True(t, s.IsCancelled(), "at once")
			assert.False(t, s.IsClosed())
			assert.False(t, s.IsFinished(), "those that unwind are active")
			counts(t, s, 3, 0, 3)
			require.NoError(t, co.Delay(ms))
			assert.False(t, s.IsClosed())
			require.NoError(t, s.AwaitCompletion(co))
			assert.True(t, s.IsClosed())
			assert.True(t, s.IsFinished())
			counts(t, s, 0, 0, 0)
			for _, c := range all {
				assert.True(t, c.Completed())
				cotest.IsCancelled(t, c.Error(), errStop)
			}
			return nil
		})
	})
}

func TestScope_SCOPE04_CancelOfASafeOne(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			started := e.Spawn(s, func(co *scheduler.Coroutine) error {
				assert.NoError(t, co.Delay(ms))
				assert.NoError(t, co.Err())
				assert.True(t, co.Zombie())
				e.Say("to its end")
				co.SetResult(1)
				return nil
			})
			require.NoError(t, co.Yield())
			queued := e.Spawn(s, e.Sayer("never"))
			require.NoError(t, s.Cancel(errStop))
			assert.True(t, s.IsCancelled())
			assert.False(t, s.IsClosed(), "a zombie is left")
			counts(t, s, 1, 1, 2)
			_, err := co.Await(queued)
			cotest.IsCancelled(t, err, errStop)
			assert.False(t, queued.Started())
			assert.True(t, s.IsFinished())
			assert.False(t, s.IsClosed())
			result, err := co.Await(started)
			assert.Equal(t, 1, result)
			assert.True(t, s.IsClosed())
			return err
		})
		assert.Equal(t, []string{"to its end"}, e.Said())
	})
}

func TestScope_SCOPE04_DisposeCancelsZombiesToo(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		for name, before := range map[string]func(*scope.Scope) error{
			"cancel":                func(s *scope.Scope) error { return s.Cancel(errStop) },
			"dispose safely":        (*scope.Scope).DisposeSafely,
			"close":                 (*scope.Scope).Close,
			"dispose after timeout": func(s *scope.Scope) error { return s.DisposeAfterTimeout(hour) },
		} {
			for _, through := range []string{"itself", "its parent", "a limit of 0", "a limit"} {
				e.MustRun(func(co *scheduler.Coroutine) error {
					around := scope.New(co)
					s := scope.New(around)
					c := e.Spawn(s, cotest.Sleeper(hour))
					require.NoError(t, co.Yield())
					require.NoError(t, before(s))
					was := c.Zombie()
					assert.Equal(t, name != "dispose after timeout", was)
					reason := scope.ErrTimeLimit
					switch through {
					case "itself":
						reason = scope.ErrDisposed
						require.NoError(t, s.Dispose())
					case "its parent":
						reason = scope.ErrDisposed
						require.NoError(t, around.Dispose())
					case "a limit of 0":
						require.NoError(t, s.DisposeAfterTimeout(0))
					case "a limit":
						require.NoError(t, s.DisposeAfterTimeout(ms))
						assert.False(t, c.CancellationRequested())
						assert.Positive(t, e.W.Live())
					}
					assert.Equal(t, was, c.Zombie(), "it stays what it was")
					_, err := co.Await(c)
					cotest.IsCancelled(t, err, reason)
					assert.Equal(t, was, c.Zombie())
					assert.True(t, s.IsClosed())
					assert.True(t, s.IsCancelled())
					assert.Zero(t, e.W.Live())
					if name == "cancel" {
						_, err := s.Spawn(cotest.Fails(nil))
						cotest.IsUsage(t, err, "stop") // the first reason
					}
					return nil
				})
			}
		}
	})
}

func TestScope_SCOPE04_TheReasonMayBeNil(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			s := scope.New(co).AsNotSafely()
			c := e.Spawn(s, cotest.Sleeper(hour))
			require.NoError(t, co.Yield())
			require.NoError(t, s.Cancel(nil))
			_, err := co.Await(c)
			cotest.IsCancelled(t, err, nil)
			return nil
		})
	})
}

func TestScope_SCOPE05_CancelGoesDownDepthFirst(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		for _, dispose := range []bool{false, true} {
			e.MustRun(func(co *scheduler.Coroutine) error {
				parent := scope.New(co).AsNotSafely()
				s, sibling := scope.Inherit(parent), scope.Inherit(parent)
				a, b := scope.Inherit(s), scope.Inherit(s)
				deep := scope.Inherit(a)
				spawn := func(in *scope.Scope, name string) {
					e.Spawn(in, func(co *scheduler.Coroutine) error {
						err := co.Delay(5 * ms)
						e.Say(name)
						if name == "parent" || name == "sibling" {
							return err
						}
						assert.True(t, event.IsCancellation(err), name)
						return err
					}, scheduler.Named(name))
				}
				spawn(parent, "parent")
				spawn(s, "s")
				spawn(sibling, "sibling")
				spawn(b, "b")
				quick := e.Spawn(a, cotest.Fails(nil)) // its end changes nothing about the order of the others
				spawn(a, "a1")
				spawn(a, "a2")
				spawn(a, "a3")
				spawn(deep, "deep")
				require.NoError(t, co.Yield())
				assert.True(t, quick.Completed())
				if dispose {
					require.NoError(t, s.Dispose())
				} else {
					require.NoError(t, s.Cancel(errStop))
				}
				for _, x := range []*scope.Scope{s, a, b, deep} {
					assert.True(t, x.IsCancelled())
					assert.Equal(t, dispose, x.IsClosed())
				}
				for _, x := range []*scope.Scope{parent, sibling, scope.Main(co)} {
					assert.False(t, x.IsCancelled())
					assert.False(t, x.IsClosed())
				}
				require.NoError(t, co.Yield())
				assert.Equal(t, []string{"deep", "a1", "a2", "a3", "b", "s"}, e.Said())
				require.NoError(t, parent.AwaitCompletion(co))
				assert.ElementsMatch(t, []string{"parent", "sibling"}, e.Said())
				return nil
			})
		}
	})
}

func TestScope_SCOPE06_TheFirstReasonStays(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			s := scope.New(co).AsNotSafely()
			c := e.Spawn(s, cotest.Sleeper(hour))
			require.NoError(t, co.Yield())
			require.NoError(t, s.Cancel(errStop))
			require.NoError(t, s.Cancel(errOther))
			require.NoError(t, s.Dispose())
			_, err := s.Spawn(cotest.Fails(nil))
			cotest.IsUsage(t, err, "stop")
			_, err = co.Await(c)
			cotest.IsCancelled(t, err, errStop)
			assert.NotErrorIs(t, err, errOther)
			require.NoError(t, s.Cancel(errOther), "closed")
			cotest.IsCancelled(t, c.Error(), errStop)

			// One below that was cancelled before keeps its own.
			s = scope.New(co).AsNotSafely()
			below := scope.Inherit(s)
			c = e.Spawn(below, cotest.Sleeper(hour))
			own := e.Spawn(s, cotest.Sleeper(hour))
			require.NoError(t, co.Yield())
			require.NoError(t, below.Cancel(errOther))
			require.NoError(t, s.Cancel(errStop))
			_, err = co.Await(c)
			cotest.IsCancelled(t, err, errOther)
			_, err = co.Await(own)
			cotest.IsCancelled(t, err, errStop)
			return nil
		})
	})
}

func TestScope_SCOPE06_CancelOfAClosedOneDoesNothing(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		for _, safe := range []bool{false, true} {
			e.MustRun(func(co *scheduler.Coroutine) error {
				s := scope.New(co)
				if !safe {
					s.AsNotSafely()
				}
				c := e.Spawn(s, cotest.Sleeper(2*ms))
				require.NoError(t, co.Yield())
				require.NoError(t, s.DisposeSafely())
				queued := c.Zombie()
				assert.True(t, queued)
				require.NoError(t, s.Cancel(errStop))
				require.NoError(t, s.Close())
				require.NoError(t, s.DisposeSafely())
				assert.False(t, s.IsCancelled())
				assert.False(t, c.CancellationRequested())
				_, err := co.Await(c)
				return err
			})
		}
	})
}

func TestScope_SCOPE24_DisposeAfterTimeout(t *testing.T) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			cotest.IsInvalid(t, s.DisposeAfterTimeout(-1), "scope: Scope.DisposeAfterTimeout", "timeout")
			assert.False(t, s.IsClosed(), "an error has no effect")
			start := co.Scheduler().Reactor().Now()
			since := func() time.Duration { return co.Scheduler().Reactor().Now().Sub(start) }
			short, long := e.Spawn(s, cotest.Sleeper(10*ms)), e.Spawn(scope.New(s), cotest.Sleeper(hour))
			require.NoError(t, co.Yield())
			live := e.W.Live()
			require.NoError(t, s.DisposeAfterTimeout(30*ms))
			assert.Equal(t, live+1, e.W.Live(), "a visible event")
			assert.True(t, s.IsClosed())
			assert.False(t, s.IsCancelled())
			assert.False(t, short.Zombie())
			counts(t, s, 1, 0, 1)
			_, err := co.Await(short)
			require.NoError(t, err)
			assert.Equal(t, 10*ms, since())
			_, err = co.Await(long)
			cotest.IsCancelled(t, err, scope.ErrTimeLimit)
			assert.ErrorIs(t, err, event.ErrTimeout)
			assert.Equal(t, 30*ms, since())
			assert.True(t, s.IsCancelled())
			assert.Zero(t, e.W.Live())

			// The end of the last one stops the timer.
			s = scope.New(co)
			e.Spawn(s, cotest.Sleeper(5*ms))
			require.NoError(t, s.DisposeAfterTimeout(hour))
			require.NoError(t, s.AwaitCompletion(co))
			assert.Equal(t, 35*ms, since())
			assert.Zero(t, e.W.Live())
			assert.False(t, s.IsCancelled())

			// The later call counts, be it earlier or later.
			for _, limits := range [][2]time.Duration{{hour, 10 * ms}, {5 * ms, 10 * ms}} {
				s = scope.New(co)
				c := e.Spawn(s, cotest.Sleeper(hour))
				start = co.Scheduler().Reactor().Now()
				require.NoError(t, s.DisposeAfterTimeout(limits[0]))
				require.NoError(t, s.DisposeAfterTimeout(limits[1]))
				_, err = co.Await(c)
				cotest.IsCancelled(t, err, scope.ErrTimeLimit)
				assert.Equal(t, 10*ms, since())
			}

			// 0: at once.
			s = scope.New(co)
			c := e.Spawn(s, cotest.Sleeper(hour))
			require.NoError(t, co.Yield())
			require.NoError(t, s.DisposeAfterTimeout(0))
			assert.True(t, c.CancellationRequested())
			assert.True(t, s.IsCancelled())
			_, err = co.Await(c)
			cotest.IsCancelled(t, err, scope.ErrTimeLimit)

			// Disposed before it is over: the limit has nothing more to say.
			s = scope.New(co)
			c = e.Spawn(s, cotest.Sleeper(hour))
			require.NoError(t, co.Yield())
			require.NoError(t, s.DisposeAfterTimeout(hour))
			require.NoError(t, s.Dispose())
			_, err = co.Await(c)
			cotest.IsCancelled(t, err, scope.ErrDisposed)
			assert.Zero(t, e.W.Live())
			return nil
		})
	})
}

func TestScope_SCOPE24_TheLimitIsNoReasonForTheRunToGoOn(t *testing.T) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		start := e.W.Now()
		e.MustRun(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			e.Spawn(s, cotest.Sleeper(hour))
			require.NoError(t, co.Yield())
			require.NoError(t, s.DisposeSafely())
			return s.DisposeAfterTimeout(hour / 2)
		})
		assert.Zero(t, e.W.Now().Sub(start), "zombies only: the run ends")
		assert.Zero(t, e.W.Live())
	})
}

func TestScope_SCOPE25_DisposeSafelyNeverCancels(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		for _, safe := range []bool{false, true} {
			e.MustRun(func(co *scheduler.Coroutine) error {
				s := scope.New(co)
				if !safe {
					s.AsNotSafely()
				}
				deep := scope.Inherit(scope.Inherit(s))
				var all []*scheduler.Coroutine
				for _, in := range []*scope.Scope{s, deep} {
					all = append(all, e.Spawn(in, cotest.Sleeper(ms)))
				}
				require.NoError(t, co.Yield())
				all = append(all, e.Spawn(s, cotest.Sleeper(ms)))
				require.NoError(t, s.DisposeSafely())
				counts(t, s, 0, 2, 2)
				counts(t, deep, 0, 1, 1)
				assert.True(t, deep.IsClosed())
				assert.True(t, s.IsFinished())
				for _, c := range all {
					assert.True(t, c.Zombie())
					_, err := co.Await(c)
					assert.NoError(t, err)
				}
				return nil
			})
		}
	})
}

func TestScope_SCOPE26_CloseIsForDefer(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			var zombie, cancelled *scheduler.Coroutine
			func() {
				s, hard := scope.New(co), scope.New(co).AsNotSafely()
				defer s.Close()
				defer hard.Close()
				zombie, cancelled = e.Spawn(s, cotest.Sleeper(ms)), e.Spawn(hard, cotest.Sleeper(ms))
				require.NoError(t, co.Yield())
			}()
			assert.True(t, zombie.Zombie())
			assert.False(t, cancelled.Zombie())
			_, err := co.Await(cancelled)
			cotest.IsCancelled(t, err, scope.ErrScopeClosed)
			assert.Contains(t, err.Error(), "destroyed")
			_, err = co.Await(zombie)
			assert.NoError(t, err)

			// After another call that ended it, it does nothing.
			s := scope.New(co).AsNotSafely()
			c := e.Spawn(s, cotest.Sleeper(ms))
			require.NoError(t, co.Yield())
			require.NoError(t, s.DisposeAfterTimeout(hour))
			require.NoError(t, s.Close())
			assert.False(t, c.CancellationRequested())
			assert.False(t, c.Zombie())
			_, err = co.Await(c)
			return err
		})
	})
}

func TestScope_SCOPE31_ACoroutineCancelsTheScopeItRunsIn(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			s := scope.New(co).AsNotSafely()
			sibling := e.Spawn(s, cotest.Sleeper(hour))
			self := e.Spawn(s, func(co *scheduler.Coroutine) error {
				require.NoError(t, scope.Of(co).Cancel(errStop))
				e.Say("goes on")
				cotest.IsCancelled(t, co.Err(), errStop)
				cotest.IsCancelled(t, co.Delay(ms), errStop)
				return nil
			})
			quiet := e.Spawn(s, func(co *scheduler.Coroutine) error { return nil }) // not begun: it never runs
			_, err := co.Await(self)
			assert.NoError(t, err, "CANC-05: it was told")
			_, err = co.Await(sibling)
			cotest.IsCancelled(t, err, errStop)
			_, err = co.Await(quiet)
			cotest.IsCancelled(t, err, errStop)
			assert.False(t, quiet.Started())

			// CANC-07: the body that was not told.
			s = scope.New(co).AsNotSafely()
			self = e.Spawn(s, func(co *scheduler.Coroutine) error { return scope.Of(co).Dispose() })
			_, err = co.Await(self)
			cotest.IsCancelled(t, err, scope.ErrDisposed)

			// In a safe scope it becomes a zombie, and so does its sibling.
			s = scope.New(co)
			sibling = e.Spawn(s, cotest.Sleeper(ms))
			self = e.Spawn(s, func(co *scheduler.Coroutine) error {
				require.NoError(t, scope.Of(co).Cancel(errStop))
				assert.True(t, co.Zombie())
				counts(t, s, 0, 2, 2)
				return co.Delay(ms)
			})
			_, err = co.Await(self)
			assert.NoError(t, err)
			_, err = co.Await(sibling)
			return err
		})
		assert.Equal(t, []string{"goes on"}, e.Said())
	})
}

func TestScope_SCOPE31_TheMainOneCancelsTheMainScope(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			require.NoError(t, scope.Main(co).Cancel(errStop))
			assert.True(t, co.Zombie())
			e.Counts(0, 1, 1)
			e.Say("goes on")
			cotest.IsCancelled(t, co.Delay(hour), scheduler.ErrRunOver) // SCOPE-29
			return nil
		})
		assert.Equal(t, []string{"goes on"}, e.Said())
	})
}

func TestScope_SCOPE32_ThreeUnrelatedScopesInOneTick(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			var scopes []*scope.Scope
			var victims []*scheduler.Coroutine
			for i := range 3 {
				s := scope.New(co).AsNotSafely()
				scopes = append(scopes, s)
				victims = append(victims, e.Spawn(s, cotest.Sleeper(hour)))
				e.Spawn(co, func(co *scheduler.Coroutine) error { return s.Cancel(fmt.Errorf("reason %d", i)) })
			}
			require.NoError(t, co.Yield())
			for i, c := range victims {
				_, err := co.Await(c)
				var cancelled *event.CancelledError
				if assert.ErrorAs(t, err, &cancelled) {
					assert.EqualError(t, cancelled.Reason, fmt.Sprintf("reason %d", i))
				}
				assert.True(t, scopes[i].IsClosed())
			}
			return nil
		})
	})
}

func TestScope_CANC20_UnstartedOnesNeverRunWhateverTheScopeIs(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		for _, safe := range []bool{false, true} {
			for _, dispose := range []bool{false, true} {
				e.MustRun(func(co *scheduler.Coroutine) error {
					s := scope.New(co)
					if !safe {
						s.AsNotSafely()
					}
					deep := scope.Inherit(scope.Inherit(s))
					a, b := e.Spawn(s, e.Sayer("never")), e.Spawn(deep, e.Sayer("never"))
					require.NoError(t, a.OnFinally(func(_, c *scheduler.Coroutine) error { e.Say("finally"); return nil }))
					if dispose {
						require.NoError(t, s.Dispose())
					} else {
						require.NoError(t, s.Cancel(errStop))
					}
					assert.False(t, a.Zombie())
					assert.True(t, a.CancellationRequested())
					require.NoError(t, s.AwaitCompletion(co))
					assert.True(t, s.IsClosed())
					for _, c := range []*scheduler.Coroutine{a, b} {
						assert.False(t, c.Started())
						assert.True(t, c.Cancelled())
						assert.Error(t, c.Error())
					}
					return nil
				})
				assert.Equal(t, []string{"finally"}, e.Said())
			}
		}
	})
}

func TestScope_CHAN33_WhatItOwnsIsClosed(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		ends := map[string]func(s *scope.Scope) error{
			"cancel":         func(s *scope.Scope) error { return s.Cancel(errStop) },
			"dispose":        (*scope.Scope).Dispose,
			"dispose safely": (*scope.Scope).DisposeSafely,
			"limit":          func(s *scope.Scope) error { return s.DisposeAfterTimeout(hour) },
		}
		for name, end := range ends {
			e.MustRun(func(co *scheduler.Coroutine) error {
				s := scope.New(co)
				c, err := channel.New[int](s, 0)
				require.NoError(t, err)
				zombie := e.Spawn(s, func(co *scheduler.Coroutine) error {
					_ = co.Delay(ms)
					assert.Equal(t, name == "cancel" || name == "dispose", c.Closed(), name)
					return nil
				})
				require.NoError(t, co.Yield())
				require.NoError(t, end(s))
				assert.Equal(t, name == "cancel" || name == "dispose", c.Closed(), name)
				_, _ = co.Await(zombie)
				assert.True(t, c.Closed(), "the last one has ended")
				return nil
			})
		}
	})
}
