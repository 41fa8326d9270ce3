package reactor_test

import (
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/uvasync/uvasync/event"
)

// actor is an event of any kind, beside what is known about it.
type actor struct {
	referenced
	kind     string
	starts   int
	hidden   bool
	disposed bool
	panics   bool
	scripted bool // a callback may act on it, or for it
}

func (a *actor) started() bool { return a.starts > 0 }

// Random legal calls, from outside and from within callbacks that panic now and then: the live count is what the model
// says, nobody is told who is not started, and in the end nothing is left.
func TestLoop_RandomLegalActions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newLoop(t)
		x, y := socketpair(t)
		var actors []*actor
		type acted struct{}

		kinds := []string{"timer", "periodic timer", "rearming timer", "trigger", "poll", "proxy"}
		add := func(t *rapid.T) {
			a := &actor{kind: rapid.SampledFrom(kinds).Draw(t, "kind")}
			d := time.Duration(rapid.IntRange(1, 2000).Draw(t, "us")) * time.Microsecond
			switch a.kind {
			case "timer":
				e, err := l.NewTimer(d)
				require.NoError(t, err)
				a.referenced = e
			case "periodic timer":
				e, err := l.NewPeriodicTimer(d)
				require.NoError(t, err)
				a.referenced = e
			case "rearming timer":
				e, err := l.NewRearmingTimer(d)
				require.NoError(t, err)
				a.referenced = e
			case "trigger":
				e, err := l.NewTrigger()
				require.NoError(t, err)
				a.referenced = e
			case "poll":
				e, err := l.NewPoll(x.fd, readable|disconnect)
				require.NoError(t, err)
				a.referenced = e
			default:
				e, err := l.NewPoll(x.fd, writable)
				require.NoError(t, err)
				a.referenced = e
			}
			// The hook comes before every callback, so before anybody in this turn could have stopped it.
			a.AsEvent().SetNotifyHook(func(_ *event.Base, result any, err error) (any, bool, error) {
				require.True(t, a.started(), "%s was told though it is not started", a.kind)
				if a.kind == "timer" || a.kind == "rearming timer" {
					a.starts = 0
				}
				return result, true, err
			})
			_, err := a.Subscribe(func(*event.Base, *event.Callback, any, error) {
				if a.panics {
					a.panics = false
					panic(acted{})
				}
			})
			require.NoError(t, err)
			actors = append(actors, a)
		}
		pick := func(t *rapid.T) *actor {
			if len(actors) == 0 {
				return nil
			}
			return actors[rapid.IntRange(0, len(actors)-1).Draw(t, "actor")]
		}
		// A disposed reference stops nothing and starts nothing.
		start := func(t tester, a *actor) {
			err := a.Start()
			if a.disposed || a.Closed() {
				require.ErrorIs(t, err, event.ErrClosed)
				return
			}
			require.NoError(t, err)
			a.starts++
		}
		stop := func(t tester, a *actor) {
			require.NoError(t, a.Stop())
			if !a.disposed && a.starts > 0 {
				a.starts--
			}
		}
		closeIt := func(t tester, a *actor) {
			require.NoError(t, a.Close())
			if !a.disposed {
				a.starts = 0
			}
			a.disposed = true
		}
		turn := func(t tester) {
			defer func() {
				if r := recover(); r != nil {
					if _, ours := r.(acted); !ours {
						panic(r)
					}
				}
			}()
			tick(t, l)
		}
		act := func(t *rapid.T, kind string, a *actor) func(t tester) {
			switch kind {
			case "start":
				return func(t tester) { start(t, a) }
			case "stop":
				return func(t tester) { stop(t, a) }
			case "close":
				return func(t tester) { closeIt(t, a) }
			case "fire":
				return func(tester) {
					if f, ok := a.referenced.(interface{ Fire() }); ok {
						f.Fire()
					}
				}
			case "rearm":
				d := time.Duration(rapid.IntRange(0, 2000).Draw(t, "us")) * time.Microsecond
				return func(t tester) {
					if r, ok := a.referenced.(interface{ Rearm(time.Duration) error }); ok && a.kind == "rearming timer" && !a.disposed {
						require.NoError(t, r.Rearm(d))
						a.starts = max(a.starts, 1)
					}
				}
			default:
				hidden := rapid.Bool().Draw(t, "hidden")
				return func(tester) {
					a.SetHidden(hidden)
					if !a.disposed {
						a.hidden = hidden
					}
				}
			}
		}
		acts := []string{"start", "start", "start", "stop", "close", "fire", "rearm", "hide"}
		one := func(t *rapid.T) {
			if a := pick(t); a != nil {
				act(t, rapid.SampledFrom(acts).Draw(t, "act"), a)(t)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"add":   add,
			"act":   one,
			"act 2": one,
			"act in a callback": func(t *rapid.T) {
				by, on := pick(t), pick(t)
				if by == nil || by.disposed || by.Closed() {
					return
				}
				by.scripted, on.scripted = true, true
				do := act(t, rapid.SampledFrom(acts).Draw(t, "act"), on)
				var cb *event.Callback
				cb, err := by.Subscribe(func(*event.Base, *event.Callback, any, error) {
					by.DelCallback(cb)
					do(t)
				})
				require.NoError(t, err)
			},
			"panic": func(t *rapid.T) {
				if a := pick(t); a != nil {
					a.panics = true
				}
			},
			"forget": func(t *rapid.T) {
				if a := pick(t); a != nil && !a.started() && !a.scripted {
					for i := range actors {
						if actors[i] == a {
							actors = append(actors[:i], actors[i+1:]...)
							break
						}
					}
				}
			},
			"collect": func(t *rapid.T) {
				if rapid.IntRange(0, 4).Draw(t, "seldom") == 0 {
					runtime.GC()
				}
			},
			"write": func(*rapid.T) { _, _ = syscall.Write(y.fd, []byte("x")) },
			"read":  func(*rapid.T) { _, _ = syscall.Read(x.fd, make([]byte, 100)) },
			"turn":  func(t *rapid.T) { turn(t) },
			"turn after a while": func(t *rapid.T) {
				burn(time.Duration(rapid.IntRange(0, 2500).Draw(t, "us")) * time.Microsecond)
				turn(t)
			},
			"": func(t *rapid.T) {
				live := 0
				for _, a := range actors {
					if a.started() && !a.hidden {
						live++
					}
				}
				require.Equal(t, live, l.Live())
			},
		})
		for _, a := range actors {
			closeIt(t, a)
		}
		actors = nil
		turn(t)
		turn(t)
		require.Zero(t, l.Live())
		collectUntil(t, l, func() bool { return openHandles(l) == 0 })
		require.Empty(t, l.Binding().Walk())
	})
}
