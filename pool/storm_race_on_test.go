//go:build race || asan

package pool_test

const stormDivisor = 10 // of how many take part
