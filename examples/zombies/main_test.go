package main

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/uvasync/uvasync"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/uvtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	became   = "a coroutine became a zombie"
	lingers  = "a zombie lingers"
	hasEnded = "a zombie has ended"
)

const told = `A request handler is closed while its middleware is at work.
  cache has failed, the others go on: there is no cache
  /buy: 200 OK
  the handler's scope: 0 active, 2 zombies, closed
  a zombie has failed: there is no counter for /buy
  the handler's scope: 0 active, closed
A scope gives third-party code 200 ms to end.
  the notification has gone out: true
  analytics hung: cancelled: scope: the time limit for the disposal of the scope is over: event: timeout
The run ends. It does not wait for zombies, but cancels them: who needs them waits for them.
`

// Of real time only its order is expected, which stays the same when the program is held up: a step of the middleware takes
// longer than the response, and one of the mail longer than linger.
func TestOnTheLoop(t *testing.T) {
	const limit = 3 * time.Second
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	var out strings.Builder
	var log records
	require.NoError(t, tell(ctx, &out, slog.New(&log)), "the time limit is %v", limit)
	if late := strings.Replace(told, "gone out: true", "gone out: false", 1); out.String() == late {
		t.Log("the program was held up for so long that the notification was too late")
	} else {
		assert.Equal(t, told, out.String())
	}

	zombies := log.byCoroutine()
	require.Len(t, zombies, 3, "the mail, the metrics, and the mail at the end of the run: %v", log)
	mail, metrics, last := zombies[0], zombies[1], zombies[2]

	mail.check(t, "mail", slog.LevelInfo, "")
	require.Greater(t, len(mail), 2, "it lingers: %v", mail)
	assert.GreaterOrEqual(t, mail[1].duration(), linger)
	assert.GreaterOrEqual(t, mail[len(mail)-1].duration(), mail[1].duration())

	metrics.check(t, "metrics", slog.LevelWarn, "there is no counter for /buy")
	last.check(t, "mail", slog.LevelWarn, `the mail about /pay has no (head|body): cancelled: scheduler: the run is over`)
}

// In virtual time everything is exact.
func TestInVirtualTime(t *testing.T) {
	var out strings.Builder
	var log records
	uvtest.Run(t, func(co *uvasync.Coroutine) error { return story(co, &out) }, uvtest.Scheduler(func(o *scheduler.Options) {
		o.Zombies = scheduler.ZombieLog{Logger: slog.New(&log), Linger: linger}
	}))
	assert.Equal(t, told, out.String())

	var got []string
	for _, r := range log {
		got = append(got, strings.Join([]string{r.message, r.attrs["name"], r.attrs["waits_for"], r.attrs["lingered"], r.attrs["error"]}, "|"))
	}
	assert.Equal(t, []string{
		became + "|mail|Delay 120ms||",
		became + "|metrics|Delay 20ms||",
		hasEnded + "|metrics||30ms|there is no counter for /buy",
		lingers + "|mail|Delay 120ms|100ms|",
		lingers + "|mail|Delay 120ms|200ms|",
		hasEnded + "|mail||230ms|",
		became + "|mail|Delay 120ms||",
		hasEnded + "|mail||0s|the mail about /pay has no head: cancelled: scheduler: the run is over",
	}, got)
}

// record is one of the log.
type record struct {
	level   slog.Level
	message string
	attrs   map[string]string
}

func (r record) duration() time.Duration {
	d, _ := time.ParseDuration(r.attrs["lingered"])
	return d
}

func (r record) has(attr string) bool {
	_, ok := r.attrs[attr]
	return ok
}

// zombie is what is told of one.
type zombie []record

// check checks a whole life: it becomes a zombie, may linger, and has ended.
func (z zombie) check(t *testing.T, name string, level slog.Level, failure string) {
	t.Helper()
	last := len(z) - 1
	require.Positive(t, last, "%v", z)
	for i, r := range z {
		assert.Equal(t, name, r.attrs["name"])
		assert.NotEmpty(t, r.attrs["run"])
		assert.Regexp(t, `zombies\.\(\*RequestHandler\)\.Handle\S* \(\S*/zombies/main\.go:\d+\)$`, r.attrs["started"])
		assert.Equal(t, i > 0, r.has("lingered"), "%v", r)
		switch i {
		case last:
			assert.Equal(t, hasEnded, r.message)
			assert.Equal(t, level, r.level)
			assert.Regexp(t, "^"+failure+"$", r.attrs["error"])
			assert.Equal(t, failure != "", r.has("error"), "%v", r)
			assert.False(t, r.has("suspended") || r.has("waits_for"), "it has ended: %v", r)
			continue
		case 0:
			assert.Equal(t, became, r.message)
		default:
			assert.Equal(t, lingers, r.message)
		}
		assert.Equal(t, slog.LevelWarn, r.level)
		assert.False(t, r.has("error"), "%v", r)
		assert.Regexp(t, `zombies\.(sendMail|count) \(\S*/zombies/main\.go:\d+\)$`, r.attrs["suspended"])
		if r.has("waits_for") { // nothing, when its delay is over and it has not had its turn yet
			assert.Regexp(t, `^Delay \d+ms$`, r.attrs["waits_for"])
		}
	}
}

// records is a slog.Handler that keeps what it is given. Everything comes from the loop's goroutine.
type records []record

func (l *records) Enabled(context.Context, slog.Level) bool { return true }
func (l *records) WithAttrs([]slog.Attr) slog.Handler       { panic("not used") }
func (l *records) WithGroup(string) slog.Handler            { panic("not used") }

func (l *records) Handle(_ context.Context, r slog.Record) error {
	attrs := map[string]string{}
	for a := range r.Attrs {
		attrs[a.Key] = fmt.Sprint(a.Value)
	}
	*l = append(*l, record{r.Level, r.Message, attrs})
	return nil
}

// byCoroutine sorts the records by the ids, in the order in which they appear.
func (l *records) byCoroutine() (zombies []zombie) {
	var ids []string
	for _, r := range *l {
		i := slices.Index(ids, r.attrs["coroutine"])
		if i < 0 {
			i = len(ids)
			ids, zombies = append(ids, r.attrs["coroutine"]), append(zombies, nil)
		}
		zombies[i] = append(zombies[i], r)
	}
	return zombies
}
