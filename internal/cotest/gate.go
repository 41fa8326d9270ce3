package cotest

import "github.com/uvasync/uvasync/event"

// Gate is an event that happens as often as it is told to, on the loop, and stores nothing. Waiting for one is no reason to wait
// for the event loop.
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

// NewGate makes one that is counted by count; nil for one of no loop.
func NewGate(count *event.Count) *Gate {
	g := &Gate{}
	g.Init(gateKind{g: g}, count, event.FlagPeriodic|event.FlagHidden)
	return g
}

// Gate makes one of the Env's loop.
func (e *Env) Gate() *Gate { return NewGate(e.W.Count()) }

// Open has it happen now: who waits for it gets the result and the error.
func (g *Gate) Open(result any, err error) { _ = g.Notify(result, err) }
