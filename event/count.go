package event

// Count is the live count of one loop: how many visible events are started. At zero the loop has nothing left to wait
// for. The zero value is ready. Loop goroutine only.
type Count struct {
	n int // loop goroutine only
}

// Value returns the count.
func (c *Count) Value() int { return c.n }

// Add moves the count by delta. It panics when the count falls below zero, because then something was stopped that had
// never been counted, and the loop would end under somebody who still waits.
func (c *Count) Add(delta int) {
	c.n += delta
	if c.n < 0 {
		panic("bug: event: the live count fell below zero")
	}
}
