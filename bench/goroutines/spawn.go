package goroutines

import (
	"runtime"

	"github.com/uvasync/uvasync/bench/internal/measure"
)

// Spawn starts n goroutines, which end at once, waits for them, and again, so
// many rounds.
func Spawn(n, rounds int) (measure.Sample, error) {
	return spawn(n, rounds, func(_ int, did *uint64) { *did++ })
}

// SpawnYield is Spawn with goroutines that step aside once.
func SpawnYield(n, rounds int) (measure.Sample, error) {
	return spawn(n, rounds, func(_ int, did *uint64) {
		runtime.Gosched()
		*did++
	})
}

func spawn(n, rounds int, body func(int, *uint64)) (s measure.Sample, err error) {
	err = newCrowd(n, body).measure(&s, rounds, func() {})
	return s, err
}
