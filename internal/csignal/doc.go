// Package csignal plays the C code of a process: it installs signal handlers with sigaction, raises signals on threads that
// Go does not know, and watches signals through libuv by itself. It also reads what the kernel is set to do on a signal.
// For tests only: cgo cannot be used in test files, and package cuv remains the only one of the library that has it.
package csignal
