// Package coro is execution contexts that hand over to each other: one runs, the others are parked, and the running one
// says who runs next. They are goroutines that switch inside the Go runtime (what [iter.Pull] is made of), without its
// scheduler. Package scheduler runs coroutines on them; nobody else needs them.
//
// There are two implementations behind one [Group]. The symmetric one steps from a context straight into the next and
// leans on how iter.Pull behaves today; the plain one uses it as documented, with the root's loop in between, at two
// switches a hand-over. A self-test picks the plain one where the symmetric one does not answer as expected, and the build
// tag uvasync_asymmetric picks it always.
package coro
