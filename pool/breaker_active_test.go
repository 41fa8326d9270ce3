package pool

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestBreakerActive_CB04_EveryResultIsReportedOnce(t *testing.T) {
	_, h := newSpy(t)
	first, second, third := h.admitted(), h.admitted(), h.admitted()
	h.breaker.failure(second, errBench)
	h.breaker.nothing(third)
	h.breaker.success(first)
	h.is("boom in active", "success in active")
	assert.Zero(t, h.breaker.probes(), "there are none in this state")
}

func TestBreakerActive_CB04_TheSourceIsThePool(t *testing.T) {
	s := &sourced{}
	h := newBench(t, s, nil)
	h.succeed(1)
	h.fail(1)
	h.breaker.become(Inactive)
	h.refused()
	assert.Equal(t, []Source{h, h, h, h}, s.sources)
}

// sourced remembers who it was called for.
type sourced struct{ sources []Source }

func (s *sourced) ReportSuccess(src Source)          { s.sources = append(s.sources, src) }
func (s *sourced) ReportFailure(src Source, _ error) { s.sources = append(s.sources, src) }
func (s *sourced) StateChanged(src Source, _, _ State) {
	s.sources = append(s.sources, src)
}

func (s *sourced) ShouldRecover(src Source) bool {
	s.sources = append(s.sources, src)
	return false
}

func TestBreakerActive_CB05_PanicsInReportsAreSwallowed(t *testing.T) {
	s, h := newSpy(t)
	s.success = func() { panic("success") }
	s.failure = func() { panic(errBench) }
	h.succeed(2)
	h.fail(1)
	h.swallowed("success", "success", errBench)
	assert.Equal(t, Active, h.State())
}

func TestBreakerActive_CB06_AStrategyMayOpenItInAReport(t *testing.T) {
	s, h := newSpy(t)
	s.failure = func() { _ = h.Deactivate() }
	other := h.admitted()
	h.fail(1)
	assert.Equal(t, Inactive, h.State(), "whoever is woken now sees it")
	assert.Equal(t, 1, h.opens)
	h.refused()
	h.breaker.success(other)
	h.is("boom in active", "strategy: active to inactive, is inactive", "recover in inactive")
}

func TestBreakerActive_CB07_WithoutAStrategyResultsChangeNothing(t *testing.T) {
	h := newBench(t, nil, nil)
	h.fail(1000)
	h.succeed(1)
	assert.Equal(t, Active, h.State())
	assert.Empty(t, h.errs)
}

func TestBreakerActive_AReportMayAcquire(t *testing.T) {
	s, h := newSpy(t)
	nested := 0
	s.failure = func() {
		if nested++; nested < 3 {
			h.fail(1)
		}
	}
	h.fail(1)
	h.is("boom in active", "boom in active", "boom in active")
}
