package uvasync

import (
	"errors"
	"strings"

	"github.com/uvasync/uvasync/event"
)

// Report is an error of [Run] for people: its text, and the stack of the panic if there was one.
func Report(err error) string {
	if err == nil {
		return ""
	}
	var b strings.Builder
	b.WriteString(err.Error())
	var p *event.PanicError
	if errors.As(err, &p) {
		b.WriteString("\n\n" + p.Trace())
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}
