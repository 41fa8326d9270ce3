package pool_test

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/pool"
	"github.com/uvasync/uvasync/scheduler"
)

// barrel is a resource of the storm.
type barrel struct{ taken, destroyed bool }

// storm is a pool whose hooks fail now and then, and a crowd that wants something of it.
type storm struct {
	t           *testing.T
	rnd         *rand.Rand
	p           *pool.Pool[*barrel]
	alive, out  int
	most        int
	got, failed int
	late, left  int
	misses      int
}

const stormResources = 10

// chance is true once in n times.
func (s *storm) chance(n int) bool { return s.rnd.IntN(n) == 0 }

// hook takes a turn sometimes, and fails sometimes.
func (s *storm) hook(co *scheduler.Coroutine) error {
	if s.chance(4) {
		if err := co.Yield(); err != nil {
			return err
		}
	}
	if s.chance(20) {
		s.misses++
		return errMishap
	}
	return nil
}

var errMishap = errors.New("a hook fails")

func (s *storm) look(co *scheduler.Coroutine, b *barrel) (bool, error) {
	if b.taken || b.destroyed {
		s.t.Errorf("a hook looks at a resource that is taken: %+v", *b)
	}
	err := s.hook(co)
	return !s.chance(20), err
}

func (s *storm) create(co *scheduler.Coroutine) (*barrel, error) {
	if err := s.hook(co); err != nil {
		return nil, err
	}
	s.alive++
	if s.alive > stormResources {
		s.t.Errorf("there are %d resources", s.alive)
	}
	return &barrel{}, nil
}

func (s *storm) destroy(co *scheduler.Coroutine, b *barrel) error {
	if b.taken || b.destroyed {
		s.t.Errorf("a resource is destroyed that is taken, or gone: %+v", *b)
	}
	err := s.hook(co)
	b.destroyed = true
	s.alive--
	return err
}

// visit is the life of one of the crowd.
func (s *storm) visit(co *scheduler.Coroutine) error {
	var opts []scheduler.WaitOption
	if s.chance(3) {
		opts = append(opts, scheduler.Timeout(time.Duration(1+s.rnd.IntN(200))*ms))
	}
	h, err := s.p.Acquire(co, opts...)
	switch {
	case errors.Is(err, event.ErrTimeout):
		s.late++
		return nil
	case event.IsCancellation(err):
		s.left++
		return err
	case err != nil:
		s.failed++
		assert.ErrorIs(s.t, err, errMishap)
		return nil
	}
	s.got++
	b := h.Value()
	if b.taken || b.destroyed {
		s.t.Errorf("a resource is handed out that is taken, or gone: %+v", *b)
	}
	b.taken = true
	s.out++
	s.most = max(s.most, s.out)
	switch {
	case s.chance(4):
		_ = co.Yield()
	case s.chance(12):
		_ = co.Delay(ms)
	}
	b.taken = false
	s.out--
	end := pool.Handle[*barrel].Release
	if s.chance(50) {
		end = pool.Handle[*barrel].Destroy
	}
	if err := end(h, co); err != nil {
		assert.ErrorIs(s.t, err, errMishap)
	}
	return nil
}

// GEN-03, GEN-05, GEN-06: nothing is lost, given twice, or forgotten, and nobody is left waiting.
func TestPool_GEN05_AStormOfTenThousand(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		const crowd = 10_000 / stormDivisor
		s := &storm{t: t, rnd: rand.New(rand.NewPCG(3, 4))}
		e.MustRun(func(co *scheduler.Coroutine) (err error) {
			s.p, err = pool.New(co, pool.Config[*barrel]{
				Max: stormResources, Create: s.create, Destroy: s.destroy,
				BeforeAcquire: s.look, BeforeRelease: s.look, OnError: func(error) {},
			})
			require.NoError(t, err)
			all := make([]*scheduler.Coroutine, crowd)
			for i := range all {
				all[i] = e.Spawn(co, s.visit)
			}
			for i := 0; s.p.Stats().Acquired == 0 || s.p.Stats().Waiting > 0; i++ {
				s.cancelSome(all)
				if i%4 == 0 {
					require.NoError(t, co.Delay(ms))
				} else {
					require.NoError(t, co.Yield())
				}
				s.agree()
			}
			for _, v := range all {
				if _, err := co.Await(v); err != nil {
					cotest.IsCancelled(t, err, errStorm)
				}
			}
			s.over(co, crowd)
			return nil
		})
	})
}

var errStorm = errors.New("the storm")

// cancelSome cancels some of those that are there, rather those that were woken.
func (s *storm) cancelSome(all []*scheduler.Coroutine) {
	for range 8 {
		co := all[s.rnd.IntN(len(all))]
		if co.Suspended() && (co.Queued() || s.chance(16)) && !co.CancellationRequested() {
			require.NoError(s.t, co.Cancel(errStorm))
		}
	}
}

func (s *storm) agree() {
	st := s.p.Stats()
	if st.Total != st.Idle+st.Active || st.Total != s.alive+st.Constructing || st.Total > st.Max || st.Active < s.out ||
		st.Waiting > 0 && (st.Idle > st.Reserved || st.Total < st.Max && st.Constructing < st.Waiting) {
		s.t.Errorf("%d are alive, %d are out: %+v", s.alive, s.out, st)
	}
}

// over checks the figures when everybody has gone, and closes the pool.
func (s *storm) over(co *scheduler.Coroutine, crowd int) {
	for s.p.Stats().Constructing > 0 { // for somebody who has left
		require.NoError(s.t, co.Yield())
	}
	s.agree()
	st := s.p.Stats()
	assert.Equal(s.t, []int{0, 0, 0}, []int{st.Active, st.Reserved, st.Waiting}, "%+v", st)
	assert.Equal(s.t, crowd, s.got+s.failed+s.late+s.left)
	assert.Equal(s.t, uint64(s.got), st.Acquired)
	assert.Equal(s.t, stormResources, s.most)
	for what, n := range map[string]int{"hook fails": s.misses, "acquisition fails": s.failed, "timeout": s.late, "cancellation": s.left} {
		assert.Greater(s.t, n, 0, "no %s", what)
	}
	_ = s.p.Close(co)
	require.NoError(s.t, s.p.AwaitClosed(co))
	assert.Zero(s.t, s.alive)
	st = s.p.Stats()
	assert.Equal(s.t, []uint64{0, st.Created}, []uint64{uint64(st.Total), st.Destroyed})
}
