// Package foreign plays a C library that puts handles of its own on a loop of ours, and looks at the loop as C code sees
// it. For tests only: cgo cannot be used in test files, and package cuv remains the only one of the library that has it.
package foreign
