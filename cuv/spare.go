//go:build !asan

package cuv

// keepCells: a loop keeps the cells of handles that are closed for the next ones, until it is closed itself. A new cell
// costs a go-pointer token, several times the timer in it.
const keepCells = true
