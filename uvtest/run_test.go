package uvtest_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync"
	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/leak"
	"github.com/uvasync/uvasync/uvtest"
)

func TestMain(m *testing.M) { leak.Main(m) }

func TestRun_TenMinutesPassAtOnce(t *testing.T) {
	began := time.Now()
	uvtest.Run(t, func(co *uvasync.Coroutine) error {
		from := co.Scheduler().Reactor().Now()
		for range 600 {
			if err := co.Delay(time.Second); err != nil {
				return err
			}
		}
		assert.Equal(t, 10*time.Minute, co.Scheduler().Reactor().Now().Sub(from))
		return nil
	})
	assert.Less(t, time.Since(began), 10*time.Minute)
}

// order runs twenty coroutines that note when they go on.
func order(t uvtest.T, opts ...uvtest.Option) string {
	var b strings.Builder
	uvtest.Run(t, func(co *uvasync.Coroutine) error {
		for i := range 20 {
			_, err := co.Spawn(func(co *uvasync.Coroutine) error {
				for range 3 {
					fmt.Fprintf(&b, "%d ", i)
					if err := co.Delay(time.Millisecond); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	}, opts...)
	return b.String()
}

func TestRun_TheSameSeedGivesTheSameRun(t *testing.T) {
	seed := rand.Uint64()
	shuffled := order(t, uvtest.Seed(seed), uvtest.Shuffle())
	assert.Equal(t, shuffled, order(t, uvtest.Seed(seed), uvtest.Shuffle()))
	assert.NotEqual(t, shuffled, order(t, uvtest.Seed(seed+1), uvtest.Shuffle()))
	assert.Equal(t, order(t, uvtest.Seed(seed)), order(t, uvtest.Seed(seed+1)), "unshuffled")
}

func TestRun_WhatWouldLeaveTheSimulationIsRefused(t *testing.T) {
	uvtest.Run(t, func(co *uvasync.Coroutine) error {
		_, err := uvasync.Loop(co)
		require.ErrorIs(t, err, uvasync.ErrNotSimulated)
		foreign := make(chan error)
		go func() { foreign <- co.Scheduler().Post(func() {}) }()
		require.ErrorIs(t, <-foreign, event.ErrNotSimulated)
		posted := false
		require.NoError(t, co.Scheduler().Post(func() { posted = true }))
		require.NoError(t, co.Delay(time.Millisecond))
		assert.True(t, posted)
		return nil
	})
}

// recorder is a T that notes what it is told.
type recorder struct {
	testing.TB
	failed bool
	text   string
}

func (r *recorder) Helper() {}
func (r *recorder) Errorf(format string, args ...any) {
	r.failed = true
	r.Logf(format, args...)
}
func (r *recorder) Fatalf(format string, args ...any) { r.Errorf(format, args...) }
func (r *recorder) Logf(format string, args ...any)   { r.text += fmt.Sprintf(format, args...) + "\n" }
func (r *recorder) Failed() bool                      { return r.failed }

func TestRun_TellsWhatIsWrong(t *testing.T) {
	boom := errors.New("boom")
	for want, main := range map[string]func(co *uvasync.Coroutine) error{
		"boom": func(*uvasync.Coroutine) error { return boom },
		"deadlock: 1 coroutine waits": func(co *uvasync.Coroutine) error {
			_, err := co.Await(newNever())
			return err
		},
		"1 visible events are still started": func(co *uvasync.Coroutine) error {
			co.Scheduler().Reactor().Count().Add(1)
			return nil
		},
	} {
		r := &recorder{TB: t}
		uvtest.Run(r, main, uvtest.Seed(77))
		assert.True(t, r.failed, want)
		assert.Contains(t, r.text, want)
		assert.Contains(t, r.text, "UVTEST_SEED=77")
	}
}

func newNever() event.Event {
	var b event.Base
	b.Init(event.NopKind{}, nil, 0)
	return &b
}

func TestSearch_FindsTheSeedThatFails(t *testing.T) {
	r := &recorder{TB: t}
	uvtest.Search(r, func(co *uvasync.Coroutine) error {
		first := 0
		for i := range 3 {
			_, err := co.Spawn(func(co *uvasync.Coroutine) error {
				if first == 0 {
					first = i + 1
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		for first == 0 {
			if err := co.Yield(); err != nil {
				return err
			}
		}
		if first == 2 {
			return errors.New("the second was first")
		}
		return nil
	})
	assert.Contains(t, r.text, "the second was first")
	assert.Contains(t, r.text, "UVTEST_SEED=")
}
