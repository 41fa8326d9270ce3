//go:build !race && !asan

package scope_test

const (
	stormDivisor = 1 // of what takes long here
	stormDepth   = 2000
)
