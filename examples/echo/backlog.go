package main

// blockSize is the most that a connection can owe its peer, and the most that one system call copies.
const blockSize = 64 << 10

type block [blockSize]byte

// backlog is what was read from a connection and could not be written back yet. Its block is filled once, from front to
// back, and not used again before it was emptied: a peer that reads slowly is read from in large portions, not byte for
// byte. A backlog that is empty has no block, so memory goes to the slow peers only.
type backlog struct {
	spares   *spares
	block    *block
	from, to int // block[from:to] is still to be written
}

func (b *backlog) empty() bool { return b.from == b.to }

func (b *backlog) size() int { return b.to - b.from }

// room is how much add takes; 0 from when the block is full until it was emptied.
func (b *backlog) room() int { return blockSize - b.to }

// add keeps a copy of data, of which there must not be more than there is room for.
func (b *backlog) add(data []byte) {
	if b.block == nil {
		b.block = b.spares.take()
	}
	b.to += copy(b.block[b.to:], data)
}

// pending is what is to be written next; drop says how much of it was.
func (b *backlog) pending() []byte { return b.block[b.from:b.to] }

func (b *backlog) drop(n int) {
	b.from += n
	if b.empty() {
		b.clear()
	}
}

func (b *backlog) clear() {
	if b.block != nil {
		b.spares.give(b.block)
	}
	b.block, b.from, b.to = nil, 0, 0
}

// spares keeps a few blocks that nobody needs at the moment, so that connections that are slow now and then do not
// allocate one each time.
type spares struct{ blocks []*block }

const maxSpares = 16

func (s *spares) take() *block {
	n := len(s.blocks)
	if n == 0 {
		return new(block)
	}
	b := s.blocks[n-1]
	s.blocks = s.blocks[:n-1]
	return b
}

func (s *spares) give(b *block) {
	if len(s.blocks) < maxSpares {
		s.blocks = append(s.blocks, b)
	}
}
