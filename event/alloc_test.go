package event

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAllocs_NoneOnTheHotPaths(t *testing.T) {
	called := 0
	count := func(*Base, *Callback, any, error) { called++ }
	one, many, moving, lifecycle := newTestEvent(0), newTestEvent(0), newTestEvent(0), newTestEvent(0)
	_, err := one.Subscribe(count)
	require.NoError(t, err)
	for range 10 {
		_, err := many.Subscribe(count)
		require.NoError(t, err)
		_, err = moving.Subscribe(func(b *Base, cb *Callback, _ any, _ error) {
			cb.Retain()
			b.DelCallback(cb)
			_ = b.AddCallback(cb)
			cb.Release()
		})
		require.NoError(t, err)
	}
	made := NewCallback(count, nil)
	var result any = 42
	boom := errors.New("boom")
	for name, fn := range map[string]func(){
		"Notify, one callback":             func() { _ = one.Notify(result, boom) },
		"Notify, ten callbacks":            func() { _ = many.Notify(result, boom) },
		"Notify, callbacks renew themself": func() { _ = moving.Notify(result, boom) },
		"Start and Stop": func() {
			_ = lifecycle.Start()
			_ = lifecycle.Stop()
		},
		"AddCallback and DelCallback": func() {
			_ = many.AddCallback(made)
			many.DelCallback(made)
		},
	} {
		assert.Zero(t, testing.AllocsPerRun(100, fn), name)
	}
}

func TestAllocs_TheFirstCallbackOfAnEventIsFree(t *testing.T) {
	var e Base
	var cb Callback
	fn := func(*Base, *Callback, any, error) {}
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		e.Init(NopKind{}, nil, 0)
		cb.Init(fn, nil, nil)
		_ = e.AddCallback(&cb)
		_ = e.Notify(nil, nil)
		e.Dispose()
	}))
}
