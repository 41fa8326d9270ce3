package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestBacklogKeepsTheOrderAndNoBlockWhenEmpty(t *testing.T) {
	b := backlog{spares: &spares{}}
	assert.True(t, b.empty())
	assert.Equal(t, blockSize, b.room())

	b.add([]byte("abc"))
	b.add([]byte("de"))
	assert.Equal(t, "abcde", string(b.pending()))
	b.drop(2)
	assert.Equal(t, "cde", string(b.pending()))
	assert.Equal(t, 3, b.size())
	b.drop(3)
	assert.True(t, b.empty())
	assert.Nil(t, b.block)
	assert.Len(t, b.spares.blocks, 1)

	b.add([]byte("x"))
	assert.Empty(t, b.spares.blocks, "the block is used again")
}

func TestBacklogHasNoRoomFromFullUntilEmptied(t *testing.T) {
	b := backlog{spares: &spares{}}
	b.add(make([]byte, blockSize))
	b.drop(blockSize - 1)
	assert.Zero(t, b.room())
	b.drop(1)
	assert.Equal(t, blockSize, b.room())
}

func TestSparesAreFew(t *testing.T) {
	var s spares
	for range 2 * maxSpares {
		s.give(new(block))
	}
	assert.Len(t, s.blocks, maxSpares)
}
