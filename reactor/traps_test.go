package reactor_test

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/child"
	"github.com/uvasync/uvasync/internal/csignal"
	"github.com/uvasync/uvasync/reactor"
)

// uv_async_send must never meet a handle that closes or is gone: other goroutines fire, post and stop at any moment of
// many loops' lives.
func TestTrap_SendersAgainstTheCloseOfTheLoop(t *testing.T) {
	const hammers = 8
	var triggers [hammers]atomic.Pointer[reactor.Trigger]
	var loop atomic.Pointer[reactor.Loop]
	var end atomic.Bool
	var fired, posted atomic.Int64
	var running sync.WaitGroup
	for i := range hammers {
		running.Go(func() {
			for !end.Load() {
				if trigger := triggers[i].Load(); trigger != nil {
					trigger.Fire()
					fired.Add(1)
				}
				if l := loop.Load(); l != nil && i%2 == 0 {
					_ = l.Post(func() { posted.Add(1) }) // refused by a closed loop
					l.Stop()
				}
				runtime.Gosched()
			}
		})
	}
	told := 0
	for round := range 2000 {
		l, err := reactor.New(reactor.Options{})
		require.NoError(t, err)
		for i := range triggers {
			trigger := newTrigger(t, l, func() { told++ })
			require.NoError(t, trigger.Start())
			triggers[i].Store(trigger)
		}
		loop.Store(l)
		for range round % 3 {
			tick(t, l)
		}
		switch round % 4 {
		case 1: // the triggers first
			for i := range triggers {
				require.NoError(t, triggers[i].Load().Close())
			}
		case 2: // stopped and started again
			for i := range triggers {
				require.NoError(t, triggers[i].Load().Stop())
				tick(t, l)
				require.NoError(t, triggers[i].Load().Start())
			}
		}
		require.NoError(t, l.Close())
	}
	end.Store(true)
	running.Wait()
	t.Logf("%d fired, %d told, %d posts ran", fired.Load(), told, posted.Load())
	assert.NotZero(t, told)
	assert.NotZero(t, posted.Load())
}

// somethingThatHappens are all ways in which a loop comes to call its user.
var somethingThatHappens = map[string]func(t tester, l *reactor.Loop, fn func()){
	"timer": func(t tester, l *reactor.Loop, fn func()) { startTimer(t, l, 0, fn) },
	"periodic timer": func(t tester, l *reactor.Loop, fn func()) {
		require.NoError(t, newPeriodic(t, l, time.Millisecond, fn).Start())
	},
	"rearming timer": func(t tester, l *reactor.Loop, fn func()) { require.NoError(t, newRearming(t, l, 0, fn).Start()) },
	"deadline":       func(t tester, l *reactor.Loop, fn func()) { startDeadline(t, l, 0, fn) },
	"post":           func(t tester, l *reactor.Loop, fn func()) { require.NoError(t, l.Post(fn)) },
	"trigger": func(t tester, l *reactor.Loop, fn func()) {
		trigger := newTrigger(t, l, fn)
		require.NoError(t, trigger.Start())
		trigger.Fire()
	},
	"signal": func(t tester, l *reactor.Loop, fn func()) {
		s := newWatcher(t, l, syscall.SIGUSR1)
		on(t, s, fn)
		require.NoError(t, s.Start())
		raise(t, syscall.SIGUSR1)
	},
	"poll": func(t tester, l *reactor.Loop, fn func()) {
		r, w, err := os.Pipe()
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, r.Close()) })
		require.NoError(t, w.Close())
		poll, err := l.NewPoll(int(r.Fd()), reactor.Readable)
		require.NoError(t, err)
		on(t, poll, fn)
		require.NoError(t, poll.Start())
		t.Cleanup(func() { assert.NoError(t, poll.Close()) })
	},
}

func TestTrap_APanicInACallbackCrossesNoCFrames(t *testing.T) {
	for name, happen := range somethingThatHappens {
		t.Run(name, func(t *testing.T) {
			child.Pass(t, func() {
				l := newLoop(t)
				var stack []string
				happen(t, l, func() {
					if stack == nil {
						stack = functions()
						panic("boom")
					}
				})
				assert.PanicsWithValue(t, "boom", func() { turnUntil(t, l, func() bool { return false }) })
				all := strings.Join(stack, "\n")
				assert.Contains(t, all, "turnUntil", "the stack goes down to who turned the loop")
				assert.NotContains(t, strings.ToLower(all), "cgo")

				goesOn := false
				startTimer(t, l, 0, func() { goesOn = true })
				turnUntil(t, l, func() bool { return goesOn })
			})
		})
	}
}

// functions are those on the stack, the runtime's included.
func functions() (names []string) {
	pcs := make([]uintptr, 100)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs)])
	for more := true; more; {
		var frame runtime.Frame
		frame, more = frames.Next()
		names = append(names, frame.Function)
	}
	return names
}

func TestTrap_AnUncaughtPanicEndsTheProcessTheWayOfGo(t *testing.T) {
	for name, happen := range somethingThatHappens {
		t.Run(name, func(t *testing.T) {
			r := child.Run(t, func() {
				l, err := reactor.New(reactor.Options{})
				require.NoError(t, err)
				happen(t, l, func() { panic("boom") })
				_ = l.Run()
			})
			assert.Equal(t, 2, r.ExitCode, "%v", r)
			assert.Contains(t, r.Output, "panic: boom")
			for _, not := range []string{"fatal error", "cgocallback", "signal arrived", "unexpected", "runtime stack"} {
				assert.NotContains(t, r.Output, not)
			}
		})
	}
}

func TestTrap_HeavyPreemption(t *testing.T) {
	child.Pass(t, func() {
		runtime.GOMAXPROCS(8)
		var end atomic.Bool
		var spinning, loops sync.WaitGroup
		for range 6 {
			spinning.Go(func() {
				for !end.Load() { // nothing that could be preempted without a signal
				}
			})
		}
		stop := churn(4)
		for range 3 {
			loops.Go(func() {
				l, err := reactor.New(reactor.Options{})
				if !assert.NoError(t, err) {
					return
				}
				const n = 100
				ticks, fired, signals := 0, 0, 0
				var trigger *reactor.Trigger
				trigger = newTrigger(t, l, func() {
					fired++
					go trigger.Fire()
				})
				s := newWatcher(t, l, syscall.SIGUSR1)
				on(t, s, func() { signals++ })
				for _, err := range []error{
					newPeriodic(t, l, time.Millisecond, func() {
						ticks++
						raise(t, syscall.SIGUSR1)
					}).Start(), trigger.Start(), s.Start(),
				} {
					assert.NoError(t, err)
				}
				trigger.Fire()
				for ticks < n || fired < n || signals < 10 {
					if _, err := l.Tick(true); !assert.NoError(t, err) {
						break
					}
				}
				assert.NoError(t, l.Close())
			})
		}
		loops.Wait()
		end.Store(true)
		spinning.Wait()
		stop()
	}, child.Env("GODEBUG=asyncpreemptoff=0"))
}

func TestTrap_ALoopGoroutineLockedToItsThread(t *testing.T) {
	child.Pass(t, func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		l := newLoop(t)
		here := syscall.Gettid()
		n := map[string]int{}
		mark := func(name string) func() {
			return func() {
				n[name]++
				assert.Equal(t, here, syscall.Gettid(), "%s ran on another thread", name)
			}
		}
		for name, happen := range somethingThatHappens {
			happen(t, l, mark(name))
		}
		var outside sync.WaitGroup
		done := make(chan struct{})
		trigger := newTrigger(t, l, mark("trigger fired from outside"))
		require.NoError(t, trigger.Start())
		for range 4 {
			outside.Go(func() {
				for {
					select {
					case <-done:
						return
					default:
						trigger.Fire()
						_ = l.Post(mark("post from outside"))
						csignal.Raise(syscall.SIGUSR1)
						runtime.GC()
					}
				}
			})
		}
		turnUntil(t, l, func() bool {
			for name := range somethingThatHappens {
				if n[name] == 0 {
					return false
				}
			}
			return n["signal"] > 20 && n["trigger fired from outside"] > 20 && n["post from outside"] > 20
		})
		close(done)
		outside.Wait()
	})
}

// thread is one of this process, as the kernel sees it.
type thread int

// status reads a line of its status.
func (id thread) status(t tester, name string, base int) uint64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/status", id))
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(text), "\n"+name+":")
	require.True(t, found, "%s in %s", name, text)
	line, _, _ := strings.Cut(rest, "\n")
	n, err := strconv.ParseUint(strings.TrimSpace(line), base, 64)
	require.NoError(t, err)
	return n
}

// switches is how often it went to sleep.
func (id thread) switches(t tester) uint64 { return id.status(t, "voluntary_ctxt_switches", 10) }

// inEpoll reports whether it sleeps in epoll_pwait, or in epoll_wait, which amd64 has under another number.
func (id thread) inEpoll(t tester) bool {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/syscall", id))
	require.NoError(t, err)
	return strings.HasPrefix(string(text), fmt.Sprint(syscall.SYS_EPOLL_PWAIT, " ")) || strings.HasPrefix(string(text), "232 ")
}

func (id thread) kill(t tester, num syscall.Signal) {
	t.Helper()
	_, _, errno := syscall.RawSyscall(syscall.SYS_TGKILL, uintptr(os.Getpid()), uintptr(id), uintptr(num))
	require.Zero(t, errno)
}

func TestTrap_ProfilingSignalsWhileTheLoopWaits(t *testing.T) {
	for _, block := range []syscall.Signal{0, syscall.SIGPROF} {
		t.Run(fmt.Sprint("BlockSignal ", int(block)), func(t *testing.T) {
			child.Pass(t, func() {
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				l := newLoop(t, reactor.Options{BlockSignal: block})
				var profile bytes.Buffer
				require.NoError(t, pprof.StartCPUProfile(&profile))

				const prof = 1 << (syscall.SIGPROF - 1)
				here := thread(syscall.Gettid())
				woken := false
				trigger := newTrigger(t, l, func() { woken = true })
				require.NoError(t, trigger.Start())
				var signals sync.WaitGroup
				signals.Go(func() {
					defer trigger.Fire()
					until := func(done func() bool) { require.Eventually(t, done, patience, 100*time.Microsecond) }
					until(func() bool { return here.inEpoll(t) })
					assert.Equal(t, block != 0, here.status(t, "SigBlk", 16)&prof != 0, "blocked while the loop waits")
					before := here.switches(t)
					for i := range uint64(20) {
						here.kill(t, syscall.SIGPROF)
						if block == 0 {
							until(func() bool { return here.switches(t) > before+i })
						}
					}
					if block != 0 {
						assert.NotZero(t, here.status(t, "SigPnd", 16)&prof)
						assert.Equal(t, before, here.switches(t), "the wait was not interrupted")
					}
				})
				turns := 0
				for ; !woken; turns++ {
					_, err := l.Tick(true)
					require.NoError(t, err)
				}
				signals.Wait()
				assert.Less(t, turns, 5, "libuv goes on waiting by itself")
				assert.Zero(t, here.status(t, "SigBlk", 16)&prof, "after the wait")

				stop := churn(4)
				m := &lateness{}
				n := scaled(400)
				for i := range n {
					d := time.Duration(1+i%5) * time.Millisecond
					asked := time.Now()
					startTimer(t, l, d, func() { m.note(asked, d) })
				}
				turnUntil(t, l, func() bool { return m.n == n })
				stop()
				pprof.StopCPUProfile()
				m.check(t, "timers under a profile", n)
				assert.NotZero(t, profile.Len())
			})
		})
	}
}
