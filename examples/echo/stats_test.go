package main

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTickerIsSilentWhileNothingChanges(t *testing.T) {
	var tick ticker
	for range maxSilence - 1 {
		assert.Empty(t, tick.line(stats{}))
	}
	assert.NotEmpty(t, tick.line(stats{}), "a sign of life")
	assert.Empty(t, tick.line(stats{}))

	now := stats{open: 2, served: 3, echoed: 2048}
	assert.Equal(t, "2 open, 3 served, 2.0 KiB echoed, 2.0 KiB/s", tick.line(now))
	assert.Equal(t, "2 open, 3 served, 2.0 KiB echoed, 0 B/s", tick.line(now), "it has become quiet")
	assert.Empty(t, tick.line(now))
	now.echoed++
	assert.Equal(t, "2 open, 3 served, 2.0 KiB echoed, 1 B/s", tick.line(now))
}

func TestSummary(t *testing.T) {
	s := stats{}
	s.opened()
	s.opened()
	s.closed(nil)
	s.opened()
	s.echoed = 7
	assert.Equal(t, "served 3 connections, at most 2 at once; echoed 7 bytes", s.summary())
	s.closed(errors.New("boom"))
	s.cutOff, s.unsent = 1, 9
	assert.Equal(t, "served 3 connections, at most 2 at once; echoed 7 bytes; 1 broke off, the last with: boom; 1 cut off with 9 bytes unsent", s.summary())
}

func TestSize(t *testing.T) {
	for n, want := range map[uint64]string{
		0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1536: "1.5 KiB", 1<<20 - 1: "1.0 MiB", 1 << 20: "1.0 MiB", 5 << 30: "5.0 GiB", 1<<64 - 1: "16.0 EiB",
	} {
		assert.Equal(t, want, size(n), n)
	}
}
