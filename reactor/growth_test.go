package reactor_test

import (
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/cuv"
	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/reactor"
)

// growth measures whether memory grows over a long run: the slope of a straight line through samples of the last 80 %,
// because what comes before is the warm-up. Garbage is collected before each sample.
type growth struct {
	t     *testing.T
	steps int
	step  int
	rss   []float64
	heap  []float64
}

const growthSamples = 50

func newGrowth(t *testing.T, steps int) *growth { return &growth{t: t, steps: steps} }

// done says that one of the steps is over.
func (g *growth) done() {
	g.step++
	if g.step*growthSamples/g.steps == (g.step-1)*growthSamples/g.steps {
		return
	}
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	g.heap = append(g.heap, float64(m.HeapAlloc))
	g.rss = append(g.rss, resident(g.t))
}

// check fails when the last 80 % of the run have added more than noise.
func (g *growth) check(what string) {
	g.t.Helper()
	rss, heap := gained(g.rss), gained(g.heap)
	g.t.Logf("%d %s: over the last 80 %% the resident memory grew by %.0f KiB (of %.0f), the heap by %.0f KiB",
		g.steps, what, rss/1024, g.rss[len(g.rss)-1]/1024, heap/1024)
	if sanitized {
		g.t.Log("not judged: the sanitizers keep memory of their own, and the run is short")
		return
	}
	assert.Less(g.t, rss, 4096.0*1024, "resident memory grew")
	assert.Less(g.t, heap, 256.0*1024, "the heap grew")
}

// gained is how much the line of best fit rises over the last 80 % of the samples.
func gained(samples []float64) float64 {
	samples = samples[len(samples)/5:]
	n := float64(len(samples))
	var sx, sy, sxx, sxy float64
	for i, y := range samples {
		x := float64(i)
		sx, sy, sxx, sxy = sx+x, sy+y, sxx+x*x, sxy+x*y
	}
	slope := (n*sxy - sx*sy) / (n*sxx - sx*sx)
	return slope * (n - 1)
}

func resident(t *testing.T) float64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	require.NoError(t, err)
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	require.NoError(t, err)
	return float64(pages * os.Getpagesize())
}

// scaledTo logs a run that is shorter than what the rule asks for.
func scaledTo(t *testing.T, n int) int {
	t.Helper()
	m := scaled(n)
	if m != n {
		t.Logf("shortened from %d to %d", n, m)
	}
	return m
}

func TestGrowth_TimerStartsAndFires(t *testing.T) {
	l := newLoop(t)
	n := scaledTo(t, 10_000_000)
	const timers = 20_000
	left := n
	live := 0
	for range min(timers, n) {
		timer, err := l.NewRearmingTimer(ms)
		require.NoError(t, err)
		_, err = timer.Subscribe(func(*event.Base, *event.Callback, any, error) {
			left--
			if left >= timers {
				_ = timer.Rearm(ms)
			} else {
				live--
			}
		})
		require.NoError(t, err)
		require.NoError(t, timer.Start())
		live++
	}
	g := newGrowth(t, n)
	for live > 0 {
		before := left
		tick(t, l)
		for range before - left {
			g.done()
		}
	}
	assert.Zero(t, l.Live())
	for g.step < g.steps {
		g.done()
	}
	g.check("starts and fires of rearming timers")
}

func TestGrowth_OneShotTimers(t *testing.T) {
	l := newLoop(t)
	n := scaledTo(t, 1_000_000)
	g := newGrowth(t, n)
	fired := 0
	for fired < n {
		for range 4_000 {
			timer, err := l.NewTimer(ms)
			require.NoError(t, err)
			_, err = timer.Subscribe(func(*event.Base, *event.Callback, any, error) {
				fired++
			})
			require.NoError(t, err)
			require.NoError(t, timer.Start())
		}
		before := fired
		run(t, l)
		tick(t, l) // the last handles close
		for range min(fired, n) - min(before, n) {
			g.done()
		}
	}
	g.check("one-shot timers made, started and fired")
	assertBalanced(t, l)
}

func TestGrowth_DroppedReferences(t *testing.T) {
	l := newLoop(t)
	n := scaledTo(t, 200_000)
	g := newGrowth(t, n)
	fd := socket(t, 1)
	made := 0
	var fired int
	for made < n {
		for range 500 {
			never, err := l.NewTimer(ms)
			require.NoError(t, err)
			_, err = never.Subscribe(func(*event.Base, *event.Callback, any, error) { runtime.KeepAlive(never) })
			require.NoError(t, err)

			_, err = l.NewPeriodicTimer(ms)
			require.NoError(t, err)
			_, err = l.NewTrigger()
			require.NoError(t, err)
			newPoll(t, l, fd, reactor.Readable)

			one, err := l.NewTimer(ms)
			require.NoError(t, err)
			_, err = one.Subscribe(func(*event.Base, *event.Callback, any, error) { fired++ })
			require.NoError(t, err)
			require.NoError(t, one.Start())
		}
		run(t, l)
		tick(t, l)
		for range 5 * 500 {
			if made < n {
				made++
				g.done()
			}
		}
	}
	g.check("dropped references")
	collectUntil(t, l, func() bool { return l.Binding().Walk()["poll"] == 0 })
	assertBalanced(t, l)
}

func TestGrowth_CreateAndClose(t *testing.T) {
	l := newLoop(t)
	n := scaledTo(t, 100_000)
	g := newGrowth(t, n)
	r, _ := pipe(t)
	for i := range n {
		timer, err := l.NewTimer(ms)
		require.NoError(t, err)
		every, err := l.NewPeriodicTimer(ms)
		require.NoError(t, err)
		trigger, err := l.NewTrigger()
		require.NoError(t, err)
		poll := newPoll(t, l, r, reactor.Readable)
		if i%2 == 0 {
			require.NoError(t, timer.Start())
			require.NoError(t, every.Start())
			require.NoError(t, trigger.Start())
			require.NoError(t, poll.Start())
		}
		if i%3 == 0 {
			tick(t, l)
		}
		require.NoError(t, timer.Close())
		require.NoError(t, every.Close())
		require.NoError(t, trigger.Close())
		require.NoError(t, poll.Close())
		g.done()
	}
	tick(t, l)
	tick(t, l)
	g.check("rounds of create and close")
	assert.Zero(t, l.Live())
	assertBalanced(t, l)
}

func TestGrowth_LoopsOpenedAndClosed(t *testing.T) {
	n := scaledTo(t, 2000)
	g := newGrowth(t, n)
	for range n {
		l, err := reactor.New(reactor.Options{})
		require.NoError(t, err)
		for range 300 {
			startTimer(t, l, ms, func() {})
			startDeadline(t, l, ms, func() {})
		}
		tick(t, l)
		require.NoError(t, l.Close())
		g.done()
	}
	g.check("loops opened and closed")
}

// assertBalanced asks both our count and libuv: nothing is open but what is given.
func assertBalanced(t tester, l *reactor.Loop) {
	t.Helper()
	for _, k := range cuv.Kinds {
		h := l.Stats().Handles[k]
		assert.Equal(t, h.Opened, h.Closed, "%v handles opened and closed", k)
	}
	assert.Empty(t, l.Binding().Walk())
}

// collectUntil collects garbage and lets the loop hear of it until done.
func collectUntil(t tester, l *reactor.Loop, done func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !done(); runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("what should be collected is not: %+v, on the loop: %v", l.Stats(), l.Binding().Walk())
		}
		runtime.GC()
		tick(t, l)
	}
}
