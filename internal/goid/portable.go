package goid

import (
	"bytes"
	"runtime"
	"strconv"
)

// portable reads the id from the first line of a stack trace, "goroutine 17 [running]:". It takes some microseconds.
func portable() uintptr {
	var buf [64]byte
	fields := bytes.Fields(buf[:runtime.Stack(buf[:], false)])
	id, err := strconv.ParseUint(string(fields[1]), 10, strconv.IntSize)
	if err != nil {
		panic("bug: goid: a stack trace does not begin with the goroutine's id: " + string(buf[:]))
	}
	return uintptr(id)
}
