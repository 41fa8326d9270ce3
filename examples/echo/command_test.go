package main

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPortTaken(t *testing.T) {
	t.Parallel()
	first := start(t)
	second := launch(t, nil, "-addr", first.addr)
	assert.Equal(t, exitFailure, second.exit())
	assert.Equal(t, "echo: listen on "+first.addr+": bind: address already in use; choose another with -addr\n", second.errs.String())
	assert.Empty(t, second.out.String())
	dial(t, first).roundTrip("the first one does not mind")
}

func TestBadArguments(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"-frobnicate"}, exitUsage, "flag provided but not defined: -frobnicate"},
		{[]string{"-quiet=perhaps"}, exitUsage, "-quiet"},
		{[]string{"127.0.0.1:7007"}, exitUsage, `unexpected argument "127.0.0.1:7007"`},
		{[]string{"-addr"}, exitUsage, "flag needs an argument: -addr"},
		{[]string{"-addr", "localhost:7007"}, exitUsage, "want an IP address and a port"},
		{[]string{"-addr", "127.0.0.1"}, exitUsage, "want an IP address and a port"},
		{[]string{"-addr", "127.0.0.1:70000"}, exitUsage, "want an IP address and a port"},
		{[]string{"-addr", "[fe80::1%lo]:7007"}, exitUsage, "zone"},
		// TEST-NET-1, which no machine has.
		{[]string{"-addr", "192.0.2.1:7007"}, exitFailure, "listen on 192.0.2.1:7007: bind: cannot assign requested address"},
	} {
		p := launch(t, nil, c.args...)
		assert.Equal(t, c.code, p.exit(), c.args)
		assert.Contains(t, p.errs.String(), c.says)
		assert.Len(t, p.errs.lines(), 1, p.errs.String())
		assert.Empty(t, p.out.String())
	}
}

func TestHelp(t *testing.T) {
	t.Parallel()
	p := launch(t, nil, "-h")
	assert.Equal(t, 0, p.exit())
	assert.Empty(t, p.errs.String())
	for _, word := range []string{"usage: echo", "-addr", "-quiet", defaultAddr} {
		assert.Contains(t, p.out.String(), word)
	}
}

func TestDefaults(t *testing.T) {
	cfg, err := parse(nil, nil)
	require.NoError(t, err)
	assert.Equal(t, config{addr: netip.MustParseAddrPort("127.0.0.1:7007")}, cfg)
}
