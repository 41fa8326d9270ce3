package pool_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/pool"
	"github.com/uvasync/uvasync/scheduler"
)

// part is a resource: numbered in the order in which they were made.
type part struct {
	id  int
	bad bool
}

// depot makes parts for one pool, and notes what becomes of them.
type depot struct {
	t          *testing.T
	e          *cotest.Env
	cfg        pool.Config[*part]
	p          *pool.Pool[*part]
	parts      []*part
	made, gone []int
	told       []error // by OnError
}

func newDepot(e *cotest.Env, limit int) *depot {
	d := &depot{t: e.T, e: e}
	d.cfg = pool.Config[*part]{
		Max:     limit,
		Create:  func(*scheduler.Coroutine) (*part, error) { return d.make(), nil },
		Destroy: func(_ *scheduler.Coroutine, v *part) error { d.gone = append(d.gone, v.id); return nil },
		OnError: func(err error) { d.told = append(d.told, err) },
	}
	return d
}

// make is what a Create calls when it makes one.
func (d *depot) make() *part {
	v := &part{id: len(d.parts) + 1}
	d.parts = append(d.parts, v)
	d.made = append(d.made, v.id)
	return v
}

// destroys replaces Destroy, with the note that a resource is gone.
func (d *depot) destroys(fn func(co *scheduler.Coroutine, v *part) error) {
	d.cfg.Destroy = func(co *scheduler.Coroutine, v *part) error {
		d.gone = append(d.gone, v.id)
		return fn(co, v)
	}
}

// creates has fn run in each Create, with the number of the call, 1 the first: before the part is made, if fn returns no error.
func (d *depot) creates(fn func(co *scheduler.Coroutine, call int) error) {
	calls := 0
	d.cfg.Create = func(co *scheduler.Coroutine) (*part, error) {
		calls++
		if err := fn(co, calls); err != nil {
			return nil, err
		}
		return d.make(), nil
	}
}

// gates makes n of them.
func (d *depot) gates(n int) []*cotest.Gate {
	all := make([]*cotest.Gate, n)
	for i := range all {
		all[i] = d.e.Gate()
	}
	return all
}

// gated has each Create wait for a gate of its own, of n.
func (d *depot) gated(n int) []*cotest.Gate {
	gs := d.gates(n)
	d.creates(func(co *scheduler.Coroutine, call int) error { return passes(co, gs[call-1]) })
	return gs
}

// ruin makes parts bad: a hook that calls fine does not accept them.
func (d *depot) ruin(ids ...int) {
	for _, id := range ids {
		d.parts[id-1].bad = true
	}
}

func fine(_ *scheduler.Coroutine, v *part) (bool, error) { return !v.bad, nil }

// open makes the pool as the configuration says now.
func (d *depot) open(co *scheduler.Coroutine) *pool.Pool[*part] {
	d.t.Helper()
	p, err := pool.New(co, d.cfg)
	require.NoError(d.t, err)
	d.p = p
	return p
}

// take acquires n resources.
func (d *depot) take(co *scheduler.Coroutine, n int) []handle {
	d.t.Helper()
	hs := make([]handle, n)
	for i := range hs {
		h, err := d.p.Acquire(co)
		require.NoError(d.t, err)
		hs[i] = h
	}
	return hs
}

// stock makes n resources that are idle, number 1 for the longest time.
func (d *depot) stock(co *scheduler.Coroutine, n int) {
	d.t.Helper()
	give(d.t, co, d.take(co, n)...)
}

// stocked opens the pool with one idle resource.
func (d *depot) stocked(co *scheduler.Coroutine) {
	d.t.Helper()
	d.open(co)
	d.stock(co, 1)
}

// tries is TryAcquire that must not fail.
func (d *depot) tries(co *scheduler.Coroutine) (h handle, ok bool) {
	d.t.Helper()
	h, ok, err := d.p.TryAcquire(co)
	assert.NoError(d.t, err)
	return h, ok
}

// works checks that the pool is usable, to its limit, and that nothing is left out by that.
func (d *depot) works(co *scheduler.Coroutine) {
	d.t.Helper()
	hs := d.take(co, d.p.Stats().Max)
	d.has(len(hs), 0, len(hs))
	give(d.t, co, hs...)
	d.has(len(hs), len(hs), 0)
}

type handle = pool.Handle[*part]

func ids(hs ...handle) []int {
	var all []int
	for _, h := range hs {
		all = append(all, h.Value().id)
	}
	return all
}

// give releases them in their order.
func give(t *testing.T, co *scheduler.Coroutine, hs ...handle) {
	t.Helper()
	for _, h := range hs {
		require.NoError(t, h.Release(co))
	}
}

// visit is an Acquire in a coroutine of its own.
type visit struct {
	co   *scheduler.Coroutine
	h    handle
	err  error
	over bool
}

func (d *depot) visit(in scheduler.Spawner, opts ...scheduler.WaitOption) *visit {
	v := &visit{}
	v.co = d.e.Spawn(in, func(co *scheduler.Coroutine) error {
		v.h, v.err = d.p.Acquire(co, opts...)
		v.over = true
		return nil
	})
	return v
}

// queued makes n visits, one after the other, that have gone as far as they can.
func (d *depot) queued(co *scheduler.Coroutine, n int, opts ...scheduler.WaitOption) []*visit {
	vs := make([]*visit, n)
	for i := range vs {
		vs[i] = d.visit(co, opts...)
		settle(co)
	}
	return vs
}

// got checks that the visits have got these resources, in that order; 0: none, and no error, so far.
func got(t *testing.T, vs []*visit, want ...int) {
	t.Helper()
	var all []int
	for _, v := range vs {
		id := 0
		if v.over && assert.NoError(t, v.err) {
			id = v.h.Value().id
		}
		all = append(all, id)
	}
	assert.Equal(t, want, all)
}

// join waits until they are over.
func join(t *testing.T, co *scheduler.Coroutine, vs ...*visit) {
	t.Helper()
	for _, v := range vs {
		_, err := co.Await(v.co)
		require.NoError(t, err)
	}
}

// has checks the figures, and that they agree with each other.
func (d *depot) has(total, idle, active int) {
	d.t.Helper()
	st := d.p.Stats()
	assert.Equal(d.t, []int{total, idle, active}, []int{st.Total, st.Idle, st.Active}, "total, idle, active")
	agree(d.t, st)
}

// line checks how many are idle, set aside and waiting.
func (d *depot) line(idle, reserved, waiting int) {
	d.t.Helper()
	st := d.p.Stats()
	assert.Equal(d.t, []int{idle, reserved, waiting}, []int{st.Idle, st.Reserved, st.Waiting}, "idle, reserved, waiting")
	agree(d.t, st)
}

// agree checks what is always true of the figures.
func agree(t *testing.T, st pool.Stats) {
	t.Helper()
	assert.Equal(t, st.Total, st.Idle+st.Active, "total is idle and active: %+v", st)
	assert.LessOrEqual(t, st.Total, st.Max, "no more than max: %+v", st)
	assert.LessOrEqual(t, st.Reserved, st.Idle, "reserved are idle: %+v", st)
	assert.LessOrEqual(t, st.Constructing, st.Active, "what is being made is active: %+v", st)
	assert.GreaterOrEqual(t, min(st.Idle, st.Active, st.Reserved, st.Constructing, st.Waiting, st.Probes), 0, "%+v", st)
}

// wasTold checks that OnError has had these, whatever they are wrapped in.
func (d *depot) wasTold(want ...error) {
	d.t.Helper()
	if assert.Len(d.t, d.told, len(want)) {
		for i, err := range want {
			assert.ErrorIs(d.t, d.told[i], err)
		}
	}
}

// hears checks what OnError was told: nothing for nil, or want once for each of n.
func (d *depot) hears(want error, n int) {
	d.t.Helper()
	if want == nil {
		assert.Empty(d.t, d.told)
		return
	}
	assert.Len(d.t, d.told, n)
	for _, err := range d.told {
		assert.ErrorIs(d.t, err, want)
	}
}

// aging is a depot that notes how old its parts were when they were destroyed, and how long they had been idle if nobody has
// noted otherwise.
type aging struct {
	*depot
	born, died map[int]time.Time
}

func newAging(e *cotest.Env, limit int) *aging {
	a := &aging{depot: newDepot(e, limit), born: map[int]time.Time{}, died: map[int]time.Time{}}
	create, destroy := a.cfg.Create, a.cfg.Destroy
	a.cfg.Create = func(co *scheduler.Coroutine) (*part, error) {
		v, err := create(co)
		a.born[v.id] = co.Now()
		return v, err
	}
	a.cfg.Destroy = func(co *scheduler.Coroutine, v *part) error {
		a.died[v.id] = co.Now()
		return destroy(co, v)
	}
	a.cfg.Jitter = pool.NoJitter
	return a
}

func (a *aging) age(id int) time.Duration { return a.died[id].Sub(a.born[id]) }
