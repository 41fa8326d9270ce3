package cosync_test

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/uvasync/uvasync/cosync"
	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/simreactor"
	"github.com/uvasync/uvasync/scheduler"
)

// ledger counts who is inside of what, and what a condition guards.
type ledger struct {
	t       require.TestingT
	rng     *rand.Rand
	mutex   cosync.Mutex
	rw      cosync.RWMutex
	permits *cosync.Semaphore
	tokens  *cosync.Cond // of mutex
	once    cosync.Once
	left    int // guarded by mutex: what those who wait for tokens take
	locked  int
	writing int
	reading int
	taken   int
	working int
	works   int
}

// inside counts in while the coroutine does something that suspends.
func (l *ledger) inside(count *int, n int) body {
	return func(co *coroutine) error {
		*count += n
		defer func() { *count -= n }()
		l.check()
		if l.rng.IntN(2) == 0 {
			return co.Yield()
		}
		return co.Delay(time.Duration(l.rng.IntN(3)) * time.Millisecond)
	}
}

func (l *ledger) check() {
	require.LessOrEqual(l.t, l.locked, 1)
	require.LessOrEqual(l.t, l.writing, 1)
	require.False(l.t, l.writing > 0 && l.reading > 0, "a reader beside a writer")
	require.LessOrEqual(l.t, l.taken, 3)
	require.LessOrEqual(l.t, l.working, 1)
	require.LessOrEqual(l.t, l.works, 1)
}

// act is what one coroutine does: some operations, until it is cancelled.
func (l *ledger) act(co *coroutine) error {
	for range 1 + l.rng.IntN(6) {
		var opts []option
		if l.rng.IntN(3) == 0 {
			opts = append(opts, scheduler.Timeout(time.Millisecond))
		}
		var err error
		switch l.rng.IntN(8) {
		case 0, 1:
			err = l.mutex.With(co, l.inside(&l.locked, 1), opts...)
		case 2:
			err = l.rw.With(co, l.inside(&l.writing, 1), opts...)
		case 3, 4:
			err = l.rw.RWith(co, l.inside(&l.reading, 1), opts...)
		case 5:
			n := 1 + l.rng.IntN(3)
			err = l.permits.With(co, n, l.inside(&l.taken, n), opts...)
		case 6:
			err = l.mutex.With(co, func(co *coroutine) error { return l.take(co, opts) })
		case 7:
			err = l.once.Do(co, l.work, opts...)
		}
		if err != nil && !errors.Is(err, event.ErrTimeout) && err != errAgain {
			return nil
		}
	}
	return nil
}

// take waits for a token, holding the mutex whenever it looks.
func (l *ledger) take(co *coroutine, opts []option) error {
	for l.left == 0 {
		if err := l.tokens.Wait(co, opts...); err != nil {
			return l.inside(&l.locked, 1)(co)
		}
	}
	l.left--
	return l.inside(&l.locked, 1)(co)
}

func (l *ledger) work(co *coroutine) error {
	if err := l.inside(&l.working, 1)(co); err != nil {
		return err
	}
	if l.rng.IntN(3) > 0 {
		return errAgain
	}
	l.works++
	return nil
}

// over checks that nobody is left and nothing is taken.
func (l *ledger) over() {
	l.check()
	require.Equal(l.t, cosync.MutexStats{}, l.mutex.Stats())
	require.Equal(l.t, cosync.RWMutexStats{}, l.rw.Stats())
	require.Equal(l.t, cosync.SemaphoreStats{Size: 3}, l.permits.Stats())
	require.Equal(l.t, cosync.CondStats{}, l.tokens.Stats())
	require.Equal(l.t, cosync.OnceStats{Done: l.works == 1}, l.once.Stats())
	require.Zero(l.t, l.locked+l.writing+l.reading+l.taken+l.working)
}

func TestCosync_GEN01_NobodyIsInsideTogetherInAnyOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		l := &ledger{t: rt, rng: rand.New(rand.NewPCG(seed, 0)), permits: cosync.NewSemaphore(3)}
		l.tokens = cosync.NewCond(&l.mutex)
		r := simreactor.New(seed)
		r.SetShuffle(true)
		defer r.Close()
		s := scheduler.New(r, scheduler.Options{Rand: rand.New(rand.NewPCG(seed, 1))})
		require.NoError(rt, s.Run(t.Context(), func(co *coroutine) error {
			var all cosync.WaitGroup
			var actors []*coroutine
			for range 80 {
				switch l.rng.IntN(6) {
				case 0, 1, 2:
					actor, err := all.Go(co, l.act)
					require.NoError(rt, err)
					actors = append(actors, actor)
				case 3:
					if len(actors) > 0 {
						require.NoError(rt, actors[l.rng.IntN(len(actors))].Cancel(nil))
					}
				case 4:
					l.left++
					l.tokens.Signal()
				case 5:
					require.NoError(rt, co.Yield())
				}
			}
			for i := 0; all.Stats().Count > 0; i++ {
				require.Less(rt, i, 10_000, "somebody is stuck")
				l.left++
				l.tokens.Signal()
				require.NoError(rt, co.Delay(time.Millisecond))
			}
			l.over()
			return nil
		}))
	})
}
