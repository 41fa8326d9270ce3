//go:build !race

package scheduler

// owner is which goroutine has the loop, 0 for none. Any goroutine may ask whether it is the one.
//
// It is set at every switch, and an atomic store would be a tenth of that. None is needed: a goroutine that has the loop sees
// what it has set itself, and one that has not can only see what others have set, never its own address, because a fiber takes
// its address away before it ends. The race detector does not know that: see owner_race.go.
type owner struct{ g uintptr }

func (o *owner) set(g uintptr) { o.g = g }
func (o *owner) get() uintptr  { return o.g }
