//go:build race || asan

package reactor_test

// sanitized builds are slower and use more memory: long runs are shortened, measurements of memory skipped.
const sanitized = true
