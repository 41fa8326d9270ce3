//go:build !amd64 && !arm64

package goid

// Get returns the id that stack traces give the calling goroutine. It is never 0 and differs among goroutines. On the
// architectures that have a faster way it is reused after the goroutine's life: whoever stores it must clear it before
// the goroutine ends. The body of an iter.Pull is a goroutine of its own. Any goroutine may call it.
func Get() uintptr { return portable() }
