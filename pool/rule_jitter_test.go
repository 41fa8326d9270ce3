package pool_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/pool"
	"github.com/uvasync/uvasync/scheduler"
)

func TestPool_Jitter_NeverLaterAndNeverMuchEarlierThanTheLimit(t *testing.T) {
	for name, c := range map[string]struct{ jitter, part float64 }{
		"none": {pool.NoJitter, 0}, "default": {0, 0.1}, "half": {0.5, 0.5}, "all": {1, 1},
	} {
		for _, idle := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, idle %v", name, idle), func(t *testing.T) {
				cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
					e.MustRun(func(co *scheduler.Coroutine) error {
						const n, limit = 60, 100 * time.Second
						a := newAging(e, n)
						a.cfg.Jitter = c.jitter
						if idle {
							a.cfg.MaxIdleTime = limit
						} else {
							a.cfg.MaxLifetime = limit
						}
						a.open(co)
						a.stock(co, n)
						pause(t, co, time.Hour)
						require.Len(t, a.gone, n)
						ages := map[time.Duration]bool{}
						shortest, longest := time.Hour, time.Duration(0)
						for id := 1; id <= n; id++ {
							ages[a.age(id)] = true
							shortest, longest = min(shortest, a.age(id)), max(longest, a.age(id))
						}
						assert.LessOrEqual(t, longest, limit)
						assert.GreaterOrEqual(t, shortest, time.Duration(float64(limit)*(1-c.part)))
						if c.part == 0 {
							assert.Len(t, ages, 1)
						} else {
							assert.Greater(t, len(ages), n/2, "not all at once")
							assert.Less(t, shortest, time.Duration(float64(limit)*(1-c.part*0.7)), "the whole range is used")
							assert.Greater(t, longest, time.Duration(float64(limit)*(1-c.part*0.3)))
						}
						return nil
					})
				})
			})
		}
	}
}
