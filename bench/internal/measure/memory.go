package measure

import (
	"fmt"
	"runtime"
)

// Weighed is Timed, and adds to s.Memory what the process holds more after fn
// than before it.
func (s *Sample) Weighed(fn func() error) error {
	before := held()
	if err := s.Timed(fn); err != nil {
		return err
	}
	after := held()
	if after <= before {
		return fmt.Errorf("what was to be weighed holds no memory: %d bytes before, %d after", before, after)
	}
	s.Memory += after - before
	return nil
}

// held is what a collection leaves of the heap and of the stacks, in whole
// spans. What lives in C is not in it.
func held() uint64 {
	runtime.GC()
	runtime.GC() // the stacks of ended goroutines go with the first, what hung on them with the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}
