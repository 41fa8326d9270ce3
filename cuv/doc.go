// Package cuv binds libuv with one crossing between Go and C per loop turn.
//
// A binding that calls C once per operation and lets C call Go once per event pays for both. Here Go writes submissions
// (start a timer, stop a poll, close a handle) into a ring in C memory, one call of [Loop.Tick] applies them and runs
// libuv once, libuv's callbacks append completions to a second ring, and [Loop.Dispatch] reads those in place and hands
// each to its [Owner]. No Go code ever runs below C.
//
// What can fail (opening a poll, a signal, an async handle) is a direct call and returns its error at once; what cannot
// fail goes through the ring. Memory of a handle is C's and is reused or freed only after its close callback. Everything
// belongs to the goroutine that runs the loop, except [Loop.Post] and [Async.Send].
//
// It is the only package that imports "C", and the layer below package reactor, which is what programs use.
package cuv
