//go:build race

package scheduler

import "sync/atomic"

// owner is that of owner.go, as the race detector wants it.
type owner struct{ g atomic.Uintptr }

func (o *owner) set(g uintptr) { o.g.Store(g) }
func (o *owner) get() uintptr  { return o.g.Load() }
