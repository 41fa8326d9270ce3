package main

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/uvasync/uvasync"
	"github.com/uvasync/uvasync/uvtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// told is the story, with the virtual time at which each line is told.
const told = `   0s 1. Workers are slow to start. What was begun for a caller who leaves is there for the next.
 15ms    eve has no patience: pool: Acquire: timeout after 15ms: pool workers 1/2, 1 being made
 30ms    worker 1 has started
 30ms    = 1/2 workers, 1 idle, 0 waiting, breaker active; made 1, failed 0, destroyed 0; acquired 0, waited 1, timed out 1
 30ms 2. There are two workers at most: others wait in line.
 60ms    worker 2 has started
 61ms    = 2/2 workers, 0 idle, 1 waiting, breaker active; made 2, failed 0, destroyed 0; acquired 2, waited 3, timed out 1
 81ms    the job of linus is done, by worker 2
 81ms    = 2/2 workers, 2 idle, 0 waiting, breaker active; made 2, failed 0, destroyed 0; acquired 3, waited 3, timed out 1
 81ms 3. A caller is cancelled while it has a worker, which finishes its job and is good for the next.
 81ms    ada gets an error: cancelled: she has left
101ms    nobody waits for it: the job of ada is done, by worker 1
121ms    the job of grace is done, by worker 2
121ms    the job of linus is done, by worker 1
121ms    = 2/2 workers, 2 idle, 0 waiting, breaker active; made 2, failed 0, destroyed 0; acquired 6, waited 3, timed out 1
121ms 4. Workers die while nobody has them: the health check finds them.
150ms    nobody's error: pool workers: HealthCheck: worker 2 is dead: cancelled: out of memory
150ms    worker 2 has left
150ms    nobody's error: pool workers: HealthCheck: worker 1 is dead: cancelled: out of memory
150ms    worker 1 has left
150ms    = 0/2 workers, 0 idle, 0 waiting, breaker active; made 2, failed 0, destroyed 2; acquired 6, waited 3, timed out 1
150ms 5. A start fails: whoever wanted the worker is told. The next one succeeds.
180ms    ada gets an error: pool workers: Create: out of memory
210ms    worker 3 has started
230ms    the job of ada is done, by worker 3
230ms    = 1/2 workers, 1 idle, 0 waiting, breaker active; made 3, failed 1, destroyed 2; acquired 7, waited 5, timed out 1
230ms 6. No worker starts any more. At the second failure the circuit breaker opens: callers are turned away at once.
290ms    the breaker was active and is inactive
290ms    grace gets an error: pool workers: Create: the new version of the worker crashes
290ms    linus gets an error: pool workers: Create: the new version of the worker crashes
290ms    eve gets an error: pool workers is inactive: its circuit breaker is open; try again later (Create: the new version of the worker crashes)
290ms    grace gets an error: pool workers is inactive: its circuit breaker is open; try again later (Create: the new version of the worker crashes)
290ms    linus gets an error: pool workers is inactive: its circuit breaker is open; try again later (Create: the new version of the worker crashes)
290ms    worker 3 has left
290ms    = 0/2 workers, 0 idle, 0 waiting, breaker inactive; made 3, failed 3, destroyed 3; acquired 8, waited 8, timed out 1
290ms 7. Time has passed: the breaker lets one caller through as a probe. It goes well, and the breaker closes.
590ms    the breaker was inactive and is recovering
620ms    worker 4 has started
640ms    the breaker was recovering and is active
640ms    the job of ada is done, by worker 4
640ms    grace gets an error: pool workers is recovering, and all probes of its circuit breaker are out; try again later (Create: the new version of the worker crashes)
660ms    the job of grace is done, by worker 4
660ms    = 1/2 workers, 1 idle, 0 waiting, breaker active; made 4, failed 3, destroyed 3; acquired 10, waited 9, timed out 1
660ms 8. The pool is closed: whoever has a worker keeps it to the end.
690ms    worker 5 has started
690ms    worker 4 has left
690ms    linus gets an error: pool: Acquire: pool workers 1/2 is closed; acquire before it is closed: pool: Close was called
710ms    the job of grace is done, by worker 5
710ms    worker 5 has left
710ms    = 0/2 workers, 0 idle, 0 waiting, breaker active; made 5, failed 3, destroyed 5; acquired 12, waited 10, timed out 1
`

// In virtual time everything is exact.
func TestInVirtualTime(t *testing.T) {
	var out strings.Builder
	uvtest.Run(t, func(co *uvasync.Coroutine) error {
		began := co.Now()
		return story(co, writerFunc(func(line []byte) (int, error) {
			return fmt.Fprintf(&out, "%5v %s", co.Now().Sub(began), line)
		}))
	})
	assert.Equal(t, told, out.String())
}

// Of real time only its order is expected, which stays the same when the program is held up: what is to come first begins no
// later, and takes less time.
func TestOnTheLoop(t *testing.T) {
	const limit = 10 * time.Second
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	var out strings.Builder
	require.NoError(t, tell(ctx, &out), "the time limit is %v", limit)
	assert.Equal(t, regexp.MustCompile(`(?m)^.{6}`).ReplaceAllString(told, ""), out.String())
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
