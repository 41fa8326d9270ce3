package scheduler

import (
	"log/slog"
	"time"
)

// Stats are figures about a run at one moment.
type Stats struct {
	Active      int           // coroutines that the run waits for
	Zombies     int           // coroutines that it does not wait for, because their scope was cancelled or disposed safely
	Total       int           // coroutines that have not ended, hidden ones included
	Ready       int           // coroutines that can go on
	Spawned     uint64        // coroutines started so far
	Contexts    int           // execution contexts: goroutines that run or may run coroutines
	Idle        int           // of these, how many wait for a coroutine to run
	Turns       uint64        // turns of the event loop
	LongestTurn time.Duration // the longest time between two looks at the event loop
}

// Stats returns the figures of the moment. The loop only.
func (s *Scheduler) Stats() Stats {
	st := s.stats
	st.Active, st.Zombies, st.Total, st.Ready, st.Spawned = s.active, s.zombies, s.total, s.ready.Len(), s.lastID
	if s.group != nil {
		st.Contexts, st.Idle = s.group.Count(), len(s.idle)
	}
	return st
}

// slowTurn is called when the event loop is about to be looked at.
func (s *Scheduler) slowTurn() {
	spent := s.reactor.Elapsed() - s.sliceFrom
	s.stats.LongestTurn = max(s.stats.LongestTurn, spent)
	if s.opts.SlowTurn > 0 && spent > s.opts.SlowTurn {
		s.log(slog.LevelWarn, func() string { return "a turn took long" }, "took", spent, "resumed", s.opts.Budget-s.left, "ready", s.ready.Len())
	}
}
