package simreactor_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/uvasync/uvasync/event"
)

// model is what is known about a few deadlines: when each is due, and the order of the starts.
type model struct {
	due   time.Duration
	start int
}

func TestDeadline_REACT09_BehavesLikeItsModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := newReactor(t)
		running := map[int]model{}
		var deadlines []event.Deadline
		var got, want []int
		starts := 0
		for i := range 8 {
			deadlines = append(deadlines, r.NewDeadline(func() { got = append(got, i) }))
		}
		which := rapid.IntRange(0, len(deadlines)-1)
		// expect takes out what is due by now.
		expect := func() {
			var due []int
			for i, m := range running {
				if m.due <= elapsed(r) {
					due = append(due, i)
				}
			}
			slices.SortFunc(due, func(a, b int) int {
				x, y := running[a], running[b]
				if x.due != y.due {
					return int(x.due - y.due)
				}
				return x.start - y.start
			})
			for _, i := range due {
				delete(running, i)
			}
			want = append(want, due...)
		}
		t.Repeat(map[string]func(*rapid.T){
			"start": func(t *rapid.T) {
				i, d := which.Draw(t, "which"), time.Duration(rapid.IntRange(0, 5).Draw(t, "half ms"))*ms/2
				starts++
				running[i] = model{elapsed(r) + max(d, ms), starts}
				require.NoError(t, deadlines[i].Start(d))
			},
			"stop": func(t *rapid.T) {
				i := which.Draw(t, "which")
				_, ok := running[i]
				require.Equal(t, ok, deadlines[i].Stop())
				delete(running, i)
			},
			"advance": func(t *rapid.T) {
				require.NoError(t, r.Advance(time.Duration(rapid.IntRange(0, 3).Draw(t, "half ms"))*ms/2))
			},
			"tick": func(t *rapid.T) { tick(t, r, false); expect() },
			"wait": func(t *rapid.T) {
				if len(running) > 0 {
					before := len(got)
					tick(t, r, true)
					expect()
					require.Greater(t, len(got), before)
				}
			},
			"": func(t *rapid.T) {
				require.Equal(t, want, got)
				require.Equal(t, len(running), r.Live())
				for i, d := range deadlines {
					_, ok := running[i]
					require.Equal(t, ok, d.Running())
				}
			},
		})
	})
}
