package pool

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestFailureRate_Defaults(t *testing.T) {
	h := newBench(t, &FailureRate{}, nil)
	h.succeed(10)
	h.fail(9)
	assert.Equal(t, Active, h.State())
	h.after(9 * time.Second)
	h.fail(1)
	assert.Equal(t, Inactive, h.State(), "10 of 20 within 10 s")

	h = newBench(t, &FailureRate{}, nil)
	h.succeed(10)
	h.fail(9)
	h.after(10 * time.Second)
	h.fail(19)
	assert.Equal(t, Active, h.State(), "those before are forgotten")
	h.fail(1)
	assert.Equal(t, Inactive, h.State())
}

func TestFailureRate_DecidesAtFailuresOnly(t *testing.T) {
	h := newBench(t, &FailureRate{MinResults: 4}, nil)
	h.fail(3)
	h.succeed(2)
	assert.Equal(t, Active, h.State(), "things seem to be well again")
	h.fail(1)
	assert.Equal(t, Inactive, h.State())
}

func TestFailureRate_ARateThatIsReachedExactlyOpens(t *testing.T) {
	for bad := 1; bad <= 100; bad++ { // 0.55*100 is more than 55 as a float64
		h := newBench(t, &FailureRate{Rate: float64(bad) / 100, MinResults: 100}, nil)
		h.succeed(100 - bad)
		h.fail(bad - 1)
		assert.Equal(t, Active, h.State(), bad)
		h.fail(1)
		assert.Equal(t, Inactive, h.State(), bad)

		h = newBench(t, &FailureRate{Rate: float64(bad) / 100, MinResults: 100}, nil)
		h.succeed(101 - bad)
		h.fail(bad - 1)
		h.breaker.nothing(h.admitted())
		assert.Equal(t, Active, h.State(), bad)
	}
}

// One success before the failures lets them pass; when it is forgotten, they are too many.
func TestFailureRate_TheWindowSlidesInTenths(t *testing.T) {
	const window, step = time.Minute, 6 * time.Second
	for name, c := range map[string]struct {
		before, after time.Duration // the success comes that long after the beginning of its step
		forgotten     bool
	}{
		"at the beginning of its step, before ten": {0, window - 1, false},
		"at the beginning of its step, after ten":  {0, window, true},
		"at the end of its step, before nine":      {step - 1, window - step, false},
		"at the end of its step, after nine":       {step - 1, window - step + 1, true},
	} {
		h := newBench(t, &FailureRate{Rate: 1, Window: window, MinResults: 3}, nil)
		h.succeed(1) // the first step begins
		h.after(window + 3*step + c.before)
		h.succeed(1)
		h.after(step)
		h.fail(2)
		h.after(c.after - step)
		h.fail(1)
		want := Active
		if c.forgotten {
			want = Inactive
		}
		assert.Equal(t, want, h.State(), name)
	}
}

func TestFailureRate_StrangeClocks(t *testing.T) {
	t.Run("stands still", func(t *testing.T) {
		h := newBench(t, &FailureRate{MinResults: 1000}, nil)
		h.fail(999)
		assert.Equal(t, Active, h.State())
		h.fail(1)
		assert.Equal(t, Inactive, h.State())
	})
	t.Run("jumps as far as a Duration goes, and farther", func(t *testing.T) {
		for _, years := range []int{200, 1000} {
			h := newBench(t, &FailureRate{MinResults: 4}, nil)
			h.fail(3)
			h.clock = h.clock.AddDate(years, 0, 0)
			h.fail(1)
			assert.Equal(t, Active, h.State())
			h.after(time.Second)
			h.fail(2)
			assert.Equal(t, Active, h.State())
			h.fail(1)
			assert.Equal(t, Inactive, h.State(), "those after the jump are together")
		}
	})
	t.Run("goes back", func(t *testing.T) {
		h := newBench(t, &FailureRate{MinResults: 4}, nil)
		h.after(time.Hour)
		h.fail(2)
		h.after(-time.Minute)
		h.fail(1)
		assert.Equal(t, Active, h.State())
		h.fail(1)
		assert.Equal(t, Inactive, h.State())
	})
	t.Run("begins at zero", func(t *testing.T) {
		h := newBench(t, &FailureRate{MinResults: 4}, nil)
		h.clock = time.Time{}
		h.fail(2)
		h.after(time.Second)
		h.fail(2)
		assert.Equal(t, Inactive, h.State())
	})
	t.Run("is slower than the window", func(t *testing.T) {
		h := newBench(t, &FailureRate{MinResults: 2, Window: 3}, nil)
		for range 10 {
			h.fail(1)
			h.after(10)
		}
		assert.Equal(t, Active, h.State())
		h.fail(2)
		assert.Equal(t, Inactive, h.State())
	})
}

func TestFailureRate_AChangeForgetsTheResults(t *testing.T) {
	h := newBench(t, &FailureRate{MinResults: 2}, nil)
	h.fail(1)
	h.breaker.become(Recovering)
	h.breaker.become(Active)
	h.fail(1)
	assert.Equal(t, Active, h.State())
	h.fail(1)
	assert.Equal(t, Inactive, h.State())
}

func TestFailureRate_AllocatesNothingWhileItSlides(t *testing.T) {
	s := &FailureRate{Rate: 1}
	h := newBench(t, nil, nil)
	assert.Zero(t, testing.AllocsPerRun(1000, func() {
		s.ReportSuccess(h)
		s.ReportFailure(h, errBench)
		h.after(700 * time.Millisecond)
	}))
}

func TestFailureRate_CheckNamesTheField(t *testing.T) {
	assert.NoError(t, (&FailureRate{}).Check())
	assert.NoError(t, (&FailureRate{Rate: 1, Window: 1, MinResults: 1, CoolDown: 1, MaxProbes: 1, Successes: 1}).Check())
	assert.NoError(t, (&FailureRate{Rate: math.SmallestNonzeroFloat64}).Check())
	refusedArgument(t, (*FailureRate)(nil), "Strategy is nil; pass the address of a FailureRate, or no strategy at all")
	for rate, text := range map[float64]string{
		-0.1: "-0.1", 1.1: "1.1", math.NaN(): "NaN", math.Inf(1): "+Inf", math.Inf(-1): "-Inf",
	} {
		refusedArgument(t, &FailureRate{Rate: rate},
			"FailureRate.Rate is "+text+"; it must be above 0 and at most 1; 0 is the default of 0.5")
	}
	refusedArgument(t, &FailureRate{Window: -1}, "FailureRate.Window is -1ns; it must not be negative; 0 is the default of 10s")
	refusedArgument(t, &FailureRate{MinResults: -1}, "FailureRate.MinResults is -1; it must be at least 1; 0 is the default of 20")
	refusedArgument(t, &FailureRate{CoolDown: -1}, "FailureRate.CoolDown is -1ns; it must not be negative; 0 is the default of 30s")
	refusedArgument(t, &FailureRate{MaxProbes: -1}, "FailureRate.MaxProbes is -1; it must be at least 1; 0 is the default of 1")
	refusedArgument(t, &FailureRate{Successes: -1}, "FailureRate.Successes is -1; it must be at least 1; 0 is the default of 1")
}
