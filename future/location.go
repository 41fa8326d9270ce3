package future

import (
	"runtime"
	"strconv"
)

// location turns a program counter into "file:line"; "" for none.
func location(pc uintptr) string {
	if pc == 0 {
		return ""
	}
	frame, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	if frame.File == "" {
		return ""
	}
	return frame.File + ":" + strconv.Itoa(frame.Line)
}
