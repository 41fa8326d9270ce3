package future

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/simreactor"
	"github.com/uvasync/uvasync/scheduler"
)

// combination is a combinator under way beside what a simple model says of it.
type combination struct {
	t        *rapid.T
	co       *scheduler.Coroutine // of the test
	awaiter  *scheduler.Coroutine
	need     int
	failFast bool
	items    []*modelItem
	token    *Completer[int]

	// what the model expects
	woken, detached, tokenFired bool
	cancelled                   bool
	counted                     []*modelItem // in order
	err                         error        // of the first that failed, with failFast

	// what the combinator gave
	ended bool
	got   *combined[int, any]
	gotEr error
}

// modelItem is an item: a future, or a plain event.
type modelItem struct {
	key     int
	future  *Completer[int]
	plain   *event.Base
	settled bool
	err     error
}

func (i *modelItem) event() event.Event {
	if i.future != nil {
		return i.future.Future()
	}
	return i.plain
}

func (i *modelItem) settle(err error) {
	i.settled, i.err = true, err
	switch {
	case i.plain != nil:
		_ = i.plain.Notify(i.key, err)
	case err != nil:
		_ = i.future.Fail(err)
	default:
		_ = i.future.Complete(i.key)
	}
}

func (c *combination) successes() (n int) {
	for _, i := range c.counted {
		if i.err == nil {
			n++
		}
	}
	return n
}

func (c *combination) enough() bool {
	return c.err != nil || c.successes() >= c.need || len(c.counted) == len(c.items)
}

// count is what the model makes of an item that settles.
func (c *combination) count(i *modelItem) {
	if c.detached {
		return
	}
	c.counted = append(c.counted, i)
	if c.failFast && i.err != nil && c.err == nil {
		c.err = i.err
	}
	if c.enough() {
		c.woken = true
		c.detached = c.detached || c.failFast
	}
}

func TestAwait_TheEngineDoesWhatTheModelSays(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		inSimulation(rt, nil, func(co *scheduler.Coroutine) {
			c := newCombination(rt, co)
			rt.Repeat(map[string]func(*rapid.T){
				"":          c.check,
				"settle":    c.settle,
				"run":       func(*rapid.T) { c.letRun() },
				"cancel":    c.cancel,
				"fireToken": c.fireToken,
			})
			c.cancel(rt)
			c.letRun()
		})
	})
}

// inSimulation runs body in a simulated run, and lets what stops a rapid test through.
func inSimulation(t require.TestingT, shuffle *rand.Rand, body func(co *scheduler.Coroutine)) {
	r := simreactor.New(1)
	s := scheduler.New(r, scheduler.Options{Rand: shuffle, Logger: slog.New(slog.DiscardHandler)})
	err := s.Run(context.Background(), func(co *scheduler.Coroutine) error {
		body(co)
		return nil
	})
	require.NoError(t, r.Close())
	var p *event.PanicError
	if errors.As(err, &p) {
		panic(p.Value)
	}
	require.NoError(t, err)
}

func newCombination(t *rapid.T, co *scheduler.Coroutine) *combination {
	c := &combination{t: t, co: co}
	n := rapid.IntRange(0, 6).Draw(t, "items")
	c.need = rapid.SampledFrom([]int{0, 1, 2, 3, everything}).Draw(t, "need")
	c.failFast = rapid.Bool().Draw(t, "failFast")
	lazy := rapid.Bool().Draw(t, "lazy")
	c.token, _ = New[int](co)
	var events []event.Event
	for k := range n {
		i := &modelItem{key: k}
		if rapid.Bool().Draw(t, "future") {
			i.future, _ = New[int](co)
			_ = i.future.Future().Ignore()
			if rapid.IntRange(0, 3).Draw(t, "early") == 0 {
				i.settle(c.outcome(t))
			}
		} else {
			i.plain = &event.Base{}
			i.plain.Init(event.NopKind{}, nil, event.FlagPeriodic)
		}
		c.items = append(c.items, i)
		events = append(events, i.event())
	}
	// The model of the start: items are looked at in order, until that is enough.
	for _, i := range c.items {
		if c.woken || c.need == 0 {
			break
		}
		if i.settled {
			c.count(i)
		}
	}
	c.woken = c.woken || c.need == 0 || c.enough()
	in := Events(events...)
	in.lazy = lazy
	c.awaiter, _ = co.Spawn(func(co *scheduler.Coroutine) error {
		c.got, c.gotEr = combine("test", co, in, c.need, c.failFast, []scheduler.WaitOption{scheduler.Token(c.token.Future())})
		c.ended = true
		return nil
	})
	c.letRun()
	return c
}

func (c *combination) outcome(t *rapid.T) error {
	if rapid.Bool().Draw(t, "fails") {
		return fmt.Errorf("failure %d", rapid.IntRange(0, 999).Draw(t, "number"))
	}
	return nil
}

func (c *combination) settle(t *rapid.T) {
	var pending []*modelItem
	for _, i := range c.items {
		if !i.settled {
			pending = append(pending, i)
		}
	}
	if len(pending) == 0 {
		t.Skip("nothing is pending")
	}
	i := rapid.SampledFrom(pending).Draw(t, "item")
	i.settle(c.outcome(t))
	c.count(i)
}

func (c *combination) cancel(t *rapid.T) {
	_ = c.awaiter.Cancel(errTest)
	if !c.ended {
		c.cancelled, c.detached, c.woken = true, true, true
	}
}

func (c *combination) fireToken(t *rapid.T) {
	if c.token.Future().Completed() {
		t.Skip("it has fired")
	}
	_ = c.token.Complete(1)
	if !c.ended && !c.woken {
		c.tokenFired, c.woken, c.detached = true, true, true
	}
}

// letRun gives the awaiter its turn, and compares what it got.
func (c *combination) letRun() {
	for range 3 {
		_ = c.co.Yield()
	}
	t := c.t
	assert.Equal(t, c.woken, c.ended, "it runs when there is enough, and not before")
	if !c.ended {
		return
	}
	c.detached = true
	switch {
	case c.cancelled:
		assert.ErrorIs(t, c.gotEr, errTest)
		if c.err != nil {
			assert.ErrorIs(t, c.gotEr, c.err, "EVT-13")
		}
	case c.tokenFired:
		var e *event.CancelledError
		assert.ErrorAs(t, c.gotEr, &e)
	default:
		assert.Equal(t, c.err, c.gotEr)
	}
	var values []int
	var errs []error
	for _, i := range c.items {
		for _, n := range c.counted {
			switch {
			case i != n:
			case i.err == nil:
				values = append(values, i.key)
			default:
				errs = append(errs, i.err)
			}
		}
	}
	assert.Equal(t, values, c.got.values().Keys())
	assert.Equal(t, errs, c.got.errors().Values())
	for at, v := range c.got.values().Values() {
		assert.Equal(t, values[at], v)
	}
	assert.LessOrEqual(t, len(values), max(len(c.items), c.need))
	c.check(t)
}

func (c *combination) check(t *rapid.T) {
	for _, i := range c.items {
		n := 0
		if i.future != nil {
			n = listeners(i.future.Future())
		} else {
			n = i.plain.Callbacks()
		}
		if c.detached || i.settled {
			assert.Zero(t, n, "AWAIT-22")
		}
	}
	if t.Failed() {
		t.FailNow()
	}
}

// What must hold in whatever order coroutines run.
func TestFuture_InAnyOrderNothingIsLostOrDoubled(t *testing.T) {
	for seed := range uint64(30) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 1))
			inSimulation(t, rnd, func(co *scheduler.Coroutine) {
				var cs []*Completer[int]
				var derived []*Future[int]
				awaited, cancelled := make([]int, 20), 0
				for i := range awaited {
					c, f := New[int](co)
					cs = append(cs, c)
					derived = append(derived, Map(f, func(v int) (int, error) { return v * 2, nil }))
					for range 3 {
						a := spawn(t, co, func(co *scheduler.Coroutine) {
							switch v, err := f.Await(co); {
							case err == nil:
								assert.Equal(t, i, v)
								awaited[i]++
							default:
								assert.ErrorIs(t, err, context.Canceled)
								cancelled++
							}
						})
						if rnd.IntN(4) == 0 {
							spawn(t, co, func(*scheduler.Coroutine) { _ = a.Cancel(nil) })
						}
					}
				}
				for i, c := range cs {
					spawn(t, co, func(co *scheduler.Coroutine) {
						for range rnd.IntN(4) {
							_ = co.Yield()
						}
						assert.NoError(t, c.Complete(i))
					})
				}
				values, err := AwaitAllOrFail(co, Of(derived...))
				require.NoError(t, err)
				for i, v := range values.All() {
					assert.Equal(t, i*2, v)
				}
				require.NoError(t, co.Delay(ms))
				total := 0
				for _, n := range awaited {
					total += n
				}
				started := 3 * len(awaited)
				assert.LessOrEqual(t, total+cancelled, started, "nobody is woken twice")
				for _, c := range cs {
					assert.Zero(t, listeners(c.Future()))
					assert.Zero(t, c.Future().core.interest)
				}
			})
		})
	}
}
