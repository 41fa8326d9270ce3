//go:build amd64 || arm64

package goid

// Get returns the address of the runtime's record of the calling goroutine. It is never 0, differs among the goroutines
// that are alive at one moment, and stays the same for the life of each, on whatever thread it runs and however its stack
// moves. It is reused after that life: whoever stores it must clear it before the goroutine ends. The body of an
// iter.Pull is a goroutine of its own. Any goroutine may call it; it allocates nothing.
//
// It must stay an integer: as a pointer it would be followed by the garbage collector.
func Get() uintptr
