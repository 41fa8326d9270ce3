//go:build race || asan

package scope_test

const (
	stormDivisor = 10 // of what takes long here
	stormDepth   = 400
)
