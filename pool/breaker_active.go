package pool

// whileActive lets everything through. The probe count is not kept: it says nothing here.
type whileActive struct{}

// admit is for those that found another state and saw it change; [breaker.admit] answers the others by itself.
func (whileActive) admit(*breaker) bool           { return true }
func (whileActive) success(b *breaker)            { b.reportSuccess() }
func (whileActive) failure(b *breaker, err error) { b.reportFailure(err) }
func (whileActive) nothing(*breaker)              {}
