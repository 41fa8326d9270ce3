//go:build uvasync_asymmetric

package coro

const alwaysPlain = true
