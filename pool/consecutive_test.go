package pool

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/uvasync/uvasync/event"
)

func TestConsecutiveFailures_FailuresInARowOpen(t *testing.T) {
	for configured, want := range map[int]int{0: 5, 1: 1, 3: 3} {
		h := newBench(t, &ConsecutiveFailures{Failures: configured}, nil)
		h.fail(want - 1)
		h.succeed(1)
		h.fail(want - 1)
		assert.Equal(t, Active, h.State(), "a success ends the row")
		if want > 1 {
			h.breaker.nothing(h.admitted())
		}
		h.fail(1)
		assert.Equal(t, Inactive, h.State())
	}
}

func TestConsecutiveFailures_AStateBeginsWithoutAPast(t *testing.T) {
	h := newBench(t, &ConsecutiveFailures{Failures: 2}, nil)
	h.fail(1)
	h.breaker.become(Inactive)
	h.breaker.become(Active)
	h.fail(1)
	assert.Equal(t, Active, h.State())
	h.fail(1)
	assert.Equal(t, Inactive, h.State())
}

// The cool-down and the probes are the same for both strategies.
func eachRecovery(t *testing.T, body func(t *testing.T, with func(coolDown time.Duration, maxProbes, successes int) *bench)) {
	t.Run("ConsecutiveFailures", func(t *testing.T) {
		body(t, func(coolDown time.Duration, maxProbes, successes int) *bench {
			return newBench(t, &ConsecutiveFailures{CoolDown: coolDown, MaxProbes: maxProbes, Successes: successes, Failures: 1}, nil)
		})
	})
	t.Run("FailureRate", func(t *testing.T) {
		body(t, func(coolDown time.Duration, maxProbes, successes int) *bench {
			return newBench(t, &FailureRate{CoolDown: coolDown, MaxProbes: maxProbes, Successes: successes, MinResults: 1}, nil)
		})
	})
}

func TestStrategies_CB07_AProbeGoesThroughAfterTheCoolDown(t *testing.T) {
	eachRecovery(t, func(t *testing.T, with func(time.Duration, int, int) *bench) {
		for configured, want := range map[time.Duration]time.Duration{0: 30 * time.Second, time.Minute: time.Minute, 1: 1} {
			for name, open := range map[string]func(h *bench){
				"by itself": func(h *bench) { h.fail(1) }, "by hand": func(h *bench) { h.breaker.become(Inactive) },
			} {
				h := with(configured, 0, 0)
				h.after(time.Hour)
				open(h)
				h.refused()
				h.after(want - 1)
				h.refused()
				h.breaker.become(Inactive) // it is already
				h.after(1)
				h.admitted()
				assert.Equal(t, Recovering, h.State(), name)
			}
		}
	})
}

func TestStrategies_ABadProbeOpensForTheWholeCoolDownAgain(t *testing.T) {
	eachRecovery(t, func(t *testing.T, with func(time.Duration, int, int) *bench) {
		h := with(time.Second, 0, 2)
		h.fail(1)
		for range 3 {
			h.after(time.Second - 1)
			h.refused()
			h.after(1)
			h.succeed(1)
			h.after(time.Hour) // recovering may take its time
			assert.Equal(t, Recovering, h.State())
			h.fail(1)
			assert.Equal(t, Inactive, h.State())
		}
	})
}

func TestStrategies_GoodProbesInARowClose(t *testing.T) {
	eachRecovery(t, func(t *testing.T, with func(time.Duration, int, int) *bench) {
		for configured, want := range map[int]int{0: 1, 1: 1, 3: 3} {
			h := with(time.Second, 0, configured)
			for range 2 {
				h.fail(1)
				h.after(time.Second)
				h.succeed(want - 1)
				if want > 1 {
					h.breaker.nothing(h.admitted())
					assert.Equal(t, Recovering, h.State())
				}
				h.succeed(1)
				assert.Equal(t, Active, h.State())
			}
			h.breaker.become(Recovering) // by hand
			h.succeed(want)
			assert.Equal(t, Active, h.State())
		}
	})
}

func TestStrategies_GoodProbesOfAnEarlierRecoveryDoNotCount(t *testing.T) {
	eachRecovery(t, func(t *testing.T, with func(time.Duration, int, int) *bench) {
		h := with(time.Second, 0, 2)
		h.breaker.become(Recovering)
		h.succeed(1)
		h.breaker.become(Inactive)
		h.breaker.become(Recovering)
		h.succeed(1)
		assert.Equal(t, Recovering, h.State())
	})
}

func TestStrategies_MaxProbesAreOutAtOnce(t *testing.T) {
	eachRecovery(t, func(t *testing.T, with func(time.Duration, int, int) *bench) {
		for configured, want := range map[int]int{0: 1, 1: 1, 4: 4} {
			h := with(time.Second, configured, 100)
			h.breaker.become(Recovering)
			for range want {
				h.admitted()
			}
			h.refused()
		}
	})
}

func TestStrategies_ResultsToldWhileInactiveAreIgnored(t *testing.T) {
	for _, s := range []Strategy{&ConsecutiveFailures{Failures: 1}, &FailureRate{MinResults: 1}} {
		h := newBench(t, s, nil)
		h.breaker.become(Inactive)
		s.ReportFailure(h, errBench)
		s.ReportSuccess(h)
		assert.Equal(t, Inactive, h.State())
		h.breaker.become(Active)
		h.succeed(1)
		assert.Equal(t, Active, h.State())
	}
}

func TestStrategies_OtherCallsOfTheirHooksDoNotDisturbThem(t *testing.T) {
	for _, s := range []Strategy{&ConsecutiveFailures{Failures: 2}, &FailureRate{MinResults: 2}} {
		h := newBench(t, s, nil)
		h.breaker.onChange.tell = func(_, to State) {
			if to == Inactive { // somebody who does not believe it
				_ = h.Activate()
				h.fail(1)
			}
		}
		h.fail(1)
		h.breaker.become(Inactive)
		assert.Equal(t, Active, h.State(), "the failure before was forgotten when the one after was reported")
	}
}

func refusedArgument(t *testing.T, s interface{ Check() error }, text string) {
	t.Helper()
	err := s.Check()
	assert.IsType(t, &event.InvalidArgumentError{}, err)
	assert.EqualError(t, err, "pool: New: "+text)
}

func TestConsecutiveFailures_CheckNamesTheField(t *testing.T) {
	assert.NoError(t, (&ConsecutiveFailures{}).Check())
	assert.NoError(t, (&ConsecutiveFailures{1, 1, 1, 1, 0, recovery{}, attachment{}}).Check())
	refusedArgument(t, (*ConsecutiveFailures)(nil),
		"Strategy is nil; pass the address of a ConsecutiveFailures, or no strategy at all")
	refusedArgument(t, &ConsecutiveFailures{Failures: -1},
		"ConsecutiveFailures.Failures is -1; it must be at least 1; 0 is the default of 5")
	refusedArgument(t, &ConsecutiveFailures{CoolDown: -time.Second},
		"ConsecutiveFailures.CoolDown is -1s; it must not be negative; 0 is the default of 30s")
	refusedArgument(t, &ConsecutiveFailures{MaxProbes: -1},
		"ConsecutiveFailures.MaxProbes is -1; it must be at least 1; 0 is the default of 1")
	refusedArgument(t, &ConsecutiveFailures{Successes: -2},
		"ConsecutiveFailures.Successes is -2; it must be at least 1; 0 is the default of 1")
}
