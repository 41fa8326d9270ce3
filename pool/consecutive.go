package pool

import "time"

// ConsecutiveFailures is a [Strategy] that turns the pool off after some failures in a row, lets probes through after some
// time, and turns it on again after some good ones in a row; a bad probe turns it off for that time again. Give its address
// to Config.Strategy, one for each pool:
//
//	Strategy: &pool.ConsecutiveFailures{Failures: 3, CoolDown: 10 * time.Second}
//
// The fields have defaults, and must not be changed once the pool has it. New refuses negative ones with
// *event.InvalidArgumentError. The methods are for the pool to call.
type ConsecutiveFailures struct {
	// Failures in a row turn the pool off, 1 or more. 0: 5.
	Failures int
	// CoolDown is how long the pool has been Inactive, whoever turned it off, before a probe goes through. 0: 30 s.
	CoolDown time.Duration
	// MaxProbes is how many probes may be out at once, 1 or more. 0: 1.
	MaxProbes int
	// Successes of probes in a row turn the pool on, 1 or more. 0: 1.
	Successes int

	bad      int // failures in a row while Active; loop goroutine only, as is recovery
	recovery recovery
	attachment
}

const defaultFailures = 5

// Check returns what is wrong with the fields, as *event.InvalidArgumentError. New calls it.
func (c *ConsecutiveFailures) Check() error {
	switch {
	case c == nil:
		return invalid("Strategy", nil, "pass the address of a ConsecutiveFailures, or no strategy at all")
	case c.Failures < 0:
		return invalid("ConsecutiveFailures.Failures", c.Failures, "it must be at least 1; 0 is the default of 5")
	}
	return checkRecovery("ConsecutiveFailures", c.CoolDown, c.MaxProbes, c.Successes)
}

func (c *ConsecutiveFailures) attach(pool string) error {
	if err := c.attachment.attach(pool); err != nil {
		return err
	}
	c.bad, c.recovery = 0, recovery{}
	return nil
}

// ReportSuccess implements [Strategy].
func (c *ConsecutiveFailures) ReportSuccess(src Source) {
	switch src.State() {
	case Active:
		c.bad = 0
	case Recovering:
		c.recovery.goodProbe(src, c.Successes)
	}
}

// ReportFailure implements [Strategy].
func (c *ConsecutiveFailures) ReportFailure(src Source, _ error) {
	switch src.State() {
	case Active:
		c.bad++
		if c.bad >= orDefault(c.Failures, defaultFailures) {
			_ = src.Deactivate() // it fails off the loop only, where nobody may report
		}
	case Recovering:
		_ = src.Deactivate()
	}
}

// ShouldRecover implements [Strategy].
func (c *ConsecutiveFailures) ShouldRecover(src Source) bool { return c.recovery.due(src, c.CoolDown) }

// Probes implements [Prober].
func (c *ConsecutiveFailures) Probes() int { return orDefault(c.MaxProbes, defaultMaxProbes) }

// StateChanged implements [StateWatcher]: a state begins without a past.
func (c *ConsecutiveFailures) StateChanged(src Source, _, to State) {
	c.bad = 0
	c.recovery.changed(src, to)
}
