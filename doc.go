// Package uvasync is an asynchronous runtime on a real libuv loop. [Run] runs a function as a coroutine; it can start more,
// which take turns on the loop's one thread and wait for anything that is an event: each other, futures, channels, time,
// descriptors, signals.
//
// A function that may suspend takes a *[Coroutine] as its first argument, as other Go code takes a context, which a
// Coroutine is as well. This package is the front door; the rooms behind it are scheduler (coroutines), future, channel and
// cosync (what they share), reactor (the loop's own events) and uvtest (tests in virtual time).
package uvasync
