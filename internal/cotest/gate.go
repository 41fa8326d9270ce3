package cotest

import "github.com/uvasync/uvasync/event"

// Gate is an event that happens as often as it is told to, on the loop, and stores nothing.
type Gate struct {
	event.Base
	Starts, Stops int
}

type gateKind struct {
	event.NopKind
	g *Gate
}

func (k gateKind) StartEvent() error { k.g.Starts++; return nil }
func (k gateKind) StopEvent()        { k.g.Stops++ }
func (k gateKind) Info() string      { return "gate" }

// NewGate makes a hidden one, for which waiting is no reason to wait for the event loop. It is counted by count; nil for one of no
// loop.
func NewGate(count *event.Count) *Gate { return newGate(count, event.FlagPeriodic|event.FlagHidden) }

func newGate(count *event.Count, flags event.Flags) *Gate {
	g := &Gate{}
	g.Init(gateKind{g: g}, count, flags)
	return g
}

// Gate makes a hidden one of the Env's loop.
func (e *Env) Gate() *Gate { return NewGate(e.W.Count()) }

// LiveGate makes one that is a visible event while somebody waits for it.
func (e *Env) LiveGate() *Gate { return newGate(e.W.Count(), event.FlagPeriodic) }

// Open has it happen now: who waits for it gets the result and the error.
func (g *Gate) Open(result any, err error) { _ = g.Notify(result, err) }
