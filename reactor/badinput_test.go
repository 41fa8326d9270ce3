package reactor_test

import (
	"errors"
	"math"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/cuv"
	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/foreign"
	"github.com/uvasync/uvasync/reactor"
)

// What the four typed errors have in common: errors.As finds them, and their text names the call.
var (
	isInvalid = func(err error) bool { var e *event.InvalidArgumentError; return errors.As(err, &e) }
	isUsage   = func(err error) bool { var e *event.UsageError; return errors.As(err, &e) }
	isClosed  = func(err error) bool {
		var e *event.ClosedError
		return errors.As(err, &e) && errors.Is(err, event.ErrClosed)
	}
	isUV = func(errno syscall.Errno) func(err error) bool {
		return func(err error) bool { var e *cuv.Error; return errors.As(err, &e) && errors.Is(err, errno) }
	}
)

func TestBadInput_IsATypedErrorThatNamesTheCall(t *testing.T) {
	l := newLoop(t)
	r, _ := pipe(t)
	// A high number, which nothing that is opened later takes.
	gone, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(r.fd), syscall.F_DUPFD_CLOEXEC, 1000)
	require.Zero(t, errno)
	require.NoError(t, syscall.Close(int(gone)))
	regular, err := os.CreateTemp(t.TempDir(), "regular")
	require.NoError(t, err)
	defer regular.Close()
	taken, _ := pipe(t)
	theirs, code := foreign.NewPoll(l.Binding().Handle(), taken.fd)
	require.Zero(t, code)
	require.Zero(t, theirs.Start(int(readable)))
	defer func() {
		theirs.Close()
		tick(t, l)
		theirs.Free()
	}()

	timer, again, every := newTimer(t, l, time.Hour, func() {}), newRearming(t, l, time.Hour, func() {}), newPeriodic(t, l, time.Hour, func() {})
	poll, trigger := newPoll(t, l, r, readable), newTrigger(t, l, func() {})
	closed := newRearming(t, l, ms, func() {})
	require.NoError(t, closed.Close())
	closedPoll := newPoll(t, l, r, readable)
	require.NoError(t, closedPoll.Close())
	other := newLoop(t)
	require.NoError(t, other.Close())
	var deadline, unready reactor.Deadline
	deadline.Init(l, func(*reactor.Deadline) {})
	subscribed := event.NewCallback(func(*event.Base, *event.Callback, any, error) {}, nil)
	require.NoError(t, timer.AddCallback(subscribed))

	err2 := func(_ any, err error) error { return err }
	for _, bad := range []struct {
		input string
		call  string
		err   error
		is    func(error) bool
	}{
		{"negative delay", "Loop.NewTimer", err2(l.NewTimer(-1)), isInvalid},
		{"the most negative delay", "Loop.NewTimer", err2(l.NewTimer(math.MinInt64)), isInvalid},
		{"negative delay", "Loop.NewRearmingTimer", err2(l.NewRearmingTimer(-ms)), isInvalid},
		{"negative period", "Loop.NewPeriodicTimer", err2(l.NewPeriodicTimer(-ms)), isInvalid},
		{"no period", "Loop.NewPeriodicTimer", err2(l.NewPeriodicTimer(0)), isInvalid},
		{"negative delay", "Timer.Rearm", again.Rearm(-1), isInvalid},
		{"one-shot timer", "Timer.Rearm", timer.Rearm(ms), isUsage},
		{"periodic timer", "Timer.Rearm", every.Rearm(ms), isUsage},
		{"closed timer", "Timer.Rearm", closed.Rearm(ms), isClosed},
		{"negative delay", "Deadline.Start", deadline.Start(-1), isInvalid},
		{"before Init", "Deadline.Start", unready.Start(ms), isUsage},
		{"negative descriptor", "Loop.NewPoll", err2(l.NewPoll(-1, readable)), isInvalid},
		{"the most negative descriptor", "Loop.NewPoll", err2(l.NewPoll(math.MinInt, readable)), isInvalid},
		{"closed descriptor", "Loop.NewPoll", err2(l.NewPoll(int(gone), readable)), isUV(syscall.EBADF)},
		{"enormous descriptor", "Loop.NewPoll", err2(l.NewPoll(math.MaxInt32, readable)), isUV(syscall.EBADF)},
		{"descriptor beyond an int of C", "Loop.NewPoll", err2(l.NewPoll(math.MaxInt, readable)), isUV(syscall.EBADF)},
		{"descriptor that an int of C would cut to a good one", "Loop.NewPoll", err2(l.NewPoll(1<<32+r.fd, readable)), isUV(syscall.EBADF)},
		{"regular file", "Loop.NewPoll", err2(l.NewPoll(int(regular.Fd()), readable)), isUV(syscall.EPERM)},
		{"somebody else's descriptor", "Loop.NewPoll", err2(l.NewPoll(taken.fd, readable)), isUV(syscall.EEXIST)},
		{"empty mask", "Loop.NewPoll", err2(l.NewPoll(r.fd, 0)), isInvalid},
		{"unknown mask", "Loop.NewPoll", err2(l.NewPoll(r.fd, 16|readable)), isInvalid},
		{"empty mask", "Poll.NewProxy", err2(poll.NewProxy(0)), isInvalid},
		{"unknown mask", "Poll.NewProxy", err2(poll.NewProxy(255)), isInvalid},
		{"closed poll", "Poll.NewProxy", err2(closedPoll.NewProxy(readable)), isClosed},
		{"closed poll", "Start", closedPoll.Start(), isClosed},
		{"closed timer", "Start", closed.Start(), isClosed},
		{"closed timer", "Subscribe", err2(closed.Subscribe(func(*event.Base, *event.Callback, any, error) {})), isClosed},
		{"nil function", "Loop.Post", l.Post(nil), isInvalid},
		{"nil callback", "AddCallback", timer.AddCallback(nil), isInvalid},
		{"callback without a function", "AddCallback", timer.AddCallback(event.NewCallback(nil, nil)), isInvalid},
		{"callback that is subscribed elsewhere", "AddCallback", poll.AddCallback(subscribed), isUsage},
		{"nil function", "Subscribe", err2(timer.Subscribe(nil)), isInvalid},
		{"nil function", "Poll.OnReady", err2(poll.OnReady(nil)), isInvalid},
		{"nil function", "Timer.OnFire", err2(timer.OnFire(nil)), isInvalid},
		{"closed timer", "", err2(closed.OnFire(func() {})), isClosed},
		{"closed poll", "", err2(closedPoll.OnReady(func(reactor.Readiness, error) {})), isClosed},
		{"nil function", "Trigger.OnFire", err2(trigger.OnFire(nil)), isInvalid},
		{"nil callback", "Replay", timer.Replay(nil), isInvalid},
		{"closed loop", "Loop.NewTimer", err2(other.NewTimer(ms)), isClosed},
		{"closed loop", "Loop.NewPoll", err2(other.NewPoll(r.fd, readable)), isClosed},
		{"closed loop", "Loop.NewTrigger", err2(other.NewTrigger()), isClosed},
		{"closed loop", "Loop.Run", other.Run(), isClosed},
		{"closed loop", "Loop.Tick", err2(other.Tick(false)), isClosed},
		{"closed loop", "Loop.Post", other.Post(func() {}), isClosed},
		{"an event before Init", "Start", new(event.Base).Start(), isUsage},
		{"a timer of nobody", "Start", new(reactor.Timer).Start(), isUsage},
		{"a poll of nobody", "Start", new(reactor.Poll).Start(), isUsage},
		{"a trigger of nobody", "Start", new(reactor.Trigger).Start(), isUsage},
	} {
		t.Run(bad.call+"/"+bad.input, func(t *testing.T) {
			require.Error(t, bad.err)
			assert.True(t, bad.is(bad.err), "%T: %v", bad.err, bad.err)
			assert.ErrorContains(t, bad.err, bad.call)
		})
	}
	assert.Zero(t, l.Live())
	assertGoesOn(t, l)
}

// assertGoesOn: a timer, a deadline, a poll, a trigger and a post still work.
func assertGoesOn(t tester, l *reactor.Loop) {
	t.Helper()
	left := 5
	done := func() { left-- }
	startTimer(t, l, ms, done)
	startDeadline(t, l, ms, done)
	r, w := pipe(t)
	p := startPoll(t, l, r, readable)
	on(t, p, func() { done(); require.NoError(t, p.Close()) })
	write(t, w, "x")
	var trigger *reactor.Trigger
	trigger = newTrigger(t, l, func() { done(); require.NoError(t, trigger.Close()) })
	require.NoError(t, trigger.Start())
	trigger.Fire()
	require.NoError(t, l.Post(done))
	run(t, l)
	assert.Zero(t, left, "the loop does not go on")
}

func TestBadInput_ClosedTwiceIsNoError(t *testing.T) {
	l := newLoop(t)
	for _, e := range oneOfEachKind(t, l) {
		require.NoError(t, e.Close())
		require.NoError(t, e.Close())
	}
	assertGoesOn(t, l)
	require.NoError(t, l.Close())
	require.NoError(t, l.Close())
}

func TestBadInput_CloseOfAnEventAfterTheLoop(t *testing.T) {
	l := newLoop(t)
	events := oneOfEachKind(t, l)
	for _, e := range events {
		require.NoError(t, e.Start())
	}
	tick(t, l)
	require.NoError(t, l.Close())
	for kind, e := range events {
		assert.True(t, e.Closed(), kind)
		assert.False(t, e.Started(), kind)
		assert.ErrorIs(t, e.Start(), event.ErrClosed, kind)
		_, err := e.Subscribe(func(*event.Base, *event.Callback, any, error) {})
		assert.ErrorIs(t, err, event.ErrClosed, kind)
		e.SetHidden(true)
		e.SetHidden(false)
		assert.NoError(t, e.Stop(), kind)
		assert.NoError(t, e.Close(), kind)
		e.Dispose()
		assert.Zero(t, e.AsEvent().Refs(), kind)
	}
}

// A struct of ours that no constructor made is a mistake like any other.
func TestBadInput_ZeroValues(t *testing.T) {
	for call, do := range map[string]func() error{
		"Timer.Rearm":   func() error { return new(reactor.Timer).Rearm(ms) },
		"Poll.NewProxy": func() error { _, err := new(reactor.Poll).NewProxy(readable); return err },
		"Start":         func() error { return new(reactor.Trigger).Start() },
	} {
		t.Run(call, func(t *testing.T) {
			assert.NotPanics(t, func() {
				err := do()
				assert.True(t, isUsage(err), "%T: %v", err, err)
				assert.ErrorContains(t, err, call)
			})
		})
	}
	for call, do := range map[string]func(){
		"Timer.Close":        func() { _ = new(reactor.Timer).Close() },
		"Timer.Dispose":      func() { new(reactor.Timer).Dispose() },
		"Poll.Close":         func() { _ = new(reactor.Poll).Close() },
		"Trigger.Fire":       func() { new(reactor.Trigger).Fire() },
		"Deadline.Stop":      func() { new(reactor.Deadline).Stop() },
		"Deadline.SetHidden": func() { new(reactor.Deadline).SetHidden(true) },
	} {
		t.Run(call, func(t *testing.T) { assert.NotPanics(t, do) })
	}
}
