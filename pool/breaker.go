package pool

// ticket is what an acquisition was admitted with, and its result is reported with: the number of the stretch between two changes of
// the state. 0 counts for nothing.
type ticket uint32

// host is the pool, as its breaker sees it.
type host interface {
	source() Source              // the pool, for strategies
	call(fn func() error) error  // runs somebody else's code; a panic is its error
	changed(from, to State)      // the state is another one; with Inactive, whoever waits for a resource is refused
	told(hook string, err error) // a failure of somebody else's code that no call returns
}

// behaviour is what a breaker does in one of its states; each is a type of its own without any data. The tickets that
// results came with have been checked.
type behaviour interface {
	admit(b *breaker) bool
	success(b *breaker)
	failure(b *breaker, err error)
	nothing(b *breaker)
}

var behaviours = [...]behaviour{Active: whileActive{}, Inactive: whileInactive{}, Recovering: whileRecovering{}}

// breaker decides which acquisitions go through (CB). All of it belongs to the loop goroutine.
type breaker struct {
	phase  State
	asking bool   // ShouldRecover is running
	ticket ticket // what is handed out now. Each change begins a new epoch; results of older ones are told to nobody
	out    int    // while Recovering, how many tickets are out; otherwise 0
	in     behaviour

	host      host
	strategy  Strategy     // nil: by hand only
	prober    Prober       // strategy, if it is one
	succeeded func() error // calls ReportSuccess; made once, because it runs with every release

	// The two that are told of changes. The strategy's never waits for the other: it must know the state that the next
	// result belongs to, also while OnStateChange is suspended or makes a further change.
	watcher  stateHook
	onChange stateHook
}

// init makes b ready; s and onChange may be nil.
func (b *breaker) init(h host, s Strategy, onChange func(from, to State)) {
	*b = breaker{
		ticket: 1, in: behaviours[Active],
		host: h, onChange: stateHook{name: "OnStateChange", tell: onChange}, watcher: stateHook{name: strategyHook},
	}
	b.succeeded = func() error {
		b.strategy.ReportSuccess(b.host.source())
		return nil
	}
	b.use(s)
}

// use makes s the strategy, nil: none. One that is set in the middle learns which state it begins in, and not what went before.
func (b *breaker) use(s Strategy) {
	b.strategy = s
	b.prober, _ = s.(Prober)
	b.watcher.tell, b.watcher.untold = nil, nil
	if w, ok := s.(StateWatcher); ok {
		b.watcher.tell = func(from, to State) { w.StateChanged(b.host.source(), from, to) }
		if b.phase != Active {
			b.watcher.add(stateChange{Active, b.phase})
			b.tell(&b.watcher)
		}
	}
}

// asksNobody reports whether results are of no interest now.
func (b *breaker) asksNobody() bool { return b.phase == Active && b.strategy == nil }

func (b *breaker) state() State { return b.phase }

// probes returns how many acquisitions are out as probes, or wait for a resource.
func (b *breaker) probes() int { return b.out }

// admit decides about an acquisition, when it begins. Each ticket is given back once, with success, failure or nothing.
func (b *breaker) admit() (ticket, bool) {
	if b.phase != Active && !b.in.admit(b) {
		return 0, false
	}
	return b.ticket, true
}

// witness returns a ticket for what nobody has asked for, and nobody gives back: its failure counts while things are thought to
// work.
func (b *breaker) witness() ticket {
	if b.phase == Active {
		return b.ticket
	}
	return 0
}

// success says that what was admitted with t went well: its resource has come back, and passed BeforeRelease (CB-04).
func (b *breaker) success(t ticket) {
	if t == b.ticket {
		b.in.success(b)
	}
}

// failure says that what was admitted with t failed with err (CB-04). It must be called before a resource is destroyed for
// it (CB-06).
func (b *breaker) failure(t ticket, err error) {
	if t == b.ticket {
		b.in.failure(b, err)
	}
}

// nothing says that what was admitted with t has ended without a result: it was cancelled, say.
func (b *breaker) nothing(t ticket) {
	if t == b.ticket {
		b.in.nothing(b)
	}
}

// become changes the state, and tells everybody. In a hook it returns before that hook, and those behind it, were told.
func (b *breaker) become(to State) {
	if to == b.phase {
		return
	}
	c := stateChange{b.phase, to}
	b.phase, b.in = to, behaviours[to]
	b.ticket = max(1, b.ticket+1)
	b.out = 0
	b.host.changed(c.from, to)
	b.watcher.add(c)
	b.onChange.add(c)
	// Deferred, here and below, because somebody else's code that leaves by Goexit must not keep the others waiting.
	defer b.tellOnChange()
	b.tell(&b.watcher)
}

// stateHook is one who is told of the changes: of each one once, in their order, one at a time.
type stateHook struct {
	name    string               // of the hook
	tell    func(from, to State) // nil: nobody
	untold  []stateChange
	telling bool // somewhere up the stack, or in a coroutine that is suspended
}

// strategyHook is what a strategy is called in a HookError.
const strategyHook = "Strategy"

type stateChange struct{ from, to State }

func (h *stateHook) add(c stateChange) {
	if h.tell != nil {
		h.untold = append(h.untold, c)
	}
}

// tellOnChange leaves OnStateChange for later while the strategy is being told, for it comes after the strategy.
func (b *breaker) tellOnChange() {
	if !b.watcher.telling {
		b.tell(&b.onChange)
	}
}

func (b *breaker) tell(h *stateHook) {
	if h.telling || len(h.untold) == 0 {
		return
	}
	h.telling = true
	defer func() {
		h.telling = false
		b.tell(h)
	}()
	for len(h.untold) > 0 {
		c := h.untold[0]
		h.untold = h.untold[1:]
		b.run(h.name, func() error {
			h.tell(c.from, c.to)
			return nil
		})
	}
}

// run calls somebody else's code, whose failure changes nothing here (CB-05).
func (b *breaker) run(hook string, fn func() error) {
	if err := b.host.call(fn); err != nil {
		b.host.told(hook, err)
	}
}

func (b *breaker) reportSuccess() {
	if b.strategy != nil {
		b.run(strategyHook, b.succeeded)
	}
}

func (b *breaker) reportFailure(err error) {
	if b.strategy == nil {
		return
	}
	b.run(strategyHook, func() error {
		b.strategy.ReportFailure(b.host.source(), err)
		return nil
	})
}
