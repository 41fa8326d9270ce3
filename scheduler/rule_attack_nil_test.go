package scheduler_test

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

// The commonest mistake with errors: a nil pointer of a type of its own, whose Error and Unwrap dereference it.
func TestCoroutine_GEN10_ANilPointerAsAnErrorIsAFailureAsAnyOther(t *testing.T) {
	nilPointer := func(*scheduler.Coroutine) error {
		var e *os.PathError
		return e
	}
	for name, main := range map[string]func(e *cotest.Env, co *scheduler.Coroutine) error{
		"child": func(e *cotest.Env, co *scheduler.Coroutine) error { e.Spawn(co, nilPointer); return co.Delay(ms) },
		"cancelled child": func(e *cotest.Env, co *scheduler.Coroutine) error {
			c := e.Spawn(co, func(co *scheduler.Coroutine) error { _ = co.Delay(time.Hour); return nilPointer(co) })
			_ = co.Yield()
			_ = c.Cancel(nil)
			return co.Delay(ms)
		},
		"several": func(e *cotest.Env, co *scheduler.Coroutine) error {
			e.Spawn(co, nilPointer)
			e.Spawn(co, nilPointer)
			e.Spawn(co, func(*scheduler.Coroutine) error { return errBoom })
			return co.Delay(ms)
		},
		"reason": func(e *cotest.Env, co *scheduler.Coroutine) error {
			_ = co.Scheduler().Shutdown(nilPointer(co))
			_, _ = co.Spawn(nilPointer)
			return co.Delay(ms)
		},
	} {
		t.Run(name, func(t *testing.T) {
			cotest.Each(t, func(t *testing.T, e *cotest.Env) {
				err := e.Run(func(co *scheduler.Coroutine) error { return main(e, co) })
				assert.True(t, err != nil)
				assert.NotPanics(t, func() { _ = err.Error() }, "reason and chain are printable")
			})
		})
	}
}
