package child

import (
	"bytes"
	"strings"
	"sync"
)

// output collects what a child writes, and tells who waits for some of it.
type output struct {
	mu    sync.Mutex
	grown sync.Cond    // on mu
	text  bytes.Buffer // guarded by mu
	ended bool         // guarded by mu
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.grown.Broadcast()
	return o.text.Write(b)
}

func (o *output) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
	o.grown.Broadcast()
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// await reports whether text came before the end.
func (o *output) await(text string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for !strings.Contains(o.text.String(), text) {
		if o.ended {
			return false
		}
		o.grown.Wait()
	}
	return true
}
