// Command bench measures the library against what it stands on, round by round
// in turns: the reactor against plain C over the same libuv, the coroutines
// against goroutines.
//
//	make bench                                           from the root of the tree: all cases
//	make bench CASES=timer,poll                          those whose names begin so
//	make bench CASES=switch,spawn,park,delay,chan,wake   those of the coroutines
//	make bench CASES=scope,group                         those of scopes and groups
//	make bench CASES=pool                                those of pools
//
// Package raw is the C side, package goroutines the side of plain Go;
// internal/ours does the same work through the library, and internal/cases
// pairs them. A round in which the two did not do the same work is an error.
// What counts is the ratio, the cost of ours divided by the cost of the
// baseline, as the median over the rounds; where a limit is set, the table says
// whether it is kept. The figures go to out/report.json.
//
// Timers of seconds and minutes are measured without waiting for them: the
// program is linked so that C code reads a clock that the cases advance. That
// needs libuv to be linked statically; with a shared one those cases are
// skipped, and say so.
//
// timer-callback is no case of the library: it is a binding without rings, one
// crossing for each call and each event, next to the same baseline.
//
// Where the baseline says GOMAXPROCS=1, both sides have it for the length of
// the round; elsewhere both have the machine's default. Both sides do a piece
// of the work before the clock starts, so that ended goroutines and ended
// coroutines are there to be used again.
//
// Scopes and groups are measured with either GOMAXPROCS, and each time against
// goroutines with either: the limit is for the better of these two baselines,
// and the ratio to that stands below the table.
//
// scope-finish and scope-memory have the library on both sides, in a large scope
// and in a small one: they ask whether a scope grows slower, or heavier, with
// what is or was in it.
//
// park-bytes and scope-memory count bytes: heap and stacks in use after a
// collection, more than before, each side in a process of its own, because a
// process keeps the descriptors of its ended goroutines.
package main
