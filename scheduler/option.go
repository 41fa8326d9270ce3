package scheduler

import (
	"reflect"
	"time"

	"github.com/uvasync/uvasync/event"
)

// WaitOption bounds a wait. It is a small value: passing one allocates nothing.
type WaitOption struct {
	limited bool
	limit   time.Duration
	token   event.Event
}

// Timeout ends a wait after d with an error that matches ErrTimeout and [context.DeadlineExceeded]. The wait answers a d
// that is not positive with an *event.InvalidArgumentError (REACT-08).
func Timeout(d time.Duration) WaitOption { return WaitOption{limited: true, limit: d} }

// Token ends a wait when ev happens, with an *event.CancelledError whose Token is set and whose Reason is the error that ev
// delivered, if any (CANC-23). What was waited for goes on. A wait that needs not suspend does not look at the token
// (CANC-25); one that has fired before ends the wait at once (CANC-24).
func Token(ev event.Event) WaitOption {
	return WaitOption{token: ev}
}

// CheckOptions returns an *event.InvalidArgumentError that names the call when an option is illegal. Park checks too; a
// call whose effect comes before its wait checks first.
func CheckOptions(call string, opts []WaitOption) error {
	for i := range opts {
		o := &opts[i]
		switch {
		case o.limited && o.limit <= 0:
			return invalid(call, "timeout", o.limit, "it must be positive")
		case !o.limited && unmade(o.token):
			return invalid(call, "token", nil, "pass the event that ends the wait")
		}
	}
	return nil
}

// unmade reports whether there is no event. One that refuses some coroutines is asked when it is known who waits.
func unmade(ev event.Event) bool {
	if ev == nil {
		return true
	}
	if _, refusing := ev.(Refusing); refusing {
		v := reflect.ValueOf(ev)
		return v.Kind() == reflect.Pointer && v.IsNil()
	}
	return ev.AsEvent() == nil
}

// TokenOf returns the event of the token among the options; nil when there is none that co can wait for.
func TokenOf(co *Coroutine, opts []WaitOption) *event.Base {
	for i := range opts {
		if o := &opts[i]; o.token != nil {
			base, err := co.Reachable("", o.token)
			if err != nil {
				return nil
			}
			return base
		}
	}
	return nil
}

// TimeoutOf returns the time limit among the options, or 0.
func TimeoutOf(opts []WaitOption) time.Duration {
	for i := range opts {
		if opts[i].limited {
			return opts[i].limit
		}
	}
	return 0
}
