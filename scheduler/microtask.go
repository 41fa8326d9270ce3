package scheduler

// Microtask has fn run before the next coroutine goes on, outside of any coroutine: it must not suspend. Its failure is one of
// the run, and those behind it stay in the queue (CORO-32). Errors: *event.InvalidArgumentError for nil, *event.UsageError
// when the caller is not on the loop.
func (s *Scheduler) Microtask(fn func() error) error {
	const call = "Scheduler.Microtask"
	if err := s.Check(call); err != nil {
		return err
	}
	if fn == nil {
		return invalid(call, "function", nil, "pass what to run")
	}
	s.micro.Push(fn)
	return nil
}

// microtasks runs those that are queued.
func (s *Scheduler) microtasks() {
	// Those that they queue are looked at in the next round, so that the loop below them is not forgotten.
	for n := s.micro.Len(); n > 0 && s.micro.Len() > 0; n-- {
		s.microtask(s.micro.Pop())
	}
}

func (s *Scheduler) microtask(fn func() error) {
	returned := false
	defer s.guard(&returned)
	err := fn()
	returned = true
	if err != nil {
		s.Fail(err)
	}
}
