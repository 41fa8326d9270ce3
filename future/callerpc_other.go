//go:build !amd64 && !arm64

package future

import "runtime"

// callerPC returns where the function that calls it was called from.
//
//go:noinline
func callerPC() uintptr {
	var pcs [1]uintptr
	runtime.Callers(3, pcs[:])
	return pcs[0]
}
