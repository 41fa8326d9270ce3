// Package naive is the binding that nobody should write: Go calls C for every
// start, and C calls Go for every firing. It is kept so that the reason for
// the library's rings stays measurable.
package naive

/*
#cgo CFLAGS: -O2
#cgo pkg-config: libuv
#include "naive.h"
*/
import "C"

import (
	"fmt"
	"time"

	"github.com/uvasync/uvasync/bench/internal/measure"
	"github.com/uvasync/uvasync/bench/raw"
)

type mill struct {
	c      *C.naive
	random measure.Random
	most   uint32
	fires  uint64
	err    error
}

// current is the mill that turns. C reaches it by this variable; one benchmark
// runs at a time.
var current *mill

//export naiveFired
func naiveFired(timer C.uintptr_t) {
	m := current
	m.fires++
	if err := m.start(C.uint32_t(timer)); err != nil {
		m.err = err
	}
}

func (m *mill) start(timer C.uint32_t) error {
	ms := m.random.Milliseconds(m.most) / time.Millisecond
	if rc := C.naive_start(m.c, timer, C.uint64_t(ms)); rc < 0 {
		return fmt.Errorf("uv_timer_start: error %d", int(rc))
	}
	return nil
}

func (m *mill) turn() {
	raw.Advance(time.Millisecond)
	C.naive_turn(m.c)
}

func (m *mill) run(fires uint64, s *measure.Sample) error {
	for range 2 * m.most {
		m.turn()
	}
	m.fires = 0
	return s.Timed(func() error {
		for m.fires < fires && m.err == nil {
			m.turn()
			s.Turns++
		}
		return m.err
	})
}

// Timers is raw.Timers through this binding.
func Timers(n int, most uint32, seed, fires uint64) (s measure.Sample, err error) {
	m := &mill{random: measure.NewRandom(seed), most: most}
	if rc := C.naive_open(C.uint32_t(n), &m.c); rc < 0 {
		return s, fmt.Errorf("naive_open: error %d", int(rc))
	}
	current = m
	defer func() {
		current = nil
		if rc := C.naive_close(m.c); rc < 0 && err == nil {
			err = fmt.Errorf("naive_close: error %d", int(rc))
		}
	}()

	for i := range n {
		if err := m.start(C.uint32_t(i)); err != nil {
			return s, err
		}
	}
	err = m.run(fires, &s)
	s.Starts, s.Events = m.fires, m.fires
	return s, err
}
