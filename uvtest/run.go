package uvtest

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"os"
	"strconv"
	"time"

	"github.com/uvasync/uvasync/internal/goid"
	"github.com/uvasync/uvasync/internal/simreactor"
	"github.com/uvasync/uvasync/scheduler"
)

// T is what of a *testing.T is needed.
type T interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Logf(format string, args ...any)
	Failed() bool
}

// Option configures a simulation.
type Option func(*config)

type config struct {
	seed      uint64
	shuffle   bool
	scheduler scheduler.Options
}

// Seed chooses the run; 1 without it. UVTEST_SEED in the environment overrides it.
func Seed(seed uint64) Option { return func(c *config) { c.seed = seed } }

// Shuffle lets the seed decide which of the ready coroutines goes on, and in which order things happen that are due at the
// same time. Lines of waiters stay what they are. It is for tests of what must hold in any order.
func Shuffle() Option { return func(c *config) { c.shuffle = true } }

// Scheduler changes the options of the scheduler.
func Scheduler(fn func(o *scheduler.Options)) Option {
	return func(c *config) { fn(&c.scheduler) }
}

// Logger has l told what the run logs.
func Logger(l *slog.Logger) Option {
	return func(c *config) { c.scheduler.Logger = l }
}

// Run runs main as a coroutine in virtual time, and fails the test when main, or a coroutine whose failure nobody dealt with,
// returns an error, and when something is left behind. It returns when no coroutine is left. t.FailNow may be called in
// coroutines: the others are shut down, and the test ends.
func Run(t T, main func(co *scheduler.Coroutine) error, opts ...Option) {
	t.Helper()
	c := config{seed: 1}
	for _, o := range opts {
		o(&c)
	}
	if seed, ok := fromEnvironment(t); ok {
		c.seed = seed
	}
	run(t, main, c)
}

func fromEnvironment(t T) (seed uint64, ok bool) {
	text := os.Getenv("UVTEST_SEED")
	if text == "" {
		return 0, false
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("uvtest: UVTEST_SEED is %q; it must be a number: %v", text, err)
	}
	return seed, true
}

func run(t T, main func(co *scheduler.Coroutine) error, c config) {
	t.Helper()
	r := simreactor.New(c.seed)
	r.SetShuffle(c.shuffle)
	if c.shuffle {
		c.scheduler.Rand = rand.New(rand.NewPCG(c.seed, c.seed))
	}
	s := scheduler.New(r, c.scheduler)
	test := goid.Get()
	r.SetOnLoop(func() bool { return goid.Get() == test || s.Check("uvtest") == nil })
	over := false
	defer func() {
		t.Helper()
		if (c.shuffle || c.seed != 1) && (!over || t.Failed()) { // otherwise it says nothing
			t.Logf("uvtest: seed %d; repeat it with UVTEST_SEED=%[1]d", c.seed)
		}
		_ = r.Close()
	}()
	err := s.Run(context.Background(), main)
	over = true
	if err != nil {
		t.Errorf("uvtest: %v", err)
	}
	if live := r.Live(); live != 0 {
		t.Errorf("uvtest: %d visible events are still started: close them before the run ends", live)
	}
	if st := s.Stats(); st.Total != 0 || st.Contexts != 0 {
		t.Errorf("uvtest: bug: %d coroutines and %d contexts are left", st.Total, st.Contexts)
	}
}

// Search runs main shuffled with many seeds, to find one that fails: 20 without further ado, and for as long as UVTEST_FOR in
// the environment says ("1m"). It stops at the first that fails and tells its seed, which Seed then repeats.
func Search(t T, main func(co *scheduler.Coroutine) error, opts ...Option) {
	t.Helper()
	c := config{shuffle: true}
	for _, o := range opts {
		o(&c)
	}
	if seed, ok := fromEnvironment(t); ok {
		c.seed = seed
		run(t, main, c)
		return
	}
	const few = 20
	until := searchUntil(t)
	for n := 0; n < few || time.Now().Before(until); n++ {
		c.seed = uint64(n)
		if n >= few {
			c.seed = rand.Uint64()
		}
		if run(t, main, c); t.Failed() {
			return
		}
	}
}

func searchUntil(t T) time.Time {
	text := os.Getenv("UVTEST_FOR")
	if text == "" {
		return time.Time{}
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("uvtest: UVTEST_FOR is %q; it must be a duration such as 1m: %v", text, err)
	}
	return time.Now().Add(d)
}
