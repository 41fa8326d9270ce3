package future

import (
	"context"
	"iter"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
)

func TestForEach_ITER01_InOrderUntilStop(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		var got []int
		require.NoError(t, ForEach(co, count(5), func(co *scheduler.Coroutine, v int) error {
			got = append(got, v)
			return co.Delay(ms)
		}))
		assert.Equal(t, []int{0, 1, 2, 3, 4}, got)

		got = nil
		asked := 0
		require.NoError(t, ForEach(co, func(yield func(int) bool) {
			for asked = range 100 {
				if !yield(asked) {
					return
				}
			}
		}, func(_ *scheduler.Coroutine, v int) error {
			got = append(got, v)
			if v == 2 {
				return ErrStop
			}
			return nil
		}))
		assert.Equal(t, []int{0, 1, 2}, got)
		assert.Equal(t, 2, asked, "the sequence is not read on")

		require.NoError(t, ForEach(co, count(0), func(*scheduler.Coroutine, int) error { t.Error("called"); return nil }))

		type pair struct {
			key   string
			value int
		}
		var pairs []pair
		ordered := func(yield func(string, int) bool) { _ = yield("a", 1) && yield("b", 2) }
		require.NoError(t, ForEach2(co, ordered, func(_ *scheduler.Coroutine, key string, value int) error {
			pairs = append(pairs, pair{key, value})
			return nil
		}))
		assert.Equal(t, []pair{{"a", 1}, {"b", 2}}, pairs)
	})
}

func TestForEach_ITER02_TheLimitHoldsForEveryKindOfSequence(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		numbers := slices.Collect(count(20))
		table := map[int]int{}
		for _, n := range numbers {
			table[n] = n
		}
		for _, k := range []int{1, 3, 7, 100} {
			running, most, calls := 0, 0, 0
			fn := func(co *scheduler.Coroutine, v int) error {
				running++
				most = max(most, running)
				calls++
				err := co.Delay(ms)
				running--
				return err
			}
			fn2 := func(co *scheduler.Coroutine, _ int, v int) error { return fn(co, v) }
			for name, each := range map[string]func() error{
				"function": func() error { return ForEach(co, count(20), fn, Concurrency(k)) },
				"slice":    func() error { return ForEach2(co, slices.All(numbers), fn2, Concurrency(k)) },
				"map":      func() error { return ForEach2(co, maps.All(table), fn2, Concurrency(k)) },
				"values":   func() error { return ForEach(co, maps.Values(table), fn, Concurrency(k)) },
				"failing":  func() error { return ForEachTry(co, fallible(20, nil), fn, Concurrency(k)) },
			} {
				running, most, calls = 0, 0, 0
				require.NoError(t, each(), name)
				assert.Equal(t, min(k, 20), most, name)
				assert.Equal(t, 20, calls, name)
				assert.Zero(t, running, name)
			}
		}
		for _, k := range []int{0, -1} {
			err := ForEach(co, count(1), func(*scheduler.Coroutine, int) error { return nil }, Concurrency(k))
			assert.ErrorIs(t, err, event.ErrInvalidArgument)
		}
		assert.ErrorIs(t, ForEach(co, count(1), nil), event.ErrInvalidArgument)
		assert.ErrorIs(t, ForEach(co, nil, func(*scheduler.Coroutine, int) error { return nil }), event.ErrInvalidArgument)
	})
}

// fallible yields 0 to n-1 and then err, unless that is nil.
func fallible(n int, err error) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		for i := range n {
			if !yield(i, nil) {
				return
			}
		}
		if err != nil {
			yield(0, err)
		}
	}
}

func TestForEach_ITER03_TheLastCallIsAwaited(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		ended := 0
		require.NoError(t, ForEach(co, count(3), func(co *scheduler.Coroutine, v int) error {
			if err := co.Delay([]time.Duration{ms, 2 * ms, 8 * ms}[v]); err != nil {
				return err
			}
			ended++
			return nil
		}, Concurrency(3)))
		assert.Equal(t, 3, ended)

		ended = 0
		require.NoError(t, ForEach(co, count(100), func(co *scheduler.Coroutine, v int) error {
			if v == 1 {
				return ErrStop
			}
			if err := co.Delay(3 * ms); err != nil {
				return err
			}
			ended++
			return nil
		}, Concurrency(2)))
		assert.Equal(t, 1, ended, "also after Stop")
	})
}

func TestForEach_ITER04_AFailureCancelsTheOthers(t *testing.T) {
	options := map[string][]EachOption{
		"cancel pending": {Concurrency(3)},
		"await pending":  {Concurrency(3), AwaitPending()},
	}
	for name, opts := range options {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
				var others []error
				calls := 0
				err := ForEach(co, count(10), func(co *scheduler.Coroutine, v int) error {
					calls++
					if v == 2 {
						if err := co.Delay(ms); err != nil {
							return err
						}
						return errTest
					}
					err := co.Delay(1e6 * ms)
					others = append(others, err)
					return err
				}, opts...)
				assert.Same(t, errTest, err)
				assert.Equal(t, 3, calls)
				require.Len(t, others, 2, "they have ended when ForEach returns")
				for _, err := range others {
					assert.ErrorIs(t, err, context.Canceled)
					assert.ErrorIs(t, err, errTest)
				}
			})
		})
	}
}

func TestForEach_ITER04_NoErrorIsLost(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		err := ForEach(co, count(2), func(co *scheduler.Coroutine, v int) error {
			if v == 0 {
				_ = co.Delay(1e6 * ms)
				return errOther
			}
			return errTest
		}, Concurrency(2))
		assert.ErrorIs(t, err, errTest)
		assert.ErrorIs(t, err, errOther)

		err = ForEach(co, count(2), func(*scheduler.Coroutine, int) error { panic("boom") })
		var p *event.PanicError
		assert.ErrorAs(t, err, &p)
	})
}

func TestForEach_ITER04_TheCallerIsCancelled(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		var err error
		cleaned := 0
		a := spawn(t, co, func(co *scheduler.Coroutine) {
			err = ForEach(co, count(9), func(co *scheduler.Coroutine, v int) error {
				defer func() { cleaned++ }()
				_ = co.Delay(1e6 * ms)
				return co.Protect(func(context.Context) error { return co.Delay(ms) })
			}, Concurrency(3))
			assert.Equal(t, 3, cleaned, "they have ended when ForEach returns")
		})
		settle(t, co)
		require.NoError(t, a.Cancel(errTest))
		_, _ = co.Await(a)
		assert.ErrorIs(t, err, errTest)
		assert.ErrorIs(t, err, context.Canceled)
	})
}

func TestForEach_ITER05_WhatTheCallsSpawned(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		var ends []error
		lasts := 1e6 * ms
		fn := func(co *scheduler.Coroutine, v int) error {
			spawn(t, co, func(co *scheduler.Coroutine) {
				_ = co.Yield()
				ends = append(ends, co.Delay(lasts))
			})
			return co.Delay(ms)
		}
		require.NoError(t, ForEach(co, count(3), fn, Concurrency(3)))
		require.Len(t, ends, 3)
		for _, err := range ends {
			assert.ErrorIs(t, err, context.Canceled)
		}
		ends, lasts = nil, 3*ms
		require.NoError(t, ForEach(co, count(3), fn, Concurrency(3), AwaitPending()))
		assert.Equal(t, []error{nil, nil, nil}, ends)
	})
}

func TestForEach_ITER05_WhatTheCallsSpawnedFails(t *testing.T) {
	for name, opts := range map[string][]EachOption{"cancel pending": nil, "await pending": {AwaitPending()}} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
				err := ForEach(co, count(3), func(co *scheduler.Coroutine, v int) error {
					if v > 0 {
						t.Error("the iteration has failed")
					}
					_, err := co.Spawn(func(*scheduler.Coroutine) error { return errTest })
					require.NoError(t, err)
					return co.Delay(1e6 * ms)
				}, opts...)
				assert.Same(t, errTest, err)
				require.NoError(t, co.Yield(), "the caller goes on")
			})
		})
	}
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		err := ForEach(co, count(1), func(co *scheduler.Coroutine, v int) error {
			_, err := co.Spawn(func(co *scheduler.Coroutine) error { _ = co.Delay(ms); return errTest })
			return err
		}, AwaitPending())
		assert.Same(t, errTest, err, "after the last call")
	})
}

func TestForEach_ITER06_ASequenceThatSuspends(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		seq := func(yield func(int) bool) {
			for i := range 8 {
				if co.Delay(ms) != nil || !yield(i) {
					return
				}
			}
		}
		var got []int
		running, most := 0, 0
		require.NoError(t, ForEach(co, seq, func(co *scheduler.Coroutine, v int) error {
			got = append(got, v)
			running++
			most = max(most, running)
			defer func() { running-- }()
			return co.Delay(5 * ms)
		}, Concurrency(2)))
		assert.Equal(t, []int{0, 1, 2, 3, 4, 5, 6, 7}, got)
		assert.Equal(t, 2, most)
	})
}

func TestForEach_ITER07_ASequenceThatFails(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		for n := range 4 {
			ended := 0
			err := ForEachTry(co, fallible(n, errTest), func(co *scheduler.Coroutine, v int) error {
				if err := co.Delay(2 * ms); err != nil {
					return err
				}
				ended++
				return nil
			}, Concurrency(10))
			assert.Same(t, errTest, err)
			assert.Equal(t, n, ended, "no call is lost or made twice")
		}
	})
}

func TestForEach_APanicOfTheSequenceCancelsTheCalls(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		var got error
		assert.Panics(t, func() {
			_ = ForEach(co, func(yield func(int) bool) {
				yield(1)
				_ = co.Yield()
				panic("boom")
			}, func(co *scheduler.Coroutine, _ int) error { got = co.Delay(1e6 * ms); return got }, Concurrency(2))
		})
		settle(t, co)
		assert.ErrorIs(t, got, context.Canceled)
	})
}
