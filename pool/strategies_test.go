package pool_test

import (
	"github.com/uvasync/uvasync/pool"
)

// recorder is a strategy that notes what it is told, and does what its fields say.
type recorder struct {
	steps   []string
	errs    []error
	success func(src pool.Source)
	failure func(src pool.Source, err error)
	recover func(src pool.Source) bool
}

func (r *recorder) ReportSuccess(src pool.Source) {
	r.steps = append(r.steps, "success")
	if r.success != nil {
		r.success(src)
	}
}

func (r *recorder) ReportFailure(src pool.Source, err error) {
	r.steps = append(r.steps, "failure")
	r.errs = append(r.errs, err)
	if r.failure != nil {
		r.failure(src, err)
	}
}

func (r *recorder) ShouldRecover(src pool.Source) bool {
	r.steps = append(r.steps, "should recover")
	return r.recover != nil && r.recover(src)
}

// said returns the steps so far and forgets them.
func (r *recorder) said() []string {
	steps := r.steps
	r.steps = nil
	return steps
}

// limited is a strategy that lets some probes through at once.
type limited struct {
	*recorder
	most int
}

func (l limited) Probes() int { return l.most }
