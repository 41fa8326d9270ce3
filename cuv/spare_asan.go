//go:build asan

package cuv

// With the address sanitizer every handle has memory of its own, so that a use after the close callback is seen.
const keepCells = false
