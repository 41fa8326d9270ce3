// Package stats has the few numbers that a benchmark of some rounds needs.
package stats

import "slices"

// Median returns the middle value, or the mean of the two in the middle. 0 for
// none.
func Median(values []float64) float64 {
	n := len(values)
	if n == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	if n%2 == 1 {
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}

// Spread is the distance between the quartiles, as a part of the median: how
// far apart the middle half of the values lies. 0 for none.
func Spread(values []float64) float64 {
	median := Median(values)
	if median == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return (quantile(sorted, 0.75) - quantile(sorted, 0.25)) / median
}

// quantile interpolates between the two nearest of the sorted values.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	below := int(at)
	above := min(below+1, len(sorted)-1)
	return sorted[below] + (at-float64(below))*(sorted[above]-sorted[below])
}

// Ratios divides the values of each round.
func Ratios(ours, baseline []float64) []float64 {
	ratios := make([]float64, len(ours))
	for i := range ours {
		ratios[i] = ours[i] / baseline[i]
	}
	return ratios
}
