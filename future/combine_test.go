package future

import (
	"context"
	"iter"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
)

func pairs[K comparable, V any](k Keyed[K, V]) map[K]V { return maps.Collect(k.All()) }

func TestAwait_AWAIT06_AllGivesValuesAndErrorsByKey(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		fs := []*Future[string]{later(co, 3*ms, "a", nil), later(co, 2*ms, "", errTest), later(co, ms, "c", nil), Failed[string](co, errOther)}
		values, errs, err := AwaitAll(co, Of(fs...))
		require.NoError(t, err)
		assert.Equal(t, []int{0, 2}, values.Keys())
		assert.Equal(t, []string{"a", "c"}, values.Values())
		assert.Equal(t, map[int]error{1: errTest, 3: errOther}, errs.Map())

		values, errs, err = AwaitAll(co, Of(fs...).Filled())
		require.NoError(t, err)
		assert.Equal(t, []string{"a", "", "c", ""}, values.Values())
		assert.Equal(t, []int{1, 3}, errs.Keys())

		mixed, _, err := AwaitAll(co, Events(fs[0], fs[1]).Filled())
		require.NoError(t, err)
		assert.Equal(t, []any{"a", nil}, mixed.Values())
	})
}

func TestAwait_AWAIT07_AllOrFailGivesTheFirstErrorAtOnce(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		values, err := AwaitAllOrFail(co, Of(later(co, 2*ms, 1, nil), later(co, ms, 2, nil)))
		require.NoError(t, err)
		assert.Equal(t, []int{1, 2}, values.Values())

		c, slow := New[int](co)
		values, err = AwaitAllOrFail(co, Of(slow, Completed(co, 4), later(co, ms, 0, errTest)))
		assert.Same(t, errTest, err)
		assert.Equal(t, map[int]int{1: 4}, pairs(values))
		assert.False(t, slow.Completed(), "it goes on")
		assert.Zero(t, listeners(slow))
		require.NoError(t, c.Complete(3))
	})
}

func TestAwait_AWAIT08_AnyOrFailGivesTheFirstOutcome(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		for winner := range 3 {
			fs := make([]*Future[int], 3)
			for i := range fs {
				fs[i] = later(co, 1e6*ms, i, nil)
			}
			losers := slices.Clone(fs)
			fs[winner] = later(co, ms, 10+winner, nil)
			v, err := AwaitAnyOrFail(co, Of(fs...))
			require.NoError(t, err)
			assert.Equal(t, 10+winner, v)
			fs[winner] = later(co, ms, 0, errTest)
			_, err = AwaitAnyOrFail(co, Of(fs...))
			assert.Same(t, errTest, err)
			for _, f := range losers {
				require.NoError(t, f.Cancel(nil))
			}
		}
		v, err := AwaitAnyOrFail(co, Of[int]())
		require.NoError(t, err)
		assert.Zero(t, v)
		a, err := AwaitAnyOrFail(co, Events())
		require.NoError(t, err)
		assert.Nil(t, a)
	})
}

func TestAwait_AWAIT08_TwoSettleBeforeTheAwaiterRuns(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		c1, f1 := New[int](co)
		c2, f2 := New[int](co)
		var v int
		var err error
		spawn(t, co, func(co *scheduler.Coroutine) { v, err = AwaitAnyOrFail(co, Of(f1, f2)) })
		settle(t, co)
		require.NoError(t, c2.Complete(2))
		require.NoError(t, c1.Fail(errTest))
		settle(t, co)
		require.NoError(t, err)
		assert.Equal(t, 2, v)
		assert.Same(t, errTest, f1.Err(), "taken here")
	})
}

func TestAwait_AWAIT09_FirstSuccess(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		slow := later(co, 1e6*ms, 9, nil)
		v, ok, errs, err := AwaitFirstSuccess(co, Of(later(co, ms, 0, errTest), later(co, 2*ms, 5, nil), slow))
		require.NoError(t, err)
		assert.True(t, ok)
		assert.Equal(t, 5, v)
		assert.Equal(t, map[int]error{0: errTest}, errs.Map())
		require.NoError(t, slow.Cancel(nil))

		v, ok, errs, err = AwaitFirstSuccess(co, Of(later(co, ms, 0, errTest), Failed[int](co, errOther)))
		require.NoError(t, err)
		assert.False(t, ok)
		assert.Zero(t, v)
		assert.Equal(t, []error{errTest, errOther}, errs.Values())
	})
}

func TestAwait_AWAIT10_AnyOf(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		slow := later(co, 1e6*ms, 9, nil)
		in := Of(later(co, 3*ms, 1, nil), slow, later(co, ms, 0, errTest), later(co, 2*ms, 4, nil))
		values, errs, err := AwaitAnyOf(co, 2, in)
		require.NoError(t, err)
		assert.Equal(t, map[int]int{0: 1, 3: 4}, values.Map())
		assert.Equal(t, map[int]error{2: errTest}, errs.Map())
		require.NoError(t, slow.Cancel(nil))

		values, errs, err = AwaitAnyOf(co, 9, Of(later(co, ms, 1, nil), later(co, ms, 0, errTest)))
		require.NoError(t, err, "all have settled")
		assert.Equal(t, 1, values.Len())
		assert.Equal(t, 1, errs.Len())

		values, errs, err = AwaitAnyOf(co, 0, Of(Completed(co, 1)))
		require.NoError(t, err)
		assert.Zero(t, values.Len()+errs.Len())
		_, pending := New[int](co)
		_, _, err = AwaitAnyOf(co, 0, Of(pending))
		require.NoError(t, err)
		_, _, err = AwaitAnyOf(co, -1, Of(pending))
		assert.ErrorIs(t, err, event.ErrInvalidArgument)
	})
}

func TestAwait_AWAIT10_MoreWhenMoreHadSettledByThen(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		c1, f1 := New[int](co)
		c2, f2 := New[int](co)
		c3, f3 := New[int](co)
		var values Keyed[int, int]
		var errs Keyed[int, error]
		spawn(t, co, func(co *scheduler.Coroutine) { values, errs, _ = AwaitAnyOf(co, 1, Of(f1, f2, f3)) })
		settle(t, co)
		require.NoError(t, c1.Complete(1))
		require.NoError(t, c2.Complete(2))
		require.NoError(t, c3.Fail(errTest))
		settle(t, co)
		assert.Equal(t, []int{1, 2}, values.Values())
		assert.Equal(t, []error{errTest}, errs.Values())
	})
}

func TestAwait_AWAIT11_AnyOfOrFail(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		slow := later(co, 1e6*ms, 9, nil)
		values, err := AwaitAnyOfOrFail(co, 2, Of(slow, later(co, ms, 1, nil), later(co, 2*ms, 2, nil)))
		require.NoError(t, err)
		assert.Equal(t, []int{1, 2}, values.Values())
		_, err = AwaitAnyOfOrFail(co, 2, Of(slow, later(co, ms, 1, nil), later(co, 2*ms, 0, errTest)))
		assert.Same(t, errTest, err)
		require.NoError(t, slow.Cancel(nil))
	})
}

func TestAwait_AWAIT12_KeysAndOrderOfTheInput(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		made := func() []*Future[int] {
			return []*Future[int]{later(co, 4*ms, 0, nil), later(co, 2*ms, 1, nil), later(co, 6*ms, 2, nil), Completed(co, 3)}
		}
		names := []string{"d", "b", "a", "c"}
		named := func(yield func(string, *Future[int]) bool) {
			for i, f := range made() {
				if !yield(names[i], f) {
					return
				}
			}
		}
		values, _, err := AwaitAll(co, OfSeq2(named))
		require.NoError(t, err)
		assert.Equal(t, names, values.Keys())
		assert.Equal(t, []int{0, 1, 2, 3}, values.Values())
		b, ok := values.Get("b")
		assert.True(t, ok)
		assert.Equal(t, 1, b)
		_, ok = values.Get("x")
		assert.False(t, ok)

		values, _, err = AwaitAll(co, OfSeq2(named).ByCompletion())
		require.NoError(t, err)
		assert.Equal(t, []int{3, 1, 0, 2}, values.Values())

		byName, err := AwaitAllOrFail(co, OfMap(map[string]*Future[int]{"x": later(co, ms, 7, nil), "y": Completed(co, 8)}))
		require.NoError(t, err)
		assert.Equal(t, map[string]int{"x": 7, "y": 8}, byName.Map())

		mixed, err := AwaitAllOrFail(co, EventMap(map[string]event.Event{"x": Completed(co, "s"), "y": w.timer(t, ms)}))
		require.NoError(t, err)
		assert.Equal(t, "s", mixed.Map()["x"])
		assert.Contains(t, mixed.Map(), "y")
	})
}

func TestAwait_AWAIT13_EmptyInputs(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		other := false
		spawn(t, co, func(*scheduler.Coroutine) { other = true })
		for name, in := range map[string]Input[int, int]{
			"slice": Of[int](),
			"seq":   OfSeq(func(func(*Future[int]) bool) {}),
			"seq2":  OfSeq2(func(func(int, *Future[int]) bool) {}),
			"try":   OfTry(func(func(*Future[int], error) bool) {}),
			"map":   OfMap(map[int]*Future[int]{}),
		} {
			values, errs, err := AwaitAll(co, in)
			assert.NoError(t, err, name)
			assert.Zero(t, values.Len()+errs.Len(), name)
			_, err = AwaitAllOrFail(co, in)
			assert.NoError(t, err, name)
			_, err = AwaitAnyOrFail(co, in)
			assert.NoError(t, err, name)
			_, ok, _, err := AwaitFirstSuccess(co, in)
			assert.NoError(t, err, name)
			assert.False(t, ok)
			_, _, err = AwaitAnyOf(co, 2, in)
			assert.NoError(t, err, name)
			_, err = AwaitAnyOfOrFail(co, 2, in)
			assert.NoError(t, err, name)
		}
		for name, in := range map[string]Input[int, any]{
			"events": Events(),
			"seq":    EventSeq(func(func(event.Event) bool) {}),
			"try":    EventTry(func(func(event.Event, error) bool) {}),
			"map":    EventMap(map[int]event.Event{}),
		} {
			_, _, err := AwaitAll(co, in)
			assert.NoError(t, err, name)
		}
		assert.False(t, other, "at once")
		_, _, err := AwaitAll(co, Input[int, int]{})
		assert.ErrorIs(t, err, event.ErrInvalidArgument)
	})
}

func TestAwait_AWAIT14_FinishedAndPendingItemsMixed(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		done := spawn(t, co, func(*scheduler.Coroutine) {})
		settle(t, co)
		pending := spawn(t, co, func(co *scheduler.Coroutine) { _ = co.Delay(2 * ms) })
		f := Completed(co, "f")
		values, errs, err := AwaitAll(co, Events(done, w.timer(t, ms), f, pending, later(co, ms, 1, nil), f, done, w.timer(t, 3*ms)))
		require.NoError(t, err)
		assert.Equal(t, 8, values.Len())
		assert.Zero(t, errs.Len())
		assert.Equal(t, "f", values.Values()[2])
		assert.Equal(t, 1, values.Values()[4])
		assert.Equal(t, "f", values.Values()[5])

		values, _, err = AwaitAll(co, Events(done, f, pending))
		require.NoError(t, err, "all finished")
		assert.Equal(t, 3, values.Len())
	})
}

func TestAwait_AWAIT15_AFinishedFirstOneEndsItBeforeTheRestIsTouched(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		_, pending := New[int](co)
		tm := w.timer(t, ms)
		v, err := AwaitAnyOrFail(co, Of(Completed(co, 1), pending))
		require.NoError(t, err)
		assert.Equal(t, 1, v)
		assert.False(t, pending.core.has(isUsed))
		_, err = AwaitAnyOrFail(co, Events(Completed(co, 1), tm))
		require.NoError(t, err)
		_, err = AwaitAnyOrFail(co, Events(tm, Completed(co, 1)))
		require.NoError(t, err)
		assert.Zero(t, tm.AsEvent().Callbacks())
		assert.False(t, tm.Started())
		filled, _, err := AwaitAnyOf(co, 1, Of(Completed(co, 1), pending).Filled())
		require.NoError(t, err)
		assert.Equal(t, []int{1, 0}, filled.Values(), "every key of the input (AWAIT-06)")
		assert.False(t, pending.core.has(isUsed))
		var started startCounter
		var counted event.Base
		counted.Init(&started, w.reactor.Count(), 0)
		_, err = AwaitAnyOrFail(co, Events(&counted, Completed(co, 1)))
		require.NoError(t, err)
		_, _, err = AwaitAnyOf(co, 1, Events(&counted, Completed(co, 1)))
		require.NoError(t, err)
		assert.Zero(t, started.n, "nothing is started for a wait that does not happen")
		produced := 0
		_, err = AwaitAnyOrFail(co, OfSeq(func(yield func(*Future[int]) bool) {
			for produced = 1; yield(Completed(co, produced)); produced++ {
			}
		}))
		require.NoError(t, err)
		assert.Equal(t, 1, produced)
	})
}

func TestAwait_AWAIT17_ItemsAreAwaitedWhileTheyAreProduced(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		var made []*Future[int]
		produce := func(yield func(*Future[int]) bool) {
			for i := range 4 {
				f := later(co, ms, i, nil)
				made = append(made, f)
				if !yield(f) {
					return
				}
				assert.Equal(t, 1, listeners(f), "it is awaited")
				err := co.Delay(3 * ms)
				assert.True(t, f.Completed())
				if err != nil {
					assert.ErrorIs(t, err, errEnough)
					return
				}
			}
		}
		values, errs, err := AwaitAll(co, OfSeq(produce))
		require.NoError(t, err)
		assert.Zero(t, errs.Len())
		assert.Equal(t, []int{0, 1, 2, 3}, values.Values())

		made = nil
		two, _, err := AwaitAnyOf(co, 2, OfSeq(produce))
		require.NoError(t, err)
		assert.Equal(t, []int{0, 1}, two.Values())
		assert.Len(t, made, 2)

		_, err = AwaitAllOrFail(co, OfSeq(func(yield func(*Future[int]) bool) {
			if yield(later(co, ms, 0, errTest)) {
				assert.ErrorIs(t, co.Delay(1e6*ms), context.Canceled, "interrupted")
				assert.False(t, yield(ignored(later(co, ms, 1, nil))))
			}
		}))
		assert.Same(t, errTest, err, "as soon as it happens")
		require.NoError(t, co.Yield(), "only the sequence was cancelled")

		tm := w.timer(t, ms)
		_, _, err = AwaitAll(co, EventSeq(func(yield func(event.Event) bool) {
			if yield(tm) {
				assert.True(t, tm.Started())
				_ = co.Delay(3 * ms)
				assert.False(t, tm.Started())
			}
		}))
		require.NoError(t, err, "it happened while the sequence was suspended")
	})
}

func TestAwait_AWAIT17_TheTimeLimitCountsFromTheCall(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		_, pending := New[int](co)
		produced := 0
		_, _, err := AwaitAll(co, OfSeq(func(yield func(*Future[int]) bool) {
			for produced = range 10 {
				if !yield(pending) || co.Delay(2*ms) != nil {
					return
				}
			}
		}), scheduler.Timeout(3*ms))
		assert.ErrorIs(t, err, event.ErrTimeout)
		assert.Less(t, produced, 9)
		assert.Zero(t, listeners(pending))
	})
}

func TestAwait_AWAIT18_AFailingSequenceFailsTheCombinator(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		_, pending := New[int](co)
		for steps := range 3 {
			in := OfTry(func(yield func(*Future[int], error) bool) {
				for range steps {
					if !yield(pending, nil) {
						return
					}
				}
				if yield(nil, errTest) {
					t.Error("it was read on")
				}
			})
			_, _, err := AwaitAll(co, in)
			assert.Same(t, errTest, err)
			_, err = AwaitAllOrFail(co, in)
			assert.Same(t, errTest, err)
			_, _, _, err = AwaitFirstSuccess(co, in)
			assert.Same(t, errTest, err)
			assert.Zero(t, listeners(pending))
		}
		values, errs, err := AwaitAll(co, EventTry(func(yield func(event.Event, error) bool) {
			_ = yield(Completed(co, 1), nil) && yield(Failed[int](co, errOther), nil) && yield(nil, errTest)
		}))
		assert.Same(t, errTest, err)
		assert.Equal(t, []any{1}, values.Values(), "what there was by then")
		assert.Equal(t, []error{errOther}, errs.Values())
	})
}

func TestAwait_AWAIT18_APanicOfTheSequenceLeavesNoSubscription(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		_, pending := New[int](co)
		assert.Panics(t, func() {
			_, _, _ = AwaitAll(co, OfSeq(func(yield func(*Future[int]) bool) {
				yield(pending)
				panic("boom")
			}))
		})
		assert.Zero(t, listeners(pending))
	})
}

func TestAwait_AWAIT05_AnItemThatIsTheToken(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		kinds := map[string]func() event.Event{
			"future":    func() event.Event { return later(co, 2*ms, 1, nil) },
			"timer":     func() event.Event { return w.timer(t, 2*ms) },
			"coroutine": func() event.Event { return spawn(t, co, func(co *scheduler.Coroutine) { _ = co.Delay(2 * ms) }) },
		}
		for name, make := range kinds {
			token := make()
			_, _, err := AwaitAll(co, Events(later(co, ms, 1, nil), token), scheduler.Token(token))
			var cancelled *event.CancelledError
			require.ErrorAs(t, err, &cancelled, name)
			assert.True(t, cancelled.Token)
		}
		f := later(co, 2*ms, 1, nil)
		_, err := AwaitAllOrFail(co, Of(later(co, ms, 1, nil), f), scheduler.Token(f))
		assert.ErrorIs(t, err, context.Canceled)
		values, err := AwaitAllOrFail(co, Of(f), scheduler.Token(f))
		require.NoError(t, err, "everything had settled (AWAIT-03)")
		assert.Equal(t, 1, values.Len())
	})
}

func TestAwait_AWAIT20_TheTokenFires(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		slow := later(co, 1e6*ms, 4, nil)
		values, errs, err := AwaitAll(co, Of(slow, Completed(co, 1), Failed[int](co, errOther)), scheduler.Token(later(co, ms, 0, errTest)))
		var cancelled *event.CancelledError
		require.ErrorAs(t, err, &cancelled)
		assert.True(t, cancelled.Token)
		assert.ErrorIs(t, err, errTest)
		assert.Equal(t, []int{1}, values.Values(), "nothing is lost")
		assert.Equal(t, []error{errOther}, errs.Values())
		assert.Zero(t, listeners(slow))
		settle(t, co)
		assert.False(t, slow.Completed(), "it goes on")
		require.NoError(t, slow.Cancel(nil))
	})
}

func TestAwait_AWAIT21_AnUnrelatedFailureEndsTheRun(t *testing.T) {
	inBoth(t, func(t *testing.T, w *world) {
		var got error
		err := w.run(func(co *scheduler.Coroutine) {
			_, pending := New[int](co)
			_, err := co.Spawn(func(co *scheduler.Coroutine) error { _ = co.Delay(ms); return errTest })
			require.NoError(t, err)
			_, _, got = AwaitAll(co, Of(pending, later(co, 1e6*ms, 1, nil)))
		})
		assert.ErrorIs(t, err, errTest)
		assert.ErrorIs(t, got, context.Canceled)
	})
}

func TestAwait_AWAIT22_LosersAreLeftAlone(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		c, loser := New[int](co)
		tm := w.timer(t, 1e6*ms)
		slow := spawn(t, co, func(co *scheduler.Coroutine) { _ = co.Delay(1e6 * ms) })
		_, err := AwaitAnyOrFail(co, Events(loser, tm, slow, later(co, ms, 1, nil)))
		require.NoError(t, err)
		assert.Zero(t, listeners(loser))
		assert.Zero(t, tm.AsEvent().Callbacks())
		assert.False(t, tm.Started())
		assert.Zero(t, slow.AsEvent().Callbacks())

		awake := false
		spawn(t, co, func(co *scheduler.Coroutine) {
			require.NoError(t, c.Complete(1))
			require.NoError(t, slow.Cancel(nil))
			settle(t, co)
			assert.False(t, awake, "the awaiter is not touched")
		})
		require.NoError(t, co.Delay(ms))
		awake = true
	})
}

func TestAwait_AWAIT22_AnErrorThatNobodyHasSeenIsStillReported(t *testing.T) {
	inBoth(t, func(t *testing.T, w *world) {
		err := w.run(func(co *scheduler.Coroutine) {
			_, err := AwaitAnyOrFail(co, Of(later(co, ms, 1, nil), later(co, 3*ms, 0, errTest)))
			require.NoError(t, err)
		})
		assert.ErrorIs(t, err, errTest)
		assert.Equal(t, 1, unhandled(err))
	})
}

func TestAwait_AWAIT22_ErrorsThatWereCollectedAreHandled(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		failing, err := co.Spawn(func(co *scheduler.Coroutine) error { _ = co.Delay(ms); return errTest })
		require.NoError(t, err)
		_, errs, err := AwaitAll(co, Events(failing, later(co, ms, 0, errOther)))
		require.NoError(t, err)
		assert.Equal(t, []error{errTest, errOther}, errs.Values())
	})
}

func TestAwait_Combined_RefusesWhatCannotBeAwaited(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		_, pending := New[int](co)
		_, _, err := AwaitAll(co, Of(pending, nil))
		assert.ErrorIs(t, err, event.ErrInvalidArgument)
		_, _, err = AwaitAll(co, Events(pending, nil))
		assert.ErrorIs(t, err, event.ErrInvalidArgument)
		_, _, err = AwaitAll(co, Events(pending, co))
		assert.ErrorIs(t, err, event.ErrUsage)
		assert.Zero(t, listeners(pending))

		closed := w.timer(t, ms)
		closed.AsEvent().MarkClosed()
		_, errs, err := AwaitAll(co, Events(closed))
		require.NoError(t, err)
		require.Equal(t, 1, errs.Len())
		assert.ErrorIs(t, errs.Values()[0], event.ErrClosed, "EVT-17")

		var gone event.Base
		gone.Init(event.NopKind{}, nil, 0)
		spawn(t, co, func(*scheduler.Coroutine) { gone.Dispose() })
		_, err = AwaitAllOrFail(co, Events(&gone))
		assert.ErrorIs(t, err, event.ErrClosed, "closed while it was awaited")
	})
}

func TestAwait_GEN02_CancelledAfterTheCombinatorWasWoken(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		c, f := New[int](co)
		_, pending := New[int](co)
		var err error
		var values Keyed[int, int]
		a := spawn(t, co, func(co *scheduler.Coroutine) { values, _, err = AwaitAnyOf(co, 1, Of(f, pending)) })
		settle(t, co)
		require.NoError(t, c.Complete(1))
		require.NoError(t, a.Cancel(errTest))
		assert.Zero(t, listeners(pending), "in the same step")
		settle(t, co)
		assert.ErrorIs(t, err, errTest)
		assert.Equal(t, 1, values.Len())
	})
}

func TestAwait_DEAD10_TheReportSaysWhatIsMissing(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		c, f := New[int](co)
		a := spawn(t, co, func(co *scheduler.Coroutine) { _, _ = f.Await(co) })
		b := spawn(t, co, func(co *scheduler.Coroutine) { _, _ = f.Await(co) })
		d := spawn(t, co, func(co *scheduler.Coroutine) { _, _, _ = AwaitAll(co, Of(f, Completed(co, 1), f)) })
		settle(t, co)
		assert.Regexp(t, `future created at .*_test.go:\d+, pending: await`, a.WaitsFor())
		assert.Regexp(t, `future created at .*_test.go:\d+, pending: await`, b.WaitsFor())
		assert.Regexp(t, `AwaitAll: 1 of 3 settled; future\[int\] created at`, d.WaitsFor())
		require.NoError(t, c.Complete(1))
	})
}

// startCounter counts how often an event was started.
type startCounter struct {
	event.NopKind
	n int
}

func (k *startCounter) StartEvent() error {
	k.n++
	return nil
}

func count(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}
