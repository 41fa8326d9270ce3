// Package tools pins the programs that the Makefile runs on this repository: go.mod lists them as tools.
package tools
