// Command bench measures the library against plain C over the same libuv, both
// in this process, round by round in turns.
//
//	make bench                    from the root of the tree: all cases
//	make bench CASES=timer,poll   those whose names begin so
//
// Package raw is the C side, internal/ours does the same work through package
// reactor, internal/cases pairs them. A round in which the two did not do the
// same work is an error. What counts is the ratio, the cost of ours divided by
// the cost of the baseline, as the median over the rounds; where a limit is
// set, the table says whether it is kept. The figures go to out/report.json.
//
// Timers of seconds and minutes are measured without waiting for them: the
// program is linked so that C code reads a clock that the cases advance. That
// needs libuv to be linked statically; with a shared one those cases are
// skipped, and say so.
//
// timer-callback is no case of the library: it is a binding without rings, one
// crossing for each call and each event, next to the same baseline.
package main
