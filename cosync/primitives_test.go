package cosync_test

import (
	"errors"

	"github.com/uvasync/uvasync/cosync"
	"github.com/uvasync/uvasync/scheduler"
)

// object is one primitive as the suite sees it: a place that coroutines wait in front of while somebody holds it.
type object struct {
	hold    func(co *coroutine, fn body) error                 // others wait while fn runs
	with    func(co *coroutine, fn body, opts ...option) error // fn runs when the wait is over; then the next may go on
	waiting func() int                                         // how many wait, and nothing is set aside for them
	try     func(co *coroutine) bool                           // takes and gives back without waiting; nil: there is no such call
	refuse  map[string]func(co *coroutine)                     // calls that panic from a foreign goroutine
	go_     func(co scheduler.Spawner) (*coroutine, error)     // nil: there is no such call
}

// primitive makes objects of one kind.
type primitive struct {
	name   string
	make   func() *object
	serial bool   // those who wait go on one after the other
	report string // what a deadlock report says of who waits while "holder" holds
}

var primitives = []primitive{
	{"Mutex", mutex, true, `mutex, held by coroutine \d+ "holder"`},
	{"RWMutex, writers", writers, true, `read-write mutex, held for writing by coroutine \d+ "holder"`},
	{"RWMutex, a writer behind a reader", writersBehindReader, true, `read-write mutex, held for reading by coroutine \d+ "holder"`},
	{"RWMutex, readers behind a writer", readers, false, `read-write mutex, held for writing by coroutine \d+ "holder"`},
	{"Semaphore", func() *object { return semaphore(3, 2) }, true, `semaphore, 0 of 3 free, the first in line wants 2`},
	{"Semaphore, many at a time", func() *object { return semaphore(4000, 1) }, false, `semaphore, 0 of 4000 free, the first in line wants 1`},
	{"WaitGroup", waitGroup, false, `wait group, 1 still to be done`},
	{"Once, failing", onceFailing, true, `once, being done by coroutine \d+ "holder"`},
	{"Once", once, false, `once, being done by coroutine \d+ "holder"`},
	{"Cond", cond, true, `signal of a condition, whose lock is a mutex, not locked`},
}

func mutex() *object {
	m := &cosync.Mutex{}
	return &object{
		hold:    func(co *coroutine, fn body) error { return m.With(co, fn) },
		with:    m.With,
		waiting: func() int { return m.Stats().Waiting },
		try: func(co *coroutine) bool {
			if !m.TryLock(co) {
				return false
			}
			m.Unlock()
			return true
		},
		refuse: map[string]func(co *coroutine){
			"TryLock": func(co *coroutine) { m.TryLock(co) },
			"Unlock":  func(*coroutine) { m.Unlock() },
			"Stats":   func(*coroutine) { m.Stats() },
		},
	}
}

func rwMutex() (*cosync.RWMutex, *object) {
	m := &cosync.RWMutex{}
	return m, &object{
		hold:    func(co *coroutine, fn body) error { return m.With(co, fn) },
		with:    m.With,
		waiting: func() int { return m.Stats().Waiting },
		try: func(co *coroutine) bool {
			if !m.TryLock(co) {
				return false
			}
			m.Unlock()
			return true
		},
		refuse: map[string]func(co *coroutine){
			"TryLock":  func(co *coroutine) { m.TryLock(co) },
			"TryRLock": func(co *coroutine) { m.TryRLock(co) },
			"Unlock":   func(*coroutine) { m.Unlock() },
			"RUnlock":  func(*coroutine) { m.RUnlock() },
			"Stats":    func(*coroutine) { m.Stats() },
		},
	}
}

func writers() *object {
	_, o := rwMutex()
	return o
}

func writersBehindReader() *object {
	m, o := rwMutex()
	o.hold = func(co *coroutine, fn body) error { return m.RWith(co, fn) }
	return o
}

func readers() *object {
	m, o := rwMutex()
	o.with = m.RWith
	o.try = func(co *coroutine) bool {
		if !m.TryRLock(co) {
			return false
		}
		m.RUnlock()
		return true
	}
	return o
}

func semaphore(size, n int) *object {
	s := cosync.NewSemaphore(size)
	return &object{
		hold:    func(co *coroutine, fn body) error { return s.With(co, size, fn) },
		with:    func(co *coroutine, fn body, opts ...option) error { return s.With(co, n, fn, opts...) },
		waiting: func() int { return s.Stats().Waiting },
		try: func(co *coroutine) bool {
			if !s.TryAcquire(co, size) {
				return false
			}
			s.Release(size)
			return true
		},
		refuse: map[string]func(co *coroutine){
			"TryAcquire": func(co *coroutine) { s.TryAcquire(co, 1) },
			"Release":    func(*coroutine) { s.Release(1) },
			"Stats":      func(*coroutine) { s.Stats() },
		},
	}
}

func waitGroup() *object {
	g := &cosync.WaitGroup{}
	return &object{
		hold: func(co *coroutine, fn body) error {
			g.Add(1)
			defer g.Done()
			return fn(co)
		},
		with: func(co *coroutine, fn body, opts ...option) error {
			if err := g.Wait(co, opts...); err != nil {
				return err
			}
			return fn(co)
		},
		waiting: func() int { return g.Stats().Waiting },
		refuse: map[string]func(co *coroutine){
			"Add":   func(*coroutine) { g.Add(1) },
			"Done":  func(*coroutine) { g.Done() },
			"Stats": func(*coroutine) { g.Stats() },
		},
		go_: func(co scheduler.Spawner) (*coroutine, error) {
			return g.Go(co, func(*coroutine) error { return nil })
		},
	}
}

var errAgain = errors.New("the work is not done")

// onceFailing is a Once whose work always fails, so that everybody tries.
func onceFailing() *object {
	o := &cosync.Once{}
	with := func(co *coroutine, fn body, opts ...option) error {
		err := o.Do(co, func(co *coroutine) error {
			if err := fn(co); err != nil {
				return err
			}
			return errAgain
		}, opts...)
		if err == errAgain {
			return nil
		}
		return err
	}
	return &object{
		hold:    func(co *coroutine, fn body) error { return with(co, fn) },
		with:    with,
		waiting: func() int { return o.Stats().Waiting },
		refuse: map[string]func(co *coroutine){
			"Done":  func(*coroutine) { o.Done() },
			"Stats": func(*coroutine) { o.Stats() },
		},
	}
}

// once is a Once whose holder does the work.
func once() *object {
	o := &cosync.Once{}
	return &object{
		hold: func(co *coroutine, fn body) error { return o.Do(co, fn) },
		with: func(co *coroutine, fn body, opts ...option) error {
			if err := o.Do(co, func(*coroutine) error { return errAgain }, opts...); err != nil && err != errAgain {
				return err
			}
			return fn(co)
		},
		waiting: func() int { return o.Stats().Waiting },
	}
}

// cond is a condition; who has seen the signal passes it on.
func cond() *object {
	m := &cosync.Mutex{}
	c := cosync.NewCond(m)
	return &object{
		hold: func(co *coroutine, fn body) error {
			defer c.Signal()
			return fn(co)
		},
		with: func(co *coroutine, fn body, opts ...option) error {
			if err := m.Lock(co); err != nil {
				return err
			}
			defer m.Unlock()
			if err := c.Wait(co, opts...); err != nil {
				return err
			}
			defer c.Signal()
			return fn(co)
		},
		waiting: func() int { return c.Stats().Waiting },
		refuse: map[string]func(co *coroutine){
			"Signal":    func(*coroutine) { c.Signal() },
			"Broadcast": func(*coroutine) { c.Broadcast() },
			"Stats":     func(*coroutine) { c.Stats() },
		},
	}
}
