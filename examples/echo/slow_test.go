package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPeerThatNeverReads(t *testing.T) {
	t.Parallel()
	p := start(t)
	other := dial(t, p)
	other.roundTrip("before")
	before := p.resident()

	deaf := dialSlow(t, p)
	sent := deaf.stuff()

	// A server that read on would have kept most of what was sent.
	const bound = 4 << 20
	assert.Less(t, p.resident()-before, bound, "%d bytes were sent", sent)
	other.roundTrip("is served meanwhile")
	dial(t, p).roundTrip("and so are new ones")
	p.requireIdle()

	begun := time.Now()
	got := p.terminate()
	assert.GreaterOrEqual(t, time.Since(begun), drainTime, "it had its time to read after all")
	assert.Equal(t, 1, got.cutOff)
	assert.Positive(t, got.unsent)
	assert.LessOrEqual(t, got.unsent, blockSize)
	assert.Equal(t, 3, got.served)
}

func TestConversationGoesOnAfterBackPressure(t *testing.T) {
	t.Parallel()
	p := start(t)
	c := dialSlow(t, p)
	sent := c.stuff()
	c.expectPattern(sent)
	c.roundTrip("and now?")
	require.NoError(t, c.CloseWrite())
	c.expectEnd()
	assert.Equal(t, result{served: 1, peak: 1, echoed: sent + len("and now?")}, p.terminate())
}
