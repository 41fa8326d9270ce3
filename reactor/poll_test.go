package reactor_test

import (
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/reactor"
)

const (
	readable    = reactor.Readable
	writable    = reactor.Writable
	disconnect  = reactor.Disconnect
	prioritized = reactor.Prioritized
)

func TestPoll_ReadsWhatIsThere(t *testing.T) {
	l := newLoop(t)
	r, w := pipe(t)
	p := newPoll(t, l, r, readable)
	assert.Equal(t, r.fd, p.FD())
	assert.Equal(t, readable, p.Mask())
	assert.Zero(t, p.Triggered())
	got := ""
	onReady(t, p, func(p *reactor.Poll, fired reactor.Readiness, err error) {
		require.NoError(t, err)
		assert.Equal(t, readable, fired)
		assert.Equal(t, readable, p.Triggered())
		assert.True(t, p.Started(), "it goes on")
		got += read(t, r)
		if got == "hello, world" {
			require.NoError(t, p.Stop())
		}
	})
	require.NoError(t, p.Start())
	assert.Equal(t, 1, l.Live())
	tick(t, l)
	assert.Empty(t, got)
	write(t, w, "hello, ")
	startTimer(t, l, 2*ms, func() { write(t, w, "world") })
	run(t, l)
	assert.Equal(t, "hello, world", got)
}

func TestPoll_IsLevelTriggered(t *testing.T) {
	l := newLoop(t)
	r, w := pipe(t)
	c := collect(t, startPoll(t, l, r, readable))
	write(t, w, "x")
	for range 5 {
		tick(t, l)
	}
	assert.Len(t, c.fired, 5, "what is not read is told in every turn")
	read(t, r)
	tick(t, l)
	assert.Len(t, c.fired, 5)
}

func TestPoll_REACT12_ReaderAndWriterAreWokenOnlyByTheirOwnReadiness(t *testing.T) {
	l := newLoop(t)
	a, b := socketpair(t)
	fill(t, a)
	reader := newPoll(t, l, a, readable)
	writer := newProxy(t, reader, writable)
	got, ready := collect(t, reader), collect(t, writer)
	require.NoError(t, reader.Start())
	require.NoError(t, writer.Start())
	assert.Equal(t, 2, l.Live())
	tick(t, l)
	assert.Empty(t, got.fired)
	assert.Empty(t, ready.fired)
	assert.Equal(t, map[string]int{"poll": 1}, l.Binding().Walk(), "one handle for both")

	write(t, b, "x")
	tick(t, l)
	assert.Equal(t, []reactor.Readiness{readable}, got.fired)
	assert.Empty(t, ready.fired)
	read(t, a)

	for len(ready.fired) == 0 {
		read(t, b)
		tick(t, l)
	}
	assert.Equal(t, writable, ready.fired[0])
	assert.Len(t, got.fired, 1)

	write(t, b, "y")
	before := len(ready.fired)
	tick(t, l)
	assert.Len(t, got.fired, 2, "both masks are active at the same time")
	assert.Len(t, ready.fired, before+1)
	assert.Equal(t, readable, reader.Triggered())
	assert.Equal(t, writable, writer.Triggered())
}

func TestPoll_REACT12_EachProxyIsToldAboutItsOwnMask(t *testing.T) {
	l := newLoop(t)
	a, b := tcpPair(t)
	masks := []reactor.Readiness{
		readable, writable, disconnect, prioritized, readable | writable, writable | prioritized,
		readable | writable | disconnect | prioritized,
	}
	var all []*told
	for _, mask := range masks {
		all = append(all, collect(t, startPoll(t, l, a, mask)))
	}
	last := func() []reactor.Readiness {
		list := make([]reactor.Readiness, len(all))
		for i, c := range all {
			if len(c.fired) > 0 {
				list[i] = c.fired[len(c.fired)-1]
			}
			c.fired = nil
		}
		return list
	}
	tick(t, l)
	assert.Equal(t, []reactor.Readiness{0, writable, 0, 0, writable, writable, writable}, last())

	write(t, b, "x")
	turnUntil(t, l, func() bool { return len(all[0].fired) > 0 })
	assert.Equal(t, []reactor.Readiness{readable, writable, 0, 0, readable | writable, writable, readable | writable}, last())
	read(t, a)

	require.NoError(t, syscall.Sendto(b.fd, []byte("!"), syscall.MSG_OOB, nil))
	turnUntil(t, l, func() bool { return len(all[3].fired) > 0 })
	got := last()
	assert.Equal(t, prioritized, got[3])
	assert.Equal(t, writable|prioritized, got[5])
	assert.Zero(t, got[2])

	require.NoError(t, syscall.Shutdown(b.fd, syscall.SHUT_WR))
	turnUntil(t, l, func() bool { return len(all[2].fired) > 0 })
	got = last()
	assert.Equal(t, readable, got[0], "the end of the stream")
	assert.Equal(t, writable, got[1], "it is writable as before")
	assert.Equal(t, disconnect, got[2])
	assert.Equal(t, map[string]int{"poll": 1}, l.Binding().Walk())
}

// pollState is what poll(2) says about a descriptor now.
func pollState(t tester, d *descriptor) reactor.Readiness {
	t.Helper()
	const in, pri, out, rdhup = 0x1, 0x2, 0x4, 0x2000
	fds := struct {
		fd              int32
		events, revents int16
	}{int32(d.fd), in | pri | out | rdhup, 0}
	var now syscall.Timespec
	_, _, errno := syscall.Syscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&fds)), 1, uintptr(unsafe.Pointer(&now)), 0, 0, 0)
	require.Zero(t, errno)
	var ready reactor.Readiness
	for bit, readiness := range map[int16]reactor.Readiness{in: readable, pri: prioritized, out: writable, rdhup: disconnect} {
		if fds.revents&bit != 0 {
			ready |= readiness
		}
	}
	return ready
}

// Random waiters come and go on both ends of a connection whose state changes; poll(2) says who must be told.
func TestPoll_REACT12_WaitersAreToldWhatPollSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newLoop(t)
		var ends [2]*descriptor
		ends[0], ends[1] = socketpair(t)
		type waiter struct {
			poll   *reactor.Poll
			end    int
			told   reactor.Readiness
			times  int
			starts int
		}
		var all []*waiter
		for range rapid.IntRange(1, 8).Draw(t, "waiters") {
			w := &waiter{end: rapid.IntRange(0, 1).Draw(t, "end")}
			w.poll = newPoll(t, l, ends[w.end], reactor.Readiness(rapid.IntRange(1, 15).Draw(t, "mask")))
			onReady(t, w.poll, func(_ *reactor.Poll, fired reactor.Readiness, err error) {
				require.NoError(t, err)
				w.times++
				w.told = fired
			})
			all = append(all, w)
		}
		pick := func(t *rapid.T) *waiter { return all[rapid.IntRange(0, len(all)-1).Draw(t, "waiter")] }
		end := func(t *rapid.T) *descriptor { return ends[rapid.IntRange(0, 1).Draw(t, "end")] }
		buf := make([]byte, 1<<20)
		t.Repeat(map[string]func(*rapid.T){
			"start": func(t *rapid.T) {
				w := pick(t)
				w.starts++
				require.NoError(t, w.poll.Start())
			},
			"stop": func(t *rapid.T) {
				w := pick(t)
				w.starts = max(w.starts-1, 0)
				require.NoError(t, w.poll.Stop())
			},
			"write":      func(t *rapid.T) { _, _ = syscall.SendmsgN(end(t).fd, []byte("x"), nil, nil, syscall.MSG_NOSIGNAL) },
			"fill":       func(t *rapid.T) { _, _ = syscall.SendmsgN(end(t).fd, buf, nil, nil, syscall.MSG_NOSIGNAL) },
			"read":       func(t *rapid.T) { _, _ = syscall.Read(end(t).fd, buf) },
			"half-close": func(t *rapid.T) { _ = syscall.Shutdown(ends[0].fd, syscall.SHUT_WR) },
			"turn": func(t *rapid.T) {
				tick(t, l)
				for _, w := range all {
					want := pollState(t, ends[w.end])
					if w.poll.Mask()&readable != 0 && want&disconnect != 0 {
						want |= readable
					}
					want &= w.poll.Mask()
					if w.starts == 0 {
						want = 0
					}
					require.Equal(t, want, w.told, "%s", w.poll.Info())
					require.LessOrEqual(t, w.times, 1)
					w.told, w.times = 0, 0
				}
			},
			"": func(t *rapid.T) {
				live := 0
				for _, w := range all {
					if w.starts > 0 {
						live++
					}
				}
				require.Equal(t, live, l.Live())
			},
		})
	})
}

func TestPoll_EVT09_WaitersLeaveFromWithinEachOthersCallbacks(t *testing.T) {
	ways := map[string]func(p *reactor.Poll) error{
		"stop":    (*reactor.Poll).Stop,
		"close":   (*reactor.Poll).Close,
		"dispose": func(p *reactor.Poll) error { _ = p.Stop(); p.Dispose(); return nil },
	}
	for name, leave := range ways {
		t.Run(name, func(t *testing.T) {
			const n = 5
			for actor := range n {
				for victim := range n {
					l := newLoop(t)
					r, w := pipe(t)
					write(t, w, "x")
					polls := make([]*reactor.Poll, n)
					calls := make([]int, n)
					acted, seen := false, [n]bool{}
					for i := range polls {
						polls[i] = newPoll(t, l, r, readable)
						on(t, polls[i], func() {
							calls[i]++
							if i == actor && !acted {
								acted = true
								for j, c := range calls {
									seen[j] = c > 0
								}
								require.NoError(t, leave(polls[victim]))
							}
						})
						require.NoError(t, polls[i].Start())
					}
					tick(t, l)
					for i, c := range calls {
						want := 1
						if i == victim && !seen[i] {
							want = 0
						}
						assert.Equal(t, want, c, "waiter %d when %d makes %d leave", i, actor, victim)
					}
					assert.Equal(t, n-1, l.Live())
					tick(t, l)
					for i, c := range calls {
						if i != victim {
							assert.Equal(t, 2, c)
						}
					}
					for _, p := range polls {
						require.NoError(t, p.Close())
					}
				}
			}
		})
	}
}

func TestPoll_StartedFromAnothersCallbackIsToldInTheNextTurn(t *testing.T) {
	l := newLoop(t)
	r, w := pipe(t)
	write(t, w, "x")
	first := newPoll(t, l, r, readable)
	second := newProxy(t, first, readable)
	c := collect(t, second)
	on(t, first, func() {
		if !second.Started() {
			require.NoError(t, second.Start())
		}
	})
	require.NoError(t, first.Start())
	tick(t, l)
	assert.Empty(t, c.fired)
	tick(t, l)
	assert.Len(t, c.fired, 1)
}

func TestPoll_StoppedWriterDoesNotKeepTheLoopBusy(t *testing.T) {
	l := newLoop(t)
	a, b := socketpair(t)
	reader := startPoll(t, l, a, readable)
	writer := startPoll(t, l, a, writable)
	got, ready := collect(t, reader), collect(t, writer)
	tick(t, l)
	assert.Len(t, ready.fired, 1)
	require.NoError(t, writer.Stop())
	assert.Less(t, turnsDuring(t, l, 20*ms), 20, "the mask has shrunk")
	assert.Len(t, ready.fired, 1)
	assert.Empty(t, got.fired)

	write(t, b, "x")
	tick(t, l)
	assert.Len(t, got.fired, 1, "the reader is still there")
	require.NoError(t, writer.Start())
	tick(t, l)
	assert.Len(t, ready.fired, 2, "and the writer again")
	require.NoError(t, reader.Stop())
	tick(t, l)
	assert.Len(t, got.fired, 2)
	assert.Len(t, ready.fired, 3)
	require.NoError(t, writer.Stop())
	assert.Less(t, turnsDuring(t, l, 20*ms), 20)
}

// turnsDuring counts the turns of a loop that has nothing to do for d: a few, or as many as fit when it spins.
func turnsDuring(t tester, l *reactor.Loop, d time.Duration) int {
	t.Helper()
	before := l.Stats().Turns
	turnFor(t, l, d)
	return int(l.Stats().Turns - before)
}

// What is recorded in a turn is dropped when the waiter it is for has stopped, and kept when another has joined.
func TestPoll_MaskChangesBetweenTheTurnAndTheCallback(t *testing.T) {
	changes := map[string]struct {
		change func(t *testing.T, second *reactor.Poll)
		told   int
	}{
		"stopped":             {func(t *testing.T, p *reactor.Poll) { require.NoError(t, p.Stop()) }, 0},
		"stopped and started": {func(t *testing.T, p *reactor.Poll) { require.NoError(t, p.Stop()); require.NoError(t, p.Start()) }, 0},
		"closed":              {func(t *testing.T, p *reactor.Poll) { require.NoError(t, p.Close()) }, 0},
		"joined by a writer": {func(t *testing.T, p *reactor.Poll) {
			writer := newProxy(t, p, writable)
			on(t, writer, func() {})
			require.NoError(t, writer.Start())
		}, 1},
		"joined by a reader": {func(t *testing.T, p *reactor.Poll) {
			reader := newProxy(t, p, readable)
			on(t, reader, func() {})
			require.NoError(t, reader.Start())
		}, 1},
	}
	for name, c := range changes {
		t.Run(name, func(t *testing.T) {
			l := newLoop(t)
			a1, a2 := socketpair(t)
			b1, b2 := socketpair(t)
			polls := [2]*reactor.Poll{startPoll(t, l, a1, readable), startPoll(t, l, b1, readable)}
			told := [2]int{}
			first := true
			for i, p := range polls {
				on(t, p, func() {
					told[i]++
					if first {
						first = false
						c.change(t, polls[1-i])
					}
				})
			}
			write(t, a2, "x")
			write(t, b2, "x")
			tick(t, l)
			assert.Equal(t, 1+c.told, told[0]+told[1])
			for _, p := range polls {
				if p.Started() {
					before := told[0] + told[1]
					tick(t, l)
					assert.Greater(t, told[0]+told[1], before, "whoever is started is told in the next turn")
				}
			}
		})
	}
}

func TestPoll_REACT21_HalfCloseWakesReadersAndWhoAskedButNeverWriters(t *testing.T) {
	l := newLoop(t)
	a, b := tcpPair(t)
	fill(t, a)
	reader, writer, asked := startPoll(t, l, a, readable), startPoll(t, l, a, writable), startPoll(t, l, a, disconnect)
	both := startPoll(t, l, a, readable|disconnect)
	r, w, d, rd := collect(t, reader), collect(t, writer), collect(t, asked), collect(t, both)
	tick(t, l)
	assert.Empty(t, append(append(r.fired, w.fired...), d.fired...))

	require.NoError(t, syscall.Shutdown(b.fd, syscall.SHUT_WR))
	turnUntil(t, l, func() bool { return len(d.fired) > 0 })
	assert.Equal(t, disconnect, d.fired[0])
	assert.Equal(t, readable, r.fired[0])
	assert.Equal(t, readable|disconnect, rd.fired[0])
	assert.Empty(t, w.fired)
	for _, p := range []*reactor.Poll{reader, asked, both} {
		require.NoError(t, p.Stop())
	}
	assert.Less(t, turnsDuring(t, l, 10*ms), 20, "the writer alone does not spin")
	assert.Empty(t, w.fired)

	for len(w.fired) == 0 { // a half-closed peer can still be written to
		_, _ = syscall.Read(b.fd, make([]byte, 1<<20))
		tick(t, l)
	}
	assert.Equal(t, writable, w.fired[0])
	write(t, a, "more")
}

// In turns in which nothing else is told, DISCONNECT alone must wake a plain reader too.
func TestPoll_REACT21_DisconnectWakesAReaderWhoDidNotAsk(t *testing.T) {
	l := newLoop(t)
	a, b := socketpair(t)
	asked, reader := startPoll(t, l, a, disconnect), startPoll(t, l, a, readable)
	d, r := collect(t, asked), collect(t, reader)
	require.NoError(t, syscall.Shutdown(b.fd, syscall.SHUT_WR))
	tick(t, l)
	assert.Equal(t, []reactor.Readiness{disconnect}, d.fired)
	assert.Equal(t, []reactor.Readiness{readable}, r.fired)
}

func TestPoll_REACT21_PeerThatResetsEndsEveryWait(t *testing.T) {
	l := newLoop(t)
	a, b := tcpPair(t)
	fill(t, a)
	reader, writer := startPoll(t, l, a, readable), startPoll(t, l, a, writable)
	r, w := collect(t, reader), collect(t, writer)
	tick(t, l)
	require.NoError(t, syscall.SetsockoptLinger(b.fd, syscall.SOL_SOCKET, syscall.SO_LINGER, &syscall.Linger{Onoff: 1}))
	b.close()
	run(t, l) // both are stopped
	assert.Equal(t, []reactor.Readiness{readable}, r.fired)
	assert.Equal(t, []reactor.Readiness{writable}, w.fired)
	assert.Equal(t, []error{nil}, r.errs, "the error is that of the system call")
	assert.Equal(t, []error{nil}, w.errs)
	assert.False(t, reader.Started())
	assert.False(t, writer.Started())
	_, err := syscall.Read(a.fd, make([]byte, 1))
	assert.Equal(t, syscall.ECONNRESET, err)

	require.NoError(t, reader.Start())
	tick(t, l)
	assert.Len(t, r.fired, 2, "it can be started again: the end of the stream")
}

func TestPoll_REACT21_BrokenPipeEndsTheWaitOfTheWriter(t *testing.T) {
	l := newLoop(t)
	r, w := pipe(t)
	fill(t, w)
	p := startPoll(t, l, w, writable)
	c := collect(t, p)
	tick(t, l)
	assert.Empty(t, c.fired)
	r.close()
	run(t, l)
	assert.Equal(t, []reactor.Readiness{writable}, c.fired)
	assert.Equal(t, []error{nil}, c.errs)
	_, err := syscall.Write(w.fd, []byte("x"))
	assert.Equal(t, syscall.EPIPE, err)
}

// refused returns a UDP socket connected to a port where nobody is, and the address of that port.
func refused(t tester) (*descriptor, syscall.Sockaddr) {
	t.Helper()
	gone := socket(t, syscall.SOCK_DGRAM)
	addr := bind(t, gone)
	gone.close()
	a := socket(t, syscall.SOCK_DGRAM|syscall.SOCK_NONBLOCK)
	require.NoError(t, syscall.Connect(a.fd, addr))
	return a, addr
}

func TestPoll_REACT21_PendingErrorOfAConnectedUDPSocket(t *testing.T) {
	l := newLoop(t)
	a, addr := refused(t)
	reader, writer := newPoll(t, l, a, readable), newPoll(t, l, a, writable|prioritized)
	var errs []error
	onReady(t, reader, func(p *reactor.Poll, fired reactor.Readiness, err error) {
		assert.NoError(t, err)
		assert.Equal(t, readable, fired)
		assert.Equal(t, len(errs) > 0, p.Started(), "the error has ended the wait")
		_, err = syscall.Read(a.fd, make([]byte, 10))
		errs = append(errs, err)
	})
	w := collect(t, writer)
	require.NoError(t, reader.Start())
	require.NoError(t, writer.Start())
	write(t, a, "to nobody")
	turnUntil(t, l, func() bool { return !reader.Started() })
	assert.Equal(t, []error{syscall.ECONNREFUSED}, errs)
	assert.False(t, writer.Started())
	assert.Equal(t, writable|prioritized, w.fired[len(w.fired)-1], "each waiter is told that everything it waits for may be there")
	assert.Zero(t, l.Live())

	peer := socket(t, syscall.SOCK_DGRAM)
	require.NoError(t, syscall.Bind(peer.fd, addr))
	own, err := syscall.Getsockname(a.fd)
	require.NoError(t, err)
	require.NoError(t, reader.Start())
	tick(t, l)
	require.NoError(t, syscall.Sendto(peer.fd, []byte("hello"), 0, own))
	turnUntil(t, l, func() bool { return len(errs) == 2 })
	assert.NoError(t, errs[1], "it goes on")
}

func TestPoll_REACT21_StartedAgainFromItsOwnCallback(t *testing.T) {
	l := newLoop(t)
	a, addr := refused(t)
	var got []string
	p := newPoll(t, l, a, readable)
	other := newPoll(t, l, a, readable)
	for _, p := range []*reactor.Poll{p, other} {
		onReady(t, p, func(p *reactor.Poll, _ reactor.Readiness, err error) {
			require.NoError(t, err)
			buf := make([]byte, 10)
			n, err := syscall.Read(a.fd, buf)
			switch {
			case err == syscall.EAGAIN:
			case err != nil:
				got = append(got, err.Error())
			default:
				got = append(got, string(buf[:n]))
			}
			if !p.Started() {
				require.NoError(t, p.Start())
				assert.Equal(t, 2, l.Live(), "every start counts once")
			}
		})
		require.NoError(t, p.Start())
	}
	write(t, a, "to nobody")
	turnUntil(t, l, func() bool { return len(got) == 1 })
	assert.Equal(t, []string{syscall.ECONNREFUSED.Error()}, got)
	assert.Equal(t, 2, l.Live())

	peer := socket(t, syscall.SOCK_DGRAM)
	require.NoError(t, syscall.Bind(peer.fd, addr))
	own, err := syscall.Getsockname(a.fd)
	require.NoError(t, err)
	require.NoError(t, syscall.Sendto(peer.fd, []byte("hello"), 0, own))
	turnUntil(t, l, func() bool { return len(got) == 2 })
	assert.Equal(t, "hello", got[1])
	assert.True(t, p.Started())
	assert.True(t, other.Started())
}

func TestPoll_REACT21_WaiterRemovedWhileTheOthersAreToldOfAnError(t *testing.T) {
	l := newLoop(t)
	a, b := tcpPair(t)
	first, second, third := startPoll(t, l, a, readable), startPoll(t, l, a, readable), startPoll(t, l, a, readable)
	calls := 0
	on(t, first, func() { calls++; require.NoError(t, second.Close()) })
	on(t, second, func() { t.Error("it was closed") })
	on(t, third, func() { calls++ })
	tick(t, l)
	require.NoError(t, syscall.SetsockoptLinger(b.fd, syscall.SOL_SOCKET, syscall.SO_LINGER, &syscall.Linger{Onoff: 1}))
	b.close()
	run(t, l)
	assert.Equal(t, 2, calls)
}

func TestPoll_WithoutACallbackIsStopped(t *testing.T) {
	l := newLoop(t)
	r, w := pipe(t)
	p := startPoll(t, l, r, readable)
	tick(t, l)
	assert.True(t, p.Started())
	write(t, w, "x")
	run(t, l)
	assert.False(t, p.Started())
	assert.Equal(t, readable, p.Triggered())
	assert.Less(t, turnsDuring(t, l, 10*ms), 20)

	c := collect(t, p)
	require.NoError(t, p.Start())
	tick(t, l)
	assert.Len(t, c.fired, 1, "it can be started again")
}

func TestPoll_WithoutACallbackDoesNotStopTheOthers(t *testing.T) {
	l := newLoop(t)
	r, w := pipe(t)
	silent, p := startPoll(t, l, r, readable), startPoll(t, l, r, readable)
	c := collect(t, p)
	write(t, w, "x")
	tick(t, l)
	tick(t, l)
	assert.False(t, silent.Started())
	assert.Len(t, c.fired, 2)
}

func TestPoll_EVT01_TwoStartsNeedTwoStops(t *testing.T) {
	l := newLoop(t)
	r, w := pipe(t)
	p := startPoll(t, l, r, readable)
	c := collect(t, p)
	require.NoError(t, p.Start())
	require.NoError(t, p.Stop())
	write(t, w, "x")
	tick(t, l)
	assert.Len(t, c.fired, 1)
	assert.Equal(t, 1, l.Live())
	require.NoError(t, p.Stop())
	require.NoError(t, p.Stop())
	assert.Zero(t, l.Live())
	tick(t, l)
	assert.Len(t, c.fired, 1)
}

func TestPoll_TenThousandDescriptors(t *testing.T) {
	l := newLoop(t)
	n := 10_000
	var limit syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	if room := int(limit.Cur) - 200; room < n {
		t.Logf("only %d descriptors: the limit is %d", room, limit.Cur)
		n = room
	}
	calls := make([]int, n)
	fds := make([]*descriptor, n)
	for i := range n {
		fds[i] = eventFD(t)
		p := startPoll(t, l, fds[i], readable)
		onReady(t, p, func(*reactor.Poll, reactor.Readiness, error) {
			calls[i]++
			takeEvent(t, fds[i])
		})
	}
	assert.Equal(t, n, l.Live())
	assert.Equal(t, n, l.Binding().Walk()["poll"])
	for round := 1; round <= 3; round++ {
		for _, fd := range fds {
			giveEvent(t, fd)
		}
		tick(t, l)
		for i, c := range calls {
			require.Equal(t, round, c, "descriptor %d is told once in a turn, and finds what it was told of", i)
		}
	}
}

func eventFD(t tester) *descriptor {
	t.Helper()
	fd, _, errno := syscall.Syscall(syscall.SYS_EVENTFD2, 0, syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0)
	require.Zero(t, errno)
	return own(t, int(fd))
}

func giveEvent(t tester, d *descriptor) {
	if _, err := syscall.Write(d.fd, []byte{1, 0, 0, 0, 0, 0, 0, 0}); err != nil {
		t.Fatalf("eventfd: %v", err)
	}
}

func takeEvent(t tester, d *descriptor) {
	if _, err := syscall.Read(d.fd, make([]byte, 8)); err != nil {
		t.Fatalf("a descriptor that was told to be readable: %v", err)
	}
}

func TestPoll_InfoSaysWhatItWatches(t *testing.T) {
	l := newLoop(t)
	a, _ := socketpair(t)
	p := newPoll(t, l, a, readable|writable|disconnect|prioritized)
	assert.Contains(t, p.Info(), "for readable|writable|disconnect|prioritized, not started")
	require.NoError(t, p.Start())
	assert.Contains(t, p.Info(), ", started")
	require.NoError(t, p.Close())
	assert.Contains(t, p.Info(), ", closed")
	_, err := p.Subscribe(func(*event.Base, *event.Callback, any, error) {})
	assert.ErrorContains(t, err, "poll of fd", "EVT-17: the error names the event")
}
