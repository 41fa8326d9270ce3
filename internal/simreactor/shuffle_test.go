package simreactor_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/simreactor"
)

// script runs the same things on a reactor and returns the order in which they happened.
func script(t tester, seed uint64, shuffle bool) []string {
	r := simreactor.New(seed)
	r.SetShuffle(shuffle)
	var got []string
	for i := range 10 {
		start(t, r, 5*ms, func() { got = append(got, fmt.Sprint("deadline ", i)) })
		timer, err := r.NewTimer(5 * ms)
		require.NoError(t, err)
		_, err = timer.Subscribe(func(*event.Base, *event.Callback, any, error) { got = append(got, fmt.Sprint("timer ", i)) })
		require.NoError(t, err)
		require.NoError(t, timer.Start())
	}
	start(t, r, 4*ms, func() { got = append(got, "before") })
	start(t, r, 6*ms, func() { got = append(got, "after") })
	run(t, r)
	require.NoError(t, r.Close())
	return got
}

func TestShuffle_TheSeedDecidesAmongWhatHappensAtTheSameTime(t *testing.T) {
	plain := script(t, 1, false)
	assert.Equal(t, []string{"before", "deadline 0", "timer 0", "deadline 1"}, plain[:4], "the order of the starts")
	assert.Equal(t, plain, script(t, 2, false))

	orders := map[string]bool{}
	for seed := range uint64(20) {
		got := script(t, seed, true)
		assert.Equal(t, got, script(t, seed, true), "seed %d, twice", seed)
		assert.Equal(t, "before", got[0])
		assert.Equal(t, "after", got[len(got)-1])
		orders[fmt.Sprint(got)] = true
		assert.ElementsMatch(t, plain, got)
	}
	assert.Len(t, orders, 20)
}

func TestShuffle_TriggersTooButNeverPosts(t *testing.T) {
	orders := map[string]bool{}
	for seed := range uint64(20) {
		r := simreactor.New(seed)
		r.SetShuffle(true)
		var fired, posted []int
		for i := range 5 {
			trigger, err := r.NewTrigger()
			require.NoError(t, err)
			_, err = trigger.Subscribe(func(*event.Base, *event.Callback, any, error) { fired = append(fired, i) })
			require.NoError(t, err)
			require.NoError(t, trigger.Start())
			trigger.Fire()
			require.NoError(t, r.Post(func() { posted = append(posted, i) }))
		}
		tick(t, r, false)
		orders[fmt.Sprint(fired)] = true
		assert.Equal(t, []int{0, 1, 2, 3, 4}, posted)
		require.NoError(t, r.Close())
	}
	assert.Greater(t, len(orders), 5)
}
