// Command echo is a TCP server that sends back what it receives, built on callbacks alone: one goroutine, one loop, and an
// event for everything that can happen. It shows
//
//   - polls: the listening socket, and on each connection one poll for reading with a proxy for writing (conn.go);
//   - a periodic timer that tells once a second how things stand (server.go);
//   - signals, and a deadline for the orderly end that they begin (shutdown.go).
//
// Start reading at server.go.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() { os.Exit(command(os.Args[1:], os.Stdout, os.Stderr)) }

const (
	exitFailure = 1
	exitUsage   = 2
)

func command(args []string, out, errs io.Writer) (code int) {
	cfg, err := parse(args, out)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintf(errs, "echo: %v (-h lists the flags)\n", err)
		return exitUsage
	}
	if err := serve(cfg, out, errs); err != nil {
		fmt.Fprintf(errs, "echo: %v\n", err)
		return exitFailure
	}
	return 0
}
