package uvasync

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"time"

	"github.com/uvasync/uvasync/reactor"
	"github.com/uvasync/uvasync/scheduler"
)

// Run makes an event loop, runs main on it as the first coroutine, and returns when no active coroutine is left: main's end
// alone does not end the others. What is still started on the loop then is closed.
//
// When ctx is done, or a coroutine fails and nobody deals with it, everything is shut down in order: all coroutines are
// cancelled, have the grace of [WithGrace] to end, and are unwound after it. Run returns the failure; a
// *scheduler.DeadlockError when nothing could go on any more; a *scheduler.ShutdownError that names who did not end in time;
// an *event.CancelledError with the cause of ctx. Of several it returns the latest, with the others in its chain. It can be
// called again, and from several goroutines at once, each with a loop of its own; with a coroutine as ctx it returns a
// *event.UsageError.
func Run(ctx context.Context, main func(co *Coroutine) error, opts ...Option) (err error) {
	var c config
	for _, o := range opts {
		if o != nil {
			o(&c)
		}
	}
	if c.locked {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
	}
	loop, err := reactor.New(c.loop)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, loop.Close()) }()
	return scheduler.New(loop, c.scheduler).Run(ctx, main)
}

// Loop returns the event loop that co runs on, for its timers, polls and signals. In a simulation (package uvtest) it is
// ErrNotSimulated.
func Loop(co *Coroutine) (*reactor.Loop, error) {
	if err := co.Check("uvasync: Loop"); err != nil {
		return nil, err
	}
	if loop, ok := co.Scheduler().Reactor().(*reactor.Loop); ok {
		return loop, nil
	}
	return nil, ErrNotSimulated
}

type config struct {
	scheduler scheduler.Options
	loop      reactor.Options
	locked    bool
}

// Option configures a [Run].
type Option func(*config)

// WithName names the run in errors and logs.
func WithName(name string) Option { return func(c *config) { c.scheduler.Name = name } }

// WithLogger has l told of what goes wrong: a coroutine that does not come back, zombies, failures that end the run and
// deadlocks, with all that is known of them. Without it nothing is logged.
func WithLogger(l *slog.Logger) Option { return func(c *config) { c.scheduler.Logger = l } }

// WithZombieLog has l told of coroutines that run on in scopes that were cancelled or closed safely: when they become
// zombies, when they have ended, and every linger as long as they last (0 means 10 s, a negative value never). Without it
// they are told of where [WithLogger] says; with a nil l too. A scope can say otherwise: see scope.Scope.LogZombies.
func WithZombieLog(l *slog.Logger, linger time.Duration) Option {
	return func(c *config) { c.scheduler.Zombies = scheduler.ZombieLog{Logger: l, Linger: linger} }
}

// WithGrace says how long a shutdown waits for cancelled coroutines before it unwinds them: 5 s without it; a negative d means
// not at all.
func WithGrace(d time.Duration) Option { return func(c *config) { c.scheduler.Grace = d } }

// WithLockedThread keeps the run on the thread of the caller, for C libraries that need it. Handing over to other goroutines
// becomes much slower (27 µs instead of 0.4).
func WithLockedThread() Option { return func(c *config) { c.locked = true } }

// WithScheduler changes the options of the scheduler; what fn leaves alone keeps its default.
func WithScheduler(fn func(o *scheduler.Options)) Option {
	return func(c *config) {
		if fn != nil {
			fn(&c.scheduler)
		}
	}
}

// WithLoop sets the options of the event loop.
func WithLoop(o reactor.Options) Option { return func(c *config) { c.loop = o } }
