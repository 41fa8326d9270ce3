//go:build !uvasync_asymmetric

package coro

const alwaysPlain = false
