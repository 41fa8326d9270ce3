package cuv

// #include "cuv.h"
import "C"

// Kind is a type of libuv handle that this package opens.
type Kind int

const (
	KindTimer  Kind = C.CUV_TIMER
	KindPoll   Kind = C.CUV_POLL
	KindSignal Kind = C.CUV_SIGNAL
	KindAsync  Kind = C.CUV_ASYNC
)

// Kinds lists them all.
var Kinds = []Kind{KindTimer, KindPoll, KindSignal, KindAsync}

func (k Kind) String() string { return [...]string{"timer", "poll", "signal", "async"}[k] }

// HandleCount is how many handles of one kind were opened, and how many of them had their close callback.
type HandleCount struct{ Opened, Closed uint64 }

// Handles counts this loop's handles; all zero once it is closed. The loop's own wake-up handle is not counted.
func (l *Loop) Handles(k Kind) HandleCount {
	if l.state == loopClosed {
		return HandleCount{}
	}
	return HandleCount{uint64(l.c.opened[k]), uint64(l.c.closed[k])}
}

// ProcessHandles counts the handles of all loops of the process, closed loops included. Any goroutine may call it.
func ProcessHandles() map[Kind]HandleCount {
	var opened, closed [C.CUV_KINDS]C.uint64_t
	C.cuv_totals(&opened[0], &closed[0])
	counts := make(map[Kind]HandleCount, len(Kinds))
	for _, k := range Kinds {
		counts[k] = HandleCount{uint64(opened[k]), uint64(closed[k])}
	}
	return counts
}

// Walk asks libuv itself which handles are on the loop, those that closing has not yet finished with included, and counts
// them by libuv's name of their type. The loop's own wake-up handle is left out.
func (l *Loop) Walk() map[string]int {
	found := map[string]int{}
	if l.state == loopClosed {
		return found
	}
	var counts [C.UV_HANDLE_TYPE_MAX]C.uint64_t
	C.cuv_count_handles(l.c, &counts[0])
	for t, n := range counts {
		if n > 0 {
			found[C.GoString(C.uv_handle_type_name(C.uv_handle_type(t)))] = int(n)
		}
	}
	return found
}
