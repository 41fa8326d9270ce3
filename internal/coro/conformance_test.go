package coro

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSwitch_ToItselfReturnsAtOnce(t *testing.T) {
	each(t, func(t *testing.T, g *Group) {
		assert.True(t, g.Switch(g.root, g.root))
		c := new(Context)
		n := 0
		newFuncs(g, c, func() {
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
			newFuncs(g, cs[i], func() {
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
			newFuncs(g, new(Context), func() { t.Error("it began") }, func() { t.Error("it exited") })
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
							newFuncs(g, o, func() {
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
								if r := recover(); r != nil { // thrown by another one that ended
									panic(r)
								}
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
						newFuncs(g, c, func() {
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
				newFuncs(g, cs[i], func() {
					to := g.root
					if i+1 < n {
						to = cs[i+1]
					}
					g.Switch(cs[i], to)
					runtime.Goexit()
				}, func() {
					defer func() { ended++ }()
					for g.Switch(cs[i], g.root) {
					}
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
		newFuncs(g, c, func() {
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
