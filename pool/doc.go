// Package pool shares things that are dear or scarce among the coroutines of a run: connections, sessions, workers. A [Pool] makes
// them when they are wanted, keeps them for the next, limits how many there are, and puts the others in line.
//
//	p, err := pool.New(co, pool.Config[*Conn]{
//		Max:     4,
//		Create:  func(co *uvasync.Coroutine) (*Conn, error) { return dial(co) },
//		Destroy: func(co *uvasync.Coroutine, c *Conn) error { return c.Close() },
//	})
//	if err != nil {
//		return err
//	}
//	defer p.Close(co)
//
//	c, err := p.Acquire(co, uvasync.Timeout(time.Second))
//	if err != nil {
//		return err
//	}
//	defer c.Release(co)
//	return c.Value().Query(co, "select 1")
//
// # Waiting
//
// The line is fair: what comes back is set aside for who has waited longest, and no newcomer gets it, nor the one who has given
// it back. Who is cancelled or runs out of time passes it on in the same step. What is being made for somebody who leaves is not
// wasted: somebody else gets it, or it becomes idle.
//
// # Good and bad resources
//
// Four functions of [Config] look at resources, and each of them may suspend: BeforeAcquire and BeforeRelease when they change
// hands, HealthCheck while they are idle, Destroy when they end. MaxLifetime, MaxIdleTime and [Pool.Reset] end them, too. Who holds
// a resource can give it back with [Handle.Release], end it with [Handle.Destroy], or keep it with [Handle.Hijack].
//
// # The circuit breaker
//
// A pool whose resources fail again and again does better to say so at once. Its circuit breaker has three states, [Active],
// [Inactive] and [Recovering]; calls of the pool change them, or a [Strategy] does: [ConsecutiveFailures], [FailureRate], or one of
// your own. What counts is what becomes of resources: it fails when one cannot be made, when BeforeRelease does not accept it, and
// when its holder destroys it. A success is a release that BeforeRelease accepts.
//
// # Goroutines
//
// All of it belongs to the loop of one run. Calls from elsewhere are refused with an event.UsageError; those that return no error
// panic with it.
//
// Ids such as POOL-10 name the rules that the library obeys.
package pool
