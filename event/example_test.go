package event_test

import (
	"errors"
	"fmt"

	"github.com/uvasync/uvasync/event"
)

// Doorbell is a type of event of its own: it rings as often as somebody presses it.
type Doorbell struct {
	event.Base
}

type doorbellKind struct{ event.NopKind }

func (doorbellKind) StartEvent() error { fmt.Println("plugged in"); return nil }
func (doorbellKind) StopEvent()        { fmt.Println("unplugged") }
func (doorbellKind) Info() string      { return "doorbell" }

func NewDoorbell(live *event.Count) *Doorbell {
	d := &Doorbell{}
	d.Init(doorbellKind{}, live, event.FlagPeriodic)
	return d
}

func (d *Doorbell) Press(who string) {
	if err := d.Notify(who, nil); err != nil {
		fmt.Println(err)
	}
}

// A new type of event embeds Base, says what is special about it in a Kind, and calls Notify when it happens.
func Example() {
	var live event.Count
	bell := NewDoorbell(&live)

	// This one listens for good, the next only once.
	_, _ = bell.Subscribe(func(_ *event.Base, _ *event.Callback, who any, _ error) {
		fmt.Println("open the door for", who)
	})
	_, _ = bell.Subscribe(func(b *event.Base, cb *event.Callback, who any, _ error) {
		fmt.Println("the dog barks at", who)
		b.DelCallback(cb)
	})

	_ = bell.Start()
	fmt.Println("live events:", live.Value())
	bell.Press("the postman")
	bell.Press("the neighbour")
	bell.Dispose()
	fmt.Println("live events:", live.Value())

	_, err := bell.Subscribe(func(*event.Base, *event.Callback, any, error) {})
	fmt.Println(errors.Is(err, event.ErrClosed), err)
	// Output:
	// plugged in
	// live events: 1
	// open the door for the postman
	// the dog barks at the postman
	// open the door for the neighbour
	// unplugged
	// live events: 0
	// true event: Subscribe: doorbell is closed; make a new one
}
