package measure

import "time"

// Random is the generator of raw/raw.h: both sides of a case draw the same
// delays from the same seed.
type Random struct{ state uint64 }

func NewRandom(seed uint64) Random { return Random{state: seed} }

func (r *Random) next() uint64 {
	r.state = r.state*6364136223846793005 + 1442695040888963407
	return r.state >> 32
}

// Below draws from 0 to n-1.
func (r *Random) Below(n uint64) uint64 { return r.next() * n >> 32 }

// Milliseconds draws a whole number of milliseconds from 1 to most.
func (r *Random) Milliseconds(most uint32) time.Duration {
	return time.Duration(r.Below(uint64(most))+1) * time.Millisecond
}

// Delays draws n delays of 1 ns to most.
func (r *Random) Delays(n int, most time.Duration) []uint64 {
	delays := make([]uint64, n)
	for i := range delays {
		// 32 random bits are too coarse for a minute in nanoseconds.
		wide := r.next()<<32 | r.next()
		delays[i] = wide%uint64(most) + 1
	}
	return delays
}

// Pick draws k different numbers below n, in random order.
func (r *Random) Pick(k, n int) []uint32 {
	all := make([]uint32, n)
	for i := range all {
		all[i] = uint32(i)
	}
	for i := range k {
		j := i + int(r.Below(uint64(n-i)))
		all[i], all[j] = all[j], all[i]
	}
	return all[:k]
}
