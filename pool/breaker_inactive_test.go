package pool

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestBreakerInactive_CB02_NothingGoesThrough(t *testing.T) {
	h := newBench(t, nil, nil)
	h.breaker.become(Inactive)
	for range 3 {
		h.refused()
	}
	assert.Equal(t, Inactive, h.State(), "CB-07: without a strategy only by hand")
	assert.Empty(t, h.errs)
	h.breaker.become(Active)
	h.admitted()
}

func TestBreakerInactive_CB07_EveryAcquisitionAsksOnce(t *testing.T) {
	s, h := newSpy(t)
	h.admitted()
	h.breaker.become(Inactive)
	h.log = nil
	h.refused()
	h.refused()
	h.is("recover in inactive", "recover in inactive")

	s.recover = func() bool { return true }
	probe := h.admitted()
	h.is("recover in inactive", "strategy: inactive to recovering, is recovering")
	assert.Equal(t, Recovering, h.State())
	assert.Equal(t, 1, h.breaker.probes(), "it goes through as a probe")
	h.admitted()
	h.is()
	h.breaker.success(probe)
	h.is("success in recovering")
	assert.Equal(t, 1, h.breaker.probes())
}

func TestBreakerInactive_CB05_APanicInShouldRecoverIsANo(t *testing.T) {
	s, h := newSpy(t)
	h.breaker.become(Inactive)
	s.recover = func() bool { panic("recover") }
	h.refused()
	h.refused()
	h.swallowed("recover", "recover")
	s.recover = func() bool { return true }
	h.admitted()
}

func TestBreakerInactive_ShouldRecoverMayChangeTheStateItself(t *testing.T) {
	for _, answer := range []bool{true, false} {
		s, h := newSpy(t)
		h.breaker.become(Inactive)
		s.recover = func() bool {
			_ = h.Activate()
			return answer
		}
		h.admitted()
		assert.Equal(t, Active, h.State())
		assert.Zero(t, h.breaker.probes())
	}
}

func TestBreakerInactive_AnAnswerAboutAnEarlierOpeningIsVoid(t *testing.T) {
	s, h := newSpy(t)
	h.breaker.become(Inactive)
	s.recover = func() bool {
		_ = h.Activate()
		_ = h.Deactivate()
		return true
	}
	h.log = nil
	h.refused()
	assert.Equal(t, Inactive, h.State())
	h.is("recover in inactive", "strategy: inactive to active, is active", "strategy: active to inactive, is inactive")
}

func TestBreakerInactive_TheHooksOfTheRecoveryDecide(t *testing.T) {
	for _, to := range []State{Active, Inactive} {
		s := &spy{}
		s.recover = func() bool { return true }
		s.h = newBench(t, s, func(_, now State) {
			if now == Recovering {
				s.h.breaker.become(to)
			}
		})
		s.h.breaker.become(Inactive)
		if to == Active {
			s.h.admitted()
		} else {
			s.h.log = nil
			s.h.refused()
			s.h.is("recover in inactive", "strategy: inactive to recovering, is recovering",
				"strategy: recovering to inactive, is inactive")
		}
		assert.Equal(t, to, s.h.State())
		assert.Zero(t, s.h.breaker.probes())
	}
}

func TestBreakerInactive_AnAcquisitionWithinShouldRecoverDoesNotAskAgain(t *testing.T) {
	s, h := newSpy(t)
	h.breaker.become(Inactive)
	s.recover = func() bool {
		h.refused()
		return true
	}
	h.log = nil
	h.admitted()
	h.is("recover in inactive", "strategy: inactive to recovering, is recovering")

	h.breaker.become(Inactive)
	s.recover = func() bool {
		runtime.Goexit()
		return true
	}
	unwound(func() { h.breaker.admit() })
	s.recover = func() bool { return true }
	h.admitted()
}

func TestBreakerInactive_NoTicketIsOfThisState(t *testing.T) {
	_, h := newSpy(t)
	h.breaker.become(Inactive)
	h.log = nil
	h.breaker.success(h.breaker.ticket)
	h.breaker.failure(h.breaker.ticket, errBench)
	h.breaker.nothing(h.breaker.ticket)
	h.is()
}
