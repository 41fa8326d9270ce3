package coro

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// each runs the body on both implementations.
func each(t *testing.T, body func(t *testing.T, g *Group)) {
	t.Helper()
	for name, symmetric := range map[string]bool{"symmetric": true, "plain": false} {
		t.Run(name, func(t *testing.T) { body(t, newGroup(new(Context), symmetric)) })
	}
}

func TestSelfTest(t *testing.T) {
	assert.True(t, selfTest(true))
	assert.True(t, selfTest(false))
	assert.Equal(t, !alwaysPlain, symmetricWorks())
}

func TestGoexit_StaysWithItsContext(t *testing.T) {
	each(t, func(t *testing.T, g *Group) {
		var parked []string
		var dead, idle []*Context
		for i := range 5 {
			c := new(Context)
			newFuncs(g, c, func() { runtime.Goexit() }, func() {
				parked = append(parked, fmt.Sprint("exited ", i))
				g.Switch(c, g.root)
				parked = append(parked, fmt.Sprint("ends ", i))
			})
			dead = append(dead, c)
			d := new(Context)
			newFuncs(g, d, func() {
				for g.Switch(d, g.root) {
				}
			}, nil)
			idle = append(idle, d)
		}
		for i := range dead {
			g.Switch(g.root, idle[i])
			g.Switch(g.root, dead[i])
			g.Switch(g.root, idle[4-i/2])
		}
		assert.Len(t, parked, 5)
		g.EndAll()
		assert.Len(t, parked, 10)
		assert.Zero(t, g.Count())
	})
}

func BenchmarkSwitch(b *testing.B) {
	for _, n := range []int{2, 1000} {
		for name, symmetric := range map[string]bool{"symmetric": true, "plain": false} {
			b.Run(fmt.Sprint(n, name), func(b *testing.B) {
				g := newGroup(new(Context), symmetric)
				cs := make([]*Context, n)
				left := b.N
				for i := range cs {
					cs[i] = new(Context)
					newFuncs(g, cs[i], func() {
						for {
							to := cs[(i+1)%n]
							if left--; left < 0 {
								to = g.root
							}
							if !g.Switch(cs[i], to) {
								return
							}
						}
					}, nil)
				}
				g.Switch(g.root, cs[0])
				g.EndAll()
			})
		}
	}
}

// funcs is a body of two functions; exited may be nil.
type funcs struct{ run, exited func() }

func (f funcs) Run()    { f.run() }
func (f funcs) Exited() { f.exited() }

func newFuncs(g *Group, c *Context, run, exited func()) { g.New(c, funcs{run, exited}) }
