package main

import (
	"fmt"
	"strings"
)

// stats is what there is to tell about a run.
type stats struct {
	open, peak, served int    // connections
	echoed             uint64 // bytes written back
	broken             int    // connections that ended with an error
	lastError          error  // of the last of them
	cutOff             int    // connections that were open at the end
	unsent             int    // bytes in their backlogs
}

func (s *stats) opened() {
	s.open++
	s.served++
	s.peak = max(s.peak, s.open)
}

func (s *stats) closed(err error) {
	s.open--
	if err != nil {
		s.broken++
		s.lastError = err
	}
}

// summary is the last line of a run.
func (s *stats) summary() string {
	var b strings.Builder
	fmt.Fprintf(&b, "served %s, at most %d at once; echoed %d bytes", count(s.served, "connection"), s.peak, s.echoed)
	if s.broken > 0 {
		fmt.Fprintf(&b, "; %d broke off, the last with: %v", s.broken, s.lastError)
	}
	if s.cutOff > 0 {
		fmt.Fprintf(&b, "; %d cut off with %d bytes unsent", s.cutOff, s.unsent)
	}
	return b.String()
}

// ticker makes the line a second out of two looks at the figures. While nothing changes it keeps silent, but for a sign
// of life now and then.
type ticker struct {
	last   stats
	rate   uint64 // bytes in the second before
	silent int    // seconds
}

const maxSilence = 10

// line returns what to print, or nothing.
func (t *ticker) line(now stats) string {
	rate := now.echoed - t.last.echoed
	changed := rate > 0 || t.rate > 0 || now.open != t.last.open || now.served != t.last.served
	t.last, t.rate = now, rate
	if t.silent++; !changed && t.silent < maxSilence {
		return ""
	}
	t.silent = 0
	return fmt.Sprintf("%d open, %d served, %s echoed, %s/s", now.open, now.served, size(now.echoed), size(rate))
}

func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// size writes a number of bytes for people.
func size(n uint64) string {
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	x, unit := float64(n)/1024, 0
	// What would be printed as 1024.0 is one of the next unit.
	for ; x >= 1023.95 && unit < len("KMGTPE")-1; unit++ {
		x /= 1024
	}
	return fmt.Sprintf("%.1f %ciB", x, "KMGTPE"[unit])
}
