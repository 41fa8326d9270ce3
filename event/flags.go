package event

import (
	"strconv"
	"strings"
)

// Flags is what is known about an event, one bit each.
type Flags uint32

// The flags of an event.
const (
	// FlagClosed: no more subscriptions, and it cannot be started. Final: it is never cleared.
	FlagClosed Flags = 1 << iota
	// FlagResultUsed: somebody took the result.
	FlagResultUsed
	// FlagErrorCaught: a subscriber will deal with the error that is being delivered.
	FlagErrorCaught
	// FlagErrorHandled: the error was dealt with and must not be reported again.
	FlagErrorHandled
	// FlagReference: this is a [Reference] to the event, not the event. Never set on a [Base].
	FlagReference
	// FlagCloseFD: the event owns its file descriptor and closes it with itself.
	FlagCloseFD
	// FlagHidden: never part of the live count, so it neither keeps the loop alive nor hides a deadlock (EVT-04).
	FlagHidden
	// FlagNoFree: the memory belongs to somebody else; the last Dispose does not call [Kind.DisposeEvent].
	FlagNoFree
	// FlagPeriodic: happens again and again; firing does not close it.
	FlagPeriodic
)

var flagNames = [...]string{
	"closed", "result-used", "error-caught", "error-handled", "reference", "close-fd", "hidden", "no-free", "periodic",
}

// String returns the names of the set flags joined by |, "none" for no flag; bits without a name appear in hexadecimal.
func (f Flags) String() string {
	if f == 0 {
		return "none"
	}
	var names []string
	for bit, name := range flagNames {
		if f&(1<<bit) != 0 {
			names = append(names, name)
		}
	}
	if rest := f &^ (1<<len(flagNames) - 1); rest != 0 {
		names = append(names, "0x"+strconv.FormatUint(uint64(rest), 16))
	}
	return strings.Join(names, "|")
}
