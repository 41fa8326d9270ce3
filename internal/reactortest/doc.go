// Package reactortest runs one test body on every reactor there is: on libuv in real time, and on the simulation in
// virtual time. Its own tests are the suite that both must pass; add to it what the packages above come to rely on.
package reactortest
