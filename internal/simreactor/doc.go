// Package simreactor is a reactor without a machine behind it: time is a number, and nothing happens but what the program
// itself starts, fires and posts. A program that waits for hours runs in microseconds, and the same seed gives the same
// run. It takes the place of a reactor.Loop wherever only the small interface of the scheduler is asked for.
//
// # How time passes
//
// The clock begins at [Epoch]. It stands still while code runs, however long that takes. Only a turn that may block moves
// it: with nothing to do now, [Reactor.Tick] jumps to the earliest deadline or timer instead of waiting for it. Turns
// that do not block serve what is due at the present time. [Reactor.Advance] moves the clock by hand, to stand for work
// that took a while.
//
// # Order
//
// Deadlines and timers happen in the order of their times. Those of one nanosecond, and the triggers fired by then, happen
// in the order of their starts, or shuffled by the seed with [Reactor.SetShuffle]: nobody may rely on that order, and a
// shuffled test shows who does. What is posted runs in the order of the calls, always.
//
// # What has no place here
//
// Another goroutine would bring its own timing with it, so what it asks for is refused with event.ErrNotSimulated as far
// as it can be recognised; see [Reactor.SetOnLoop].
//
// Ids such as REACT-01 name the rules that the library obeys.
package simreactor
