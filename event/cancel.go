package event

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrNotSimulated: the call would leave the simulation that the program runs in: real I/O, or a post from a goroutine
// that the simulation knows nothing of.
var ErrNotSimulated = errors.New("event: not possible in a simulation; run this on a real loop")

// CancelledError says that whoever waited was cancelled. It matches [context.Canceled].
type CancelledError struct {
	Reason error // what Cancel was given, or the error of the token; may be nil
	Token  bool  // a token fired: only this operation was cancelled, not the coroutine (CANC-23)
}

func (e *CancelledError) Error() string {
	text := "cancelled"
	if e.Token {
		text = "operation cancelled by its token"
	}
	if e.Reason != nil {
		text += ": " + fmt.Sprint(e.Reason)
	}
	return text
}

// Is reports whether target is [context.Canceled].
func (e *CancelledError) Is(target error) bool { return target == context.Canceled }

// Unwrap returns the reason.
func (e *CancelledError) Unwrap() error { return e.Reason }

// IsCancellation reports whether err is nothing but a cancellation: a [CancelledError] itself or wrapped, with no failure
// of another kind beside it. Such an outcome is never an unhandled failure (CANC-19).
func IsCancellation(err error) (is bool) {
	switch err.(type) {
	case nil:
		return false
	case *CancelledError: // nearly always
		return true
	}
	// The Unwrap of somebody's error may panic; such an error is a failure.
	defer func() {
		if recover() != nil {
			is = false
		}
	}()
	return isCancellation(err)
}

func isCancellation(err error) bool {
	switch e := err.(type) {
	case nil:
		return false
	case *CancelledError:
		return true
	case *PanicError:
		return false
	case interface{ Unwrap() error }:
		return isCancellation(e.Unwrap())
	case interface{ Unwrap() []error }:
		all := e.Unwrap()
		for _, one := range all {
			if !isCancellation(one) {
				return false
			}
		}
		return len(all) > 0
	}
	return err == context.Canceled
}

// CompositeError is several failures, in the order in which they happened.
type CompositeError struct{ Errors []error }

func (e *CompositeError) Error() string {
	texts := make([]string, len(e.Errors))
	for i, err := range e.Errors {
		texts[i] = fmt.Sprintf("(%d) %v", i+1, err)
	}
	what := "errors"
	if len(texts) == 1 {
		what = "error"
	}
	return fmt.Sprintf("%d %s: %s", len(texts), what, strings.Join(texts, "; "))
}

// Unwrap returns the failures.
func (e *CompositeError) Unwrap() []error { return e.Errors }

// Join returns nil for no error, the error itself for one, and a [CompositeError] for several. Nil ones do not count, nor do
// those that an earlier one has in its chain.
func Join(errs ...error) error {
	var some []error
	for _, err := range errs {
		if err != nil && !slices.ContainsFunc(some, func(earlier error) bool { return contains(earlier, err) }) {
			some = append(some, err)
		}
	}
	switch len(some) {
	case 0:
		return nil
	case 1:
		return some[0]
	}
	return &CompositeError{some}
}

// contains is errors.Is for errors of any type: comparing a struct that holds a slice in an interface panics.
func contains(err, cause error) (is bool) {
	defer func() { _ = recover() }()
	return errors.Is(err, cause)
}

type causedError struct{ err, cause error }

// mostCauses is how many causes the text of an error names; of more, the latest and the first.
const mostCauses = 8

// Error names the causes one after the other, latest first. A chain may have thousands.
func (e *causedError) Error() string {
	var causes []error
	for e := e; e != nil; {
		next, ok := e.cause.(*causedError)
		if !ok {
			causes = append(causes, e.cause)
			break
		}
		causes = append(causes, next.err)
		e = next
	}
	var b strings.Builder
	fmt.Fprint(&b, e.err) // which survives an Error that panics
	b.WriteString(" (after: ")
	for i, cause := range causes {
		if left := len(causes) - 1 - i; i == mostCauses-1 && left > 0 {
			fmt.Fprintf(&b, "; and %d more; first: %v", left, causes[len(causes)-1])
			break
		}
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprint(&b, cause)
	}
	b.WriteString(")")
	return b.String()
}

func (e *causedError) Unwrap() []error { return []error{e.err, e.cause} }

// WithCause returns err with an earlier one behind it: it matches both, so that neither is lost (GEN-08). With one of them
// nil, or when err has cause in its chain already, it returns what is there.
func WithCause(err, cause error) error {
	switch {
	case err == nil:
		return cause
	case cause == nil || contains(err, cause):
		return err
	}
	return &causedError{err, cause}
}
