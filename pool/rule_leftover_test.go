package pool_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

func TestPool_GEN06_WhatACallbackHasAcquiredIsTakenBack(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		d := newDepot(e, 2)
		err := e.Run(func(co *scheduler.Coroutine) error {
			d.open(co)
			d.stock(co, 1)
			e.After(time.Millisecond, func() { _, _ = d.p.AcquireAllIdle() })
			return co.Delay(time.Second)
		})
		assert.NotContains(t, fmt.Sprint(err), "bug:")
		assert.Equal(t, d.made, d.gone)
	})
}

func TestPool_GEN06_WhatIsLeftOfAPoolThatEndedBefore(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		d := newDepot(e, 2)
		err := e.Run(func(co *scheduler.Coroutine) error {
			sc, _ := co.Scope().New()
			d.cfg.Scope = sc
			d.open(co)
			d.take(co, 1)
			return sc.Dispose(nil)
		})
		assert.NotContains(t, fmt.Sprint(err), "bug:")
		assert.Equal(t, d.made, d.gone)
	})
}

// A handle that nobody released, an idle resource whose Destroy takes time, and a shutdown (Ctrl-C).
func TestPool_GEN06_WhatIsLeftWhileAnotherIsBeingDestroyed(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		d := newDepot(e, 3)
		d.destroys(func(co *scheduler.Coroutine, v *part) error { return co.Delay(ms) })
		err := e.Run(func(co *scheduler.Coroutine) error {
			d.open(co)
			d.stock(co, 2)
			d.take(co, 1)
			return e.S.Shutdown(nil)
		}, cotest.WithGrace(time.Second))
		assert.NotContains(t, fmt.Sprint(err), "bug:")
		assert.ElementsMatch(t, d.made, d.gone)
	})
}
