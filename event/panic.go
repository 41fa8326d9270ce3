package event

import (
	"fmt"
	"strings"
)

// PanicError is a panic in user code, carried to where it can be handled.
type PanicError struct {
	Value any    // what panic was called with
	Stack []byte // the stack of the goroutine that panicked, at the panic
}

func (e *PanicError) Error() string {
	text := fmt.Sprintf("event: user code panicked: %v", e.Value)
	if _, at := e.frames(); at != "" {
		text += " at " + at
	}
	return text
}

// Unwrap returns the value of the panic when it is an error, else nil.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Trace returns the stack from the function on that panicked, without those that carried the panic here and those that ran the
// coroutine.
func (e *PanicError) Trace() string {
	trace, _ := e.frames()
	return trace
}

// frames finds the function that panicked: the first behind the call of panic that is not the runtime's own.
func (e *PanicError) frames() (trace, at string) {
	lines := strings.Split(string(e.Stack), "\n")
	for i, line := range lines {
		if !strings.HasPrefix(line, "panic(") {
			continue
		}
		i += 2
		for i+1 < len(lines) && strings.HasPrefix(lines[i], "runtime.") {
			i += 2
		}
		if i+1 >= len(lines) {
			break
		}
		at, _, _ = strings.Cut(strings.TrimSpace(lines[i+1]), " +0x")
		end := i
		for end < len(lines) && !strings.Contains(lines[end], "/scheduler.(*fiber).exec(") {
			end++
		}
		return strings.Join(lines[i:end], "\n"), at
	}
	return string(e.Stack), ""
}
