package scope

import (
	"runtime"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
)

// Scope is the handle of a scope, which owns coroutines. One that [New], [Inherit] or [NewRoot] returned ends the scope when it
// is collected, as [Scope.Close] does (SCOPE-26): keep it as long as the scope is needed, and close it. Handlers, [Of],
// [Main] and [Scope.ChildScopes] give handles that end nothing; compare them with [Scope.Same].
//
// It starts coroutines, and goes wherever a scope or an event does: [Scope.Spawn], future.Go, channel.New; Await, AwaitFirst,
// the combinators, tokens. As an event it completes when no active coroutine is left in it and in the scopes below, which may
// be for the time being: more can be spawned. Loop goroutine only.
type Scope struct{ st *state }

var (
	_ scheduler.Spawner  = (*Scope)(nil)
	_ scheduler.Refusing = (*Scope)(nil)
)

// state is what all handles of a scope lead to, and what the scheduler tells what becomes of it. Loop goroutine only.
type state struct {
	inner  *scheduler.Scope // immutable
	view   Scope            // a handle that ends nothing
	handle *Scope           // the one that does, while it is young; see owner.go
	owner  owner
	ext    *extras // what few scopes need; nil until they do
}

// extras is what somebody has to say about a scope, or waits for.
type extras struct {
	base    event.Base
	waiters []*afterWait
	finally []func(self *scheduler.Coroutine, s *Scope) error
	limit   event.Deadline // of DisposeAfterTimeout; nil while it was not called
	nursery nursery        // of the main scope
}

var _ scheduler.Watcher = (*state)(nil)

// New makes a scope below that of owner, a safe one (SCOPE-01). Below one that is closed it is closed, too. It panics with an
// [event.InvalidArgumentError] when owner is nil and with an [event.UsageError] outside of the run's loop.
func New(owner scheduler.Scoped) *Scope {
	const call = "scope: New"
	s := child(call, owner)
	s.st.inner.SetSafe(true)
	return s
}

// Inherit is [New], but the scope is safe if the one around it is (SCOPE-01).
func Inherit(owner scheduler.Scoped) *Scope { return child("scope: Inherit", owner) }

func child(call string, owner scheduler.Scoped) *Scope {
	parent := innerOf(call, owner)
	if parent.Sealed() {
		return own(parent.NewEnded())
	}
	inner, err := parent.New()
	if err != nil {
		panic("bug: scope: " + err.Error())
	}
	return own(inner)
}

// NewRoot makes a scope beside the main one of owner's run: it ends with the run, and does not find the main scope's values
// (CTX-05). Otherwise as [New]; also below a closed scope it is open. When the run ends, it is closed.
func NewRoot(owner scheduler.Scoped) *Scope {
	s := innerOf("scope: NewRoot", owner).Scheduler()
	inner, err := s.NewRoot()
	if err != nil {
		inner = s.Main().NewEnded()
		inner.SetSafe(true)
	}
	return own(inner)
}

// Of returns the scope of a coroutine. It panics as [New] does.
func Of(owner scheduler.Scoped) *Scope { return view(innerOf("scope: Of", owner)) }

// Main returns the main scope of the run that owner belongs to. It panics as [New] does.
func Main(owner scheduler.Scoped) *Scope {
	return view(innerOf("scope: Main", owner).Scheduler().Main())
}

// innerOf checks the owner, and that the caller is on its loop.
func innerOf(call string, owner scheduler.Scoped) *scheduler.Scope {
	var inner *scheduler.Scope
	if owner != nil {
		inner = owner.Scope()
	}
	if inner == nil {
		panic(&event.InvalidArgumentError{Call: call, Arg: "owner", Got: nil, Legal: "pass the coroutine that you are in, or a scope"})
	}
	if err := inner.Scheduler().Check(call); err != nil {
		panic(err)
	}
	return inner
}

// stateOf returns the state of a scope, making it when there is none yet: for the main one, and those of other packages.
func stateOf(inner *scheduler.Scope) *state {
	if st, ok := inner.Watcher().(*state); ok {
		return st
	}
	st := &state{inner: inner}
	st.view.st = st
	inner.Watch(st)
	return st
}

// extra returns the extras, making them if there are none.
func (st *state) extra() *extras {
	if st.ext == nil {
		st.ext = &extras{}
		st.ext.base.Init((*scopeKind)(st), nil, 0)
	}
	return st.ext
}

// view returns the handle of a scope that ends nothing.
func view(inner *scheduler.Scope) *Scope { return &stateOf(inner).view }

// own returns the handle of a new scope that ends it.
func own(inner *scheduler.Scope) *Scope {
	st := stateOf(inner)
	s := &Scope{st}
	if !inner.Drained() {
		run := inner.Scheduler()
		st.handle = s
		nurseryOf(run).born(run, st)
	}
	return s
}

func (st *state) ownership() *owner { return &st.owner }

func (st *state) grow() runtime.Cleanup {
	s := st.handle
	st.handle = nil
	return runtime.AddCleanup(s, (*state).dropped, st)
}

// dropped runs on a goroutine of the runtime when the handle was collected.
func (st *state) dropped() {
	run := st.inner.Scheduler()
	// It fails when the run is over.
	_ = run.Post(func() {
		if st.owner.release(run) {
			st.destroy(ErrDropped)
		}
	})
}

// release is called when the handle has nothing to end any more.
func (st *state) release() {
	st.owner.release(st.inner.Scheduler())
	st.handle = nil
}

// Same reports whether two handles are of one scope.
func (s *Scope) Same(other *Scope) bool {
	return s == other || s != nil && other != nil && s.st == other.st
}

// Scope returns the mechanism of the scope, which makes s a [scheduler.Scoped]; nil for nil. Any goroutine.
func (s *Scope) Scope() *scheduler.Scope {
	if s == nil || s.st == nil {
		return nil
	}
	return s.st.inner
}

// AsNotSafely makes cancelling and closing the scope interrupt its coroutines, and returns s. Scopes below keep their flag.
// It panics with an [event.UsageError] outside of the run's loop.
func (s *Scope) AsNotSafely() *Scope {
	s.checked("scope: Scope.AsNotSafely")
	s.st.inner.SetSafe(false)
	return s
}

// AllowZombies undoes [Scope.AsNotSafely], and returns s.
func (s *Scope) AllowZombies() *Scope {
	s.checked("scope: Scope.AllowZombies")
	s.st.inner.SetSafe(true)
	return s
}

// Safe reports whether cancelling or closing the scope turns its coroutines into zombies.
func (s *Scope) Safe() bool {
	s.checked("scope: Scope.Safe")
	return s.st.inner.Safe()
}

// Spawn starts a coroutine in the scope; see [scheduler.Scope.Spawn]. An [event.UsageError] when it is closed, disposed or
// cancelled (SCOPE-07).
func (s *Scope) Spawn(fn func(co *scheduler.Coroutine) error, opts ...scheduler.SpawnOption) (*scheduler.Coroutine, error) {
	return s.Scope().Spawn(fn, opts...)
}

// Values returns what is stored with the scope: its coroutines find it, and those below (CTX-02).
func (s *Scope) Values() *scheduler.Values {
	s.checked("scope: Scope.Values")
	return s.st.inner.Values()
}

// LogZombies says where zombies of the scope are told of, and of those below that were not told otherwise, from now on. Without
// it, that is where those of the run are. An [event.UsageError] outside of the run's loop.
func (s *Scope) LogZombies(l scheduler.ZombieLog) error {
	if err := s.check("scope: Scope.LogZombies"); err != nil {
		return err
	}
	s.st.inner.LogZombies(l)
	return nil
}

// check answers whether there is a scope, and the caller is on its loop.
func (s *Scope) check(call string) error {
	if s == nil || s.st == nil {
		return &event.InvalidArgumentError{Call: call, Arg: "scope", Got: nil, Legal: "make it with New, Inherit or NewRoot"}
	}
	return s.st.inner.Scheduler().Check(call)
}

// checked is check for calls that return no error.
func (s *Scope) checked(call string) {
	if err := s.check(call); err != nil {
		panic(err)
	}
}
