package reactor_test

import (
	"errors"
	"os"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/cuv"
	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/child"
	"github.com/uvasync/uvasync/internal/foreign"
	"github.com/uvasync/uvasync/reactor"
)

// What happens to polls when descriptors are closed, reused, shared, owned or taken by somebody else.

func isOpen(d *descriptor) bool {
	_, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(d.fd), syscall.F_GETFD, 0)
	return errno == 0
}

func TestDescriptor_CloseOfThePollThenOfTheDescriptorLeavesNothing(t *testing.T) {
	l := newLoop(t)
	for range 100 {
		r, w := pipe(t)
		p := startPoll(t, l, r, readable)
		on(t, p, func() { t.Error("it was closed before the loop turned") })
		write(t, w, "x")
		require.NoError(t, p.Close())
		r.close()
		w.close()
	}
	tick(t, l)
	tick(t, l)
	assert.Zero(t, l.Live())
	assertBalanced(t, l)
	assert.Less(t, turnsDuring(t, l, 10*ms), 20)
}

func TestDescriptor_NumberIsFreeForAnotherPollAsSoonAsCloseReturns(t *testing.T) {
	l := newLoop(t)
	a1, a2 := socketpair(t)
	p := startPoll(t, l, a1, readable)
	on(t, p, func() { t.Error("it was closed") })
	tick(t, l)
	write(t, a2, "for the first")
	require.NoError(t, p.Close())
	a1.close()
	b1, b2 := socketpair(t)
	b1 = a1.takeNumber(b1)
	c := collect(t, startPoll(t, l, b1, readable))
	tick(t, l)
	assert.Empty(t, c.fired)
	write(t, b2, "for the second")
	tick(t, l)
	assert.Len(t, c.fired, 1)
	assert.Equal(t, "for the second", read(t, b1))
}

// A duplicate keeps the kernel's entry alive when the number is closed, and the loop would spin on what nobody reads.
func TestDescriptor_DuplicateDoesNotKeepTheLoopBusyAfterClose(t *testing.T) {
	for name, option := range map[string][]reactor.PollOption{"the caller's": nil, "the loop's": {reactor.CloseFD()}} {
		t.Run(name, func(t *testing.T) {
			l := newLoop(t)
			r, w := pipe(t)
			number, err := syscall.Dup(r.fd)
			require.NoError(t, err)
			duplicate := own(t, number)
			p, err := l.NewPoll(r.fd, readable, option...)
			require.NoError(t, err)
			on(t, p, func() {})
			require.NoError(t, p.Start())
			write(t, w, "nobody reads this")
			tick(t, l)
			require.NoError(t, p.Close())
			if option == nil {
				r.close()
			} else {
				tick(t, l)
				r.disown()
			}
			assert.Less(t, turnsDuring(t, l, 20*ms), 20)
			assert.Equal(t, "nobody reads this", read(t, duplicate))
		})
	}
}

func TestDescriptor_BlockingModeIsPutBackByTheLastClose(t *testing.T) {
	ends := map[string]func(t *testing.T, l *reactor.Loop, first, second *reactor.Poll){
		"Close": func(t *testing.T, _ *reactor.Loop, first, second *reactor.Poll) {
			require.NoError(t, first.Close())
			assert.True(t, nonblocking(t, &descriptor{fd: second.FD()}), "another poll is still on it")
			require.NoError(t, second.Close())
		},
		"Dispose": func(t *testing.T, _ *reactor.Loop, first, second *reactor.Poll) {
			first.Dispose()
			second.Dispose()
		},
		"Close of the loop": func(t *testing.T, l *reactor.Loop, _, _ *reactor.Poll) { require.NoError(t, l.Close()) },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			for _, blocking := range []bool{true, false} {
				l := newLoop(t)
				r, _ := pipe(t)
				require.NoError(t, syscall.SetNonblock(r.fd, !blocking))
				first, second := newPoll(t, l, r, readable), newPoll(t, l, r, writable)
				assert.True(t, nonblocking(t, r))
				if name != "Dispose" {
					require.NoError(t, first.Start())
					tick(t, l)
				}
				end(t, l, first, second)
				assert.Equal(t, !blocking, nonblocking(t, r))
			}
		})
	}
}

// The caller closed the descriptor first, and the number is somebody else's by now.
func TestDescriptor_BlockingModeOfANewcomerWithTheNumberIsLeftAlone(t *testing.T) {
	newcomer := func(t *testing.T, old *descriptor) *descriptor {
		old.close()
		a, _ := socketpair(t) // non-blocking
		return old.takeNumber(a)
	}
	t.Run("Close", func(t *testing.T) {
		l := newLoop(t)
		r, _ := pipe(t)
		require.NoError(t, syscall.SetNonblock(r.fd, false))
		p := startPoll(t, l, r, readable)
		tick(t, l)
		a := newcomer(t, r)
		require.NoError(t, p.Close())
		assert.True(t, nonblocking(t, a))
	})
	t.Run("NewPoll on it, and its Close", func(t *testing.T) {
		l := newLoop(t)
		r, _ := pipe(t)
		require.NoError(t, syscall.SetNonblock(r.fd, false))
		old := startPoll(t, l, r, readable)
		tick(t, l)
		a := newcomer(t, r)
		p := newPoll(t, l, a, readable)
		require.NoError(t, p.Close())
		assert.True(t, nonblocking(t, a))
		require.NoError(t, old.Close())
		assert.True(t, nonblocking(t, a))
	})
}

func TestDescriptor_CloseFDClosesItWithTheLastPoll(t *testing.T) {
	l := newLoop(t)
	a, b := socketpair(t)
	a.disown()
	p, err := l.NewPoll(a.fd, readable, reactor.CloseFD())
	require.NoError(t, err)
	assert.NotZero(t, p.Flags()&event.FlagCloseFD)
	proxy := newProxy(t, p, writable)
	require.NoError(t, p.Start())
	tick(t, l)
	require.NoError(t, p.Close())
	tick(t, l)
	assert.True(t, isOpen(a), "a proxy is still on it")
	require.NoError(t, proxy.Close())
	tick(t, l)
	assert.False(t, isOpen(a))
	n, err := syscall.Read(b.fd, make([]byte, 1))
	assert.NoError(t, err)
	assert.Zero(t, n, "the peer sees the end")
}

func TestDescriptor_CloseFDWhenTheLoopCloses(t *testing.T) {
	l := newLoop(t)
	for _, started := range []bool{true, false} {
		a, _ := socketpair(t)
		a.disown()
		p, err := l.NewPoll(a.fd, readable, reactor.CloseFD())
		require.NoError(t, err)
		if started {
			require.NoError(t, p.Start())
		}
		defer func() { assert.False(t, isOpen(a), "started: %v", started) }()
	}
	tick(t, l)
	require.NoError(t, l.Close())
}

func TestDescriptor_CloseFDWhenTheReferenceIsCollected(t *testing.T) {
	l := newLoop(t)
	a, _ := socketpair(t)
	a.disown()
	_, err := l.NewPoll(a.fd, readable, reactor.CloseFD())
	require.NoError(t, err)
	collectUntil(t, l, func() bool { return !isOpen(a) })
}

func TestDescriptor_NotPollable(t *testing.T) {
	l := newLoop(t)
	regular, err := os.CreateTemp(t.TempDir(), "regular")
	require.NoError(t, err)
	defer regular.Close()
	null, err := os.Open("/dev/null")
	require.NoError(t, err)
	defer null.Close()
	directory, err := os.Open(t.TempDir())
	require.NoError(t, err)
	defer directory.Close()
	for _, f := range []*os.File{regular, null, directory} {
		d := &descriptor{fd: int(f.Fd())}
		before := nonblocking(t, d)
		_, err := l.NewPoll(d.fd, readable)
		assert.ErrorIs(t, err, reactor.ErrNotPollable, f.Name())
		assert.ErrorIs(t, err, syscall.EPERM)
		assert.ErrorContains(t, err, "Loop.NewPoll")
		var typed *cuv.Error
		assert.ErrorAs(t, err, &typed)
		assert.Equal(t, before, nonblocking(t, d), "its mode is as it was")
	}
	assert.Empty(t, l.Binding().Walk())
}

func TestDescriptor_WatchedByCCodeOnTheSameLoop(t *testing.T) {
	l := newLoop(t)
	r, w := pipe(t)
	theirs, code := foreign.NewPoll(l.Binding().Handle(), r.fd)
	require.Zero(t, code)
	require.Zero(t, theirs.Start(int(readable)))
	_, err := l.NewPoll(r.fd, readable)
	assert.ErrorIs(t, err, syscall.EEXIST)
	var typed *cuv.Error
	require.ErrorAs(t, err, &typed)
	assert.Equal(t, "EEXIST", typed.Name)
	assert.ErrorContains(t, err, "Loop.NewPoll")
	tick(t, l)
	tick(t, l)
	assert.Equal(t, map[string]int{"poll": 1}, l.Binding().Walk(), "nothing is left of ours")

	write(t, w, "x")
	tick(t, l)
	assert.Positive(t, theirs.Events(), "theirs is not disturbed")
	theirs.Close()
	tick(t, l)
	require.True(t, theirs.Closed())
	theirs.Free()
	c := collect(t, startPoll(t, l, r, readable))
	tick(t, l)
	assert.Len(t, c.fired, 1)
}

func TestDescriptor_TakenByCCodeBetweenNewPollAndStart(t *testing.T) {
	l := newLoop(t)
	r, w := pipe(t)
	p := newPoll(t, l, r, readable)
	c := collect(t, p)
	theirs, code := foreign.NewPoll(l.Binding().Handle(), r.fd)
	require.Zero(t, code)
	require.Zero(t, theirs.Start(int(readable)))
	require.NoError(t, p.Start())
	run(t, l)
	require.Len(t, c.errs, 1)
	assert.ErrorIs(t, c.errs[0], syscall.EEXIST)
	assert.False(t, p.Started())

	require.Zero(t, theirs.Stop())
	theirs.Close()
	tick(t, l)
	theirs.Free()
	write(t, w, "x")
	require.NoError(t, p.Start())
	tick(t, l)
	assert.Len(t, c.errs, 2)
	assert.NoError(t, c.errs[1])
}

// A duplicate keeps the file alive, so the kernel goes on reporting a number that is closed.
func TestDescriptor_REACT21_ClosedOneIsNoticedAsEBADF(t *testing.T) {
	child.Pass(t, func() {
		l := newLoop(t)
		a, b := tcpPair(t)
		number, err := syscall.Dup(a.fd)
		require.NoError(t, err)
		own(t, number)
		first, second := startPoll(t, l, a, readable), startPoll(t, l, a, readable)
		c1, c2 := collect(t, first), collect(t, second)
		tick(t, l)
		a.close()
		require.NoError(t, syscall.SetsockoptLinger(b.fd, syscall.SOL_SOCKET, syscall.SO_LINGER, &syscall.Linger{Onoff: 1}))
		b.close()
		run(t, l)
		for _, c := range []*told{c1, c2} {
			require.Len(t, c.errs, 1)
			assert.ErrorIs(t, c.errs[0], syscall.EBADF)
			var typed *cuv.Error
			assert.ErrorAs(t, c.errs[0], &typed)
		}
		assertNeverWaitsForNothing(t, l, first, c1)
		require.NoError(t, first.Close())
		require.NoError(t, second.Close())
	})
}

// The descriptor is closed, against the advice, while polls are on it. libuv aborts the process when the kernel refuses
// what it takes for granted, hence the children.

// assertNeverWaitsForNothing: starting a poll whose descriptor is gone either is refused, or is told again.
func assertNeverWaitsForNothing(t tester, l *reactor.Loop, p *reactor.Poll, c *told) {
	t.Helper()
	before := len(c.errs)
	if err := p.Start(); err != nil {
		return
	}
	turnFor(t, l, 2*ms)
	if assert.Greater(t, len(c.errs), before, "it was started, but nobody is ever told that the descriptor is closed") {
		assert.Error(t, c.errs[before])
	}
	require.NoError(t, p.Stop())
}

func TestDescriptor_REACT21_NumberThatIsUsedAgain(t *testing.T) {
	child.Pass(t, func() {
		kinds := map[string]func(t *testing.T) (d *descriptor, wake func()){
			"sockets": func(t *testing.T) (*descriptor, func()) {
				a, b := socketpair(t)
				return a, func() { write(t, b, "x") }
			},
			// All of these share one inode, so that says nothing about which is which.
			"eventfds": func(t *testing.T) (*descriptor, func()) {
				d := eventFD(t)
				return d, func() { giveEvent(t, &descriptor{fd: d.fd}) }
			},
		}
		for name, make := range kinds {
			t.Run(name, func(t *testing.T) {
				l := newLoop(t)
				old, _ := make(t)
				first, second := startPoll(t, l, old, readable), startPoll(t, l, old, readable)
				idle := newPoll(t, l, old, readable)
				c1, c2, c3 := collect(t, first), collect(t, second), collect(t, idle)
				tick(t, l)
				old.close()

				d, wake := make(t)
				if name == "sockets" {
					d = old.takeNumber(d)
				} else if d.fd != old.fd {
					d = old.takeNumber(d)
					wake = func() { giveEvent(t, d) }
				}
				p := startPoll(t, l, d, readable)
				c := collect(t, p)
				turnFor(t, l, 2*ms)
				assert.Empty(t, c.fired)
				wake()
				turnFor(t, l, 2*ms)
				assert.NotEmpty(t, c.fired, "a new poll on the number works")
				for _, old := range []*told{c1, c2} {
					if assert.Len(t, old.errs, 1, "the old ones are told once") {
						assert.ErrorIs(t, old.errs[0], syscall.EBADF)
					}
				}
				assert.False(t, first.Started())
				assert.Equal(t, 1, l.Live())
				assert.Empty(t, c3.errs, "who did not wait is not told")
				assertNeverWaitsForNothing(t, l, first, c1)

				before := len(c.fired)
				for _, p := range []*reactor.Poll{first, second, idle} {
					require.NoError(t, p.Close())
				}
				tick(t, l)
				assert.Greater(t, len(c.fired), before, "closing the old ones does not disturb the new one")
				require.NoError(t, p.Close())
			})
		}
	})
}

func TestDescriptor_REACT21_NumberUsedAgainFromWithinTheCallbackOfAPollOnIt(t *testing.T) {
	child.Pass(t, func() {
		l := newLoop(t)
		old, peer := socketpair(t)
		polls := []*reactor.Poll{startPoll(t, l, old, readable), startPoll(t, l, old, readable), startPoll(t, l, old, readable)}
		var fresh *told
		var newPeer *descriptor
		failures := 0
		for _, p := range polls {
			onReady(t, p, func(_ *reactor.Poll, _ reactor.Readiness, err error) {
				if err != nil {
					failures++
					assert.ErrorIs(t, err, syscall.EBADF)
				}
				if fresh == nil {
					old.close()
					var d *descriptor
					d, newPeer = socketpair(t)
					fresh = &told{}
					*fresh = *collect(t, startPoll(t, l, old.takeNumber(d), readable))
				}
			})
		}
		write(t, peer, "x")
		tick(t, l)
		turnFor(t, l, 3*ms)
		assert.Equal(t, 3, failures, "every old poll is told that its descriptor is gone")
		for _, p := range polls {
			assert.False(t, p.Started())
		}
		assert.Equal(t, 1, l.Live())
		_ = newPeer
		for _, p := range polls {
			require.NoError(t, p.Close())
		}
	})
}

// Both are readable in one turn. The first that is told closes the other one's descriptor, and the number is in use again
// before the other's completion is looked at.
func TestDescriptor_CompletionOfANumberThatWasClosedEarlierInTheBatch(t *testing.T) {
	for _, poll := range []bool{false, true} {
		l := newLoop(t)
		a1, a2 := socketpair(t)
		b1, b2 := socketpair(t)
		ends := [2]*descriptor{a1, b1}
		polls := [2]*reactor.Poll{startPoll(t, l, a1, readable), startPoll(t, l, b1, readable)}
		var fresh *told
		var freshPeer, freshEnd *descriptor
		calls := 0
		for i, p := range polls {
			on(t, p, func() {
				calls++
				require.NoError(t, p.Stop())
				other := 1 - i
				require.NoError(t, polls[other].Close())
				ends[other].close()
				freshEnd, freshPeer = socketpair(t)
				freshEnd = ends[other].takeNumber(freshEnd)
				if poll {
					fresh = collect(t, startPoll(t, l, freshEnd, readable))
				}
			})
		}
		write(t, a2, "x")
		write(t, b2, "x")
		tick(t, l)
		assert.Equal(t, 1, calls, "the other one's completion is ignored")
		if poll {
			assert.Empty(t, fresh.fired)
			tick(t, l)
			assert.Empty(t, fresh.fired)
			write(t, freshPeer, "y")
			tick(t, l)
			assert.Len(t, fresh.fired, 1)
		}
	}
}

func TestDescriptor_SeveralLoopsMayWatchTheSameOne(t *testing.T) {
	first, second := newLoop(t), newLoop(t)
	r, w := pipe(t)
	c1, c2 := collect(t, startPoll(t, first, r, readable)), collect(t, startPoll(t, second, r, readable))
	write(t, w, "x")
	tick(t, first)
	tick(t, second)
	assert.Len(t, c1.fired, 1)
	assert.Len(t, c2.fired, 1)
}

func TestDescriptor_ClosedBeforeTheStartDoesNotCrash(t *testing.T) {
	child.Pass(t, func() {
		l := newLoop(t)
		r, _ := pipe(t)
		p := newPoll(t, l, r, readable)
		c := collect(t, p)
		r.close()
		assertNeverWaitsForNothing(t, l, p, c)
		require.NoError(t, p.Close())
		startTimer(t, l, ms, func() {})
		run(t, l)
	})
}

func TestDescriptor_ClosedBeforeAnotherWaiterStartsDoesNotCrash(t *testing.T) {
	child.Pass(t, func() {
		l := newLoop(t)
		a, _ := socketpair(t)
		p := startPoll(t, l, a, readable)
		c := collect(t, p)
		proxy := newProxy(t, p, writable)
		w := collect(t, proxy)
		tick(t, l)
		a.close()
		assertNeverWaitsForNothing(t, l, proxy, w)
		turnFor(t, l, 2*ms)
		if assert.Len(t, c.errs, 1, "the one that waited is told") {
			assert.ErrorIs(t, c.errs[0], syscall.EBADF)
		}
		require.NoError(t, p.Close())
		startTimer(t, l, ms, func() {})
		run(t, l)
	})
}

func TestDescriptor_NumberUsedAgainForARegularFileDoesNotCrash(t *testing.T) {
	child.Pass(t, func() {
		l := newLoop(t)
		r, _ := pipe(t)
		p := newPoll(t, l, r, readable)
		c := collect(t, p)
		r.close()
		f, err := os.CreateTemp(t.TempDir(), "regular")
		require.NoError(t, err)
		number, err := syscall.Dup(int(f.Fd()))
		require.NoError(t, err)
		require.NoError(t, f.Close()) // it may have been given the number already
		r.takeNumber(own(t, number))
		assertNeverWaitsForNothing(t, l, p, c)
		require.NoError(t, p.Close())
		startTimer(t, l, ms, func() {})
		run(t, l)
	})
}

func TestDescriptor_NewPollOnAClosedOne(t *testing.T) {
	l := newLoop(t)
	r, _ := pipe(t)
	r.close()
	_, err := l.NewPoll(r.fd, readable)
	assert.ErrorIs(t, err, syscall.EBADF)
	var typed *cuv.Error
	assert.True(t, errors.As(err, &typed))
	assert.ErrorContains(t, err, "Loop.NewPoll")
}

func TestDescriptor_DroppedPollsGiveTheirSharesBack(t *testing.T) {
	l := newLoop(t)
	r, _ := pipe(t)
	kept := newPoll(t, l, r, readable)
	for range 100 {
		newProxy(t, kept, writable)
	}
	runtime.GC()
	require.NoError(t, kept.Close())
	collectUntil(t, l, func() bool { return l.Binding().Walk()["poll"] == 0 })
}
