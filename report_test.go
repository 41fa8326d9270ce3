package uvasync_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync"
	"github.com/uvasync/uvasync/future"
)

func careless(list []int) int { return list[2] }

func TestReport_HasTheStackOfAPanic(t *testing.T) {
	for name, main := range map[string]func(co *uvasync.Coroutine) error{
		"main": func(*uvasync.Coroutine) error { careless(nil); return nil },
		"coroutine": func(co *uvasync.Coroutine) error {
			_, err := co.Spawn(func(*uvasync.Coroutine) error { careless(nil); return nil })
			return err
		},
		"future": func(co *uvasync.Coroutine) error {
			_, err := future.Go(co, func(*uvasync.Coroutine) (int, error) { return careless(nil), nil }).Await(co)
			return err
		},
	} {
		err := uvasync.Run(context.Background(), main)
		require.Error(t, err, name)
		assert.Regexp(t, `index out of range.* at .*report_test.go:15`, err.Error(), name)
		report := uvasync.Report(err)
		assert.Contains(t, report, "uvasync_test.careless(", name)
		assert.NotContains(t, report, "fiber", name)
	}
	assert.Equal(t, "boom\n", uvasync.Report(errors.New("boom")))
	assert.Empty(t, uvasync.Report(nil))
}
