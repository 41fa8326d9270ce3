package scope_test

import (
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

// refusing closes the scope and refuses the coroutine.
type refusing struct{ s *scope.Scope }

func (refusing) ProvideScope() (*scheduler.Scope, error) { return nil, nil }
func (r refusing) BeforeEnqueue(*scheduler.Coroutine) error {
	_ = r.s.Close()
	return errBoom
}
func (refusing) AfterEnqueue(*scheduler.Coroutine) error { return nil }

type countingLog map[string]int

func (countingLog) Enabled(context.Context, slog.Level) bool        { return true }
func (c countingLog) Handle(_ context.Context, r slog.Record) error { c[r.Message]++; return nil }
func (c countingLog) WithAttrs([]slog.Attr) slog.Handler            { return c }
func (c countingLog) WithGroup(string) slog.Handler                 { return c }

func TestScope_ZombieLog_OneThatWasRefusedDoesNotLinger(t *testing.T) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			s, log := scope.New(co), countingLog{}
			require.NoError(t, s.LogZombies(scheduler.ZombieLog{Logger: slog.New(log), Linger: ms}))
			_, err := s.Spawn(cotest.Fails(nil), scheduler.By(refusing{s}))
			require.ErrorIs(t, err, errBoom)
			counts(t, s, 0, 0, 0)
			require.NoError(t, co.Delay(10*ms))
			assert.Zero(t, log["a zombie lingers"])
			return nil
		})
	})
}
