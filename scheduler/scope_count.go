package scheduler

// A scope knows its own coroutines, and of how many of its children it is true that active ones are in them or below. So the
// end of a coroutine costs the same however many there are, and is told upwards only as far as it is news.

// roomy is the capacity from which on the list of a scope's coroutines shrinks when it is mostly empty.
const roomy = 256

// enter puts a new coroutine into the scope.
func (sc *Scope) enter(co *Coroutine) {
	co.index = int32(len(sc.coroutines))
	if sc.coroutines == nil {
		sc.coroutines = sc.single[:0]
	}
	sc.coroutines = append(sc.coroutines, co)
	if co.index == 1 { // the list has moved
		sc.single[0] = nil
	}
	sc.s.total++
	if sc.serving {
		co.marks |= markHidden | markServing
	}
	if sc.clean != nil {
		sc.clean.inside++
	}
	if !co.marks.has(markHidden) {
		sc.gainActive()
	}
	if sc.s.stage == stageUnwind { // whatever begins now is unwound at its first suspension (CANC-18)
		co.doomed, co.barred = true, true
	}
}

func (sc *Scope) remove(co *Coroutine) {
	last := len(sc.coroutines) - 1
	moved := sc.coroutines[last]
	if moved != co {
		sc.coroutines[co.index], moved.index = moved, co.index
	}
	sc.coroutines[last] = nil
	sc.coroutines = sc.coroutines[:last]
	if n := cap(sc.coroutines); n >= roomy && last < n/4 {
		sc.coroutines = append(make([]*Coroutine, 0, n/2), sc.coroutines...)
	}
	sc.s.total--
	var idle *Scope
	switch {
	case co.marks.has(markZombie):
		sc.zombies--
		sc.s.zombies--
	case !co.marks.has(markHidden):
		idle = sc.loseActive()
	}
	over := false
	if c := sc.clean; c != nil {
		c.inside--
		over = c.inside == 0
	}
	if !over && (last > 0 || !sc.sealed) {
		sc.tellIdle(idle)
		return
	}
	// Before the scopes around are told: there may be finally handlers, which they wait for (CORO-22).
	defer sc.tellIdle(idle)
	if over { // what finally handlers have left open stays behind
		sc = sc.clean
		sc.sealAll()
	}
	sc.leaveIfDone()
}

// gainActive counts one more active coroutine.
func (sc *Scope) gainActive() {
	sc.s.active++
	sc.active++
	if sc.active > 1 || sc.busy > 0 {
		return
	}
	for p := sc.parent; p != nil; p = p.parent {
		p.busy++
		if p.busy > 1 || p.active > 0 {
			return
		}
	}
}

// loseActive counts one less. It returns the outermost scope that has none any more, in it and below it, because of that; nil:
// there is none.
func (sc *Scope) loseActive() (idle *Scope) {
	sc.s.active--
	sc.active--
	if !sc.Finished() {
		return nil
	}
	idle = sc
	for p := sc.parent; p != nil; p = p.parent {
		p.busy--
		if !p.Finished() {
			break
		}
		idle = p
	}
	return idle
}

// tellIdle tells the watchers of the scopes from sc up to last that no active coroutine is left in them. Last may be nil.
func (sc *Scope) tellIdle(last *Scope) {
	for ; last != nil && sc != nil; sc = sc.parent {
		if w := sc.watcher; w != nil && sc.Finished() { // one that was told before may have spawned
			sc.s.call(func() error { w.Idle(); return nil })
		}
		if sc == last {
			return
		}
	}
}
