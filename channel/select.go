package channel

import (
	"fmt"
	"strings"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
)

// Case is one operation of a [Select]: [Channel.RecvCase], [Channel.SendCase] or [Default]. It can be used again when the
// Select has returned.
type Case interface {
	claim(co *scheduler.Coroutine) error // for one Select
	ready() bool                         // now would not wait
	now() error                          // does it; ready was true
	wait(s *selection, index int)        // stands in line
	leave()                              // leaves the line; what was set aside is passed on
	finish() error                       // was chosen, and runs
	release()                            // undoes claim
	failed(err error) error              // the error of a wait that failed
	roll() uint32                        // a random number
	info() string
}

// Default is the case that Select takes when no other one can be done at once: then it does not wait.
var Default Case = defaultCase{}

// Select waits until one of the operations can be done, does that one, and returns its index; the others have no effect,
// and nothing is lost on them (CHAN-39). Among several that can be done at once it chooses evenly.
//
// The index belongs to the error, too: an operation on a closed channel can be done, with *event.ClosedError. With any
// other error the index is -1, and nothing was done: the coroutine's cancellation, those of the options,
// *event.InvalidArgumentError for no cases or a nil case, *event.UsageError for a case that is in use (in this Select or
// another one), a channel of another run, or any misuse of co. It allocates when it waits.
func Select(co *scheduler.Coroutine, cases []Case, opts ...scheduler.WaitOption) (int, error) {
	if err := co.Enter(callSelect); err != nil {
		return -1, err
	}
	if err := scheduler.CheckOptions(callSelect, opts); err != nil {
		return -1, err
	}
	if err := claim(co, cases); err != nil {
		return -1, err
	}
	defer releaseAll(cases)
	if i := choose(cases); i >= 0 {
		err := cases[i].now()
		co.Lucky()
		return i, err
	}
	s := &selection{co: co, cases: cases, chosen: -1}
	for i, k := range cases {
		k.wait(s, i)
	}
	if err := co.Park(callSelect, s, opts...); err != nil {
		s.Leave(co) // a wait that never began
		for _, k := range cases {
			err = k.failed(err)
		}
		return s.rejected(), err
	}
	return s.chosen, cases[s.chosen].finish()
}

// choose returns a case that can be done at once: any of them, evenly, then the default, then -1.
func choose(cases []Case) int {
	ready, last, fallback := 0, -1, -1
	for i, k := range cases {
		switch {
		case k == Default:
			fallback = i
		case k.ready():
			ready++
			last = i
		}
	}
	switch ready {
	case 0:
		return fallback
	case 1:
		return last
	}
	pick := cases[last].roll() % uint32(ready)
	for i, k := range cases {
		if k == Default || !k.ready() {
			continue
		}
		if pick == 0 {
			return i
		}
		pick--
	}
	panic("bug: channel: a case was ready and is not")
}

func claim(co *scheduler.Coroutine, cases []Case) error {
	if len(cases) == 0 {
		return &event.InvalidArgumentError{Call: callSelect, Arg: "cases", Got: 0, Legal: "pass at least one"}
	}
	for i, k := range cases {
		var err error
		if k == nil {
			err = &event.InvalidArgumentError{Call: callSelect, Arg: fmt.Sprint("cases[", i, "]"), Got: nil, Legal: "pass what RecvCase or SendCase returned, or Default"}
		} else {
			err = k.claim(co)
		}
		if err != nil {
			releaseAll(cases[:i])
			return err
		}
	}
	return nil
}

func releaseAll(cases []Case) {
	for _, k := range cases {
		k.release()
	}
}

// selection is a Select that waits: in the line of every case, until one of them is chosen.
type selection struct {
	co     *scheduler.Coroutine
	cases  []Case
	chosen int  // -1: none yet
	closed bool // chosen because its channel was closed
}

// turn is the way from a place in line back to the Select that stands there.
type turn struct {
	selection *selection
	index     int
}

// choose is called by the channel of a case that has set something aside for it, or turned it away with an error: the
// other cases leave their lines in the same step, so that nothing is set aside there.
func (t *turn) choose(err error) {
	s := t.selection
	s.chosen = t.index
	for i, k := range s.cases {
		if i != t.index {
			k.leave()
		}
	}
	if err == nil {
		err = s.co.Unpark()
	} else {
		s.closed = true
		err = s.co.UnparkWith(err)
	}
	if err != nil {
		panic("bug: channel: " + err.Error())
	}
}

// rejected is the index for the error of a wait.
func (s *selection) rejected() int {
	if s.closed {
		return s.chosen
	}
	return -1
}

// Leave is part of [scheduler.Waiting].
func (s *selection) Leave(*scheduler.Coroutine) {
	for _, k := range s.cases {
		k.leave()
	}
}

// Info is part of [scheduler.Waiting].
func (s *selection) Info() string {
	infos := make([]string, len(s.cases))
	for i, k := range s.cases {
		infos[i] = k.info()
	}
	return "select of " + strings.Join(infos, ", ")
}
