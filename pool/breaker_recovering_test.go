package pool

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestBreakerRecovering_CB02_AcquisitionsGoThrough(t *testing.T) {
	h := newBench(t, nil, nil)
	h.breaker.become(Recovering)
	var out []ticket
	for range 100 { // without a strategy there is no limit
		out = append(out, h.admitted())
	}
	assert.Equal(t, 100, h.breaker.probes())
	for i, back := range out {
		switch i % 3 {
		case 0:
			h.breaker.success(back)
		case 1:
			h.breaker.failure(back, errBench)
		case 2:
			h.breaker.nothing(back)
		}
		assert.Equal(t, 99-i, h.breaker.probes())
	}
	assert.Equal(t, Recovering, h.State(), "CB-07: without a strategy only by hand")
	assert.Empty(t, h.errs)
}

func TestBreakerRecovering_AProberLimitsHowManyAreOut(t *testing.T) {
	s, h := newSpy(t)
	places := 2
	s.probes = func() int { return places }
	h.breaker.become(Recovering)
	for _, back := range []func(ticket){
		h.breaker.success, h.breaker.nothing, func(t ticket) { h.breaker.failure(t, errBench) },
	} {
		a, b := h.admitted(), h.admitted()
		h.refused()
		h.refused()
		assert.Equal(t, 2, h.breaker.probes(), "who was refused takes no place")
		back(a)
		a = h.admitted()
		h.refused()
		h.breaker.nothing(a)
		h.breaker.nothing(b)
		assert.Zero(t, h.breaker.probes())
	}

	h.admitted()
	places = 1
	h.refused()
	for _, places = range []int{0, -1} {
		for range 10 {
			h.admitted()
		}
	}
}

func TestBreakerRecovering_AStrategyThatIsNoProberSetsNoLimit(t *testing.T) {
	s := &plainSpy{}
	s.h = newBench(t, s, nil)
	s.h.breaker.become(Recovering)
	for range 10 {
		s.h.admitted()
	}
	s.h.succeed(1)
	s.h.fail(1)
	s.h.is("success in recovering", "boom in recovering")
	assert.Equal(t, 10, s.h.breaker.probes())
}

func TestBreakerRecovering_ThePlaceIsFreeBeforeTheReport(t *testing.T) {
	s, h := newSpy(t)
	s.probes = func() int { return 1 }
	h.breaker.become(Recovering)
	seen := 0
	look := func() {
		if h.breaker.probes() == 0 {
			seen++
		}
		h.breaker.nothing(h.admitted())
	}
	s.success, s.failure = look, look
	h.succeed(1)
	h.fail(1)
	assert.Equal(t, 2, seen)
}

func TestBreakerRecovering_AReportMayChangeTheState(t *testing.T) {
	s, h := newSpy(t)
	s.success = func() { _ = h.Activate() }
	s.failure = func() { _ = h.Deactivate() }
	h.breaker.become(Recovering)
	h.admitted()
	h.succeed(1)
	assert.Equal(t, Active, h.State())
	assert.Zero(t, h.breaker.probes())
	h.breaker.become(Recovering)
	h.admitted()
	h.fail(1)
	assert.Equal(t, Inactive, h.State())
	assert.Zero(t, h.breaker.probes())
}

func TestBreakerRecovering_CB05_PanicsAreSwallowed(t *testing.T) {
	s, h := newSpy(t)
	s.success = func() { panic("success") }
	s.failure = func() { panic("failure") }
	h.breaker.become(Recovering)
	h.succeed(1)
	h.fail(1)
	h.swallowed("success", "failure")
	assert.Zero(t, h.breaker.probes())

	s.probes = func() int { panic("probes") }
	h.admitted()
	h.admitted()
	h.swallowed("probes", "probes")
	assert.Equal(t, 2, h.breaker.probes())
}

func TestBreakerRecovering_ProbesMayChangeTheState(t *testing.T) {
	s, h := newSpy(t)
	h.breaker.become(Recovering)
	s.probes = func() int {
		_ = h.Deactivate()
		return 5
	}
	h.refused()
	assert.Equal(t, Inactive, h.State())
	assert.Zero(t, h.breaker.probes())
}

func TestBreakerRecovering_ATicketIsGivenBackOnce(t *testing.T) {
	_, h := newSpy(t)
	h.breaker.become(Recovering)
	probe := h.admitted()
	h.breaker.nothing(probe)
	assert.PanicsWithValue(t, "bug: pool: a ticket of the breaker was given back twice", func() { h.breaker.nothing(probe) })
}
