package ring

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

func TestRing_BehavesLikeASlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r Ring[int]
		var model []int
		for range rapid.IntRange(0, 200).Draw(t, "steps") {
			switch v := rapid.IntRange(0, 1000).Draw(t, "value"); {
			case v < 400:
				r.Push(v)
				model = append(model, v)
			case v < 550:
				r.PushFront(v)
				model = append([]int{v}, model...)
			case len(model) == 0:
				assert.Panics(t, func() { r.Pop() })
				assert.Panics(t, func() { r.PopBack() })
			case v < 800:
				assert.Equal(t, model[0], r.Pop())
				model = model[1:]
			case v < 900:
				i, j := v%len(model), (v/7)%len(model)
				r.Swap(i, j)
				model[i], model[j] = model[j], model[i]
			default:
				assert.Equal(t, model[len(model)-1], r.PopBack())
				model = model[:len(model)-1]
			}
			assert.Equal(t, len(model), r.Len())
			for i, v := range model {
				assert.Equal(t, v, r.At(i))
			}
		}
	})
}

func TestRing_ForgetsWhatItGaveAway(t *testing.T) {
	var r Ring[*int]
	r.Push(new(int))
	r.Push(new(int))
	r.Pop()
	r.PopBack()
	for _, p := range r.items {
		assert.Nil(t, p)
	}
}
