//go:build amd64 || arm64

package callerpc

// Get returns where the function that calls it was called from, as [runtime.Callers] gives it, for one load instead
// of the several hundred nanoseconds that Callers takes: more than the rest of a future's life. Whoever calls it must be
// marked go:noinline, because it is the frame that is looked at, and an inlined function has none.
func Get() uintptr
