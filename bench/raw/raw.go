// Package raw is the baseline: for each case the plain C that a competent user
// of libuv would write, over the same libuv as the library, called from Go
// once a round. Nothing in it knows of the library.
//
// It also owns the virtual clock, which reaches everything in this program
// that reads the monotonic clock from C, the library included.
package raw

/*
#cgo CFLAGS: -O2
#cgo pkg-config: libuv
#cgo LDFLAGS: -Wl,--wrap=clock_gettime
#include "raw.h"
*/
import "C"

import (
	"fmt"
	"time"
	"unsafe"

	"github.com/uvasync/uvasync/bench/internal/measure"
)

// Version is the version of the libuv that this program runs with.
func Version() string { return C.GoString(C.uv_version_string()) }

func sample(rc C.int, r *C.raw_result) (measure.Sample, error) {
	s := measure.Sample{
		Wall: time.Duration(r.wall_ns),
		CPU:  time.Duration(r.cpu_ns),
		Work: measure.Work{
			Starts: uint64(r.starts),
			Stops:  uint64(r.stops),
			Events: uint64(r.events),
			Bytes:  uint64(r.bytes),
			Closes: uint64(r.closes),
			Turns:  uint64(r.turns),
		},
	}
	if rc < 0 {
		return s, fmt.Errorf("%s: %s (%s)", C.GoString(r.failed), C.GoString(C.uv_strerror(rc)), C.GoString(C.uv_err_name(rc)))
	}
	return s, nil
}

// TickEmpty turns a loop that has nothing to do, without blocking.
func TickEmpty(turns int) (measure.Sample, error) {
	var r C.raw_result
	return sample(C.raw_tick_empty(C.uint64_t(turns), &r), &r)
}

// Timers keeps n timers of 1 to most milliseconds going, each started again
// from its own callback, until so many have fired. Virtual clock.
func Timers(n int, most uint32, seed, fires uint64) (measure.Sample, error) {
	var r C.raw_result
	return sample(C.raw_timers_virtual(C.uint32_t(n), C.uint32_t(most), C.uint64_t(seed), C.uint64_t(fires), &r), &r)
}

// TimersReal is Timers on the real clock, blocking, for the given time.
func TimersReal(n int, most uint32, seed uint64, span time.Duration) (measure.Sample, error) {
	var r C.raw_result
	return sample(C.raw_timers_real(C.uint32_t(n), C.uint32_t(most), C.uint64_t(seed), C.uint64_t(span), &r), &r)
}

// OneShot creates, starts, fires and closes timers, batch by batch, each in
// memory of its own that is freed at its close. Virtual clock.
func OneShot(batch, batches int, most uint32, seed uint64) (measure.Sample, error) {
	var r C.raw_result
	return sample(C.raw_oneshot(C.uint32_t(batch), C.uint32_t(batches), C.uint32_t(most), C.uint64_t(seed), &r), &r)
}

// DeadlinesFire starts a timer for every delay (nanoseconds) and turns until
// the last has fired. Real clock.
func DeadlinesFire(delays []uint64) (measure.Sample, error) {
	var r C.raw_result
	return sample(C.raw_deadlines_fire(numbers64(delays), C.uint32_t(len(delays)), &r), &r)
}

// DeadlinesCancel starts a timer for every delay, stops those named by stopped
// in that order, and fires the rest in steps of 1 to step milliseconds of the
// virtual clock.
func DeadlinesCancel(delays []uint64, stopped []uint32, step uint32, seed uint64) (measure.Sample, error) {
	var r C.raw_result
	rc := C.raw_deadlines_cancel(numbers64(delays), C.uint32_t(len(delays)),
		numbers32(stopped), C.uint32_t(len(stopped)), C.uint32_t(step), C.uint64_t(seed), &r)
	return sample(rc, &r)
}

// Poll writes a byte to each of n pipes, over and over, and times how long it
// takes until all of them were seen readable and read.
func Poll(n, rounds int) (measure.Sample, error) {
	var r C.raw_result
	return sample(C.raw_poll(C.uint32_t(n), C.uint32_t(rounds), &r), &r)
}

// Post sends messages from another thread until the loop has run them all.
func Post(messages int) (measure.Sample, error) {
	var r C.raw_result
	return sample(C.raw_post(C.uint64_t(messages), &r), &r)
}

// CloseTimers creates, starts and closes n timers and waits for the last close
// callback, rounds times.
func CloseTimers(n, rounds int) (measure.Sample, error) {
	var r C.raw_result
	return sample(C.raw_close_timers(C.uint32_t(n), C.uint32_t(rounds), &r), &r)
}

// ClosePolls is CloseTimers with polls on eventfds.
func ClosePolls(n, rounds int) (measure.Sample, error) {
	var r C.raw_result
	return sample(C.raw_close_polls(C.uint32_t(n), C.uint32_t(rounds), &r), &r)
}

func numbers64(s []uint64) *C.uint64_t { return (*C.uint64_t)(unsafe.Pointer(unsafe.SliceData(s))) }
func numbers32(s []uint32) *C.uint32_t { return (*C.uint32_t)(unsafe.Pointer(unsafe.SliceData(s))) }
