package pool_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/pool"
	"github.com/uvasync/uvasync/scheduler"
)

var (
	errMake    = errors.New("cannot be made")
	errRuin    = errors.New("cannot be destroyed")
	errCheck   = errors.New("cannot be checked")
	errReason  = errors.New("the reason")
	errOutcome = errors.New("the outcome")
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

// settle lets everything happen that needs no time.
func settle(co *scheduler.Coroutine) { cotest.Yields(co, 8) }

// has checks the figures, and that they agree with each other.
func (d *depot) has(total, idle, active int) {
	d.t.Helper()
	st := d.p.Stats()
	assert.Equal(d.t, []int{total, idle, active}, []int{st.Total, st.Idle, st.Active}, "total, idle, active")
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
