package pool

import (
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
)

// bench is the pool that a breaker is tested in: nothing but a clock and a log.
type bench struct {
	t       *testing.T
	breaker breaker
	clock   time.Time
	opens   int
	log     []string
	errs    []error // what told was called with
}

func newBench(t *testing.T, s Strategy, onChange func(from, to State)) *bench {
	h := &bench{t: t, clock: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)}
	h.breaker.init(h, s, onChange)
	return h
}

func (h *bench) source() Source    { return h }
func (h *bench) Name() string      { return "bench" }
func (h *bench) State() State      { return h.breaker.state() }
func (h *bench) Now() time.Time    { return h.clock }
func (h *bench) Stats() Stats      { return Stats{} }
func (h *bench) Info() string      { return "bench" }
func (h *bench) Activate() error   { return h.become(Active) }
func (h *bench) Deactivate() error { return h.become(Inactive) }
func (h *bench) Recover() error    { return h.become(Recovering) }
func (h *bench) changed(_, to State) {
	if to == Inactive {
		h.opens++
	}
}
func (h *bench) told(_ string, err error) { h.errs = append(h.errs, err) }

func (h *bench) become(to State) error {
	h.breaker.become(to)
	return nil
}

func (h *bench) call(fn func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &event.PanicError{Value: v}
		}
	}()
	return fn()
}

func (h *bench) say(what ...any) { h.log = append(h.log, fmt.Sprint(what...)) }

// is compares the log, and begins anew.
func (h *bench) is(want ...string) {
	h.t.Helper()
	assert.Equal(h.t, want, h.log)
	h.log = nil
}

// swallowed says what told was called with: panics with these values.
func (h *bench) swallowed(values ...any) {
	h.t.Helper()
	var got []any
	for _, err := range h.errs {
		var panicked *event.PanicError
		require.ErrorAs(h.t, err, &panicked)
		got = append(got, panicked.Value)
	}
	assert.Equal(h.t, values, got)
	h.errs = nil
}

// admitted takes a ticket, which there must be.
func (h *bench) admitted() ticket {
	h.t.Helper()
	t, ok := h.breaker.admit()
	require.True(h.t, ok)
	require.NotZero(h.t, t)
	return t
}

func (h *bench) refused() {
	h.t.Helper()
	t, ok := h.breaker.admit()
	assert.False(h.t, ok)
	assert.Zero(h.t, t)
}

// fail reports n failures, each of an acquisition of its own.
func (h *bench) fail(n int) {
	h.t.Helper()
	for range n {
		h.breaker.failure(h.admitted(), errBench)
	}
}

// succeed reports n successes.
func (h *bench) succeed(n int) {
	h.t.Helper()
	for range n {
		h.breaker.success(h.admitted())
	}
}

func (h *bench) after(d time.Duration) { h.clock = h.clock.Add(d) }

var errBench = errors.New("boom")

// plainSpy is a strategy that logs what it is told. What it does then is for the test to say.
type plainSpy struct {
	h       *bench
	success func()
	failure func()
	recover func() bool
}

// spy is one with all that a strategy may have.
type spy struct {
	plainSpy
	changed func(to State)
	probes  func() int
}

func newSpy(t *testing.T) (*spy, *bench) {
	s := &spy{}
	s.h = newBench(t, s, nil)
	return s, s.h
}

func (s *plainSpy) ReportSuccess(src Source) {
	s.h.say("success in ", src.State())
	if s.success != nil {
		s.success()
	}
}

func (s *plainSpy) ReportFailure(src Source, err error) {
	s.h.say(err, " in ", src.State())
	if s.failure != nil {
		s.failure()
	}
}

func (s *plainSpy) ShouldRecover(src Source) bool {
	s.h.say("recover in ", src.State())
	return s.recover != nil && s.recover()
}

func (s *spy) StateChanged(src Source, from, to State) {
	s.h.say("strategy: ", from, " to ", to, ", is ", src.State())
	if s.changed != nil {
		s.changed(to)
	}
}

func (s *spy) Probes() int {
	if s.probes == nil {
		return 0
	}
	return s.probes()
}

func TestBreaker_CB01_BeginsActiveAndGoesAnywhereByHand(t *testing.T) {
	h := newBench(t, nil, nil)
	assert.Equal(t, Active, h.State())
	changes := 0
	for _, to := range []State{Inactive, Recovering, Active, Recovering, Inactive, Active} { // all six
		for range 2 { // the second time it is there
			h.breaker.become(to)
			assert.Equal(t, to, h.State())
		}
		changes++
		assert.Equal(t, ticket(1+changes), h.breaker.ticket)
	}
	assert.Equal(t, 2, h.opens)
}

func TestState_Strings(t *testing.T) {
	assert.Equal(t, "active inactive recovering State(3)", fmt.Sprint(Active, Inactive, Recovering, State(3)))
}

func TestBreaker_AChangeMakesResultsOfEarlierAcquisitionsVoid(t *testing.T) {
	s, h := newSpy(t)
	s.probes = func() int { return 2 }
	old := h.admitted()
	h.breaker.become(Recovering)
	probe := h.admitted()
	h.log = nil
	h.breaker.success(old)
	h.breaker.failure(old, errBench)
	h.breaker.nothing(old)
	h.is()
	assert.Equal(t, 1, h.breaker.probes(), "that is another one's place")

	h.breaker.become(Active)
	assert.Zero(t, h.breaker.probes())
	h.log = nil
	h.breaker.success(probe)
	h.breaker.failure(old, errBench)
	h.breaker.become(Recovering)
	h.breaker.nothing(probe)
	assert.Zero(t, h.breaker.probes())
	h.is("strategy: active to recovering, is recovering")
}

func TestBreaker_TheZeroTicketCountsForNothing(t *testing.T) {
	s, h := newSpy(t)
	for _, state := range []State{Active, Recovering, Inactive} {
		h.breaker.become(state)
		if state == Recovering {
			h.admitted()
		}
		h.log = nil
		h.breaker.success(0)
		h.breaker.failure(0, errBench)
		h.breaker.nothing(0)
		h.is()
	}
	h = newBench(t, s, nil)
	s.h = h
	h.breaker.success(0)
	h.is()
}

// A Pool whose breaker opens has refused those who wait before anybody is told.
func TestBreaker_CB02_OpeningRefusesWhoWaitsBeforeTheHooksRun(t *testing.T) {
	s := &spy{}
	opens := 0
	h := newBench(t, s, func(_, to State) { opens = s.h.opens })
	s.h = h
	h.breaker.become(Inactive)
	assert.Equal(t, 1, opens)
	h.breaker.become(Recovering)
	h.breaker.become(Active)
	assert.Equal(t, 1, h.opens)
}

func TestBreaker_TheStrategyIsToldBeforeOnStateChange(t *testing.T) {
	s := &spy{}
	s.h = newBench(t, s, func(from, to State) { s.h.say("user: ", from, " to ", to) })
	s.h.breaker.become(Recovering)
	s.h.breaker.become(Recovering)
	s.h.breaker.become(Inactive)
	s.h.is("strategy: active to recovering, is recovering", "user: active to recovering",
		"strategy: recovering to inactive, is inactive", "user: recovering to inactive")
}

func TestBreaker_AChangeInStateChangedIsToldLater(t *testing.T) {
	s := &spy{}
	s.h = newBench(t, s, func(from, to State) { s.h.say("user: ", from, " to ", to) })
	s.changed = func(to State) {
		if to == Inactive {
			s.h.breaker.become(Recovering)
			s.h.breaker.become(Active)
			s.h.say("strategy returns")
		}
	}
	s.h.breaker.become(Inactive)
	s.h.is("strategy: active to inactive, is inactive", "strategy returns",
		"strategy: inactive to recovering, is active", "strategy: recovering to active, is active",
		"user: active to inactive", "user: inactive to recovering", "user: recovering to active")
}

func TestBreaker_AChangeInOnStateChangeIsToldTheStrategyAtOnce(t *testing.T) {
	s := &spy{}
	s.h = newBench(t, s, func(from, to State) {
		s.h.say("user: ", from, " to ", to, ", is ", s.h.State())
		if to == Inactive {
			s.h.breaker.become(Recovering)
			s.h.breaker.become(Active)
			s.h.say("user returns")
		}
	})
	s.h.breaker.become(Inactive)
	s.h.is("strategy: active to inactive, is inactive", "user: active to inactive, is inactive",
		"strategy: inactive to recovering, is recovering", "strategy: recovering to active, is active", "user returns",
		"user: inactive to recovering, is active", "user: recovering to active, is active")
}

func TestBreaker_CB05_PanicsOfHooksAreSwallowedAndTheOthersTold(t *testing.T) {
	s := &spy{}
	s.h = newBench(t, s, func(from, to State) {
		s.h.say("user: ", from, " to ", to)
		panic("user")
	})
	s.changed = func(to State) {
		if to == Inactive {
			s.h.breaker.become(Active)
		}
		panic("strategy")
	}
	s.h.breaker.become(Inactive)
	s.h.is("strategy: active to inactive, is inactive", "strategy: inactive to active, is active",
		"user: active to inactive", "user: inactive to active")
	s.h.swallowed("strategy", "strategy", "user", "user")
	s.h.breaker.become(Recovering)
	s.h.is("strategy: active to recovering, is recovering", "user: active to recovering")
}

// unwound runs fn, which leaves by Goexit as a coroutine does that is unwound.
func unwound(fn func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		fn()
	}()
	<-done
}

func TestBreaker_AHookThatIsUnwoundDoesNotKeepTheOthersWaiting(t *testing.T) {
	s := &spy{}
	s.h = newBench(t, s, func(from, to State) {
		s.h.say("user: ", from, " to ", to)
		if to == Inactive {
			runtime.Goexit()
		}
	})
	s.changed = func(to State) {
		if to == Inactive {
			s.h.breaker.become(Active)
			runtime.Goexit()
		}
	}
	unwound(func() { s.h.breaker.become(Inactive) })
	s.h.is("strategy: active to inactive, is inactive", "strategy: inactive to active, is active",
		"user: active to inactive", "user: inactive to active")
	s.h.breaker.become(Recovering)
	s.h.is("strategy: active to recovering, is recovering", "user: active to recovering")
}

// suspended runs fn up to the point where it calls suspend, and returns what lets it go on and waits for its end.
func suspended(fn func(suspend func())) (resume func()) {
	at, on, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		fn(func() {
			close(at)
			<-on
		})
	}()
	<-at
	return func() {
		close(on)
		<-done
	}
}

// GEN-10: what changes while a hook is suspended, it is told afterwards; the strategy does not wait for OnStateChange.
func TestBreaker_AHookMaySuspend(t *testing.T) {
	var suspend func()
	s := &spy{}
	s.h = newBench(t, s, func(from, to State) {
		s.h.say("user: ", from, " to ", to)
		if to == Inactive {
			suspend()
		}
	})
	resume := suspended(func(f func()) {
		suspend = f
		s.h.breaker.become(Inactive)
	})
	s.h.breaker.become(Active)
	s.h.is("strategy: active to inactive, is inactive", "user: active to inactive", "strategy: inactive to active, is active")
	resume()
	s.h.is("user: inactive to active")

	s.changed = func(to State) {
		if to == Recovering {
			suspend()
		}
	}
	resume = suspended(func(f func()) {
		suspend = f
		s.h.breaker.become(Recovering)
	})
	s.h.breaker.become(Active)
	s.h.is("strategy: active to recovering, is recovering")
	resume()
	s.h.is("strategy: recovering to active, is active", "user: active to recovering", "user: recovering to active")
}

func TestBreaker_AdmitAndSuccessInActiveAllocateNothing(t *testing.T) {
	for name, s := range map[string]Strategy{
		"none": nil, "ConsecutiveFailures": &ConsecutiveFailures{}, "FailureRate": &FailureRate{},
	} {
		h := newBench(t, s, nil)
		assert.Zero(t, testing.AllocsPerRun(1000, func() {
			got, _ := h.breaker.admit()
			h.breaker.success(got)
			h.breaker.nothing(got)
			h.after(time.Millisecond)
		}), name)
		assert.Equal(t, Active, h.State())
	}
}

func TestBreaker_CB07_AStrategyThatIsSetInTheMiddle(t *testing.T) {
	h := newBench(t, nil, nil)
	require.NoError(t, h.Deactivate())
	late := &ConsecutiveFailures{CoolDown: time.Minute}
	h.breaker.use(late)
	h.refused()
	h.after(time.Minute - 1)
	h.refused()
	h.after(1)
	probe := h.admitted()
	assert.Equal(t, Recovering, h.State())
	h.breaker.use(nil)
	assert.Equal(t, Recovering, h.State())
	h.breaker.failure(probe, errors.New("boom"))
	assert.Equal(t, Recovering, h.State(), "nobody decides")
	require.NoError(t, h.Deactivate())
	h.after(time.Hour)
	h.refused()
}
