//go:build !amd64 && !arm64

package callerpc

import "runtime"

// Get returns where the function that calls it was called from.
//
//go:noinline
func Get() uintptr {
	var pcs [1]uintptr
	runtime.Callers(3, pcs[:])
	return pcs[0]
}
