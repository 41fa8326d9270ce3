package scope_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/reactor"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

func benchTasks(b *testing.B, tasks int, round func(co *scheduler.Coroutine) error) {
	l, err := reactor.New(reactor.Options{})
	require.NoError(b, err)
	defer l.Close()
	b.ReportAllocs()
	err = scheduler.New(l, scheduler.Options{}).Run(context.Background(), func(co *scheduler.Coroutine) error {
		for b.Loop() {
			if err := round(co); err != nil {
				return err
			}
		}
		return nil
	})
	require.NoError(b, err)
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*tasks), "ns/task")
}

func BenchmarkGroup(b *testing.B) {
	const tasks = 10_000
	for _, c := range []struct {
		name   string
		config scope.GroupConfig
	}{
		{"limit50", scope.GroupConfig{Concurrency: 50}},
		{"limit50-noqueue", scope.GroupConfig{Concurrency: 50, QueueLimit: scope.NoQueueLimit}},
		{"limit1", scope.GroupConfig{Concurrency: 1}},
		{"unlimited", scope.GroupConfig{}},
	} {
		b.Run(c.name, func(b *testing.B) {
			benchTasks(b, tasks, func(co *scheduler.Coroutine) error {
				g, err := scope.NewGroup[int](co, c.config)
				if err != nil {
					return err
				}
				for i := range tasks {
					if _, err := g.Spawn(co, func(*scheduler.Coroutine) (int, error) { return i, nil }); err != nil {
						return err
					}
				}
				if err := g.Close(); err != nil {
					return err
				}
				return g.AwaitCompletion(co)
			})
		})
	}
}

func BenchmarkSet_JoinedByOutcomes(b *testing.B) {
	const tasks = 10_000
	benchTasks(b, tasks, func(co *scheduler.Coroutine) error {
		s, err := scope.NewSet[int](co, scope.GroupConfig{Concurrency: 50})
		if err != nil {
			return err
		}
		_, err = co.Spawn(func(co *scheduler.Coroutine) error {
			for i := range tasks {
				if _, err := s.Spawn(co, func(*scheduler.Coroutine) (int, error) { return i, nil }); err != nil {
					return err
				}
			}
			return s.Close()
		})
		if err != nil {
			return err
		}
		for _, err := range s.Outcomes(co) {
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func BenchmarkGroup_OfOneTask(b *testing.B) {
	benchTasks(b, 1, func(co *scheduler.Coroutine) error {
		g, err := scope.NewGroup[int](co)
		if err != nil {
			return err
		}
		if _, err := g.Spawn(co, func(*scheduler.Coroutine) (int, error) { return 1, nil }); err != nil {
			return err
		}
		if err := g.Close(); err != nil {
			return err
		}
		return g.AwaitCompletion(co)
	})
}
