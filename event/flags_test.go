package event

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFlags_StringNamesThem(t *testing.T) {
	for want, flags := range map[string]Flags{
		"none":                           0,
		"closed":                         FlagClosed,
		"closed|reference|hidden":        FlagHidden | FlagReference | FlagClosed,
		"periodic|0x40000200":            FlagPeriodic | 1<<9 | 1<<30,
		"result-used|error-caught":       FlagResultUsed | FlagErrorCaught,
		"error-handled|close-fd|no-free": FlagErrorHandled | FlagCloseFD | FlagNoFree,
	} {
		assert.Equal(t, want, flags.String())
	}
}

func TestFlags_SetAndClear(t *testing.T) {
	e := newTestEvent(FlagPeriodic)
	e.SetFlags(FlagResultUsed | FlagErrorCaught)
	assert.True(t, e.Has(FlagPeriodic|FlagResultUsed))
	assert.False(t, e.Has(FlagPeriodic|FlagCloseFD), "all of them must be set")
	e.ClearFlags(FlagPeriodic | FlagErrorCaught)
	assert.Equal(t, FlagResultUsed, e.Flags())
}

func TestFlags_SettingClosedClosesForGood(t *testing.T) {
	e := newTestEvent(0)
	require.NoError(t, e.Start())
	e.SetFlags(FlagClosed)
	assert.Equal(t, 1, e.kind.stopped)
	assert.Zero(t, e.live.Value())
	e.ClearFlags(FlagClosed)
	assert.True(t, e.Has(FlagClosed))
}

func TestNopKind_DoesNothing(t *testing.T) {
	var live Count
	var e Base
	e.Init(NopKind{}, &live, 0)
	assert.Equal(t, "event", e.Info())
	require.NoError(t, e.Start())
	e.SetHidden(true)
	e.Dispose()
	_, ok, err := e.Outcome()
	assert.False(t, ok)
	assert.NoError(t, err)
	assert.Zero(t, live.Value())
}
