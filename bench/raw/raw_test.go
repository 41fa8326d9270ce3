package raw

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/bench/internal/measure"
)

func virtualClock(t *testing.T) {
	t.Helper()
	if err := StartVirtualClock(); err != nil {
		t.Skip(err)
	}
	t.Cleanup(StopVirtualClock)
}

func TestVirtualClockStandsStillUntilAdvanced(t *testing.T) {
	virtualClock(t)
	begin := hrtime()
	time.Sleep(2 * time.Millisecond)
	assert.Equal(t, begin, hrtime())
	Advance(7 * time.Second)
	assert.Equal(t, begin+7*time.Second, hrtime())

	StopVirtualClock()
	begin = hrtime()
	assert.Eventually(t, func() bool { return hrtime() > begin }, time.Minute, time.Millisecond, "the real clock is back")
}

func TestVirtualClockLeavesGoAlone(t *testing.T) {
	virtualClock(t)
	begin := time.Now()
	time.Sleep(2 * time.Millisecond)
	assert.GreaterOrEqual(t, time.Since(begin), 2*time.Millisecond)
}

func TestCountsAreWhatWasAskedFor(t *testing.T) {
	delays := []uint64{1, 1_000_000, 1_000_001, 30_000_000}
	for _, c := range []struct {
		name    string
		virtual bool
		want    measure.Work
		run     func() (measure.Sample, error)
	}{
		{"tick-empty", false, measure.Work{Turns: 9}, func() (measure.Sample, error) { return TickEmpty(9) }},
		{"timer-oneshot", true, measure.Work{Starts: 60, Events: 60, Closes: 60}, func() (measure.Sample, error) { return OneShot(20, 3, 50, 1) }},
		{"deadline fire", false, measure.Work{Starts: 4, Events: 4}, func() (measure.Sample, error) { return DeadlinesFire(delays) }},
		{"deadline cancel", true, measure.Work{Starts: 4, Stops: 3, Events: 1}, func() (measure.Sample, error) {
			return DeadlinesCancel(delays, []uint32{2, 0, 3}, 5, 1)
		}},
		{"poll", false, measure.Work{Starts: 8, Events: 80, Bytes: 80}, func() (measure.Sample, error) { return Poll(8, 10) }},
		{"post", false, measure.Work{Events: 1000}, func() (measure.Sample, error) { return Post(1000) }},
		{"close timers", false, measure.Work{Starts: 60, Closes: 60}, func() (measure.Sample, error) { return CloseTimers(20, 3) }},
		{"close polls", false, measure.Work{Starts: 60, Closes: 60}, func() (measure.Sample, error) { return ClosePolls(20, 3) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.virtual {
				virtualClock(t)
			}
			s, err := c.run()
			require.NoError(t, err)
			assert.NoError(t, s.SameAs(c.want, 0))
			assert.Positive(t, s.Wall)
			if c.want.Turns > 0 {
				assert.Equal(t, c.want.Turns, s.Turns)
			}
		})
	}
}

// 100 timers of 1 to 50 ms fire 100/25.5 times in a millisecond on average.
func TestTimersFireAsOftenAsTheirDelaysSay(t *testing.T) {
	virtualClock(t)
	s, err := Timers(100, 50, 1, 20_000)
	require.NoError(t, err)
	assert.InDelta(t, 20_000, s.Events, 100)
	assert.InEpsilon(t, 20_000/(100/25.5), s.Turns, 0.05)
}

func TestTimersRealLastAsLongAsAsked(t *testing.T) {
	s, err := TimersReal(100, 5, 1, 20*time.Millisecond)
	require.NoError(t, err)
	assert.GreaterOrEqual(t, s.Wall, 20*time.Millisecond)
	assert.Positive(t, s.Events)
}

func TestAFailureNamesTheCall(t *testing.T) {
	var limit syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	few := syscall.Rlimit{Cur: 64, Max: limit.Max}
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few))
	t.Cleanup(func() { assert.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)) })

	_, err := ClosePolls(1_000, 1)
	assert.EqualError(t, err, "eventfd: too many open files (EMFILE)")
}
