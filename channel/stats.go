package channel

import (
	"strconv"
	"strings"
)

// Stats is what a channel is doing.
type Stats struct {
	Len, Cap          int  // as [Channel.Len] and [Channel.Cap]
	WaitingReceivers  int  // futures of RecvAsync and cases of Select with them; nothing is set aside for them
	WaitingSenders    int  // cases of Select with them; no slot is set aside for them
	ReservedReceivers int  // woken for a value that they have not taken yet
	ReservedSenders   int  // woken for a slot that they have not filled yet
	Closed            bool // there may be values left
}

// Stats returns what the channel is doing. Loop only.
func (c *Channel[T]) Stats() Stats {
	c.must("channel: Stats")
	return Stats{
		Len: c.len(), Cap: c.capacity,
		WaitingReceivers: c.receivers.Waiting(), WaitingSenders: c.senders.Waiting(),
		ReservedReceivers: c.receivers.Reserved(), ReservedSenders: c.senders.Reserved(),
		Closed: c.reason != nil,
	}
}

// Info describes the channel for people: "channel jobs 3/10, receivers 0 waiting 1 reserved, senders 2 waiting 0
// reserved" (EVT-16). Loop only.
func (c *Channel[T]) Info() string {
	var b strings.Builder
	b.WriteString(c.brief())
	line := func(who string, waiting, reserved int) {
		b.WriteString(", " + who + " " + strconv.Itoa(waiting) + " waiting " + strconv.Itoa(reserved) + " reserved")
	}
	line("receivers", c.receivers.Waiting(), c.receivers.Reserved())
	line("senders", c.senders.Waiting(), c.senders.Reserved())
	if c.reason != nil {
		b.WriteString(", closed")
	}
	return b.String()
}

// brief is "channel jobs 3/10": what is in it, of how many.
func (c *Channel[T]) brief() string {
	b := "channel "
	if c.name != "" {
		b += c.name + " "
	}
	return b + strconv.Itoa(c.len()) + "/" + strconv.Itoa(c.capacity)
}
