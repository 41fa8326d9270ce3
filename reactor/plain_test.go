//go:build !race && !asan

package reactor_test

const sanitized = false
