// Package callerpc answers where a function was called from, at the cost of a load.
package callerpc
