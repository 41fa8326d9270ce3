package cuv

// #include "cuv.h"
import "C"

import (
	"unsafe"

	pointer "github.com/mattn/go-pointer"
)

// A slot is the Go side of one cell, the C memory of one handle. Cell, token and slot have one life: they are made together
// and reused together, after the close callback, until the loop is closed. The generation goes up at every start and stop and is
// never reset, so that a late completion of an earlier use is told apart.
type slot struct {
	owner Owner
	cell  *C.cuv_cell // its handle's data is the token
	gen   uint32
	use   slotUse
}

// C prefetches slots by their size.
var _ [C.CUV_SLOT_SIZE]byte = [unsafe.Sizeof(slot{})]byte{}

type slotUse uint8

const (
	slotFree slotUse = iota // no cell
	slotSpare
	slotOpen
	slotClosing
)

// Token is what handle->data of every handle leads to, through pointer.Restore of package go-pointer: it keeps the event
// alive for as long as C can reach the handle, and it is how foreign C code finds the Go side.
type Token struct {
	loop *Loop
	slot int32
}

// Owner is who opened the handle; nil after it was closed. For the loop's goroutine.
func (t *Token) Owner() Owner { return t.loop.slots[t.slot].owner }

// take reserves a slot, and a cell for its handle, for owner.
func (l *Loop) take(owner Owner) int32 {
	if n := len(l.spare); n > 0 {
		i := l.spare[n-1]
		l.spare = l.spare[:n-1]
		l.own(i, owner)
		return i
	}
	i := l.takeBare()
	s := &l.slots[i]
	s.cell = C.cuv_cell_new(l.c, C.uint32_t(i), pointer.Save(&Token{l, i}))
	l.own(i, owner)
	return i
}

// own opens the slot for owner, whose address C gets to know as a number, for prefetching.
func (l *Loop) own(i int32, owner Owner) {
	s := &l.slots[i]
	s.owner, s.use = owner, slotOpen
	s.cell.owner = C.uintptr_t((*[2]uintptr)(unsafe.Pointer(&owner))[1])
}

func (l *Loop) takeBare() int32 {
	if n := len(l.bare); n > 0 {
		i := l.bare[n-1]
		l.bare = l.bare[:n-1]
		return i
	}
	l.slots = append(l.slots, slot{})
	l.c.slots = C.uintptr_t(uintptr(unsafe.Pointer(unsafe.SliceData(l.slots))))
	return int32(len(l.slots) - 1)
}

// holds reports whether slot i is that of an open handle; it is not once the loop has closed the handle by itself.
func (l *Loop) holds(i int32) bool {
	return i != 0 && l.state != loopClosed && l.slots[i].use == slotOpen
}

// closeSlot submits the close; the slot is released when the close callback's completion is read.
func (l *Loop) closeSlot(i int32, flags uint16) {
	l.submit(C.CUV_OP_CLOSE, flags, l.closing(i), 0)
}

func (l *Loop) closing(i int32) *slot {
	s := &l.slots[i]
	s.use = slotClosing
	s.gen++
	return s
}

func (l *Loop) release(i int32) {
	s := &l.slots[i]
	s.owner = nil
	if keepCells && l.state == loopOpen {
		s.use = slotSpare
		l.spare = append(l.spare, i)
		return
	}
	l.free(i)
}

func (l *Loop) free(i int32) {
	s := &l.slots[i]
	l.submit(C.CUV_OP_FREE, 0, s, 0)
	pointer.Unref(C.cuv_cell_token(s.cell))
	s.use, s.cell = slotFree, nil
	l.bare = append(l.bare, i)
}

func (l *Loop) freeSpares() {
	for _, i := range l.spare {
		l.free(i)
	}
	l.spare = nil
}

func (l *Loop) inUse() bool {
	for i := range l.slots {
		if l.slots[i].use == slotOpen || l.slots[i].use == slotClosing {
			return true
		}
	}
	return false
}

// putBack undoes take after libuv refused to open the handle. A handle that got as far as its init closes by itself first.
func (l *Loop) putBack(i int32) {
	if l.slots[i].cell.open != 0 {
		l.slots[i].use = slotClosing
		return
	}
	l.release(i)
}
