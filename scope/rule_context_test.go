package scope_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

type key string

func TestScope_CTX01_SetAndReplaceInPlace(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			v := s.Values()
			assert.Same(t, v, s.Values())
			assert.Same(t, v, scope.Of(s).Values(), "of the scope, not of the handle")
			require.NoError(t, v.Set(key("a"), 1))
			cotest.IsUsage(t, v.Set(key("a"), 2), "Replace")
			assert.Equal(t, 1, v.Find(key("a")))
			assert.Same(t, v, v.Replace(key("a"), 3))
			assert.Equal(t, 3, v.Find(key("a")))
			assert.Same(t, v, v.Unset(key("a")))
			assert.Nil(t, v.Find(key("a")))
			require.NoError(t, v.Set(key("a"), 4), "unset: it can be set again")
			return nil
		})
	})
}

func TestScope_CTX02_CTX03_FoundUpTheChain(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			main := scope.Main(co)
			require.NoError(t, main.Values().Set(key("main"), "m"))
			top := scope.New(co)
			require.NoError(t, top.Values().Set(key("top"), "t"))
			require.NoError(t, top.Values().Set(key("both"), "top"))
			empty := scope.Inherit(scope.New(top)) // two without anything: skipped
			deep := scope.New(empty)
			require.NoError(t, deep.Values().Set(key("both"), "deep"))

			v := deep.Values()
			assert.Equal(t, "m", v.Find(key("main")))
			assert.Equal(t, "t", v.Find(key("top")))
			assert.Equal(t, "deep", v.Find(key("both")), "the nearest")
			assert.Nil(t, v.Find(key("none")))
			got, err := v.Get(key("top"))
			require.NoError(t, err)
			assert.Equal(t, "t", got)
			_, err = v.Get(key("none"))
			cotest.IsUsage(t, err, "none")
			assert.True(t, v.Has(key("main")))
			assert.False(t, v.Has(key("none")))
			assert.Nil(t, v.FindLocal(key("top")))
			assert.Equal(t, "deep", v.FindLocal(key("both")))
			_, err = v.GetLocal(key("top"))
			cotest.IsUsage(t, err, "top")
			assert.False(t, v.HasLocal(key("top")))
			assert.True(t, v.HasLocal(key("both")))
			assert.Equal(t, "top", empty.Values().Find(key("both")))
			assert.Nil(t, top.Values().FindLocal(key("main")))

			c := e.Spawn(deep, func(co *scheduler.Coroutine) error {
				for _, name := range []string{"main", "top", "both"} {
					assert.Equal(t, v.Find(key(name)), co.Value(key(name)), name)
				}
				require.NoError(t, co.Values().Set(key("both"), "mine"))
				assert.Equal(t, "mine", co.Value(key("both")))
				assert.Equal(t, "deep", v.Find(key("both")), "CTX-06: private")
				assert.Nil(t, co.Value(key("none")))

				// One that it starts elsewhere has what is there.
				beside := e.Spawn(scope.New(main), func(co *scheduler.Coroutine) error {
					assert.Nil(t, co.Value(key("top")))
					assert.Equal(t, "m", co.Value(key("main")))
					return nil
				})
				_, err := co.Await(beside)
				return err
			})
			_, err = co.Await(c)
			require.NoError(t, err)
			assert.Equal(t, "mine", c.Value(key("both")), "CTX-06: after the end")
			assert.Equal(t, "t", c.Value(key("top")))

			// nil is a value.
			require.NoError(t, empty.Values().Set(key("top"), nil))
			assert.Nil(t, v.Find(key("top")))
			assert.True(t, v.Has(key("top")))
			return nil
		})
	})
}

func TestScope_CTX05_RootsDoNotFindTheMainScopes(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		s := e.Prepare()
		require.NoError(t, s.Main().Values().Set(key("early"), 1)) // before the first spawn
		require.NoError(t, e.Start(s, context.Background(), func(co *scheduler.Coroutine) error {
			assert.Equal(t, 1, co.Value(key("early")))
			assert.Equal(t, 1, scope.Inherit(scope.New(co)).Values().Find(key("early")))
			root := scope.NewRoot(co)
			below := scope.New(root)
			require.NoError(t, root.Values().Set(key("root"), 2))
			assert.Nil(t, root.Values().Find(key("early")))
			assert.Nil(t, below.Values().Find(key("early")))
			assert.Equal(t, 2, below.Values().Find(key("root")))
			assert.Nil(t, co.Value(key("root")))
			c := e.Spawn(below, func(co *scheduler.Coroutine) error {
				assert.Nil(t, co.Value(key("early")))
				assert.Equal(t, 2, co.Value(key("root")))
				assert.Equal(t, 1, scope.Main(co).Values().Find(key("early")), "reachable directly")
				return nil
			})
			_, err := co.Await(c)
			assert.False(t, root.Same(scope.Main(co)))
			return err
		}))
	})
}

func TestScope_CTX06_ZombiesReadAsEver(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			top := scope.New(co)
			s := scope.New(top)
			require.NoError(t, top.Values().Set(key("top"), 1))
			require.NoError(t, s.Values().Set(key("s"), 2))
			z := e.Spawn(s, func(co *scheduler.Coroutine) error {
				require.NoError(t, co.Values().Set(key("own"), 3))
				_ = co.Delay(ms)
				for name, want := range map[string]int{"top": 1, "s": 2, "own": 3} {
					assert.Equal(t, want, co.Value(key(name)), name)
				}
				assert.Equal(t, 1, scope.Of(co).Values().Find(key("top")))
				return nil
			})
			require.NoError(t, co.Yield())
			require.NoError(t, top.Close())
			s.Values().Replace(key("s"), 2)
			_, err := co.Await(z)
			require.NoError(t, err)
			assert.True(t, s.Scope().Drained())
			assert.Equal(t, 1, s.Values().Find(key("top")), "an ended scope finds what is around it")
			made := scope.New(s)
			assert.Equal(t, 2, made.Values().Find(key("s")), "one made in it, too")
			assert.Equal(t, 3, z.Value(key("own")))
			return nil
		})
	})
}
