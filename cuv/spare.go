//go:build !asan

package cuv

// spareCells is how many cells a loop keeps for reuse: about 1 MiB. A new one costs an allocation and a go-pointer token,
// several times the timer in it.
const spareCells = 4096
