package scheduler_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

// misplaces are where code of users runs; each calls do once, somewhere in a run that others are in, too.
var misplaces = map[string]func(e *cotest.Env, co *scheduler.Coroutine, do func()) error{
	"body":                     func(e *cotest.Env, co *scheduler.Coroutine, do func()) error { do(); return nil },
	"deferred":                 func(e *cotest.Env, co *scheduler.Coroutine, do func()) error { defer do(); return co.Yield() },
	"deferred while panicking": func(e *cotest.Env, co *scheduler.Coroutine, do func()) error { defer do(); panic("first") },
	"block": func(e *cotest.Env, co *scheduler.Coroutine, do func()) error {
		return co.WithTimeout(time.Hour, func(*scheduler.Coroutine) error { do(); return nil })
	},
	"protect": func(e *cotest.Env, co *scheduler.Coroutine, do func()) error {
		return co.Protect(func(context.Context) error { do(); return nil })
	},
	"child": func(e *cotest.Env, co *scheduler.Coroutine, do func()) error {
		e.Spawn(co, func(*scheduler.Coroutine) error { do(); return nil })
		return co.Delay(ms)
	},
	"child in defer, unwound": func(e *cotest.Env, co *scheduler.Coroutine, do func()) error {
		e.Spawn(co, func(co *scheduler.Coroutine) error {
			defer do()
			return co.Protect(func(context.Context) error { return co.Delay(time.Hour) })
		})
		_ = co.Yield()
		return errBoom
	},
	"microtask": func(e *cotest.Env, co *scheduler.Coroutine, do func()) error {
		_ = co.Scheduler().Microtask(func() error { do(); return nil })
		return co.Delay(ms)
	},
	"post": func(e *cotest.Env, co *scheduler.Coroutine, do func()) error {
		_ = co.Scheduler().Post(do)
		return co.Delay(ms)
	},
	"deadline": func(e *cotest.Env, co *scheduler.Coroutine, do func()) error {
		e.After(ms, do)
		return co.Delay(2 * ms)
	},
	"after func": func(e *cotest.Env, co *scheduler.Coroutine, do func()) error {
		return co.WithTimeout(ms, func(co *scheduler.Coroutine) error { co.AfterFunc(do); return co.Delay(time.Hour) })
	},
	"finally": func(e *cotest.Env, co *scheduler.Coroutine, do func()) error {
		c := e.Spawn(co, func(*scheduler.Coroutine) error { return nil })
		_ = c.OnFinally(func(_, _ *scheduler.Coroutine) error { do(); return nil })
		return co.Delay(ms)
	},
	"finally at once": func(e *cotest.Env, co *scheduler.Coroutine, do func()) error {
		c := e.Spawn(co, func(*scheduler.Coroutine) error { return nil })
		_, _ = co.Await(c)
		if err := c.OnFinally(func(_, _ *scheduler.Coroutine) error { do(); return nil }); err != nil {
			return err // it is that of the call (CORO-20)
		}
		return co.Delay(ms)
	},
	"on error": func(e *cotest.Env, co *scheduler.Coroutine, do func()) error {
		co.Scope().OnError(func(*scheduler.Scope, *scheduler.Coroutine, error) error { do(); return nil })
		e.Spawn(co, func(*scheduler.Coroutine) error { return errBoom })
		return co.Delay(ms)
	},
	"settler": func(e *cotest.Env, co *scheduler.Coroutine, do func()) error {
		e.Spawn(co, func(*scheduler.Coroutine) error { return errBoom }, scheduler.SettledBy(settles(do)))
		return co.Delay(ms)
	},
	"settler of one that never began": func(e *cotest.Env, co *scheduler.Coroutine, do func()) error {
		_ = e.Spawn(co, func(*scheduler.Coroutine) error { return errBoom }, scheduler.SettledBy(settles(do))).Cancel(nil)
		return co.Delay(ms)
	},
	"leave": func(e *cotest.Env, co *scheduler.Coroutine, do func()) error {
		return parkIn(co, &waitingFor{leave: do}, scheduler.Timeout(ms))
	},
	"leave by cancel": func(e *cotest.Env, co *scheduler.Coroutine, do func()) error {
		c := e.Spawn(co, func(co *scheduler.Coroutine) error { return parkIn(co, &waitingFor{leave: do}) })
		_ = co.Yield()
		_ = c.Cancel(nil)
		return co.Delay(ms)
	},
	"leave by shutdown": func(e *cotest.Env, co *scheduler.Coroutine, do func()) error {
		for range 3 {
			e.Spawn(co, func(co *scheduler.Coroutine) error { return parkIn(co, &waitingFor{leave: do}) })
		}
		_ = co.Yield()
		return errBoom
	},
	"info in a deadlock": func(e *cotest.Env, co *scheduler.Coroutine, do func()) error {
		return parkIn(co, &waitingFor{info: do})
	},
	"info in the grace": func(e *cotest.Env, co *scheduler.Coroutine, do func()) error {
		e.Spawn(co, func(co *scheduler.Coroutine) error {
			return co.Protect(func(context.Context) error {
				e.After(time.Second, func() {})
				return parkIn(co, &waitingFor{info: do})
			})
		})
		_ = co.Yield()
		return errBoom
	},
	"starve": func(e *cotest.Env, co *scheduler.Coroutine, do func()) error {
		n := &scheduler.StarvingNode{}
		co.Scheduler().Starving(n, starves(do))
		defer n.Release()
		_, err := co.Await(newOutcome())
		return err
	},
	"scope closed": func(e *cotest.Env, co *scheduler.Coroutine, do func()) error {
		sc, _ := co.Scope().New()
		sc.Own(&scheduler.Owned{}, belongs{closed: do})
		_ = sc.Cancel(nil)
		return co.Delay(ms)
	},
	"scope done": func(e *cotest.Env, co *scheduler.Coroutine, do func()) error {
		co.Scope().Own(&scheduler.Owned{}, belongs{done: do})
		return co.Delay(ms)
	},
	"own in a cancelled scope": func(e *cotest.Env, co *scheduler.Coroutine, do func()) error {
		sc, _ := co.Scope().New()
		e.Spawn(sc, func(co *scheduler.Coroutine) error {
			_ = co.Delay(time.Hour)
			return co.Protect(func(context.Context) error { return co.Delay(ms) })
		})
		_ = co.Yield()
		_ = sc.Cancel(nil)
		sc.Own(&scheduler.Owned{}, belongs{closed: do})
		return co.Delay(ms)
	},
	"strategy": func(e *cotest.Env, co *scheduler.Coroutine, do func()) error {
		_, _ = co.Spawn(func(*scheduler.Coroutine) error { return nil }, scheduler.By(doer{do}))
		return co.Delay(ms)
	},
	"start of an event": func(e *cotest.Env, co *scheduler.Coroutine, do func()) error {
		b := &misstarter{}
		b.Init(misstarterKind{do: do}, e.W.Count(), 0)
		_, err := co.Await(b, scheduler.Timeout(ms))
		return err
	},
	"stop of an event": func(e *cotest.Env, co *scheduler.Coroutine, do func()) error {
		b := &misstarter{}
		b.Init(misstopperKind{do: do}, e.W.Count(), 0)
		_, err := co.Await(b, scheduler.Timeout(ms))
		return err
	},
	"stop of an event while unwound": func(e *cotest.Env, co *scheduler.Coroutine, do func()) error {
		e.Spawn(co, func(co *scheduler.Coroutine) error {
			return co.Protect(func(context.Context) error {
				b := &misstarter{}
				b.Init(misstopperKind{do: do}, e.W.Count(), 0)
				_, err := co.Await(b)
				return err
			})
		})
		_ = co.Yield()
		return errBoom
	},
	"stop of an event while exiting": func(e *cotest.Env, co *scheduler.Coroutine, do func()) error {
		b := &misstarter{}
		b.Init(misstopperKind{do: do}, e.W.Count(), 0)
		_ = co.Scheduler().Post(func() { panic("first") })
		_, err := co.Await(b, scheduler.Timeout(ms))
		return err
	},
	"subscriber": func(e *cotest.Env, co *scheduler.Coroutine, do func()) error {
		c := e.Spawn(co, func(*scheduler.Coroutine) error { return nil })
		var cb event.Callback
		cb.Init(func(*event.Base, *event.Callback, any, error) { do() }, nil, nil)
		_ = c.AsEvent().AddCallback(&cb)
		return co.Delay(ms)
	},
}

type settles func()

func (s settles) Settle(*scheduler.Coroutine, error) { s() }

type starves func()

func (s starves) Starve() bool { s(); return false }

type belongs struct{ closed, done func() }

func (b belongs) ScopeClosed(error) {
	if b.closed != nil {
		b.closed()
	}
}

func (b belongs) ScopeDone() error {
	if b.done != nil {
		b.done()
	}
	return nil
}

type doer struct{ do func() }

func (doer) ProvideScope() (*scheduler.Scope, error)    { return nil, nil }
func (d doer) BeforeEnqueue(*scheduler.Coroutine) error { return nil }
func (d doer) AfterEnqueue(*scheduler.Coroutine) error  { d.do(); return nil }

type misstarter struct{ event.Base }

type misstarterKind struct {
	event.NopKind
	do func()
}

func (k misstarterKind) StartEvent() error { k.do(); return nil }
func (k misstarterKind) Info() string      { return "misstarter" }

type waitingFor struct{ leave, info func() }

func (w *waitingFor) Leave(*scheduler.Coroutine) {
	if w.leave != nil {
		w.leave()
	}
}

func (w *waitingFor) Info() string {
	if w.info != nil {
		w.info()
	}
	return "it"
}

func parkIn(co *scheduler.Coroutine, w *waitingFor, opts ...scheduler.WaitOption) error {
	if err := co.Enter("test"); err != nil {
		return err
	}
	return co.Park("test", w, opts...)
}

// TestScheduler_SHUT_WhateverUserCodeDoesTheRunEnds does something bad in every place: the run must end in order, everybody
// must have been cleaned up, and what was bad must not be lost.
func TestScheduler_SHUT_WhateverUserCodeDoesTheRunEnds(t *testing.T) {
	bad := map[string]func(){
		"panic":     func() { panic("bad") },
		"nil panic": func() { panic(nil) }, //nolint
		"cancelled": func() { panic(&event.CancelledError{Reason: errStop}) },
		"goexit":    runtime.Goexit,
	}
	for what, do := range bad {
		for where, place := range misplaces {
			if what == "goexit" && strings.HasPrefix(where, "info") {
				continue // a description that ends the goroutine leaves nobody to go on
			}
			if what == "goexit" && strings.Contains(where, "unwound") {
				continue // it is being ended that way already
			}
			t.Run(what+" in "+where, func(t *testing.T) {
				cotest.Each(t, func(t *testing.T, e *cotest.Env) {
					cleaned, called, returned := 0, 0, false
					var err error
					done := make(chan struct{})
					go func() {
						defer close(done)
						err = e.Run(func(co *scheduler.Coroutine) error {
							for range 3 {
								e.Spawn(co, func(co *scheduler.Coroutine) error {
									defer func() { cleaned++ }()
									if where == "info in a deadlock" || where == "starve" {
										_, err := co.Await(newOutcome())
										return err
									}
									return co.Delay(3 * ms)
								})
							}
							require.NoError(t, co.Yield())
							return place(e, co, func() { called++; do() })
						}, cotest.WithGrace(10*ms))
						returned = true
					}()
					<-done
					assert.Equal(t, 3, cleaned)
					assert.Positive(t, called)
					if what == "goexit" {
						assert.False(t, returned)
						return
					}
					assert.True(t, returned)
					var p *event.PanicError
					assert.True(t, errors.As(err, &p), "%v", err)
				})
			})
		}
	}
}

type misstopperKind struct {
	event.NopKind
	do func()
}

func (k misstopperKind) StopEvent()   { k.do() }
func (k misstopperKind) Info() string { return "stopper" }
