#include "cuv.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

// Over all loops of the process, for the balance that tests require.
static _Atomic uint64_t total_opened[CUV_KINDS];
static _Atomic uint64_t total_closed[CUV_KINDS];

#ifdef CUV_SEPARATE_CELLS // with the address sanitizer, so that a use after the close callback is seen
static cuv_cell *allocate(cuv_loop *l) {
  (void)l;
  return cuv_must(aligned_alloc(CUV_CACHE_LINE, sizeof(cuv_cell)));
}

void cuv_cell_free(cuv_cell *c) { free(c); }
#else
enum { FIRST_BLOCK = 32, LAST_BLOCK = 4096 }; // cells

// Cells stand side by side in blocks, which live as long as the loop: spread over the heap, 10,000 timers cost a third more.
struct cuv_block {
  struct cuv_block *next;
  uint32_t used, cells;
  _Alignas(CUV_CACHE_LINE) cuv_cell cell[];
};

static cuv_cell *allocate(cuv_loop *l) {
  struct cuv_block *b = l->blocks;
  if (b == NULL || b->used == b->cells) {
    uint32_t cells = b == NULL ? FIRST_BLOCK : b->cells < LAST_BLOCK ? 2 * b->cells : LAST_BLOCK;
    l->blocks = cuv_must(aligned_alloc(CUV_CACHE_LINE, sizeof *b + cells * sizeof(cuv_cell)));
    *l->blocks = (struct cuv_block){b, 0, cells};
    b = l->blocks;
  }
  return &b->cell[b->used++];
}

void cuv_cell_free(cuv_cell *c) { (void)c; }
#endif

void cuv_blocks_free(cuv_loop *l) {
#ifndef CUV_SEPARATE_CELLS
  for (struct cuv_block *b = l->blocks, *next; b != NULL; b = next) {
    next = b->next;
    free(b);
  }
#endif
  l->blocks = NULL;
}

cuv_cell *cuv_cell_new(cuv_loop *l, uint32_t slot, void *token) {
  cuv_cell *c = allocate(l);
  memset(c, 0, sizeof *c);
  c->handle.loop = &l->uv;
  c->handle.data = token;
  c->slot = slot;
  return c;
}

void *cuv_cell_token(cuv_cell *c) { return c->handle.data; }

// libuv's init functions leave data alone.
void cuv_opened(cuv_cell *c, cuv_kind kind, uint32_t gen) {
  c->kind = kind;
  c->gen = gen;
  c->hidden = 0;
  c->open = 1;
  cuv_loop_of(c)->opened[kind]++;
  atomic_fetch_add_explicit(&total_opened[kind], 1, memory_order_relaxed);
}

// Hidden handles do not keep a uv_run of somebody else's going.
void cuv_hide(cuv_cell *c, uint16_t flags) {
  uint8_t hidden = (flags & CUV_FLAG_HIDDEN) != 0;
  if (hidden == c->hidden || !c->open) return;
  c->hidden = hidden;
  if (hidden)
    uv_unref(&c->handle);
  else
    uv_ref(&c->handle);
}

static void on_closed(uv_handle_t *h) {
  cuv_cell *c = cuv_cell_of(h);
  c->open = 0;
  cuv_loop_of(c)->closed[c->kind]++;
  atomic_fetch_add_explicit(&total_closed[c->kind], 1, memory_order_relaxed);
  cuv_push(c, CUV_DONE_CLOSED, 0, 0);
}

void cuv_close(cuv_cell *c, uint16_t flags) {
  if (!c->open) { // a timer that never reached libuv
    cuv_push(c, CUV_DONE_CLOSED, 0, 0);
    return;
  }
  uv_os_fd_t fd = -1;
  int polled = c->kind == CUV_POLL && uv_fileno(&c->handle, &fd) == 0;
  uv_close(&c->handle, on_closed);
  if (polled) cuv_poll_closing(c, fd, flags);
}

void cuv_totals(uint64_t *opened, uint64_t *closed) {
  for (int k = 0; k < CUV_KINDS; k++) {
    opened[k] = atomic_load(&total_opened[k]);
    closed[k] = atomic_load(&total_closed[k]);
  }
}
