package future

import (
	"context"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
)

// elsewhere calls fn on another goroutine where the reactor allows for one, and here in a simulation.
func (w *world) elsewhere(fn func()) (wait func()) {
	if w.name == "simulated" {
		fn()
		return func() {}
	}
	var wg sync.WaitGroup
	wg.Go(fn)
	return wg.Wait
}

func TestFuture_FUT15_AMovedRight(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		c, f := New[int](co)
		remote, err := c.Move()
		require.NoError(t, err)
		for _, refused := range []error{c.Complete(1), c.Fail(errTest)} {
			require.ErrorIs(t, refused, event.ErrUsage)
			assert.ErrorContains(t, refused, "moved")
		}
		_, err = c.Move()
		assert.ErrorIs(t, err, event.ErrUsage, "moved twice")

		got := 0
		for range 3 {
			spawn(t, co, func(co *scheduler.Coroutine) {
				v, err := f.Await(co)
				assert.NoError(t, err)
				assert.Equal(t, 7, v)
				got++
			})
		}
		settle(t, co)
		wait := w.elsewhere(func() {
			assert.NoError(t, remote.Complete(7))
			assert.ErrorIs(t, remote.Complete(8), event.ErrUsage)
			assert.ErrorIs(t, remote.Fail(errTest), event.ErrUsage)
			assert.ErrorIs(t, remote.Fail(nil), event.ErrInvalidArgument)
		})
		_, err = f.Await(co)
		require.NoError(t, err)
		settle(t, co)
		assert.Equal(t, 3, got)
		wait()
	})
}

func TestFuture_FUT15_MoveOfASettledOneIsRefused(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		c, f := New[int](co)
		require.NoError(t, f.Ignore())
		require.NoError(t, c.Complete(1))
		_, err := c.Move()
		assert.ErrorIs(t, err, event.ErrUsage)
	})
}

func TestFuture_FUT16_VisibleOnlyWhileSomebodyWaits(t *testing.T) {
	waits := map[string]func(co *scheduler.Coroutine, f *Future[int]) error{
		"await":    func(co *scheduler.Coroutine, f *Future[int]) error { _, err := f.Await(co); return err },
		"plain":    func(co *scheduler.Coroutine, f *Future[int]) error { _, err := co.Await(f); return err },
		"combined": func(co *scheduler.Coroutine, f *Future[int]) error { _, err := AwaitAnyOrFail(co, Of(f)); return err },
		"as events": func(co *scheduler.Coroutine, f *Future[int]) error {
			_, err := AwaitAnyOrFail(co, Events(f))
			return err
		},
		"derived": func(co *scheduler.Coroutine, f *Future[int]) error {
			_, err := Map(Map(f, increment), increment).Await(co)
			return err
		},
		"derived, as event": func(co *scheduler.Coroutine, f *Future[int]) error {
			_, err := co.Await(f.Finally(func() error { return nil }))
			return err
		},
	}
	for name, wait := range waits {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
				idle := w.reactor.Live()
				r, f := NewRemote[int](co)
				d := Map(f, increment)
				require.NoError(t, d.Ignore())
				f.AsEvent()
				assert.Equal(t, idle, w.reactor.Live(), "nobody waits")

				var first, second error
				a := spawn(t, co, func(co *scheduler.Coroutine) { first = wait(co, f) })
				spawn(t, co, func(co *scheduler.Coroutine) { second = wait(co, f) })
				settle(t, co)
				assert.Equal(t, idle+1, w.reactor.Live(), "two wait")
				require.NoError(t, a.Cancel(nil))
				settle(t, co)
				assert.ErrorIs(t, first, context.Canceled)
				assert.Equal(t, idle+1, w.reactor.Live(), "one waits")
				require.NoError(t, r.Complete(1))
				assert.Equal(t, idle+1, w.reactor.Live(), "until it was dispatched")
				until(t, co, f.Completed)
				assert.Equal(t, idle, w.reactor.Live())
				settle(t, co)
				assert.NoError(t, second)
			})
		})
	}
}

func TestFuture_FUT16_MoveWhileSomebodyWaits(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		idle := w.reactor.Live()
		c, f := New[int](co)
		spawn(t, co, func(co *scheduler.Coroutine) { _, _ = f.Await(co) })
		settle(t, co)
		assert.Equal(t, idle, w.reactor.Live())
		r, err := c.Move()
		require.NoError(t, err)
		assert.Equal(t, idle+1, w.reactor.Live())
		require.NoError(t, r.Complete(1))
		until(t, co, f.Completed)
		assert.Equal(t, idle, w.reactor.Live())
	})
}

func TestFuture_FUT16_OneThatNobodyAwaitsDoesNotKeepTheRun(t *testing.T) {
	inBoth(t, func(t *testing.T, w *world) {
		var r *RemoteCompleter[int]
		require.NoError(t, w.run(func(co *scheduler.Coroutine) { r, _ = NewRemote[int](co) }))
		require.NoError(t, w.reactor.Close())
		assert.ErrorIs(t, r.Complete(1), event.ErrClosed, "the run is over")
	})
}

func TestFuture_FUT16_ADroppedCompleterFailsTheFuture(t *testing.T) {
	w := newWorld(t, "libuv")
	require.NoError(t, w.run(func(co *scheduler.Coroutine) {
		f := abandoned(co)
		collected := make(chan struct{})
		go func() { // the loop sleeps meanwhile
			defer close(collected)
			for range 5 {
				runtime.GC()
			}
		}()
		_, err := f.Await(co)
		assert.ErrorIs(t, err, ErrAbandoned)
		<-collected
	}))
}

// Whether it fails before the end of the run depends on the garbage collector; the outcome of the run must not.
func TestFuture_FUT16_ADroppedCompleterThatNobodyMissesIsNoFailure(t *testing.T) {
	w := newWorld(t, "libuv")
	require.NoError(t, w.run(func(co *scheduler.Coroutine) {
		f := abandoned(co)
		for !f.Completed() {
			runtime.GC()
			require.NoError(t, co.Delay(ms))
		}
	}))
	assert.Empty(t, w.log.String())
}

//go:noinline
func abandoned(co *scheduler.Coroutine) *Future[int] {
	_, f := NewRemote[int](co)
	return f
}

func TestFuture_FUT16_DroppedAfterUseIsNoFailure(t *testing.T) {
	w := newWorld(t, "libuv")
	require.NoError(t, w.run(func(co *scheduler.Coroutine) {
		f := func() *Future[int] {
			r, f := NewRemote[int](co)
			require.NoError(t, r.Complete(3))
			return f
		}()
		runtime.GC()
		runtime.GC()
		v, err := f.Await(co)
		assert.NoError(t, err)
		assert.Equal(t, 3, v)
	}))
}

func TestFuture_FUT16_DisposedWhileTheOtherSideCompletes(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		for name, finish := range map[string]func(r *RemoteCompleter[int]) error{
			"complete": func(r *RemoteCompleter[int]) error { return r.Complete(1) },
			"fail":     func(r *RemoteCompleter[int]) error { return r.Fail(errTest) },
		} {
			for _, first := range []bool{true, false} {
				r, f := NewRemote[int](co)
				told := 0
				_, err := f.AsEvent().Subscribe(func(*event.Base, *event.Callback, any, error) { told++ })
				require.NoError(t, err)
				wait := func() {}
				if first { // it is on its way when the future is disposed
					wait = w.elsewhere(func() { assert.NoError(t, finish(r), name) })
				}
				require.NoError(t, f.Dispose())
				require.NoError(t, f.Dispose())
				wait()
				if !first {
					assert.NoError(t, finish(r), "the other side cannot know")
				}
				require.NoError(t, co.Delay(ms), "what was posted is dispatched")
				_, err = f.Await(co)
				assert.ErrorIs(t, err, ErrDisposed, name)
				assert.True(t, f.Cancelled(), name)
				assert.Equal(t, 1, told, name)
			}
		}
	})
}

func TestFuture_FUT16_ManyGoroutinesOneCompletes(t *testing.T) {
	w := newWorld(t, "libuv")
	require.NoError(t, w.run(func(co *scheduler.Coroutine) {
		for range 50 {
			r, f := NewRemote[int](co)
			var wg sync.WaitGroup
			var won [4]error
			for i := range won {
				wg.Go(func() { won[i] = r.Complete(i) })
			}
			v, err := f.Await(co)
			assert.NoError(t, err)
			wg.Wait()
			for i, err := range won {
				if i == v {
					assert.NoError(t, err)
				} else {
					assert.ErrorIs(t, err, event.ErrUsage)
				}
			}
		}
	}))
}

func TestFuture_GEN11_AnotherRunsFuture(t *testing.T) {
	inBoth(t, func(t *testing.T, w *world) {
		var foreign, pending *Future[int]
		var coroutine *scheduler.Coroutine
		require.NoError(t, w.run(func(co *scheduler.Coroutine) {
			foreign = ignored(Completed(co, 1))
			_, pending = New[int](co)
			coroutine = co
			pending.AsEvent()
		}))
		tm := w.timer(t, ms)
		other := newWorld(t, w.name)
		require.NoError(t, other.run(func(co *scheduler.Coroutine) {
			_, err := foreign.Await(co)
			require.ErrorIs(t, err, event.ErrUsage)
			assert.ErrorContains(t, err, w.scheduler.Name())
			assert.ErrorContains(t, err, other.scheduler.Name())
			_, _, err = AwaitAll(co, Of(foreign))
			assert.ErrorIs(t, err, event.ErrUsage)
			for _, ev := range []event.Event{foreign, pending, coroutine, tm, pending.AsEvent()} {
				_, _, err = AwaitAll(co, Events(ev))
				assert.ErrorIs(t, err, event.ErrUsage)
			}
			_, err = co.Await(pending)
			assert.ErrorIs(t, err, event.ErrUsage)
		}))
	})
}

func TestFuture_GEN11_ForeignGoroutines(t *testing.T) {
	w := newWorld(t, "libuv")
	require.NoError(t, w.run(func(co *scheduler.Coroutine) {
		c, f := New[int](co)
		done := make(chan struct{})
		go func() { // the loop stands still until it has ended
			defer close(done)
			_, err := f.Await(co)
			assert.ErrorIs(t, err, event.ErrUsage)
			assert.ErrorIs(t, c.Complete(1), event.ErrUsage)
			assert.ErrorIs(t, c.Fail(errTest), event.ErrUsage)
			_, err = c.Move()
			assert.ErrorIs(t, err, event.ErrUsage)
			_, _, err = AwaitAll(co, Of(f))
			assert.ErrorIs(t, err, event.ErrUsage)
			assert.ErrorIs(t, f.Cancel(nil), event.ErrUsage)
			assert.ErrorIs(t, f.Ignore(), event.ErrUsage)
			assert.ErrorIs(t, f.Dispose(), event.ErrUsage)
			for name, call := range map[string]func(){
				"Map":       func() { Map(f, increment) },
				"Catch":     func() { f.Catch(recovered) },
				"Finally":   func() { f.Finally(func() error { return nil }) },
				"AsEvent":   func() { f.AsEvent() },
				"Completed": func() { Completed(co, 1) },
				"Failed":    func() { Failed[int](co, errTest) },
				"Go":        func() { later(co, ms, 1, nil) },
				"NewRemote": func() { NewRemote[int](co) },
				"FromEvent": func() { FromEvent(co, f) },
			} {
				assert.ErrorIs(t, panicked(call), event.ErrUsage, name)
			}
		}()
		<-done
		assert.False(t, f.Completed())
		require.NoError(t, c.Complete(1))
	}))
}
