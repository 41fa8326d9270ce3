package pool

import "fmt"

// HookError is a failure of a hook of a pool.
type HookError struct {
	Pool string // its name
	// "Create", "Destroy", "HealthCheck", "BeforeAcquire", "BeforeRelease", "Strategy", "OnStateChange"; "Release" for
	// [ErrNotReleased], and for what With cannot return because of a panic
	Hook string
	Err  error
}

func (e *HookError) Error() string { return fmt.Sprintf("%s: %s: %v", named(e.Pool), e.Hook, e.Err) }

// Unwrap returns the failure.
func (e *HookError) Unwrap() error { return e.Err }

// failure is err, unless it is nil, with where it comes from.
func (c *core[T]) failure(hook string, err error) error {
	if err == nil {
		return nil
	}
	return &HookError{c.name, hook, err}
}

// unseen takes a failure that nobody has seen, and somebody must (GEN-08).
func (c *core[T]) unseen(err error) {
	if c.onError == nil {
		c.scope.Fail(nil, err)
		return
	}
	c.tolerated(err)
}

// tolerated takes a failure that need not be seen: it was swallowed by a rule, or concerns something that is tried again.
func (c *core[T]) tolerated(err error) {
	if c.onError == nil {
		c.s.Logger().Warn("a pool has met an error", "run", c.s.Name(), "pool", c.name, "error", fmt.Sprint(err))
		return
	}
	if err := c.s.Call(func() error { c.onError(err); return nil }); err != nil {
		c.scope.Fail(nil, err)
	}
}

// verdict is the answer of a hook that may say no; its error is a no, too (POOL-20, POOL-22, POOL-34).
func (c *core[T]) verdict(hook string, ok bool, err error) bool {
	if err != nil {
		c.tolerated(c.failure(hook, err))
	}
	return ok && err == nil
}
