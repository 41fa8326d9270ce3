//go:build !race && !asan

package pool_test

const stormDivisor = 1 // of how many take part
