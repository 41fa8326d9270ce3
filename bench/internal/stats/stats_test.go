package stats

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMedianIsTheMiddleOrTheMeanOfTheTwoInTheMiddle(t *testing.T) {
	assert.Zero(t, Median(nil))
	assert.Equal(t, 7.0, Median([]float64{7}))
	assert.Equal(t, 2.0, Median([]float64{9, 1, 2}))
	assert.Equal(t, 2.5, Median([]float64{9, 1, 2, 3}))
}

func TestMedianLeavesItsArgumentInOrder(t *testing.T) {
	values := []float64{3, 1, 2}
	Median(values)
	assert.Equal(t, []float64{3, 1, 2}, values)
}

func TestSpreadIsTheInterquartileRangeOverTheMedian(t *testing.T) {
	assert.Zero(t, Spread(nil))
	assert.Zero(t, Spread([]float64{4}))
	assert.Zero(t, Spread([]float64{5, 5, 5, 5, 5}))
	assert.Equal(t, 0.5, Spread([]float64{1, 3, 4, 5, 100}), "one wild round does not show")
	assert.InDelta(t, 0.6, Spread([]float64{1, 2, 3, 4}), 1e-9)
}

func TestRatiosAreTakenRoundByRound(t *testing.T) {
	assert.Equal(t, []float64{2, 0.5}, Ratios([]float64{4, 1}, []float64{2, 2}))
	assert.Empty(t, Ratios(nil, nil))
}
