package scope_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

func TestScope_SCOPE01_NewOnesAreSafeInheritedOnesCopy(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			assert.True(t, scope.Main(co).Safe(), "the main scope too")
			assert.True(t, scope.NewRoot(co).Safe())
			s := scope.New(co)
			assert.True(t, s.Safe())
			assert.True(t, scope.Inherit(s).Safe())

			assert.Same(t, s, s.AsNotSafely())
			assert.False(t, s.Safe())
			assert.False(t, scope.Inherit(s).Safe())
			deep := scope.Inherit(scope.Inherit(s))
			assert.False(t, deep.Safe())
			assert.True(t, scope.New(s).Safe(), "a new one whatever is around it")
			assert.True(t, scope.New(deep).Safe())

			// What is below keeps its flag, and a later change is no matter of those made before.
			assert.Same(t, s, s.AllowZombies())
			assert.True(t, s.Safe())
			assert.False(t, deep.Safe())
			assert.True(t, scope.Inherit(s).Safe())
			assert.False(t, scope.Inherit(deep).Safe())

			scope.Main(co).AsNotSafely()
			assert.False(t, scope.Inherit(co).Safe())
			assert.True(t, scope.New(co).Safe())
			assert.True(t, scope.NewRoot(co).Safe(), "not below the main scope")
			return nil
		})
	})
}

func TestScope_SCOPE01_TheFlagAtTheTimeOfTheCallDecides(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			s := scope.New(co).AsNotSafely()
			a := e.Spawn(s, cotest.Sleeper(ms))
			require.NoError(t, co.Yield())
			require.NoError(t, s.AllowZombies().Cancel(errStop))
			assert.True(t, a.Zombie())
			s = scope.New(co)
			b := e.Spawn(s, cotest.Sleeper(hour))
			require.NoError(t, co.Yield())
			require.NoError(t, s.AsNotSafely().Cancel(errStop))
			assert.False(t, b.Zombie())
			_, err := co.Await(b)
			cotest.IsCancelled(t, err, errStop)
			_, err = co.Await(a)
			return err
		})
	})
}

func TestScope_SCOPE02_AnEmptyOneIsFinishedAndOpen(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		ends := map[string]func(s *scope.Scope) error{
			"cancel":                func(s *scope.Scope) error { return s.Cancel(errStop) },
			"dispose":               (*scope.Scope).Dispose,
			"dispose safely":        (*scope.Scope).DisposeSafely,
			"dispose after timeout": func(s *scope.Scope) error { return s.DisposeAfterTimeout(hour) },
			"close":                 (*scope.Scope).Close,
		}
		for name, end := range ends {
			for _, used := range []bool{false, true} {
				for _, safe := range []bool{false, true} {
					e.MustRun(func(co *scheduler.Coroutine) error {
						s := scope.New(co)
						if !safe {
							s.AsNotSafely()
						}
						require.NoError(t, s.OnFinally(func(_ *scheduler.Coroutine, got *scope.Scope) error {
							assert.True(t, got.Same(s))
							e.Say("finally")
							return nil
						}))
						if used {
							e.Spawn(s, cotest.Fails(nil))
							assert.False(t, s.IsFinished())
							require.NoError(t, s.AwaitCompletion(co))
						}
						assert.True(t, s.IsFinished(), name)
						assert.False(t, s.IsClosed(), name)
						assert.False(t, s.IsCancelled(), name)
						require.NoError(t, end(s))
						assert.True(t, s.IsClosed(), name)
						assert.True(t, s.IsFinished(), name)
						assert.Empty(t, e.Said(), "scheduled, not run at once")
						require.NoError(t, co.Yield())
						assert.Equal(t, []string{"finally"}, e.Said(), name)
						require.NoError(t, end(s), "idempotent")
						require.NoError(t, co.Yield())
						assert.Empty(t, e.Said(), name)
						assert.Zero(t, e.W.Live(), "no timer")
						return nil
					})
				}
			}
		}
	})
}

func TestScope_SCOPE07_NoSpawnFromTheMomentOfTheCall(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		ends := map[string]func(s *scope.Scope) error{
			"cancel":                func(s *scope.Scope) error { return s.Cancel(errStop) },
			"dispose":               (*scope.Scope).Dispose,
			"dispose safely":        (*scope.Scope).DisposeSafely,
			"dispose after timeout": func(s *scope.Scope) error { return s.DisposeAfterTimeout(5 * ms) },
			"close":                 (*scope.Scope).Close,
		}
		for name, end := range ends {
			e.MustRun(func(co *scheduler.Coroutine) error {
				s := scope.New(co)
				below := scope.New(s)
				inside := e.Spawn(s, func(co *scheduler.Coroutine) error {
					_ = co.Delay(ms)
					_, err := co.Spawn(e.Sayer("never")) // through a coroutine of the scope
					cotest.IsUsage(t, err, "scope")
					return nil
				})
				e.Spawn(below, cotest.Sleeper(ms))
				require.NoError(t, co.Yield())
				require.NoError(t, end(s))
				for _, x := range []*scope.Scope{s, below} {
					_, err := x.Spawn(e.Sayer("never"))
					cotest.IsUsage(t, err, "scope")
				}
				_, err := inside.Spawn(e.Sayer("never"))
				cotest.IsUsage(t, err)
				for _, made := range []*scope.Scope{scope.New(s), scope.Inherit(below), scope.New(inside)} {
					assert.True(t, made.IsClosed(), name+": what is made in a closed one is closed")
					assert.True(t, made.IsFinished())
					_, err := made.Spawn(e.Sayer("never"))
					cotest.IsUsage(t, err)
					require.NoError(t, made.AwaitCompletion(co))
					require.NoError(t, made.Close())
				}
				assert.Equal(t, name == "cancel" || name == "dispose", scope.New(s).IsCancelled(), name)
				e.Spawn(scope.New(co), e.Sayer("beside"))
				return co.Delay(3 * ms)
			})
			assert.Equal(t, []string{"beside"}, e.Said(), name)
		}
	})
}

func TestScope_SCOPE28_ChildScopesAreTheDirectOnes(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			assert.Empty(t, s.ChildScopes())
			a, b := scope.New(s), scope.Inherit(s)
			deep := scope.New(a)
			list := s.ChildScopes()
			if assert.Len(t, list, 2) {
				assert.True(t, list[0].Same(a))
				assert.True(t, list[1].Same(b))
				assert.False(t, list[0].Same(b))
			}
			if list := a.ChildScopes(); assert.Len(t, list, 1) {
				assert.True(t, list[0].Same(deep))
			}
			main := scope.Main(co)
			if list := main.ChildScopes(); assert.Len(t, list, 1) {
				assert.True(t, list[0].Same(s))
			}
			root := scope.NewRoot(co)
			assert.Len(t, main.ChildScopes(), 1, "a root is no child")
			assert.Empty(t, root.ChildScopes())

			// The scopes of finally handlers are nobody's children.
			c := e.Spawn(a, cotest.Fails(nil))
			require.NoError(t, c.OnFinally(func(self, _ *scheduler.Coroutine) error {
				assert.Len(t, a.ChildScopes(), 1)
				assert.False(t, scope.Of(self).Same(a))
				return self.Yield()
			}))
			cotest.Yields(co, 3)

			require.NoError(t, deep.Close())
			assert.Empty(t, a.ChildScopes(), "one that has ended is gone")
			require.NoError(t, a.Cancel(nil))
			assert.Len(t, s.ChildScopes(), 1)
			require.NoError(t, root.Close())
			return s.Close()
		})
	})
}

func TestScope_HandlesOfOneScopeAreTheSame(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			var nobody *scope.Scope
			assert.True(t, s.Same(s))
			assert.True(t, nobody.Same(nil))
			assert.False(t, s.Same(nil))
			assert.False(t, nobody.Same(s))
			assert.False(t, s.Same(scope.New(co)))
			assert.True(t, scope.Of(co).Same(scope.Main(co)))
			assert.True(t, scope.Of(s).Same(s), "a scope is in itself")
			c := e.Spawn(s, func(co *scheduler.Coroutine) error {
				assert.True(t, scope.Of(co).Same(s))
				assert.True(t, scope.Main(co).Same(scope.Of(co)) == false)
				assert.Same(t, s.Scope(), co.Scope())
				return nil
			})
			assert.True(t, scope.Of(c).Same(s))
			assert.Nil(t, nobody.Scope())
			assert.Same(t, co.Scope(), scope.Main(s).Scope())
			_, err := co.Await(c)
			return err
		})
	})
}

func TestScope_RootsEndWithTheRun(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		var s, empty *scope.Scope
		e.MustRun(func(co *scheduler.Coroutine) error {
			s, empty = scope.NewRoot(co), scope.NewRoot(co)
			for name, x := range map[string]*scope.Scope{"used": s, "empty": empty} {
				require.NoError(t, x.OnFinally(func(self *scheduler.Coroutine, got *scope.Scope) error {
					assert.True(t, got.Same(x))
					assert.True(t, got.IsClosed())
					e.Say("finally " + name)
					return self.Delay(ms)
				}))
			}
			e.Spawn(s, func(co *scheduler.Coroutine) error {
				_ = co.Delay(ms)
				e.Say("works")
				return nil
			})
			return nil
		})
		said := e.Said()
		require.Len(t, said, 3)
		assert.Equal(t, "works", said[0], "its coroutines are active ones")
		assert.ElementsMatch(t, []string{"finally used", "finally empty"}, said[1:])

		// Its failures are those of the run, and of nobody beside it.
		err := e.Run(func(co *scheduler.Coroutine) error {
			require.NoError(t, scope.Main(co).OnError(func(*scope.Scope, *scheduler.Coroutine, error) error { e.Say("wrong"); return nil }))
			require.NoError(t, scope.Main(co).OnChildError(func(*scope.Scope, *scheduler.Coroutine, error) error { e.Say("wrong"); return nil }))
			root := scope.NewRoot(co)
			defer root.Close()
			e.Spawn(root, cotest.Fails(errBoom))
			return co.Delay(hour)
		})
		require.ErrorIs(t, err, errBoom)
		assert.Empty(t, e.Said())
	})
}
