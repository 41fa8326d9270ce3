#include "cuv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The rings may not lose a record, so there is nothing to go on with; Go itself ends the same way.
void *cuv_must(void *memory) {
  if (memory == NULL) {
    fputs("uvasync: out of memory\n", stderr);
    abort();
  }
  return memory;
}

// The queue of posts is read by Go after every turn: the callback has nothing to do but end the wait.
static void on_wake(uv_async_t *wake) { (void)wake; }

static int loop_init(cuv_loop *l, int idle_time, int block_signal, const char **call) {
  int err;
  *call = "uv_loop_init";
  if ((err = uv_loop_init(&l->uv)) != 0) return err;
  *call = "uv_loop_configure(UV_METRICS_IDLE_TIME)";
  if (idle_time && (err = uv_loop_configure(&l->uv, UV_METRICS_IDLE_TIME)) != 0) goto fail;
  *call = "uv_loop_configure(UV_LOOP_BLOCK_SIGNAL)";
  if (block_signal != 0 && (err = uv_loop_configure(&l->uv, UV_LOOP_BLOCK_SIGNAL, block_signal)) != 0) goto fail;
  *call = "uv_async_init";
  if ((err = uv_async_init(&l->uv, &l->wake, on_wake)) != 0) goto fail;
  return 0;
fail:
  if (uv_loop_close(&l->uv) != 0) abort();
  return err;
}

int cuv_loop_new(cuv_loop **out, int idle_time, int block_signal, const char **call) {
  cuv_loop *l = cuv_must(calloc(1, sizeof *l));
  int err = loop_init(l, idle_time, block_signal, call);
  if (err != 0) {
    free(l);
    return err;
  }
  l->run_guard = uv_version() < 0x012d00;
  *out = l;
  return 0;
}

uint32_t cuv_grown(uint32_t cap) { return cap == 0 ? 256 : 2 * cap; }

void cuv_grow_submissions(cuv_loop *l) {
  uint32_t cap = cuv_grown(l->sub_cap);
  l->sub = cuv_must(realloc(l->sub, cap * sizeof *l->sub));
  l->sub_cap = cap;
}

static void grow_completions(cuv_done_buffer *b) {
  uint32_t cap = cuv_grown(b->cap);
  b->records = cuv_must(realloc(b->records, cap * sizeof *b->records));
  b->cap = cap;
}

// Go reads its slot and its object soon, and by then has mostly lost them from its caches. A wrong address does no harm.
static void prefetch(const cuv_loop *l, const cuv_cell *c) {
  __builtin_prefetch((const void *)(l->slots + (uintptr_t)c->slot * CUV_SLOT_SIZE));
  __builtin_prefetch((const void *)c->owner, 1);
  __builtin_prefetch((const void *)(c->owner + CUV_CACHE_LINE), 1);
}

void cuv_push(cuv_cell *c, uint32_t kind, int32_t status, uint64_t payload) {
  cuv_loop *l = cuv_loop_of(c);
  prefetch(l, c);
  cuv_done_buffer *b = &l->done[l->writing];
  if (b->len == b->cap) grow_completions(b);
  b->records[b->len++] = (cuv_done){payload, c->slot, c->gen, status, kind};
}

static void apply(const cuv_sub *s) {
  cuv_cell *c = (cuv_cell *)s->cell;
  switch (s->op) {
  case CUV_OP_TIMER_START:
  case CUV_OP_TIMER_AT:
  case CUV_OP_TIMER_SOONER:
  case CUV_OP_TIMER_STOP:
    cuv_timer_apply(c, s);
    break;
  case CUV_OP_POLL_START:
  case CUV_OP_POLL_STOP:
    cuv_poll_apply(c, s);
    break;
  case CUV_OP_HIDE:
    cuv_hide(c, s->flags);
    break;
  case CUV_OP_CLOSE:
    cuv_close(c, s->flags);
    break;
  case CUV_OP_FREE:
    cuv_cell_free(c);
    break;
  }
}

// While many handles are started at once, a cell's way into the cache is longer than the work on the one before it.
enum { AHEAD = 4 };

static void prefetch_cell(uintptr_t cell) {
  __builtin_prefetch((const void *)cell, 1);
  __builtin_prefetch((const void *)(cell + CUV_CACHE_LINE), 1);
  __builtin_prefetch((const void *)(cell + 2 * CUV_CACHE_LINE), 1);
}

void cuv_flush(cuv_loop *l, uint32_t nsub) {
  l->now = uv_hrtime();
  cuv_poll_resume(l);
  for (const cuv_sub *s = l->sub, *end = s + nsub; s != end; s++) {
    if (end - s > AHEAD) prefetch_cell(s[AHEAD].cell);
    apply(s);
  }
}

uint32_t cuv_tick(uintptr_t loop, uint32_t nsub, int block) {
  cuv_loop *l = (cuv_loop *)loop;
  cuv_flush(l, nsub);
  // Records of an earlier flush that nobody has read yet must not wait for the next event.
  if (l->done[l->writing].len != 0) block = 0;
  // The loop's cached time may be old by as much as Go took to dispatch, and libuv would sleep that much too long.
  if (block) uv_update_time(&l->uv);
  uv_run(&l->uv, block ? UV_RUN_ONCE : UV_RUN_NOWAIT);
  uint32_t n = l->done[l->writing].len;
  l->writing ^= 1;
  l->done[l->writing].len = 0;
  l->turn++;
  return n;
}

int cuv_wake(cuv_loop *l) { return uv_async_send(&l->wake); }

static void on_wake_closed(uv_handle_t *h) { h->data = h; }

void cuv_wake_close(cuv_loop *l) {
  uv_close((uv_handle_t *)&l->wake, on_wake_closed);
  while (l->wake.data == NULL) uv_run(&l->uv, UV_RUN_NOWAIT);
}

// UV_EBUSY: handles that are not ours are still open.
int cuv_loop_close(cuv_loop *l) {
  uv_run(&l->uv, UV_RUN_NOWAIT);
  return uv_loop_close(&l->uv);
}

void cuv_loop_free(cuv_loop *l) {
  cuv_blocks_free(l);
  free(l->sub);
  free(l->paused.cells);
  free(l->done[0].records);
  free(l->done[1].records);
  free(l);
}

static void count_one(uv_handle_t *h, void *counts) { ((uint64_t *)counts)[uv_handle_get_type(h)]++; }

// counts has UV_HANDLE_TYPE_MAX places. The wake-up handle is left out: it is the loop's own.
void cuv_count_handles(cuv_loop *l, uint64_t *counts) {
  memset(counts, 0, UV_HANDLE_TYPE_MAX * sizeof *counts);
  uv_walk(&l->uv, count_one, counts);
  if (l->wake.data == NULL) counts[UV_ASYNC]--;
}
