package coro

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
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
	ended    int // living ones that were told so
	dead     int // exited ones that have ended
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
	newFuncs(m.g, a.ctx, func() { m.live(a) }, func() { m.linger(a) })
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
		case k < 7 && m.rand.IntN(10) == 0:
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
	defer func() { m.dead++ }() // told, or met by what another one has thrown
	for {
		m.handOver--
		to := m.any()
		if m.handOver <= 0 {
			to = m.root
		}
		if !m.switchTo(me, to) {
			m.ended-- // it is counted among the dead
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
	assert.Equal(m.t, begun-finished-m.exited, m.ended, "every other one is told once")
	assert.Equal(m.t, m.exited, m.dead)
	assert.Nil(m.t, m.g.all)
}

func TestModel_WhoeverIsChosenRuns(t *testing.T) {
	for seed := range uint64(12) {
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
		m.run(3000, 15000)
		assert.Greater(t, m.begun, 1000)
	})
}

func TestModel_ThousandsThatExit(t *testing.T) {
	each(t, func(t *testing.T, g *Group) {
		m := newModel(t, g, 2)
		m.goexits = true
		m.run(1000, 10000)
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
