package cosync_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/internal/simreactor"
	"github.com/uvasync/uvasync/scheduler"
)

func TestCosync_GEN04_ServesInTheOrderOfArrival(t *testing.T) {
	scenes(t, func(s *scene, _ *primitive) {
		s.hold()
		for _, name := range []string{"a", "b", "c", "d"} {
			s.wait(name)
		}
		s.finish()
		s.is("a", "b", "c", "d")
	})
}

func TestCosync_GEN04_RemovingOneKeepsTheOrderOfTheOthers(t *testing.T) {
	scenes(t, func(s *scene, _ *primitive) {
		s.hold()
		s.wait("a")
		b := s.wait("b")
		s.wait("c")
		require.NoError(s.t, b.Cancel(nil))
		assert.Equal(s.t, 2, s.o.waiting(), "in the step of the cancellation")
		s.finish()
		s.is("b: cancelled", "a", "c")
	})
}

func TestCosync_GEN04_WhoReleasesAndComesBackGoesToTheEnd(t *testing.T) {
	for _, p := range primitives {
		if p.name == "WaitGroup" || p.name == "Once" || p.name == "Cond" {
			continue // nobody has to wait any more, or the releasing one never held
		}
		t.Run(p.name, func(t *testing.T) {
			cotest.EachMain(t, func(t *testing.T, co *coroutine) {
				s := &scene{t: t, co: co, o: p.make()}
				s.spawn("holder", func(co *coroutine) error {
					require.NoError(t, s.o.hold(co, s.gate.pass))
					if s.o.try != nil && p.serial {
						assert.False(t, s.o.try(co), "a try does not overtake")
					}
					return s.o.hold(co, func(*coroutine) error { s.log = append(s.log, "holder"); return nil })
				})
				s.yield()
				s.wait("a")
				s.wait("b")
				s.finish()
				s.is("a", "b", "holder")
			})
		})
	}
}

func TestCosync_GEN04_ATryDoesNotOvertake(t *testing.T) {
	scenes(t, func(s *scene, p *primitive) {
		if s.o.try == nil || !p.serial {
			return
		}
		s.hold()
		s.wait("a")
		s.gate.open()
		s.yield() // the holder has given back, a has not run
		assert.Zero(s.t, s.o.waiting())
		assert.False(s.t, s.o.try(s.co))
		assert.Empty(s.t, s.log)
		s.finish()
		s.is("a")
	})
}

func TestCosync_CANC03_ACancelledWaitReturnsTheReason(t *testing.T) {
	scenes(t, func(s *scene, _ *primitive) {
		s.hold()
		a := s.wait("a")
		require.NoError(s.t, a.Cancel(errBoom))
		assert.Zero(s.t, s.o.waiting(), "in the same step")
		s.finish()
		s.is("a: cancelled boom")
	})
}

func TestCosync_CANC22_ACancellationAfterTheWakeUpPassesTheTurnOnInTheSameStep(t *testing.T) {
	scenes(t, func(s *scene, p *primitive) {
		s.hold()
		a := s.wait("a")
		s.wait("b")
		s.gate.open()
		s.yield()
		if p.serial {
			assert.Equal(s.t, 1, s.o.waiting(), "a was woken and has not run")
		}
		require.NoError(s.t, a.Cancel(nil))
		assert.Zero(s.t, s.o.waiting(), "b is woken in the same step")
		s.finish()
		assert.Equal(s.t, []string{"a: cancelled", "b"}, sorted(s.log))
	})
}

func TestCosync_GEN05_WhatNobodyTakesIsFreeInTheSameStep(t *testing.T) {
	scenes(t, func(s *scene, _ *primitive) {
		s.hold()
		a := s.wait("a")
		s.gate.open()
		s.yield()
		require.NoError(s.t, a.Cancel(nil))
		if s.o.try != nil {
			assert.True(s.t, s.o.try(s.co))
		}
		s.finish()
		s.is("a: cancelled")
	})
}

func TestCosync_CANC00_ACancelledCoroutineIsRefusedEvenWhenNothingIsInItsWay(t *testing.T) {
	scenes(t, func(s *scene, _ *primitive) {
		s.spawn("a", func(co *coroutine) error {
			require.NoError(s.t, co.Cancel(nil))
			s.enter("a", co)
			if s.o.try != nil {
				assert.NotPanics(s.t, func() {
					assert.True(s.t, s.o.try(co), "calls that never suspend do not look at it")
				})
			}
			return nil
		})
		s.yield()
		s.finish()
		s.is("a: cancelled")
	})
}

func TestCosync_TimeoutEndsTheWait(t *testing.T) {
	scenes(t, func(s *scene, _ *primitive) {
		s.hold()
		a := s.wait("a", scheduler.Timeout(time.Millisecond))
		s.wait("b", scheduler.Timeout(time.Hour))
		_, err := s.co.Await(a)
		require.NoError(s.t, err)
		assert.Equal(s.t, 1, s.o.waiting())
		s.finish()
		s.is("a: timeout late", "b")
	})
}

func TestCosync_REACT08_AnIllegalTimeoutIsRefusedEvenWhenNothingIsInItsWay(t *testing.T) {
	scenes(t, func(s *scene, _ *primitive) {
		s.enter("free", s.co, scheduler.Timeout(0))
		s.hold()
		s.enter("held", s.co, scheduler.Timeout(-time.Second))
		assert.Zero(s.t, s.o.waiting())
		s.finish()
		s.is("free: invalid", "held: invalid")
	})
}

func TestCosync_CANC23_ATokenEndsTheWait(t *testing.T) {
	scenes(t, func(s *scene, _ *primitive) {
		var g gate
		token := s.spawn("token", func(co *coroutine) error { _ = g.pass(co); return errBoom })
		s.hold()
		a := s.wait("a", scheduler.Token(token))
		s.wait("b")
		g.open()
		_, err := s.co.Await(a)
		require.NoError(s.t, err)
		assert.Equal(s.t, 1, s.o.waiting())
		s.all = s.all[1:] // its failure was the token
		s.finish()
		s.is("a: cancelled boom token", "b")
	})
}

func TestCosync_CANC24_CANC25_ATokenThatHasFiredEndsOnlyAWait(t *testing.T) {
	scenes(t, func(s *scene, p *primitive) {
		token := s.spawn("token", func(*coroutine) error { return nil })
		s.yield()
		s.yield()
		want := []string{"free", "held: cancelled token"}
		if p.name == "Cond" {
			want = want[1:] // it always waits
		} else {
			s.enter("free", s.co, scheduler.Token(token))
		}
		s.hold()
		s.enter("held", s.co, scheduler.Token(token))
		assert.Zero(s.t, s.o.waiting())
		s.finish()
		s.is(want...)
	})
}

func TestCosync_CORO30_RefusesForeignGoroutines(t *testing.T) {
	scenes(t, func(s *scene, _ *primitive) {
		s.hold()
		s.wait("a")
		foreign := func(call func()) {
			done := make(chan struct{})
			go func() { defer close(done); call() }()
			<-done
		}
		foreign(func() { assert.ErrorIs(s.t, s.o.with(s.co, nothing), event.ErrUsage) })
		for name, call := range s.o.refuse {
			foreign(func() { refused(s.t, func() { call(s.co) }, "cosync: ", name, "another goroutine") })
		}
		s.finish()
	})
}

// refused wants call to panic with a usage error that contains all of the texts.
func refused(t *testing.T, call func(), texts ...string) {
	t.Helper()
	defer func() {
		t.Helper()
		err, _ := recover().(error)
		if assert.ErrorIs(t, err, event.ErrUsage) {
			for _, text := range texts {
				assert.ErrorContains(t, err, text)
			}
		}
	}()
	call()
}

func nothing(*coroutine) error { return nil }

func TestCosync_CORO30_RefusesACoroutineThatIsNotTheCaller(t *testing.T) {
	scenes(t, func(s *scene, _ *primitive) {
		holder := s.hold()
		assert.ErrorIs(s.t, s.o.with(nil, nothing), event.ErrUsage)
		assert.ErrorIs(s.t, s.o.with(holder, nothing), event.ErrUsage)
		assert.ErrorIs(s.t, s.o.with(&coroutine{}, nothing), event.ErrUsage)
		if s.o.go_ != nil {
			_, err := s.o.go_((*coroutine)(nil))
			assert.ErrorIs(s.t, err, event.ErrUsage)
		}
		if s.o.try != nil {
			refused(s.t, func() { s.o.try(nil) }, "nil")
			refused(s.t, func() { s.o.try(&coroutine{}) })
		}
		s.finish()
	})
}

func TestCosync_GEN11_AnotherRunIsRefusedByName(t *testing.T) {
	for _, p := range primitives {
		t.Run(p.name, func(t *testing.T) {
			o := p.make()
			one := func(name string, main body) error {
				r := simreactor.New(1)
				defer r.Close()
				opts := steady
				opts.Name = name
				return scheduler.New(r, opts).Run(context.Background(), main)
			}
			require.NoError(t, one("first", func(co *coroutine) error {
				s := &scene{t: t, co: co, o: o}
				s.hold()
				s.wait("a")
				s.finish()
				return nil
			}))
			require.NoError(t, one("second", func(co *coroutine) error {
				err := o.with(co, nothing)
				assert.ErrorIs(t, err, event.ErrUsage)
				assert.ErrorContains(t, err, "first")
				assert.ErrorContains(t, err, "second")
				if o.try != nil {
					refused(t, func() { o.try(co) }, "first", "second")
				}
				if o.go_ != nil {
					_, err := o.go_(co)
					assert.ErrorContains(t, err, "first")
				}
				return nil
			}))
		})
	}
}

func TestCosync_DEAD10_ADeadlockReportSaysWhoHolds(t *testing.T) {
	for _, p := range primitives {
		t.Run(p.name, func(t *testing.T) {
			cotest.EachInOrder(t, func(t *testing.T, e *cotest.Env) {
				o := p.make()
				err := e.Run(func(co *coroutine) error {
					s := &scene{t: t, co: co, o: o}
					s.hold()
					s.wait("waiter")
					return nil
				})
				var deadlock *scheduler.DeadlockError
				require.ErrorAs(t, err, &deadlock)
				assert.Equal(t, 2, deadlock.Waiting)
				assert.Regexp(t, `waits for +`+p.report+`\n`, deadlock.Report)
				assert.Regexp(t, p.report+`\n +at +github.com/uvasync/uvasync/cosync_test\.`, deadlock.Report, "where it waits")
			})
		})
	}
}

func TestCosync_CANC18_TheEndOfTheGraceUnwindsWhoHoldsAndWhoWaits(t *testing.T) {
	for _, p := range primitives {
		t.Run(p.name, func(t *testing.T) {
			cotest.EachInOrder(t, func(t *testing.T, e *cotest.Env) {
				err := e.Run(func(co *coroutine) error {
					sc := &scene{t: t, co: co, o: p.make()}
					sc.hold()
					for i := range 5 {
						sc.wait(fmt.Sprint(i))
					}
					return e.S.Shutdown(errBoom)
				}, cotest.WithGrace(-1))
				var panicked *event.PanicError
				assert.False(t, errors.As(err, &panicked), "%v", err)
				assert.ErrorIs(t, err, errBoom)
			})
		})
	}
}

func TestCosync_AThousandWaiters(t *testing.T) {
	const n = 1000
	scenes(t, func(s *scene, _ *primitive) {
		var want []string
		s.hold()
		for i := range n {
			name := fmt.Sprintf("%04d", i)
			s.spawn(name, func(co *coroutine) error { s.enter(name, co); return nil })
			if i%3 != 0 {
				want = append(want, name)
			}
		}
		s.yield()
		require.Equal(s.t, n, s.o.waiting())
		for i, co := range s.all[1:] {
			if i%3 == 0 {
				require.NoError(s.t, co.Cancel(nil))
			}
		}
		require.Equal(s.t, len(want), s.o.waiting())
		s.finish()
		var entered []string
		for _, line := range s.log {
			if len(line) == 4 {
				entered = append(entered, line)
			}
		}
		assert.Equal(s.t, want, entered)
		assert.Len(s.t, s.log, n)
	})
}
