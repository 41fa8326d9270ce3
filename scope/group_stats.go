package scope

// GroupStats is what a group or a set is doing. Of a set, what was handed out is not counted.
type GroupStats struct {
	Queued          int // tasks that wait for their turn
	Running         int // tasks that have a coroutine
	Succeeded       int // tasks
	Failed          int // tasks, those that were cancelled included
	SpawnersWaiting int // coroutines in line to spawn, those that were promised a place included
	Unhandled       int // failures that nobody has taken
	Closed          bool
}

// Stats returns what the group is doing.
func (g *Group[K, T]) Stats() GroupStats {
	e := g.inner()
	e.must("scope: Group.Stats")
	return e.stats()
}

// Count returns how many tasks there are: that wait for their turn, run, or have ended (TG-13).
func (g *Group[K, T]) Count() int {
	e := g.inner()
	e.must("scope: Group.Count")
	return e.count
}

// IsFinished reports whether no task runs or waits for its turn, or was promised a place. That may change as long as the
// group is open (TG-14).
func (g *Group[K, T]) IsFinished() bool {
	e := g.inner()
	e.must("scope: Group.IsFinished")
	return e.idle()
}

// IsClosed reports whether the group takes no more tasks.
func (g *Group[K, T]) IsClosed() bool {
	e := g.inner()
	e.must("scope: Group.IsClosed")
	return e.isClosed()
}

// Info describes the group for people: "group, 2 queued, 1 running, 4 succeeded, open" (EVT-16).
func (g *Group[K, T]) Info() string {
	e := g.inner()
	e.must("scope: Group.Info")
	return e.info()
}

func (c *core) stats() GroupStats {
	return GroupStats{
		Queued: c.queued, Running: c.running, Succeeded: c.succeeded, Failed: c.failed,
		SpawnersWaiting: c.line.Waiting() + c.line.Reserved(), Unhandled: len(c.lost), Closed: c.isClosed(),
	}
}

func (c *core) info() string {
	text := c.kind.String() + sized(c.queued, "queued") + sized(c.running, "running") +
		sized(c.succeeded, "succeeded") + sized(c.failed, "failed") + sized(c.line.Waiting(), "waiting to spawn")
	if c.isClosed() {
		return text + ", closed"
	}
	return text + ", open"
}
