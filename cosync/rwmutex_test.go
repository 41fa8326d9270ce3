package cosync_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/cosync"
	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
)

// crowd is coroutines that hold a read-write mutex until they are told to let go.
type crowd struct {
	*scene
	m     cosync.RWMutex
	gates map[string]*gate
}

func newCrowd(t *testing.T, co *coroutine) *crowd {
	c := &crowd{gates: map[string]*gate{}}
	c.scene = &scene{t: t, co: co}
	return c
}

// comes starts one; its name begins with r for a reader.
func (c *crowd) comes(name string) *coroutine {
	with, g := c.m.With, &gate{}
	if name[0] == 'r' {
		with = c.m.RWith
	}
	c.gates[name] = g
	co := c.spawn(name, func(co *coroutine) error {
		err := with(co, func(co *coroutine) error {
			c.log = append(c.log, name)
			return g.pass(co)
		})
		if err != nil {
			c.log = append(c.log, name+": "+short(err))
		}
		return nil
	})
	c.yield()
	return co
}

func (c *crowd) goes(names ...string) {
	for _, name := range names {
		c.gates[name].open()
	}
	c.yield()
	c.yield()
}

func TestRWMutex_GEN04_AdjacentReadersEnterTogetherAndNobodyStarves(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *coroutine) {
		c := newCrowd(t, co)
		for _, name := range []string{"r1", "r2", "w1", "r3", "r4", "w2", "w3", "r5"} {
			c.comes(name)
		}
		c.is("r1", "r2")
		assert.Equal(t, cosync.RWMutexStats{Readers: 2, Waiting: 6}, c.m.Stats())
		assert.Equal(t, `read-write mutex, held for reading by coroutine 2 "r1" and 1 more`, c.m.Info())
		c.goes("r1")
		c.is()
		c.goes("r2")
		c.is("w1")
		c.goes("w1")
		c.is("r3", "r4")
		c.goes("r3", "r4")
		c.is("w2")
		c.goes("w2")
		c.is("w3")
		c.goes("w3")
		c.is("r5")
		c.goes("r5")
		assert.Equal(t, cosync.RWMutexStats{}, c.m.Stats())
		assert.Equal(t, "read-write mutex, not locked", c.m.Info())
	})
}

func TestRWMutex_GEN05_AWriterThatLeavesLetsTheReadersBehindItIn(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *coroutine) {
		c := newCrowd(t, co)
		c.comes("r1")
		w := c.comes("w1")
		c.comes("r2")
		c.comes("r3")
		c.is("r1")
		require.NoError(t, w.Cancel(nil))
		assert.Equal(t, cosync.RWMutexStats{Readers: 3}, c.m.Stats(), "in the same step")
		c.yield()
		c.is("w1: cancelled", "r2", "r3")
		c.goes("r1", "r2", "r3")
	})
}

func TestRWMutex_CANC22_AWokenReaderThatLeavesIsTheLastForTheWriter(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *coroutine) {
		c := newCrowd(t, co)
		c.comes("w1")
		r := c.comes("r1")
		w := c.comes("w2")
		c.gates["w1"].open()
		c.yield()
		require.NoError(t, r.Cancel(nil))
		assert.Equal(t, cosync.RWMutexStats{Writer: w}, c.m.Stats(), "in the same step")
		c.yield()
		c.is("w1", "r1: cancelled", "w2")
		c.goes("w2")
	})
}

func TestRWMutex_LockingAgainIsRefused(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *coroutine) {
		var m cosync.RWMutex
		require.NoError(t, m.RLock(co))
		assert.ErrorIs(t, m.RLock(co), event.ErrUsage)
		assert.ErrorIs(t, m.Lock(co), event.ErrUsage)
		assert.False(t, m.TryRLock(co))
		assert.False(t, m.TryLock(co))
		refused(t, m.Unlock, `cosync: RWMutex.Unlock: the caller does not hold it for writing: read-write mutex, held for reading by coroutine 1 "main"; `)
		m.RUnlock()
		require.NoError(t, m.Lock(co))
		assert.ErrorIs(t, m.RLock(co), event.ErrUsage)
		assert.ErrorIs(t, m.Lock(co), event.ErrUsage)
		refused(t, m.RUnlock, "cosync: RWMutex.RUnlock: ")
		m.Unlock()
		refused(t, m.Unlock, "not locked")
		refused(t, m.RUnlock, "not locked")
		assert.ErrorIs(t, m.With(co, nil), event.ErrInvalidArgument)
		assert.ErrorIs(t, m.RWith(co, nil), event.ErrInvalidArgument)
		assert.Equal(t, cosync.RWMutexStats{}, m.Stats())
	})
}

func TestRWMutex_GEN04_ATryToReadDoesNotOvertakeAWriter(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *coroutine) {
		c := newCrowd(t, co)
		c.comes("r1")
		assert.True(t, c.m.TryRLock(co))
		c.m.RUnlock()
		c.comes("w1")
		assert.False(t, c.m.TryRLock(co))
		c.goes("r1", "w1")
		c.yield()
		assert.Equal(t, cosync.RWMutexStats{}, c.m.Stats())
	})
}

func TestRWMutex_UnlockByAnybodyButAHolderPanics(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *coroutine) {
		c := newCrowd(t, co)
		c.comes("w1")
		refused(t, c.m.Unlock, `held for writing by coroutine 2 "w1"`)
		c.goes("w1")
		c.comes("r1")
		refused(t, c.m.RUnlock, `held for reading by coroutine 3 "r1"`)
		assert.Equal(t, cosync.RWMutexStats{Readers: 1}, c.m.Stats())
		c.goes("r1")
	})
}
