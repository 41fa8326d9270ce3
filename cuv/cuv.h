// The C half of package cuv: one loop, its two rings, and the cells that hold libuv handles.
//
// Everything here runs on the thread that is inside cuv_tick or another direct call of the loop's goroutine; the two
// exceptions, callable from any thread, are cuv_wake and cuv_async_send, which Go fences off before their handles close.
#ifndef CUV_H
#define CUV_H

#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#if UV_VERSION_HEX < 0x012c00
#error "uvasync needs libuv 1.44 or newer: run `make vendor`, or install a newer libuv1-dev"
#endif

typedef enum {
  CUV_TIMER,
  CUV_POLL,
  CUV_SIGNAL,
  CUV_ASYNC,
  CUV_KINDS,
} cuv_kind;

typedef enum {
  CUV_OP_TIMER_START, // arg: delay in ns from the clock of this flush
  CUV_OP_TIMER_AT,    // arg: absolute time in ns
  CUV_OP_TIMER_SOONER, // as START, unless it is due earlier already
  CUV_OP_TIMER_STOP,
  CUV_OP_POLL_START,  // arg: mask
  CUV_OP_POLL_STOP,
  CUV_OP_HIDE,
  CUV_OP_CLOSE,
  CUV_OP_FREE,        // only after the cell's close callback
} cuv_op;

enum {
  CUV_FLAG_PERIODIC = 1, // timer: fire every delay
  CUV_FLAG_HIDDEN = 2,   // uv_unref while started
  CUV_FLAG_CLOSE_FD = 4, // close: the poll's fd too
};

// What a completion is about, beyond the kinds of handles.
enum {
  CUV_DONE_CLOSED = CUV_KINDS, // the close callback ran: the slot is free
  CUV_DONE_BUG,                // libuv refused what cannot fail
};

// cell is a uintptr_t, not a pointer, so that Go writes records without a write barrier.
typedef struct {
  uint64_t arg;
  uintptr_t cell;
  uint32_t gen;
  uint16_t op;
  uint16_t flags;
} cuv_sub;

typedef struct {
  uint64_t payload; // timer: due time in ns; poll: readiness; signal: number
  uint32_t slot;
  uint32_t gen;
  int32_t status;   // timer: turn in which it was started; others: 0 or libuv's error code
  uint32_t kind;
} cuv_done;

typedef struct {
  cuv_done *records;
  uint32_t len;
  uint32_t cap;
} cuv_done_buffer;

typedef struct {
  struct cuv_cell **cells;
  uint32_t len;
  uint32_t cap;
} cuv_cell_list;

typedef struct {
  uv_loop_t uv;
  uv_async_t wake;
  uint64_t now;          // clock of the last flush, ns; timers started in it count from here
  uint32_t turn;         // how many turns are over
  uint32_t run_guard;    // libuv older than 1.45: see on_timer
  cuv_sub *sub;
  uint32_t sub_cap;
  uint32_t disorder;     // timers of one turn and one millisecond came in the wrong order
  cuv_done_buffer done[2];
  uintptr_t slots;       // address of Go's slots, each of CUV_SLOT_SIZE: for prefetching only
  struct cuv_block *blocks; // of cells
  cuv_cell_list paused;  // polls that wait for the next flush to go on, see on_poll
  uint32_t writing;      // the buffer that callbacks append to; Go reads the other
  uint32_t last_turn;    // of the timer that was appended last
  uint64_t last_due;
  uint64_t opened[CUV_KINDS];
  uint64_t closed[CUV_KINDS];
} cuv_loop;

// A cell is the memory of one handle. libuv reaches it until the close callback, so that is when it may be reused or freed.
//
// It takes three cache lines, and the 24 bytes before the handle put what libuv's heap of timers compares and links of a
// uv_timer_t (its bytes 104 to 151) into one of them; that heap is most of the cost of many timers.
typedef struct cuv_cell {
  union {
    uint64_t due; // timer: when it fires, ns
    struct {
      uint32_t file;   // poll: which file the fd stood for when it was opened
      uint32_t record; // poll: its completion of this turn
    };
  };
  uint32_t slot;
  uint32_t gen;
  uint32_t turn; // timer: in which it was started; poll: in which it was told last
  uint8_t kind;
  uint8_t mask; // poll: what is watched
  uint8_t open;
  uint8_t hidden : 1;
  uint8_t was_blocking : 1; // poll: the fd, before us
  union {
    uv_handle_t handle; // data: the token of package go-pointer; loop: ours, which begins with libuv's
    struct {
      uv_timer_t timer;
      uint64_t period; // 0 or ns between firings
    };
    uv_poll_t poll;
    uv_signal_t signal;
    uv_async_t async;
  };
  uintptr_t owner; // address of Go's object: never followed, only prefetched
} cuv_cell;

enum { CUV_CACHE_LINE = 64, CUV_SLOT_SIZE = 32 };

static inline cuv_cell *cuv_cell_of(void *handle) {
  return (cuv_cell *)((char *)handle - offsetof(cuv_cell, handle));
}

static inline cuv_loop *cuv_loop_of(const cuv_cell *c) { return (cuv_loop *)c->handle.loop; }

// loop.c
int cuv_loop_new(cuv_loop **out, int idle_time, int block_signal, const char **call);
int cuv_loop_close(cuv_loop *l);
void cuv_loop_free(cuv_loop *l);
void cuv_grow_submissions(cuv_loop *l);
void cuv_flush(cuv_loop *l, uint32_t nsub);
uint32_t cuv_tick(uintptr_t loop, uint32_t nsub, int block); // a number, because cgo examines pointers at every call
void cuv_wake_close(cuv_loop *l);
int cuv_wake(cuv_loop *l);
void cuv_count_handles(cuv_loop *l, uint64_t *counts);
void *cuv_must(void *memory);
uint32_t cuv_grown(uint32_t cap);

// cell.c
void cuv_totals(uint64_t *opened, uint64_t *closed);
cuv_cell *cuv_cell_new(cuv_loop *l, uint32_t slot, void *token);
void *cuv_cell_token(cuv_cell *c);
void cuv_cell_free(cuv_cell *c);
void cuv_blocks_free(cuv_loop *l);
void cuv_opened(cuv_cell *c, cuv_kind kind, uint32_t gen);
void cuv_hide(cuv_cell *c, uint16_t flags);
void cuv_close(cuv_cell *c, uint16_t flags);
void cuv_push(cuv_cell *c, uint32_t kind, int32_t status, uint64_t payload);

// one file a kind
void cuv_timer_apply(cuv_cell *c, const cuv_sub *s);
int cuv_poll_open(cuv_cell *c, int fd);
void cuv_poll_apply(cuv_cell *c, const cuv_sub *s);
void cuv_poll_closing(cuv_cell *c, int fd, uint16_t flags);
int cuv_poll_same_file(cuv_cell *c);
void cuv_poll_resume(cuv_loop *l);
int cuv_signal_open(cuv_cell *c, int signum, uint32_t gen, uint16_t flags);
void cuv_signal_close(cuv_cell *c);
int cuv_async_open(cuv_cell *c, uint32_t gen, uint16_t flags);
int cuv_async_send(cuv_cell *c);

#endif
