//go:build !race && !asan

package scheduler_test

const sanitized = false
