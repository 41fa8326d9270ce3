package main

import (
	"regexp"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A program with 40 descriptors meets 50 clients at once.
func TestTooManyConnections(t *testing.T) {
	t.Parallel()
	const crowd = 50
	p := startUnder(t, []string{"sh", "-c", `ulimit -n 40 && exec "$@"`, "sh"})
	clients := make([]*client, crowd)
	for i := range clients {
		clients[i] = dial(t, p)
	}
	const full = `accept: too many open files, with (\d+) connections open; trying again when one closes\n`
	n, err := strconv.Atoi(p.errs.await(t, regexp.MustCompile(full))[1])
	require.NoError(t, err)
	require.GreaterOrEqual(t, n, crowd/2)
	require.Less(t, n, 40)

	inside, outside := clients[:n], clients[n:]
	for _, c := range inside {
		c.roundTrip("one of the lucky ones")
	}
	p.requireIdle()
	for i, c := range outside {
		require.NoError(t, inside[i].Close())
		c.roundTrip("one out, one in")
	}
	assert.Len(t, p.errs.lines(), 1, "it is told once")

	for _, c := range clients {
		_ = c.Close()
	}
	p.out.await(t, regexp.MustCompile(`\n0 open, 50 served`))
	for range crowd {
		dial(t, p)
	}
	p.errs.await(t, regexp.MustCompile(full+".*"+full)) // the next one is told again

	p.signal(syscall.SIGTERM)
	require.Equal(t, 0, p.exit())
	got := p.result()
	assert.Equal(t, n, got.peak)
	assert.Zero(t, got.broken)
	assert.Zero(t, got.cutOff)
}
