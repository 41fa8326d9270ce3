package coro

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// model is a group whose contexts hand over to each other by chance, and what must come of it: at any time one runs, the
// one that was chosen.
type model struct {
	t        *testing.T
	g        *Group
	rand     *rand.Rand
	parked   []*agent // those that may be chosen: they have not ended
	turn     *agent   // who must be running
	root     *agent
	handOver int // how many are left
	begun    int
	finished int
	exited   int
	ended    int // answered false
	goexits  bool
	depth    int // of the stacks on which some switch
}

type agent struct {
	ctx  *Context
	name string
}

func newModel(t *testing.T, g *Group, seed uint64) *model {
	m := &model{t: t, g: g, rand: rand.New(rand.NewPCG(seed, 3))}
	m.root = &agent{ctx: g.root, name: "root"}
	m.turn = m.root
	m.parked = []*agent{m.root}
	return m
}

func (m *model) check(me *agent) {
	if m.turn != me {
		m.t.Errorf("%s runs, and it is the turn of %s", me.name, m.turn.name)
	}
}

func (m *model) spawn() {
	a := &agent{ctx: new(Context), name: fmt.Sprint("context ", len(m.parked))}
	m.g.New(a.ctx, func() { m.live(a) }, func() { m.linger(a) })
	m.parked = append(m.parked, a)
}

// switchTo parks me, and answers whether it goes on.
func (m *model) switchTo(me, to *agent) bool {
	m.check(me)
	m.turn = to
	alive := m.g.Switch(me.ctx, to.ctx)
	if !alive {
		m.ended++
		return false
	}
	m.check(me)
	return true
}

func (m *model) any() *agent { return m.parked[m.rand.IntN(len(m.parked))] }

// deeper runs fn on a stack that is some frames deeper.
func (m *model) deeper(n int, fn func() bool) bool {
	var room [64]byte
	room[n%64] = byte(n)
	if n == 0 {
		return fn()
	}
	alive := m.deeper(n-1, fn)
	return alive && room[n%64] == byte(n)
}

func (m *model) live(me *agent) {
	m.check(me)
	m.begun++
	for {
		m.handOver--
		switch k := m.rand.IntN(100); {
		case m.handOver <= 0:
			if !m.switchTo(me, m.root) {
				return
			}
		case k < 3:
			m.spawn()
		case k < 5: // ends in the middle
			m.leave(me)
			m.finished++
			return
		case k < 6 && m.goexits:
			m.exited++
			runtime.Goexit()
		case k < 7:
			runtime.GC()
		case k < 8:
			runtime.Gosched()
		default:
			depth := 0
			if m.depth > 0 && k < 30 {
				depth = m.rand.IntN(m.depth)
			}
			if !m.deeper(depth, func() bool { return m.switchTo(me, m.any()) }) {
				return
			}
		}
	}
}

// leave says who runs when me has returned.
func (m *model) leave(me *agent) {
	m.check(me)
	for i, a := range m.parked {
		if a == me {
			m.parked = append(m.parked[:i], m.parked[i+1:]...)
			break
		}
	}
	m.turn = m.any()
	m.g.Leave(m.turn.ctx)
}

// linger is what is left of a context that called Goexit: it hands over, and ends with the group.
func (m *model) linger(me *agent) {
	m.check(me)
	for {
		m.handOver--
		to := m.any()
		if m.handOver <= 0 {
			to = m.root
		}
		if !m.switchTo(me, to) {
			return
		}
	}
}

// run lets them hand over n times, and ends the group.
func (m *model) run(contexts, n int) {
	for range contexts {
		m.spawn()
	}
	m.handOver = n
	for m.handOver > 0 {
		if m.rand.IntN(20) == 0 {
			m.spawn()
		}
		if !m.switchTo(m.root, m.any()) {
			m.t.Error("the root was told to end")
		}
		m.handOver--
	}
	assert.Equal(m.t, len(m.parked)-1, m.g.Count())
	begun, finished := m.begun, m.finished
	m.g.EndAll()
	assert.Zero(m.t, m.g.Count())
	assert.Equal(m.t, begun, m.begun, "nobody begins at the end")
	assert.Equal(m.t, begun-finished, m.ended, "every other one is told once")
	assert.Nil(m.t, m.g.all)
}

func TestModel_WhoeverIsChosenRuns(t *testing.T) {
	for seed := range uint64(40) {
		each(t, func(t *testing.T, g *Group) {
			t.Logf("seed %d", seed)
			m := newModel(t, g, seed)
			m.goexits, m.depth = seed%2 == 1, int(seed%4)*30
			m.run(1+int(seed*seed)%50, 2000)
		})
	}
}

func TestModel_ThousandsOfContexts(t *testing.T) {
	each(t, func(t *testing.T, g *Group) {
		m := newModel(t, g, 1)
		m.depth = 20
		m.run(4000, 20000)
		assert.Greater(t, m.begun, 1000)
	})
}

func TestModel_ThousandsThatExit(t *testing.T) {
	each(t, func(t *testing.T, g *Group) {
		m := newModel(t, g, 2)
		m.goexits = true
		m.run(2000, 20000)
		assert.Greater(t, m.exited, 10)
	})
}

func TestModel_UnderLockOSThread(t *testing.T) {
	each(t, func(t *testing.T, _ *Group) {
		done := make(chan struct{})
		symmetric := t.Name()[len(t.Name())-len("symmetric"):] == "symmetric"
		go func() {
			defer close(done)
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			m := newModel(t, newGroup(new(Context), symmetric), 3)
			m.goexits = true
			m.run(50, 1000)
		}()
		<-done
	})
}

// Groups on several goroutines at once, while garbage is collected and stacks grow and shrink.
func TestModel_SeveralGroupsAtOnce(t *testing.T) {
	for i := range 4 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			m := newModel(t, newGroup(new(Context), i%2 == 0), uint64(i))
			m.goexits, m.depth = true, 100
			m.run(100, 5000)
		})
	}
}

func TestSwitch_ToItselfReturnsAtOnce(t *testing.T) {
	each(t, func(t *testing.T, g *Group) {
		assert.True(t, g.Switch(g.root, g.root))
		c := new(Context)
		n := 0
		g.New(c, func() {
			for g.Switch(c, c) && n < 3 {
				n++
			}
			g.Switch(c, g.root)
		}, nil)
		assert.True(t, g.Switch(g.root, c))
		assert.Equal(t, 3, n)
		g.EndAll()
	})
}

func TestSwitch_InTheOrderThatIsAskedFor(t *testing.T) {
	each(t, func(t *testing.T, g *Group) {
		const n = 100
		cs := make([]*Context, n)
		var order []int
		for i := range cs {
			cs[i] = new(Context)
			g.New(cs[i], func() {
				for {
					order = append(order, i)
					to := g.root
					if i+1 < n {
						to = cs[i+1]
					}
					if !g.Switch(cs[i], to) {
						return
					}
				}
			}, nil)
		}
		for range 3 {
			order = nil
			require.True(t, g.Switch(g.root, cs[0]))
			require.Len(t, order, n)
			for i, got := range order {
				assert.Equal(t, i, got)
			}
		}
		// Backwards, by the root alone.
		g.EndAll()
	})
}

func TestEndAll_ContextsThatNeverBegan(t *testing.T) {
	each(t, func(t *testing.T, g *Group) {
		for range 100 {
			g.New(new(Context), func() { t.Error("it began") }, func() { t.Error("it exited") })
		}
		assert.Equal(t, 100, g.Count())
		g.EndAll()
		assert.Zero(t, g.Count())
		g.EndAll()
	})
}

// exits makes a context that calls Goexit after some hand-overs to the root, some others of them in between.
func TestGoexit_InEveryPositionAndParity(t *testing.T) {
	for before := range 4 {
		for after := range 4 {
			for others := range 4 {
				for again := range 2 {
					each(t, func(t *testing.T, g *Group) {
						steps, ends, innocent := 0, 0, 0
						for i := range others {
							o := new(Context)
							g.New(o, func() {
								defer func() { innocent++ }()
								for range i {
									if !g.Switch(o, g.root) {
										return
									}
								}
								for g.Switch(o, g.root) {
								}
							}, func() { t.Error("the Goexit travelled") })
							if i%2 == 0 {
								g.Switch(g.root, o)
							}
						}
						c := new(Context)
						wait := func(n int) bool {
							for range n {
								steps++
								if !g.Switch(c, g.root) {
									ends++
									return false
								}
							}
							return true
						}
						var rest func(again int)
						rest = func(again int) {
							over := false
							defer func() {
								if !over {
									rest(again - 1)
								}
							}()
							if again > 0 {
								runtime.Goexit()
							}
							for wait(1) {
							}
							over = true
						}
						g.New(c, func() {
							if wait(before) {
								runtime.Goexit()
							}
						}, func() { rest(again) })
						for range before + 1 + after {
							g.Switch(g.root, c)
						}
						assert.Equal(t, before+1+after, steps)
						g.EndAll()
						assert.Equal(t, 1, ends)
						assert.Zero(t, g.Count())
						assert.Equal(t, (others+1)/2, innocent, "those that had begun")
					})
				}
			}
		}
	}
}

// All of them exit, half of them inside another's turn.
func TestGoexit_OfAll(t *testing.T) {
	for n := 1; n <= 8; n++ {
		each(t, func(t *testing.T, g *Group) {
			cs := make([]*Context, n)
			ended := 0
			for i := range cs {
				cs[i] = new(Context)
				g.New(cs[i], func() {
					to := g.root
					if i+1 < n {
						to = cs[i+1]
					}
					g.Switch(cs[i], to)
					runtime.Goexit()
				}, func() {
					for g.Switch(cs[i], g.root) {
					}
					ended++
				})
			}
			g.Switch(g.root, cs[0])
			for i := range cs {
				g.Switch(g.root, cs[(i*3+1)%n])
			}
			for i := range cs {
				g.Switch(g.root, cs[i])
			}
			g.EndAll()
			assert.Equal(t, n, ended)
			assert.Zero(t, g.Count())
		})
	}
}

func TestContext_GarbageIsCollectedWhileTheyAreParked(t *testing.T) {
	each(t, func(t *testing.T, g *Group) {
		freed := make(chan struct{}, 1)
		c := new(Context)
		g.New(c, func() {
			kept := make([]byte, 1<<16)
			lost := new([1 << 10]int)
			runtime.SetFinalizer(lost, func(*[1 << 10]int) { freed <- struct{}{} })
			lost = nil
			for i := 0; g.Switch(c, g.root); i++ {
				kept[i] = byte(i)
			}
			if kept[1] != 1 {
				t.Error("its stack was not scanned")
			}
			runtime.KeepAlive(lost)
		}, nil)
		for range 3 {
			g.Switch(g.root, c)
			runtime.GC()
		}
		select {
		case <-freed:
		case <-time.After(time.Minute):
			t.Error("not collected")
		}
		g.EndAll()
	})
}
