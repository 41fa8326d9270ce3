package scheduler_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

type key string

func TestContext_CTX01_SetReplaceAndUnset(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			for _, v := range []*scheduler.Values{co.Values(), co.Scope().Values()} {
				require.NoError(t, v.Set(key("k"), 1))
				cotest.IsUsage(t, v.Set(key("k"), 2), "Set", "k")
				assert.Equal(t, 1, v.FindLocal(key("k")), "unchanged")
				assert.Same(t, v, v.Replace(key("k"), 3))
				assert.Equal(t, 3, v.FindLocal(key("k")))
				assert.Same(t, v, v.Replace(key("new"), 4))
				assert.Same(t, v, v.Unset(key("k")))
				assert.Same(t, v, v.Unset(key("absent")))
				assert.False(t, v.HasLocal(key("k")))
				assert.Equal(t, 4, v.FindLocal(key("new")), "the others stay")
				require.NoError(t, v.Set(key("k"), nil), "free again")
				assert.True(t, v.HasLocal(key("k")), "nil is a value")
				cotest.IsUsage(t, v.Set(key("k"), 5), "Set")
			}
			return nil
		})
	})
}

func TestContext_CTX02_FindGetHasAndTheirLocalVariants(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			co.Scope().Values().Replace(key("root"), "r").Replace(key("shadowed"), "r")
			sub, err := co.Scope().New()
			require.NoError(t, err)
			sub.Values().Replace(key("sub"), "s").Replace(key("shadowed"), "s")
			e.Spawn(sub, func(self *scheduler.Coroutine) error {
				v := self.Values().Replace(key("own"), "o").Replace(key("nothing"), nil)
				for k, want := range map[string]any{"root": "r", "sub": "s", "shadowed": "s", "own": "o", "nothing": nil} {
					assert.Equal(t, want, v.Find(key(k)), k)
					assert.Equal(t, want, self.Value(key(k)), k)
					got, err := v.Get(key(k))
					assert.NoError(t, err)
					assert.Equal(t, want, got)
					assert.True(t, v.Has(key(k)))
				}
				assert.Nil(t, v.Find(key("missing")))
				assert.Nil(t, self.Value(key("missing")))
				assert.False(t, v.Has(key("missing")))
				_, err := v.Get(key("missing"))
				cotest.IsUsage(t, err, "Get", "missing")
				for _, k := range []string{"root", "sub", "shadowed", "missing"} {
					assert.Nil(t, v.FindLocal(key(k)))
					assert.False(t, v.HasLocal(key(k)))
					_, err := v.GetLocal(key(k))
					cotest.IsUsage(t, err, "GetLocal", k)
				}
				got, err := v.GetLocal(key("own"))
				assert.NoError(t, err)
				assert.Equal(t, "o", got)
				v.Replace(key("shadowed"), "o")
				assert.Equal(t, "o", self.Value(key("shadowed")))
				v.Unset(key("shadowed"))
				assert.Equal(t, "s", self.Value(key("shadowed")), "unset here alone")
				assert.Equal(t, "s", sub.Values().Find(key("shadowed")))
				assert.False(t, sub.Values().Has(key("own")), "not downwards")
				return nil
			})
			return nil
		})
	})
}

func TestContext_CTX03_ScopesWithoutValuesAreSkipped(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			co.Scope().Values().Replace(key("k"), 1)
			sc := co.Scope()
			for range 5 {
				var err error
				sc, err = sc.New()
				require.NoError(t, err)
			}
			e.Spawn(sc, func(self *scheduler.Coroutine) error {
				assert.Equal(t, 1, self.Value(key("k")))
				assert.Equal(t, 1, self.Values().Find(key("k")))
				assert.Equal(t, 1, sc.Values().Find(key("k")))
				return nil
			})
			return nil
		})
	})
}

func TestContext_CTX05_TheRootContextIsThatOfTheMainScope(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		s := e.Prepare()
		require.NoError(t, s.Main().Values().Set(key("early"), 1))
		require.NoError(t, e.Start(s, t.Context(), func(co *scheduler.Coroutine) error {
			assert.Same(t, s.Main(), co.Scope())
			assert.Equal(t, 1, co.Value(key("early")), "set before the first spawn")
			sub, err := co.Scope().New()
			require.NoError(t, err)
			assert.Equal(t, 1, sub.Values().Find(key("early")))
			root, err := s.NewRoot()
			require.NoError(t, err)
			assert.Nil(t, root.Parent())
			assert.Nil(t, root.Values().Find(key("early")))
			e.Spawn(root, func(self *scheduler.Coroutine) error {
				assert.Nil(t, self.Value(key("early")))
				assert.Equal(t, 1, s.Main().Values().Find(key("early")), "reachable directly")
				return nil
			})
			return nil
		}))
		assert.Equal(t, 1, s.Main().Values().Find(key("early")))
	})
}

func TestContext_CTX06_ACoroutinesValuesAreItsOwn(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		var child *scheduler.Coroutine
		e.MustRun(func(co *scheduler.Coroutine) error {
			co.Values().Replace(key("main's"), 1)
			child = e.Spawn(co, func(self *scheduler.Coroutine) error {
				assert.Nil(t, self.Value(key("main's")))
				self.Values().Replace(key("k"), 2)
				return self.Yield()
			})
			_, err := co.Await(child)
			assert.Nil(t, co.Value(key("k")))
			assert.Equal(t, 2, child.Value(key("k")), "readable when it has ended")
			assert.Equal(t, 2, child.Values().Find(key("k")))
			return err
		})
		cotest.Foreign(func() { assert.Equal(t, 2, child.Value(key("k")), "also after the run") })
	})
}

func TestContext_CTX06_ForeignGoroutinesReadValuesWhileTheyChange(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			stop, done := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(done)
				last := 0
				for {
					select {
					case <-stop:
						return
					default:
					}
					if n, ok := co.Value(key("n")).(int); ok {
						if n < last {
							t.Error("an older value came back")
						}
						last = n
					}
					_ = co.Value(key("scope's"))
				}
			}()
			for n := range 300 {
				co.Values().Replace(key("n"), n)
				co.Scope().Values().Replace(key("scope's"), n).Unset(key("scope's"))
			}
			close(stop)
			<-done
			return nil
		})
	})
}

func TestContext_IsAContext(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			co.Values().Replace(key("k"), 1)
			derived := context.WithValue(co, key("derived"), 2)
			assert.Equal(t, 1, derived.Value(key("k")))
			assert.Same(t, co, scheduler.FromContext(derived))
			assert.Same(t, co, scheduler.FromContext(co))
			assert.Nil(t, scheduler.FromContext(context.Background()))
			assert.NoError(t, co.Protect(func(ctx context.Context) error {
				assert.Same(t, co, scheduler.FromContext(ctx))
				return nil
			}))
			_, limited := co.Deadline()
			assert.False(t, limited)
			child := cancelled(e, co, errStop, func(self *scheduler.Coroutine, err error) error {
				assert.ErrorIs(t, self.Err(), context.Canceled)
				assert.ErrorIs(t, context.Cause(self), context.Canceled)
				return err
			})
			_, _ = co.Await(child)
			ended := e.Spawn(co, cotest.Fails(nil))
			before := ended.Done()
			require.NoError(t, co.Yield())
			assert.True(t, closed(before), "at the latest when it has ended")
			assert.True(t, closed(ended.Done()))
			assert.ErrorIs(t, ended.Err(), context.Canceled)
			assert.ErrorIs(t, ended.Err(), scheduler.ErrEnded)
			return nil
		})
	})
}

func TestContext_CancelsWhatWasDerivedFromIt(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			for name, block := range map[string]func(self *scheduler.Coroutine) (context.Context, error){
				"cancelled": func(self *scheduler.Coroutine) (derived context.Context, err error) {
					derived, stop := context.WithCancel(self)
					defer stop()
					_ = self.Cancel(errStop)
					<-derived.Done()
					return derived, nil
				},
				"limited": func(self *scheduler.Coroutine) (derived context.Context, err error) {
					err = self.WithTimeout(ms, func(self *scheduler.Coroutine) error {
						var stop context.CancelFunc
						derived, stop = context.WithTimeout(self, hour)
						defer stop()
						at, _ := derived.Deadline()
						limit, _ := self.Deadline()
						assert.Equal(t, limit, at)
						err := self.Delay(hour)
						<-derived.Done()
						return err
					})
					return derived, err
				},
			} {
				var derived context.Context
				var err error
				child := e.Spawn(co, func(self *scheduler.Coroutine) error { derived, err = block(self); return nil })
				_, _ = co.Await(child)
				if name == "limited" {
					cotest.IsTimeout(t, err)
					assert.ErrorIs(t, derived.Err(), context.DeadlineExceeded)
				} else {
					assert.ErrorIs(t, derived.Err(), context.Canceled)
				}
			}
			return nil
		})
	})
}

func TestContext_StoppedAfterFuncsAreNotCalled(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		called := make(chan string, 10)
		e.MustRun(func(co *scheduler.Coroutine) error {
			child := e.Spawn(co, func(self *scheduler.Coroutine) error {
				stop := self.AfterFunc(func() { called <- "stopped" })
				assert.True(t, stop())
				assert.False(t, stop())
				self.AfterFunc(func() { called <- "kept" })
				context.AfterFunc(self, func() { called <- "kept" })
				err := self.WithTimeout(ms, func(self *scheduler.Coroutine) error {
					stop = self.AfterFunc(func() { called <- "in the block" })
					return self.Delay(hour)
				})
				cotest.IsTimeout(t, err)
				assert.Equal(t, "in the block", <-called)
				assert.False(t, stop())
				// One of a block that is over without a cancellation waits for what is around it.
				_ = self.WithTimeout(hour, func(self *scheduler.Coroutine) error {
					self.AfterFunc(func() { called <- "kept" })
					stop = self.AfterFunc(func() { called <- "stopped later" })
					return nil
				})
				assert.True(t, stop())
				assert.Empty(t, called)
				return self.Cancel(errStop)
			})
			_, err := co.Await(child)
			cotest.IsCancelled(t, err, errStop)
			for range 3 {
				assert.Equal(t, "kept", <-called)
			}
			child.AfterFunc(func() { called <- "at once" })
			assert.Equal(t, "at once", <-called)
			assert.Empty(t, called)
			return nil
		})
	})
}

var _ context.Context = (*scheduler.Coroutine)(nil)
var _ event.Event = (*scheduler.Coroutine)(nil)
