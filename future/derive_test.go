package future

import (
	"errors"
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
)

var errOther = errors.New("other failure")

// sources runs body with a future that settles later and with one that has settled already.
func sources(t *testing.T, body func(t *testing.T, co *scheduler.Coroutine, source func(value int, err error) *Future[int])) {
	t.Run("pending", func(t *testing.T) {
		both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
			body(t, co, func(value int, err error) *Future[int] { return later(co, ms, value, err) })
		})
	})
	t.Run("settled", func(t *testing.T) {
		both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
			body(t, co, func(value int, err error) *Future[int] {
				if err != nil {
					return Failed[int](co, err)
				}
				return Completed(co, value)
			})
		})
	})
}

func TestFuture_FUT04_Map(t *testing.T) {
	sources(t, func(t *testing.T, co *scheduler.Coroutine, source func(int, error) *Future[int]) {
		s, err := Map(source(4, nil), func(v int) (string, error) { return strconv.Itoa(v * 2), nil }).Await(co)
		require.NoError(t, err)
		assert.Equal(t, "8", s)

		_, err = Map(source(0, errTest), func(int) (string, error) { t.Error("called"); return "", nil }).Await(co)
		assert.Same(t, errTest, err)

		_, err = Map(source(4, nil), func(int) (string, error) { return "dropped", errTest }).Await(co)
		assert.Same(t, errTest, err)

		_, err = Map(source(4, nil), func(int) (string, error) { panic("boom") }).Await(co)
		var p *event.PanicError
		assert.ErrorAs(t, err, &p)
	})
}

func TestFuture_FUT05_Catch(t *testing.T) {
	sources(t, func(t *testing.T, co *scheduler.Coroutine, source func(int, error) *Future[int]) {
		v, err := source(4, nil).Catch(func(error) (int, error) { t.Error("called"); return 0, nil }).Await(co)
		require.NoError(t, err)
		assert.Equal(t, 4, v)

		v, err = source(0, errTest).Catch(func(err error) (int, error) {
			assert.Same(t, errTest, err)
			return 9, nil
		}).Await(co)
		require.NoError(t, err)
		assert.Equal(t, 9, v)

		_, err = source(0, errTest).Catch(func(error) (int, error) { return 0, errOther }).Await(co)
		assert.Same(t, errOther, err)
	})
}

func TestFuture_FUT06_Finally(t *testing.T) {
	sources(t, func(t *testing.T, co *scheduler.Coroutine, source func(int, error) *Future[int]) {
		calls := 0
		v, err := source(4, nil).Finally(func() error { calls++; return nil }).Await(co)
		require.NoError(t, err)
		assert.Equal(t, 4, v)
		_, err = source(0, errTest).Finally(func() error { calls++; return nil }).Await(co)
		assert.Same(t, errTest, err)
		assert.Equal(t, 2, calls)

		_, err = source(4, nil).Finally(func() error { return errOther }).Await(co)
		assert.Same(t, errOther, err)
		_, err = source(0, errTest).Finally(func() error { return errOther }).Await(co)
		assert.ErrorIs(t, err, errOther)
		assert.ErrorIs(t, err, errTest, "the first error is the cause (GEN-08)")
		assert.ErrorContains(t, err, errOther.Error())

		_, err = source(0, errTest).Finally(func() error { panic("boom") }).Await(co)
		var p *event.PanicError
		assert.ErrorAs(t, err, &p)
		assert.ErrorIs(t, err, errTest)
	})
}

func TestFuture_FUT06_FinallyRunsInACancelledScope(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		s, err := co.Scope().New()
		require.NoError(t, err)
		calls := 0
		f := Go(s, func(co *scheduler.Coroutine) (int, error) { return 0, co.Delay(1e6 * ms) })
		done := f.Finally(func() error { calls++; return nil })
		c, open := New[int](s)
		early := open.Finally(func() error { calls++; return nil })
		settle(t, co)
		require.NoError(t, c.Complete(1)) // its function has its coroutine, which has not started
		require.NoError(t, s.Dispose(errTest))
		_, err = done.Await(co)
		assert.ErrorIs(t, err, errTest)
		v, err := early.Await(co)
		assert.NoError(t, err)
		assert.Equal(t, 1, v)
		assert.Equal(t, 2, calls)
	})
}

func TestFuture_FUT08_SeveralDerivationsInOrderAndIndependent(t *testing.T) {
	sources(t, func(t *testing.T, co *scheduler.Coroutine, source func(int, error) *Future[int]) {
		f := source(1, nil)
		var order []int
		var derived []*Future[int]
		for i := range 5 {
			derived = append(derived, Map(f, func(v int) (int, error) {
				order = append(order, i)
				if i == 2 {
					return 0, errTest
				}
				return v + i, nil
			}))
		}
		for i, d := range derived {
			v, err := d.Await(co)
			if i == 2 {
				assert.Same(t, errTest, err)
				continue
			}
			assert.NoError(t, err)
			assert.Equal(t, 1+i, v)
		}
		assert.Equal(t, []int{0, 1, 2, 3, 4}, order)
	})
}

func TestFuture_FUT09_DerivingFromASettledOneReturnsAtOnce(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		called := 0
		count := func() error { called++; return nil }
		futures := []*Future[int]{
			Map(Completed(co, 1), func(int) (int, error) { return 1, count() }),
			Failed[int](co, errTest).Catch(func(error) (int, error) { return 1, count() }),
			Completed(co, 1).Finally(count),
		}
		for _, f := range futures {
			assert.False(t, f.Completed())
		}
		assert.Zero(t, called, "not in the deriving call")
		for _, f := range futures {
			v, err := f.Await(co)
			assert.NoError(t, err)
			assert.Equal(t, 1, v)
		}
		assert.Equal(t, 3, called)
	})
}

func TestFuture_FUT10_TheChainOutlivesTheHandles(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		c, last := func() (*Completer[int], *Future[int]) {
			c, f := New[int](co)
			return c, Map(Map(f, func(v int) (int, error) { return v + 1, nil }), func(v int) (int, error) { return v * 10, nil })
		}()
		runtime.GC()
		require.NoError(t, c.Complete(1))
		v, err := last.Await(co)
		require.NoError(t, err)
		assert.Equal(t, 20, v)
	})
}

func TestFuture_CancelOfADerivedOneLeavesTheSourceAlone(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		c, f := New[int](co)
		d := Map(f, func(int) (int, error) { t.Error("called"); return 0, nil })
		require.NoError(t, d.Cancel(errTest))
		assert.True(t, d.Cancelled())
		assert.Zero(t, listeners(f))
		require.NoError(t, c.Complete(1))
		settle(t, co)
		assert.NoError(t, f.Err())
	})
}

func TestFuture_CancelOfADerivedOneWhoseFunctionRuns(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		d := Map(Completed(co, 1), func(int) (int, error) { t.Error("called"); return 0, nil })
		d.Cancel(errTest) // its coroutine has not started
		_, err := d.Await(co)
		assert.ErrorIs(t, err, errTest)
	})
}
