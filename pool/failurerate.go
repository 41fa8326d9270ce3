package pool

import "time"

// FailureRate is a [Strategy] that turns the pool off when too great a part of the latest results are failures. It lets
// probes through and turns the pool on again as [ConsecutiveFailures] does. Give its address to Config.Strategy, one for each
// pool:
//
//	Strategy: &pool.FailureRate{Rate: 0.2, Window: time.Minute}
//
// It decides when a failure is reported, never at a success. The fields have defaults, and must not be changed once the pool
// has it. New refuses fields out of their range with *event.InvalidArgumentError. The methods are for the pool to call.
type FailureRate struct {
	// Rate is the part of the results in Window that turns the pool off when they are failures, above 0 and up to 1. 0: 0.5.
	Rate float64
	// Window is for how long a result counts. It slides in tenths: a result is forgotten when between nine and ten of them have
	// passed. A change of the state forgets all. 0: 10 s.
	Window time.Duration
	// MinResults is how many results Window must have for a decision, 1 or more. 0: 20.
	MinResults int
	// CoolDown is how long the pool has been Inactive, whoever turned it off, before a probe goes through. 0: 30 s.
	CoolDown time.Duration
	// MaxProbes is how many probes may be out at once, 1 or more. 0: 1.
	MaxProbes int
	// Successes of probes in a row turn the pool on, 1 or more. 0: 1.
	Successes int

	results  rateWindow // while Active; loop goroutine only, as is recovery
	recovery recovery
	attachment
}

const (
	defaultRate       = 0.5
	defaultWindow     = 10 * time.Second
	defaultMinResults = 20
)

// Check returns what is wrong with the fields, as *event.InvalidArgumentError. New calls it.
func (f *FailureRate) Check() error {
	switch {
	case f == nil:
		return invalid("Strategy", nil, "pass the address of a FailureRate, or no strategy at all")
	case !(f.Rate >= 0 && f.Rate <= 1): // NaN is neither
		return invalid("FailureRate.Rate", f.Rate, "it must be above 0 and at most 1; 0 is the default of 0.5")
	case f.Window < 0:
		return invalid("FailureRate.Window", f.Window, "it must not be negative; 0 is the default of 10s")
	case f.MinResults < 0:
		return invalid("FailureRate.MinResults", f.MinResults, "it must be at least 1; 0 is the default of 20")
	}
	return checkRecovery("FailureRate", f.CoolDown, f.MaxProbes, f.Successes)
}

func (f *FailureRate) attach(pool string) error {
	if err := f.attachment.attach(pool); err != nil {
		return err
	}
	f.results, f.recovery = rateWindow{}, recovery{}
	return nil
}

// ReportSuccess implements [Strategy].
func (f *FailureRate) ReportSuccess(src Source) {
	switch src.State() {
	case Active:
		f.slide(src).good++
	case Recovering:
		f.recovery.goodProbe(src, f.Successes)
	}
}

// ReportFailure implements [Strategy].
func (f *FailureRate) ReportFailure(src Source, _ error) {
	switch src.State() {
	case Active:
		f.slide(src).bad++
		if f.tooMany() {
			_ = src.Deactivate() // it fails off the loop only, where nobody may report
		}
	case Recovering:
		_ = src.Deactivate()
	}
}

// tooMany divides, because Rate times the number of results may come out above a rate that was reached exactly.
func (f *FailureRate) tooMany() bool {
	sum := f.results.sum()
	all := sum.good + sum.bad
	return all >= orDefault(f.MinResults, defaultMinResults) &&
		float64(sum.bad)/float64(all) >= orDefault(f.Rate, defaultRate)
}

// ShouldRecover implements [Strategy].
func (f *FailureRate) ShouldRecover(src Source) bool { return f.recovery.due(src, f.CoolDown) }

// Probes implements [Prober].
func (f *FailureRate) Probes() int { return orDefault(f.MaxProbes, defaultMaxProbes) }

// StateChanged implements [StateWatcher]: a state begins without a past.
func (f *FailureRate) StateChanged(src Source, _, to State) {
	f.results = rateWindow{}
	f.recovery.changed(src, to)
}

func (f *FailureRate) slide(src Source) *tally {
	return f.results.slide(src.Now(), max(orDefault(f.Window, defaultWindow)/steps, 1))
}

// steps is how many parts a window slides in.
const steps = 10

type tally struct{ good, bad int }

// rateWindow is a ring of tallies, each of the results of one step of time.
type rateWindow struct {
	steps [steps]tally
	at    int       // the step that now is in
	start time.Time // of that step; zero: there was no result yet
}

// slide forgets what is too old at now, and returns the tally of the current step. A clock that went back has stood still.
func (w *rateWindow) slide(now time.Time, step time.Duration) *tally {
	if w.start.IsZero() {
		w.start = now
	}
	if since := now.Sub(w.start); since >= step {
		passed := since / step
		for range min(passed, steps) {
			w.at = (w.at + 1) % steps
			w.steps[w.at] = tally{}
		}
		// Counted back from now: after a jump of centuries since is only as far as a Duration goes.
		w.start = now.Add(-(since % step))
	}
	return &w.steps[w.at]
}

func (w *rateWindow) sum() (all tally) {
	for _, t := range w.steps {
		all.good += t.good
		all.bad += t.bad
	}
	return all
}
