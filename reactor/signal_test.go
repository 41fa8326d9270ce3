package reactor_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/cuv"
	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/child"
	"github.com/uvasync/uvasync/internal/csignal"
	"github.com/uvasync/uvasync/internal/foreign"
	"github.com/uvasync/uvasync/reactor"
)

// listener is anybody who gets signals.
type listener interface {
	heard() int
	await(t tester, n int) // until it has heard n
}

// tell raises the signal a few times and requires that each time all hear it, once: what one heard twice shows in the next
// round, since order is kept.
func tell(t tester, num syscall.Signal, all ...listener) {
	t.Helper()
	for range 3 {
		want := make([]int, len(all))
		send := csignal.Raise // returns when it has been handled
		for i, one := range all {
			want[i] = one.heard() + 1
			if onLoop(one) { // it hears when all others have
				send = func(num syscall.Signal) { raise(t, num) }
			}
		}
		send(num)
		for i, one := range all {
			one.await(t, want[i])
		}
		for i, one := range all {
			assert.Equal(t, want[i], one.heard(), "times that %d, a %T, heard %v", i, one, num)
		}
	}
}

func onLoop(one listener) bool {
	switch one.(type) {
	case *watcher, foreigner:
		return true
	}
	return false
}

// raise sends the process a signal.
func raise(t tester, num syscall.Signal) {
	t.Helper()
	require.NoError(t, syscall.Kill(os.Getpid(), num))
}

// watcher is a Signal that counts.
type watcher struct {
	*reactor.Signal
	loop *reactor.Loop
	n    int
}

func newWatcher(t tester, l *reactor.Loop, num syscall.Signal) *watcher {
	t.Helper()
	s, err := l.NewSignal(num)
	require.NoError(t, err)
	w := &watcher{Signal: s, loop: l}
	_, err = s.Subscribe(func(_ *event.Base, _ *event.Callback, result any, err error) {
		assert.Equal(t, num, result)
		assert.NoError(t, err)
		w.n++
	})
	require.NoError(t, err)
	return w
}

// watch starts one.
func watch(t tester, l *reactor.Loop, num syscall.Signal) *watcher {
	t.Helper()
	w := newWatcher(t, l, num)
	require.NoError(t, w.Start())
	return w
}

func (w *watcher) heard() int { return w.n }

func (w *watcher) await(t tester, n int) {
	t.Helper()
	turnUntil(t, w.loop, func() bool { return w.n >= n })
}

// notified is somebody who uses os/signal.
type notified struct {
	c chan os.Signal
	n int
}

func notify(t tester, num syscall.Signal) *notified {
	n := &notified{c: make(chan os.Signal, 100)}
	signal.Notify(n.c, num)
	t.Cleanup(n.stop)
	return n
}

func (o *notified) stop() { signal.Stop(o.c) }

func (o *notified) heard() int {
	for ; len(o.c) > 0; o.n++ {
		<-o.c
	}
	return o.n
}

func (o *notified) await(t tester, n int) {
	t.Helper()
	for ; o.n < n; o.n++ {
		select {
		case <-o.c:
		case <-time.After(patience):
			t.Fatalf("os/signal delivered %d of %d signals", o.n, n)
		}
	}
}

// settle waits until os/signal has forgotten the signals from before, which it would deliver to who comes now.
func settle(t tester) {
	t.Helper()
	other := notify(t, syscall.SIGIO)
	defer other.stop()
	for i := range 2 { // what it finds pending it delivers in the order of the numbers
		csignal.Raise(syscall.SIGIO)
		other.await(t, i+1)
	}
}

// cHandler is the C handler that was installed for a signal.
type cHandler syscall.Signal

func (c cHandler) heard() int { return csignal.Count(syscall.Signal(c)) }

func (c cHandler) await(t tester, n int) {
	t.Helper()
	require.Eventually(t, func() bool { return c.heard() >= n }, patience, 50*time.Microsecond)
}

// foreigner is a uv_signal_t that C code has put on a loop of ours.
type foreigner struct {
	*csignal.Watch
	loop *reactor.Loop
}

func newForeigner(l *reactor.Loop, num syscall.Signal, once bool) foreigner {
	return foreigner{csignal.NewWatch(l.Binding().Handle(), num, once), l}
}

func (f foreigner) heard() int { return f.Count() }

func (f foreigner) await(t tester, n int) {
	t.Helper()
	turnUntil(t, f.loop, func() bool { return f.Count() >= n })
}

func (f foreigner) close(t tester) {
	t.Helper()
	f.Close()
	for !f.Closed() {
		tick(t, f.loop)
	}
	f.Free()
}

func permutations(n int) [][]int {
	if n == 0 {
		return [][]int{nil}
	}
	var all [][]int
	for _, p := range permutations(n - 1) {
		for i := range n {
			all = append(all, slices.Insert(slices.Clone(p), i, n-1))
		}
	}
	return all
}

// churn keeps goroutines busy that grow and shrink their stacks, which a signal handler must not run on.
func churn(goroutines int) (stop func()) {
	var end atomic.Bool
	var running sync.WaitGroup
	for i := range goroutines {
		running.Go(func() {
			for depth := i; !end.Load(); depth += 7 {
				useStack(depth % 200)
			}
		})
	}
	running.Go(func() {
		for !end.Load() {
			runtime.GC() // shrinks stacks
		}
	})
	return func() { end.Store(true); running.Wait() }
}

//go:noinline
func useStack(depth int) byte {
	var room [200]byte
	room[depth] = byte(depth)
	if depth == 0 {
		return room[0]
	}
	return useStack(depth-1) + room[depth]
}

// storm sends 20,000 signals of each number at once, beside goroutines that grow and shrink their stacks, while fn runs
// again and again.
func storm(fn func(), nums ...syscall.Signal) {
	// With a thread for each, the kernel shares the time out, and the loop gets its part.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(50))
	defer churn(50)()
	var under atomic.Int32
	for _, num := range nums {
		under.Add(1)
		go func() {
			defer under.Add(-1)
			csignal.Storm(num, 10_000, 2)
		}()
	}
	for under.Load() > 0 {
		fn()
	}
}

// goesOn requires that signals are still told, though some of the storm may come late.
func goesOn(t tester, num syscall.Signal, w *watcher) {
	t.Helper()
	tick(t, w.loop)
	for range 3 {
		seen := w.n
		raise(t, num)
		w.await(t, seen+1)
	}
}

func TestSignal_SIG05_AStormCrashesNothing(t *testing.T) {
	for run := range 3 {
		t.Run(fmt.Sprint("run ", run), func(t *testing.T) {
			child.Pass(t, func() {
				l := newLoop(t)
				w := watch(t, l, syscall.SIGUSR1)
				ticks := 0
				require.NoError(t, newPeriodic(t, l, time.Millisecond, func() { ticks++ }).Start())
				storm(func() {
					_, err := l.Tick(true)
					require.NoError(t, err)
				}, syscall.SIGUSR1)
				assert.NotZero(t, w.n)
				assert.NotZero(t, ticks)
				t.Logf("%d signals told, %d ticks", w.n, ticks)
				goesOn(t, syscall.SIGUSR1, w)
			})
		})
	}
}

func TestSignal_SIG05_AStormWhileTheWatchIsStartedAndStopped(t *testing.T) {
	for run := range 3 {
		t.Run(fmt.Sprint("run ", run), func(t *testing.T) {
			child.Pass(t, func() {
				l := newLoop(t)
				before := csignal.Current(syscall.SIGUSR1)
				w := newWatcher(t, l, syscall.SIGUSR1)
				rounds := 0
				storm(func() {
					rounds++
					require.NoError(t, w.Start())
					require.NoError(t, w.Stop())
					tick(t, l)
				}, syscall.SIGUSR1)
				t.Logf("%d rounds", rounds)
				assert.Equal(t, before, csignal.Current(syscall.SIGUSR1))
				require.NoError(t, w.Start())
				goesOn(t, syscall.SIGUSR1, w)
			})
		})
	}
}

// At no moment of a start or a stop may there be anything but the chain, or what is there without us: not libuv's handler
// without its flags, nor SIG_DFL, nor what a Notify of ours would leave.
func TestSignal_SIG05_NothingInBetween(t *testing.T) {
	for _, num := range []syscall.Signal{syscall.SIGUSR1, syscall.SIGINT, syscall.SIGTSTP} {
		t.Run(num.String(), func(t *testing.T) {
			child.Pass(t, func() {
				l := newLoop(t)
				w := newWatcher(t, l, num)
				alone := csignal.Current(num)
				require.NoError(t, w.Start())
				watched := csignal.Current(num)
				require.NoError(t, w.Stop())
				var over atomic.Bool
				var sampling sync.WaitGroup
				seen := map[csignal.Disposition]int{}
				sampling.Go(func() {
					for !over.Load() {
						seen[csignal.Current(num)]++
					}
				})
				for range scaled(5000) {
					require.NoError(t, w.Start())
					require.NoError(t, w.Stop())
					tick(t, l)
				}
				over.Store(true)
				sampling.Wait()
				t.Logf("%d and %d times", seen[alone], seen[watched])
				delete(seen, alone)
				delete(seen, watched)
				assert.Empty(t, seen)
			})
		})
	}
}

// What does not fit into libuv's pipe while the loop does not turn is lost, and nothing else.
func TestSignal_ALoopThatDoesNotTurn(t *testing.T) {
	child.Pass(t, func() {
		l := newLoop(t)
		w, other := watch(t, l, syscall.SIGUSR1), watch(t, l, syscall.SIGUSR2)
		csignal.Storm(syscall.SIGUSR1, 10_000, 2)
		tick(t, l)
		assert.NotZero(t, w.n)
		goesOn(t, syscall.SIGUSR1, w)
		tell(t, syscall.SIGUSR2, other)
	})
}

func TestSignal_SIG05_TheFlagsThatGoNeedsWhileWatching(t *testing.T) {
	child.Pass(t, func() {
		l := newLoop(t)
		for _, num := range []syscall.Signal{syscall.SIGUSR1, syscall.SIGINT, syscall.SIGTSTP, 40} {
			before, gos := csignal.Current(num), csignal.Current(syscall.SIGURG)
			w := watch(t, l, num)
			now := csignal.Current(num)
			assert.NotEqual(t, before.Handler, now.Handler)
			for _, flag := range []csignal.Flags{csignal.OnStack, csignal.SigInfo, csignal.Restart} {
				assert.NotZero(t, now.Flags&flag, "%v: %v", num, now)
			}
			assert.Equal(t, gos.Mask, now.Mask, "no handler may interrupt it")
			tick(t, l)
			assert.Equal(t, now, csignal.Current(num))
			require.NoError(t, w.Stop())
			assert.Equal(t, before, csignal.Current(num))
		}
	})
}

// dispositions are all that can stand there before the first Start.
var dispositions = []struct {
	name string
	num  syscall.Signal
	set  func(t tester, num syscall.Signal)
}{
	{"Go's", syscall.SIGUSR1, func(tester, syscall.Signal) {}},
	{"Go's, deadly", syscall.SIGINT, func(tester, syscall.Signal) {}},
	{"Go's, somebody notified", syscall.SIGTERM, func(t tester, num syscall.Signal) { notify(t, num) }},
	{"none", syscall.SIGTSTP, func(tester, syscall.Signal) {}},
	{"none, somebody notified", syscall.SIGCONT, func(t tester, num syscall.Signal) { notify(t, num) }},
	{"C", syscall.SIGUSR1, func(_ tester, num syscall.Signal) { csignal.Install(num, csignal.Plain) }},
	{"C, deadly", syscall.SIGINT, func(_ tester, num syscall.Signal) { csignal.Install(num, csignal.Info) }},
	{"C on top of Go's", syscall.SIGTERM, func(_ tester, num syscall.Signal) { csignal.Install(num, csignal.Chaining) }},
	{"C where Go has none", syscall.SIGTTOU, func(_ tester, num syscall.Signal) { csignal.Install(num, csignal.Info) }},
	{"SIG_IGN by C", syscall.SIGUSR1, func(_ tester, num syscall.Signal) { csignal.Ignore(num) }},
	{"SIG_IGN by C, deadly", syscall.SIGINT, func(_ tester, num syscall.Signal) { csignal.Ignore(num) }},
	{"SIG_DFL by C", syscall.SIGUSR1, func(_ tester, num syscall.Signal) { csignal.Default(num) }},
	{"signal.Ignore", syscall.SIGTERM, func(_ tester, num syscall.Signal) { signal.Ignore(num) }},
	{"signal.Ignore, hangup", syscall.SIGHUP, func(_ tester, num syscall.Signal) { signal.Ignore(num) }},
	{"signal.Reset", syscall.SIGINT, func(_ tester, num syscall.Signal) { signal.Reset(num) }},
}

func TestSignal_SIG05_AfterTheLastStopEverythingIsAsItWas(t *testing.T) {
	for _, d := range dispositions {
		t.Run(d.name, func(t *testing.T) {
			child.Pass(t, func() {
				d.set(t, d.num)
				before := csignal.Current(d.num)
				loops := []*reactor.Loop{newLoop(t), newLoop(t), newLoop(t)}
				for _, order := range permutations(4) {
					var all []*watcher
					for i := range 4 {
						all = append(all, watch(t, loops[i%3], d.num))
					}
					chained := csignal.Current(d.num)
					assert.NotEqual(t, before, chained)
					for i, w := range order {
						require.NoError(t, all[w].Stop())
						if i < 3 {
							require.Equal(t, chained, csignal.Current(d.num), "after %d stops in the order %v", i+1, order)
						}
					}
					require.Equal(t, before, csignal.Current(d.num), "after stops in the order %v", order)
					for _, l := range loops {
						tick(t, l)
					}
				}
			})
		})
	}
}

func TestSignal_SIG05_IgnoredFromTheStartAsUnderNohup(t *testing.T) {
	child.Pass(t, func() {
		l := newLoop(t)
		w := watch(t, l, syscall.SIGHUP)
		tell(t, syscall.SIGHUP, w)
		settle(t)
		other := notify(t, syscall.SIGHUP)
		tell(t, syscall.SIGHUP, w, other)
		other.stop()
		tell(t, syscall.SIGHUP, w)
		require.NoError(t, w.Stop())
		assert.EqualValues(t, 1, csignal.Current(syscall.SIGHUP).Handler, "SIG_IGN")
		raise(t, syscall.SIGHUP)
	}, child.Ignoring("HUP"))
}

// everyKind are signals of every kind that matters here: what Go does by default, and whether it has a handler at all.
var everyKind = []syscall.Signal{
	syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGPIPE, syscall.SIGTERM, syscall.SIGCONT,
	syscall.SIGTSTP, syscall.SIGWINCH, 40, 64,
}

func TestSignal_SIG05_NotifyBeforeTheStartDuringAndAfterTheStop(t *testing.T) {
	child.Pass(t, func() {
		for _, num := range everyKind {
			l := newLoop(t)
			before := notify(t, num)
			w := watch(t, l, num)
			tell(t, num, w, before)
			during := notify(t, num)
			tell(t, num, w, before, during)
			before.stop()
			tell(t, num, w, during)
			require.NoError(t, w.Stop())
			tell(t, num, during)
			during.stop()
			settle(t)
			after := notify(t, num)
			tell(t, num, after)
			assert.Equal(t, [3]int{6, 9, 9}, [3]int{before.heard(), during.heard(), w.heard()}, "%v", num)
			after.stop()
		}
	})
}

func TestSignal_SIG05_TheFirstNotifyDuringTheWatch(t *testing.T) {
	for name, set := range map[string]func(num syscall.Signal){
		"as Go starts":  func(syscall.Signal) {},
		"signal.Ignore": func(num syscall.Signal) { signal.Ignore(num) },
		"signal.Reset":  func(num syscall.Signal) { signal.Reset(num) },
	} {
		t.Run(name, func(t *testing.T) {
			child.Pass(t, func() {
				for _, num := range everyKind {
					if num == syscall.SIGPIPE && name == "signal.Ignore" {
						continue // from then on Go leaves those that hit C code to what it found when it came
					}
					l := newLoop(t)
					set(num)
					w := watch(t, l, num)
					tell(t, num, w)
					settle(t)
					during := notify(t, num)
					tell(t, num, w, during)
					require.NoError(t, w.Stop())
					tell(t, num, during)
					require.NoError(t, w.Start())
					tell(t, num, w, during)
					during.stop()
					tell(t, num, w) // SIGINT and its like do not kill
					require.NoError(t, w.Stop())
					assert.Equal(t, [2]int{9, 12}, [2]int{during.heard(), w.heard()}, "%v", num)
				}
			})
		})
	}
}

func TestSignal_SIG05_TheDefaultActionAppliesAfterTheStop(t *testing.T) {
	for _, num := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM} {
		t.Run(num.String(), func(t *testing.T) {
			r := child.Run(t, func() {
				l := newLoop(t)
				w := watch(t, l, num)
				tell(t, num, w)
				other := newWatcher(t, newLoop(t), num)
				require.NoError(t, other.Start())
				require.NoError(t, w.Stop())
				raise(t, num)
				require.NoError(t, other.Stop())
				fmt.Println("stopped")
				raise(t, num)
				time.Sleep(patience)
			})
			assert.Equal(t, num, r.Signal, "%v", r)
			assert.Contains(t, r.Output, "stopped\n")
		})
	}
}

// Who stops at the first SIGINT, so that the second one kills, must not be killed by the first, however far its handler
// has got on the thread that it hit.
func TestSignal_SIG05_StoppedByItsOwnCallback(t *testing.T) {
	child.Pass(t, func() {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
		defer churn(6)()
		l := newLoop(t)
		w := newWatcher(t, l, syscall.SIGINT)
		on(t, w, func() { assert.NoError(t, w.Stop()) })
		for i := range scaled(500) {
			require.NoError(t, w.Start())
			raise(t, syscall.SIGINT)
			w.await(t, i+1)
			require.Equal(t, i+1, w.heard())
		}
	})
}

func TestSignal_SIG05_CHandlersFromBeforeGoOnReceiving(t *testing.T) {
	for _, style := range []csignal.Style{csignal.Plain, csignal.Info, csignal.Chaining} {
		t.Run(fmt.Sprint("style ", style), func(t *testing.T) {
			child.Pass(t, func() {
				for _, num := range []syscall.Signal{syscall.SIGUSR1, syscall.SIGTERM, syscall.SIGTSTP, syscall.SIGPIPE, 40} {
					l := newLoop(t)
					goes := notify(t, num)
					csignal.Install(num, style)
					listeners := []listener{cHandler(num)}
					if style == csignal.Chaining { // the others replaced Go's, before us as well as now
						listeners = append(listeners, goes)
					}
					w := watch(t, l, num)
					tell(t, num, append(listeners, w)...)
					require.NoError(t, w.Stop())
					tell(t, num, listeners...)
					assert.Equal(t, 6*(len(listeners)-1), goes.heard())
					assert.Equal(t, 3, w.heard())
				}
			})
		})
	}
}

// again are the ways to Start once more, beside one that is started.
var again = map[string]func(t tester, l *reactor.Loop, num syscall.Signal) *watcher{
	"on the same loop": watch,
	"on another loop":  func(t tester, _ *reactor.Loop, num syscall.Signal) *watcher { return watch(t, newLoop(t), num) },
	"after a Stop": func(t tester, l *reactor.Loop, num syscall.Signal) *watcher {
		w := watch(t, l, num)
		require.NoError(t, w.Stop())
		return w
	},
}

func TestSignal_SIG05_SignalIgnoreWinsUntilTheNextStart(t *testing.T) {
	for name, startAgain := range again {
		t.Run(name, func(t *testing.T) {
			child.Pass(t, func() {
				for _, num := range everyKind {
					l := newLoop(t)
					w := watch(t, l, num)
					tell(t, num, w)
					signal.Ignore(num)
					assert.EqualValues(t, 1, csignal.Current(num).Handler, "SIG_IGN")
					csignal.Raise(num)
					startAgain(t, l, num)
					tell(t, num, w)
					assert.Equal(t, 6, w.heard(), "%v", num)
				}
			})
		})
	}
}

func TestSignal_SIG05_SignalIgnoreStaysAfterTheLastStop(t *testing.T) {
	child.Pass(t, func() {
		for _, num := range everyKind {
			l := newLoop(t)
			w := watch(t, l, num)
			signal.Ignore(num)
			require.NoError(t, w.Stop())
			assert.EqualValues(t, 1, csignal.Current(num).Handler, "SIG_IGN for %v", num)
			require.NoError(t, w.Start())
			require.NoError(t, w.Stop())
			assert.EqualValues(t, 1, csignal.Current(num).Handler, "SIG_IGN for %v", num)
			raise(t, num)
		}
	})
}

func TestSignal_SIG05_SignalResetWins(t *testing.T) {
	r := child.Run(t, func() {
		l := newLoop(t)
		w := watch(t, l, syscall.SIGINT)
		tell(t, syscall.SIGINT, w)
		signal.Reset(syscall.SIGINT)
		fmt.Println("reset")
		raise(t, syscall.SIGINT)
		time.Sleep(patience)
	})
	assert.Equal(t, syscall.SIGINT, r.Signal, "%v", r)
	assert.Contains(t, r.Output, "reset\n")
}

func TestSignal_SIG05_SignalResetWinsUntilTheNextStart(t *testing.T) {
	for name, startAgain := range again {
		t.Run(name, func(t *testing.T) {
			child.Pass(t, func() {
				for _, num := range everyKind {
					l := newLoop(t)
					other := notify(t, num)
					w := watch(t, l, num)
					tell(t, num, w, other)
					signal.Reset(num)
					startAgain(t, l, num)
					tell(t, num, w)
					assert.Equal(t, 3, other.heard(), "%v", num)
				}
			})
		})
	}
}

func TestSignal_SIG05_ALaterCHandlerWinsUntilTheNextStart(t *testing.T) {
	for name, startAgain := range again {
		t.Run(name, func(t *testing.T) {
			child.Pass(t, func() {
				for _, num := range []syscall.Signal{syscall.SIGUSR1, syscall.SIGINT, syscall.SIGTSTP} {
					l := newLoop(t)
					w := watch(t, l, num)
					csignal.Install(num, csignal.Info)
					installed := csignal.Current(num)
					tell(t, num, cHandler(num))
					other := startAgain(t, l, num)
					tell(t, num, w, cHandler(num))
					assert.Equal(t, 3, w.heard(), "those before the start were the handler's alone")
					require.NoError(t, l.Close())
					require.NoError(t, other.Close())
					assert.Equal(t, installed, csignal.Current(num))
					tell(t, num, cHandler(num))
				}
			})
		})
	}
}

func TestSignal_SIG05_ALaterCHandlerThatIsTakenAwayAgain(t *testing.T) {
	for name, startAgain := range again {
		t.Run(name, func(t *testing.T) {
			child.Pass(t, func() {
				for _, num := range []syscall.Signal{syscall.SIGUSR1, syscall.SIGINT} {
					l := newLoop(t)
					before := csignal.Current(num)
					goes := notify(t, num)
					w := watch(t, l, num)
					replaced := csignal.Save(num)
					csignal.Install(num, csignal.Info)
					other := startAgain(t, l, num)
					tell(t, num, w, cHandler(num))
					replaced.Restore()
					settle(t)
					tell(t, num, w, goes)
					require.NoError(t, l.Close())
					require.NoError(t, other.Close())
					assert.Equal(t, before, csignal.Current(num))
					tell(t, num, goes)
					assert.Equal(t, [2]int{3, 6}, [2]int{cHandler(num).heard(), goes.heard()}, "%v", num)
				}
			})
		})
	}
}

// A handler that calls what it replaced, which was ours, must neither recurse nor see a signal twice.
func TestSignal_SIG05_ALaterCHandlerThatCallsOurs(t *testing.T) {
	for name, startAgain := range again {
		t.Run(name, func(t *testing.T) {
			child.Pass(t, func() {
				for _, num := range []syscall.Signal{syscall.SIGUSR1, syscall.SIGINT, 40} {
					l := newLoop(t)
					goes := notify(t, num)
					w := watch(t, l, num)
					csignal.Install(num, csignal.Chaining)
					installed := csignal.Current(num)
					tell(t, num, w, goes, cHandler(num))
					for range 2 {
						other := startAgain(t, l, num)
						tell(t, num, w, goes, cHandler(num))
						require.NoError(t, other.Close())
						tell(t, num, w, goes, cHandler(num))
					}
					require.NoError(t, l.Close())
					assert.Equal(t, installed, csignal.Current(num))
					tell(t, num, goes, cHandler(num))
					w = watch(t, newLoop(t), num)
					tell(t, num, w, goes, cHandler(num))
				}
			})
		})
	}
}

// Such a handler runs without the mask of ours, so that another signal may come in the midst of ours.
func TestSignal_SIG05_AnotherSignalInTheMidstOfOurs(t *testing.T) {
	child.Pass(t, func() {
		l := newLoop(t)
		csignal.Install(syscall.SIGUSR1, csignal.Raising)
		one, other := watch(t, l, syscall.SIGUSR1), watch(t, l, syscall.SIGWINCH)
		csignal.Install(syscall.SIGUSR1, csignal.Chaining)
		for i := range 3 {
			csignal.Raise(syscall.SIGUSR1)
			one.await(t, i+1)
			other.await(t, i+1)
			assert.Equal(t, [2]int{i + 1, i + 1}, [2]int{one.heard(), other.heard()})
		}
	})
}

func TestSignal_SIG05_AStormInTheMidstOfOurs(t *testing.T) {
	child.Pass(t, func() {
		l := newLoop(t)
		top, other := watch(t, l, syscall.SIGUSR1), watch(t, l, syscall.SIGWINCH)
		csignal.Install(syscall.SIGUSR1, csignal.Chaining)
		storm(func() { tick(t, l) }, syscall.SIGUSR1, syscall.SIGWINCH)
		goesOn(t, syscall.SIGUSR1, top)
		goesOn(t, syscall.SIGWINCH, other)
	})
}

func TestSignal_SIG05_ALaterSigDflWinsUntilTheNextStart(t *testing.T) {
	child.Pass(t, func() {
		l := newLoop(t)
		w := watch(t, l, syscall.SIGUSR1)
		csignal.Default(syscall.SIGUSR1)
		dfl := csignal.Current(syscall.SIGUSR1)
		assert.Zero(t, dfl.Handler)
		other := watch(t, l, syscall.SIGUSR1)
		tell(t, syscall.SIGUSR1, w, other)
		require.NoError(t, w.Stop())
		require.NoError(t, other.Stop())
		assert.Equal(t, dfl, csignal.Current(syscall.SIGUSR1))
	})
}

func TestSignal_SIG06_SeveralLoopsOnSeveralGoroutines(t *testing.T) {
	child.Pass(t, func() {
		const loops = 4
		nums := []syscall.Signal{syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGTERM}
		var told [loops][3]atomic.Int32
		var ready, running sync.WaitGroup
		end := make([]*reactor.Loop, loops)
		for i := range loops {
			ready.Add(1)
			running.Go(func() {
				l, err := reactor.New(reactor.Options{})
				require.NoError(t, err)
				end[i] = l
				for k, num := range nums {
					if k == 2 && i%2 == 1 {
						continue // SIGTERM is for every other loop
					}
					s, err := l.NewSignal(num)
					require.NoError(t, err)
					on(t, s, func() { told[i][k].Add(1) })
					require.NoError(t, s.Start())
				}
				ready.Done()
				assert.NoError(t, l.Run())
				assert.NoError(t, l.Close())
			})
		}
		ready.Wait()
		for round := range 20 {
			for k, num := range nums {
				raise(t, num)
				require.Eventually(t, func() bool {
					for i := range loops {
						if (k != 2 || i%2 == 0) && told[i][k].Load() <= int32(round) {
							return false
						}
					}
					return true
				}, patience, 100*time.Microsecond)
			}
		}
		for _, l := range end {
			l.Stop()
		}
		running.Wait()
		for i := range loops {
			want := [3]int32{20, 20, 20}
			if i%2 == 1 {
				want[2] = 0
			}
			assert.Equal(t, want, [3]int32{told[i][0].Load(), told[i][1].Load(), told[i][2].Load()}, "loop %d", i)
		}
	})
}

func TestSignal_SIG06_SubscribersOnALoopShareOneHandle(t *testing.T) {
	child.Pass(t, func() {
		l := newLoop(t)
		before := cuv.ProcessHandles()[cuv.KindSignal].Opened
		a, b, c := watch(t, l, syscall.SIGUSR1), watch(t, l, syscall.SIGUSR1), watch(t, l, syscall.SIGUSR1)
		other := watch(t, l, syscall.SIGUSR2)
		require.NoError(t, a.Start(), "a second Start of the same counts, and adds no handle")
		assert.EqualValues(t, 2, cuv.ProcessHandles()[cuv.KindSignal].Opened-before)
		assert.Equal(t, map[string]int{"signal": 2}, l.Binding().Walk())
		tell(t, syscall.SIGUSR1, a, b, c)
		tell(t, syscall.SIGUSR2, other)
		assert.Equal(t, 3, a.n)

		require.NoError(t, b.Stop())
		require.NoError(t, c.Close())
		tell(t, syscall.SIGUSR1, a)
		assert.Equal(t, []int{3, 3}, []int{b.n, c.n})
		require.NoError(t, a.Stop())
		require.True(t, a.Started(), "it was started twice")
		require.NoError(t, a.Stop())
		require.NoError(t, other.Stop())
		tick(t, l)
		assert.Empty(t, l.Binding().Walk())
		assert.Zero(t, l.Live())
	})
}

func TestSignal_SIG06_LeavingAndComingWhileOthersAreTold(t *testing.T) {
	child.Pass(t, func() {
		l := newLoop(t)
		const num = syscall.SIGUSR1
		for name, act := range map[string]func(w [3]*watcher, late *watcher){
			"the first stops itself":    func(w [3]*watcher, _ *watcher) { _ = w[0].Stop() },
			"the first stops the next":  func(w [3]*watcher, _ *watcher) { _ = w[1].Stop() },
			"the first closes the last": func(w [3]*watcher, _ *watcher) { _ = w[2].Close() },
			"the first stops all":       func(w [3]*watcher, _ *watcher) { _, _, _ = w[0].Stop(), w[1].Stop(), w[2].Stop() },
			"the first starts another":  func(_ [3]*watcher, late *watcher) { _ = late.Start() },
			"the first stops all, another starts": func(w [3]*watcher, late *watcher) {
				_, _, _, _ = w[0].Stop(), w[1].Stop(), w[2].Stop(), late.Start()
			},
		} {
			var w [3]*watcher
			late := newWatcher(t, l, num)
			for i := range w {
				w[i] = newWatcher(t, l, num)
			}
			once := true
			on(t, w[0], func() {
				if once {
					once = false
					act(w, late)
				}
			})
			for i := range w {
				require.NoError(t, w[i].Start())
			}
			raise(t, num)
			turnUntil(t, l, func() bool { return w[0].n == 1 })
			var stay []listener
			for i := range w {
				told := 0
				if w[i].Started() || i == 0 {
					told = 1
				}
				assert.Equal(t, told, w[i].n, "%s: watcher %d", name, i)
				if w[i].Started() {
					stay = append(stay, w[i])
				}
			}
			assert.Zero(t, late.n, name)
			if late.Started() {
				stay = append(stay, late)
			}
			if len(stay) > 0 {
				tell(t, num, stay...)
			}
			for _, s := range append(w[:], late) {
				require.NoError(t, s.Close())
			}
			tick(t, l)
			assert.Empty(t, l.Binding().Walk(), name)
		}
	})
}

func TestSignal_RestartedInItsOwnCallback(t *testing.T) {
	child.Pass(t, func() {
		l := newLoop(t)
		w := newWatcher(t, l, syscall.SIGUSR1)
		on(t, w, func() {
			assert.NoError(t, w.Stop())
			assert.NoError(t, w.Start())
		})
		require.NoError(t, w.Start())
		tell(t, syscall.SIGUSR1, w)
		// Two in one turn: what was recorded for the life before the restart is dropped.
		csignal.Raise(syscall.SIGUSR1)
		csignal.Raise(syscall.SIGUSR1)
		tick(t, l)
		assert.Equal(t, 4, w.n)
		tell(t, syscall.SIGUSR1, w)
	})
}

func TestSignal_SIG04_AStartedSignalKeepsRunGoing(t *testing.T) {
	child.Pass(t, func() {
		l := newLoop(t)
		w := watch(t, l, syscall.SIGUSR1)
		on(t, w, func() { assert.NoError(t, w.Stop()) })
		assert.Equal(t, 1, l.Live())
		d := startDeadline(t, l, 20*time.Millisecond, func() { raise(t, syscall.SIGUSR1) })
		d.SetHidden(true)
		run(t, l)
		assert.Equal(t, 1, w.n)
		assert.Zero(t, l.Live())
	})
}

func TestSignal_SIG04_AHiddenSignalDoesNot(t *testing.T) {
	child.Pass(t, func() {
		l := newLoop(t)
		w := newWatcher(t, l, syscall.SIGUSR1)
		w.SetHidden(true)
		require.NoError(t, w.Start())
		run(t, l)
		assert.True(t, w.Started())
		tell(t, syscall.SIGUSR1, w)

		// For a uv_run of somebody else's the shared handle is hidden while all that use it are.
		referenced := func() int { tick(t, l); return foreign.Referenced(l.Binding().Handle())["signal"] }
		assert.Zero(t, referenced())
		visible := watch(t, l, syscall.SIGUSR1)
		assert.Equal(t, 1, referenced())
		visible.SetHidden(true)
		assert.Zero(t, referenced())
		w.SetHidden(false)
		assert.Equal(t, 1, referenced())
		assert.Equal(t, 1, l.Live())
		require.NoError(t, w.Stop())
		assert.Zero(t, referenced())
		assert.Zero(t, l.Live())
		run(t, l)
		visible.SetHidden(false)
		assert.Equal(t, 1, referenced())
		assert.Equal(t, 1, l.Live())
	})
}

func TestSignal_NumbersThatCannotBeWatched(t *testing.T) {
	l := newLoop(t)
	for num, why := range map[syscall.Signal]string{
		syscall.SIGKILL: "the kernel", syscall.SIGSTOP: "the kernel",
		syscall.SIGURG: "preempts goroutines", syscall.SIGPROF: "profiles", syscall.SIGCHLD: "os/exec",
		syscall.SIGSEGV: "crash report", syscall.SIGBUS: "crash report", syscall.SIGFPE: "crash report",
		syscall.SIGILL: "crash report", syscall.SIGTRAP: "crash report", syscall.SIGABRT: "crash report",
		syscall.SIGSTKFLT: "crash report",
		32:                "threads", 33: "threads", 34: "threads",
		0: "1 to 64", -1: "1 to 64", 65: "1 to 64", 1 << 30: "1 to 64", -1 << 62: "1 to 64",
	} {
		s, err := l.NewSignal(num)
		assert.Nil(t, s)
		var invalid *event.InvalidArgumentError
		require.ErrorAs(t, err, &invalid, "%d", int(num))
		assert.ErrorIs(t, err, event.ErrInvalidArgument)
		assert.Equal(t, "reactor: Loop.NewSignal", invalid.Call)
		assert.ErrorContains(t, err, why)
		assert.ErrorContains(t, err, fmt.Sprint(int(num)))
	}
}

func TestSignal_AllOtherNumbersCan(t *testing.T) {
	child.Pass(t, func() {
		l := newLoop(t)
		n := 0
		for num := syscall.Signal(1); num <= 64; num++ {
			s, err := l.NewSignal(num)
			if err != nil {
				assert.ErrorIs(t, err, event.ErrInvalidArgument)
				continue
			}
			before := csignal.Current(num)
			n++
			w := &watcher{Signal: s, loop: l}
			on(t, s, func() { w.n++ })
			require.NoError(t, w.Start(), "%d", int(num))
			tell(t, num, w)
			require.NoError(t, w.Stop())
			assert.Equal(t, before, csignal.Current(num), "%d", int(num))
		}
		assert.Equal(t, 64-15, n)
	})
}

func TestSignal_ClosedLoopAndClosedSignal(t *testing.T) {
	child.Pass(t, func() {
		l := newLoop(t)
		closed, alive := newWatcher(t, l, syscall.SIGUSR1), newWatcher(t, l, syscall.SIGUSR1)
		require.NoError(t, closed.Close())
		assert.ErrorIs(t, closed.Start(), event.ErrClosed)
		_, err := closed.OnSignal(func(syscall.Signal) {})
		assert.ErrorIs(t, err, event.ErrClosed)
		_, err = alive.OnSignal(nil)
		assert.ErrorIs(t, err, event.ErrInvalidArgument)
		require.NoError(t, closed.Stop())
		require.NoError(t, closed.Close())
		assert.Contains(t, alive.Info(), "signal 10 (user defined signal 1)")

		require.NoError(t, l.Close())
		_, err = l.NewSignal(syscall.SIGUSR1)
		assert.ErrorIs(t, err, event.ErrClosed)
		assert.ErrorIs(t, alive.Start(), event.ErrClosed)
		assert.NoError(t, alive.Stop())
		alive.SetHidden(true)
		assert.NoError(t, alive.Close())
	})
}

func TestSignal_OnSignalGetsTheNumber(t *testing.T) {
	child.Pass(t, func() {
		l := newLoop(t)
		s, err := l.NewSignal(syscall.SIGUSR2)
		require.NoError(t, err)
		var got syscall.Signal
		_, err = s.OnSignal(func(num syscall.Signal) { got = num })
		require.NoError(t, err)
		require.NoError(t, s.Start())
		raise(t, syscall.SIGUSR2)
		turnUntil(t, l, func() bool { return got != 0 })
		assert.Equal(t, syscall.SIGUSR2, got)
	})
}

func TestSignal_AForeignHandleOpenedAfterOurs(t *testing.T) {
	child.Pass(t, func() {
		for _, num := range []syscall.Signal{syscall.SIGUSR1, syscall.SIGINT, syscall.SIGTSTP} {
			l := newLoop(t)
			before := csignal.Current(num)
			w := watch(t, l, num)
			f := newForeigner(l, num, false)
			tell(t, num, w, f)

			require.NoError(t, w.Stop())
			assert.NotZero(t, csignal.Current(num).Flags&csignal.OnStack)
			tell(t, num, f)
			assert.Equal(t, 3, w.heard())

			require.NoError(t, w.Start())
			tell(t, num, w, f)
			require.NoError(t, w.Stop())
			f.close(t)
			assert.Equal(t, before, csignal.Current(num))
		}
	})
}

func TestSignal_AForeignHandleThatStopsBeforeOurs(t *testing.T) {
	child.Pass(t, func() {
		l := newLoop(t)
		before := csignal.Current(syscall.SIGUSR1)
		w := watch(t, l, syscall.SIGUSR1)
		newForeigner(l, syscall.SIGUSR1, false).close(t)
		tell(t, syscall.SIGUSR1, w)
		require.NoError(t, w.Stop())
		assert.Equal(t, before, csignal.Current(syscall.SIGUSR1))
	})
}

func TestSignal_AForeignHandleOpenedBeforeOurs(t *testing.T) {
	for _, first := range []string{"ours stops first", "the foreign one stops first"} {
		for _, known := range []bool{false, true} { // libuv's handler, that is
			t.Run(fmt.Sprint(first, known), func(t *testing.T) {
				child.Pass(t, func() {
					const num = syscall.SIGINT
					l := newLoop(t)
					if known {
						require.NoError(t, watch(t, l, syscall.SIGUSR2).Close())
					}
					f := newForeigner(l, num, false)
					w := watch(t, l, num)
					assert.NotZero(t, csignal.Current(num).Flags&csignal.OnStack)
					tell(t, num, w, f)
					if first == "ours stops first" {
						require.NoError(t, w.Stop())
						assert.NotZero(t, csignal.Current(num).Flags&csignal.OnStack)
						tell(t, num, f)
						require.NoError(t, w.Start())
						tell(t, num, w, f)
						require.NoError(t, w.Stop())
						f.close(t)
					} else {
						f.close(t)
						tell(t, num, w)
						require.NoError(t, w.Stop())
					}
					assert.Zero(t, csignal.Current(num).Handler, "SIG_DFL, as libuv leaves it; what was before the foreign one is not known")
				})
			})
		}
	}
}

// C code that has set a handler over the foreign one's, before ours came.
func TestSignal_ACHandlerOverAForeignHandle(t *testing.T) {
	child.Pass(t, func() {
		const num = syscall.SIGUSR1
		l := newLoop(t)
		require.NoError(t, watch(t, l, syscall.SIGUSR2).Close())
		f := newForeigner(l, num, false)
		csignal.Install(num, csignal.Info)
		installed := csignal.Current(num)
		w := watch(t, l, num)
		tell(t, num, w, f, cHandler(num))
		f.close(t)
		tell(t, num, w, cHandler(num))
		require.NoError(t, w.Stop())
		assert.Equal(t, installed, csignal.Current(num))
	})
}

func TestSignal_AForeignOneShotHandle(t *testing.T) {
	child.Pass(t, func() {
		l := newLoop(t)
		const num = syscall.SIGUSR1
		before := csignal.Current(num)
		w := watch(t, l, num)
		f := newForeigner(l, num, true)
		tell(t, num, w)
		assert.Equal(t, 1, f.heard())
		f.close(t)
		tell(t, num, w)

		f = newForeigner(l, num, true)
		require.NoError(t, w.Stop())
		assert.NotZero(t, csignal.Current(num).Flags&csignal.OnStack, "libuv has set a handler once more")
		raise(t, num)
		f.await(t, 1)
		assert.Equal(t, before, csignal.Current(num))
		f.close(t)
	})
}

func TestSignal_AForeignHandleOnAnotherLoop(t *testing.T) {
	child.Pass(t, func() {
		l, other := newLoop(t), newLoop(t)
		const num = syscall.SIGUSR1
		w := watch(t, l, num)
		f := newForeigner(other, num, false)
		tell(t, num, w, f)
		require.NoError(t, l.Close())
		tell(t, num, f)
		f.close(t)
	})
}

func TestSignal_ChildrenOfOsExecAreUndisturbed(t *testing.T) {
	child.Pass(t, func() {
		state := func() string {
			out, err := exec.Command("/bin/sh", "-c", "grep ^Sig[BIC] /proc/self/status").Output()
			require.NoError(t, err)
			return string(out)
		}
		alone, chld := state(), csignal.Current(syscall.SIGCHLD)
		l := newLoop(t)
		w := watch(t, l, syscall.SIGUSR1)
		watch(t, l, syscall.SIGINT)
		watch(t, l, syscall.SIGTERM)
		assert.Equal(t, alone, state())
		assert.Equal(t, chld, csignal.Current(syscall.SIGCHLD))

		var over atomic.Bool
		var running sync.WaitGroup
		running.Go(func() {
			for !over.Load() {
				csignal.Storm(syscall.SIGUSR1, 50, 1)
			}
		})
		running.Go(func() {
			defer over.Store(true)
			defer func() { assert.NoError(t, l.Post(func() {})) }()
			for range scaled(60) {
				var exit *exec.ExitError
				if err := exec.Command("/bin/sh", "-c", "exit 7").Run(); assert.ErrorAs(t, err, &exit) {
					assert.Equal(t, 7, exit.ExitCode())
				}
				if err := exec.Command("/bin/sh", "-c", "kill -USR1 $$; sleep 60").Run(); assert.ErrorAs(t, err, &exit) {
					assert.Equal(t, syscall.SIGUSR1, exit.Sys().(syscall.WaitStatus).Signal(), "the default action in the child")
				}
				ctx, cancel := context.WithCancel(t.Context())
				sleeper := exec.CommandContext(ctx, "sleep", "60")
				assert.NoError(t, sleeper.Start())
				cancel()
				assert.Error(t, sleeper.Wait())
			}
		})
		turnUntil(t, l, over.Load)
		running.Wait()
		assert.NotZero(t, w.n)
	})
}

func TestSignal_OnThreadsThatGoDoesNotKnow(t *testing.T) {
	child.Pass(t, func() {
		l := newLoop(t)
		for _, num := range []syscall.Signal{syscall.SIGUSR1, syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGTSTP, 40} {
			w := watch(t, l, num)
			other := notify(t, num)
			csignal.Raise(num)
			other.await(t, 1)
			other.stop()
			for range 100 {
				csignal.Raise(num)
			}
			turnUntil(t, l, func() bool { return w.n == 101 })
			require.NoError(t, w.Stop())
		}
	})
}

func TestSignal_SIGPIPEOnAThreadThatGoDoesNotKnow(t *testing.T) {
	child.Pass(t, func() {
		l := newLoop(t)
		w := watch(t, l, syscall.SIGPIPE)
		require.ErrorIs(t, csignal.WriteBroken(), syscall.EPIPE)
		turnUntil(t, l, func() bool { return w.n == 1 })

		// Go code gets EPIPE as always, and the signal is told.
		r, file, err := os.Pipe()
		require.NoError(t, err)
		require.NoError(t, r.Close())
		_, err = file.Write([]byte("x"))
		assert.ErrorIs(t, err, syscall.EPIPE)
		require.NoError(t, file.Close())
		turnUntil(t, l, func() bool { return w.n == 2 })
	})
}

func TestSignal_LoopCloseRestores(t *testing.T) {
	child.Pass(t, func() {
		nums := []syscall.Signal{syscall.SIGUSR1, syscall.SIGINT, syscall.SIGTSTP}
		before := make([]csignal.Disposition, len(nums))
		l, other := newLoop(t), newLoop(t)
		var all []*watcher
		for i, num := range nums {
			before[i] = csignal.Current(num)
			all = append(all, watch(t, l, num), watch(t, l, num), newWatcher(t, l, num))
		}
		kept := watch(t, other, syscall.SIGUSR1)
		all[0].SetHidden(true)
		raise(t, syscall.SIGUSR1) // and not delivered
		require.NoError(t, l.Close())
		for _, w := range all {
			assert.False(t, w.Started())
			assert.Zero(t, w.n)
		}
		assert.NotEqual(t, before[0], csignal.Current(nums[0]), "the other loop watches it")
		turnUntil(t, other, func() bool { return kept.n == 1 })
		tell(t, syscall.SIGUSR1, kept)
		require.NoError(t, other.Close())
		for i, num := range nums {
			assert.Equal(t, before[i], csignal.Current(num), "%v", num)
		}
		tell(t, syscall.SIGUSR1, notify(t, syscall.SIGUSR1))
	})
}

func TestSignal_ADroppedReferenceOfAStartedOneGoesOn(t *testing.T) {
	child.Pass(t, func() {
		l := newLoop(t)
		told := 0
		collected := make(chan struct{})
		func() {
			s, err := l.NewSignal(syscall.SIGUSR1)
			require.NoError(t, err)
			on(t, s, func() { told++ })
			require.NoError(t, s.Start())
			runtime.AddCleanup(s, func(struct{}) { close(collected) }, struct{}{})
		}()
		awaitCollected(t, collected)
		turnUntil(t, l, func() bool { return l.Stats().Orphans == 1 })
		for i := range 3 {
			raise(t, syscall.SIGUSR1)
			turnUntil(t, l, func() bool { return told > i })
		}
		assert.Equal(t, 3, told)
		assert.Equal(t, 1, l.Live())
		require.NoError(t, l.Close())
		assert.Zero(t, l.Stats().Orphans)
	})
}

func TestSignal_ADroppedReferenceOfOneThatIsNotStartedIsCollected(t *testing.T) {
	l := newLoop(t)
	reference, callback := make(chan struct{}), make(chan struct{})
	func() {
		s, err := l.NewSignal(syscall.SIGUSR1)
		require.NoError(t, err)
		cb := on(t, s, func() { _ = s.Started() }) // as callbacks do, it holds the reference
		runtime.AddCleanup(s, func(struct{}) { close(reference) }, struct{}{})
		runtime.AddCleanup(cb, func(struct{}) { close(callback) }, struct{}{})
	}()
	awaitCollected(t, reference)
	tick(t, l)
	awaitCollected(t, callback)
	tick(t, l)
	assert.Zero(t, l.Stats().Orphans)
}

func awaitCollected(t tester, done <-chan struct{}) {
	t.Helper()
	for end := time.Now().Add(patience); ; {
		runtime.GC()
		select {
		case <-done:
			return
		case <-time.After(time.Millisecond):
			if time.Now().After(end) {
				t.Fatalf("it is never collected")
			}
		}
	}
}
