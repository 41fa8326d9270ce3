package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net/netip"
)

const defaultAddr = "127.0.0.1:7007"

type config struct {
	addr  netip.AddrPort
	quiet bool
}

const help = `usage: echo [-addr host:port] [-quiet]

A TCP server that sends back what it receives; try it with: nc 127.0.0.1 7007
Ctrl-C, or SIGTERM, ends it in order; a second one at once.

`

func parse(args []string, out io.Writer) (config, error) {
	cfg := config{addr: netip.MustParseAddrPort(defaultAddr)}
	flags := flag.NewFlagSet("echo", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // the caller prints the error, once and without the help
	flags.Func("addr", "listen on `host:port`, an IPv4 or IPv6 address; port 0 is any free one (default "+defaultAddr+")", func(text string) (err error) {
		cfg.addr, err = parseAddr(text)
		return err
	})
	flags.BoolVar(&cfg.quiet, "quiet", false, "print no line a second")
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		flags.SetOutput(out)
		_, _ = io.WriteString(out, help)
		flags.PrintDefaults()
	case err == nil && flags.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q: everything is a flag", flags.Arg(0))
	}
	return cfg, err
}
