#include "naive.h"

#include <stdlib.h>
#include <uv.h>

#include "_cgo_export.h"

struct naive {
  uv_loop_t loop;
  uint32_t count;
  uv_timer_t timers[];
};

/* handle->data is the timer's index: a look-up that costs next to nothing, so
 * that what shows is the price of the crossings. */
static void on_timer(uv_timer_t* timer) {
  naiveFired((uintptr_t) timer->data);
}

static int init_timers(naive* n, uint32_t count) {
  for (; n->count < count; n->count++) {
    int rc;

    rc = uv_timer_init(&n->loop, &n->timers[n->count]);
    if (rc < 0)
      return rc;
    n->timers[n->count].data = (void*) (uintptr_t) n->count;
  }
  return 0;
}

int naive_open(uint32_t timers, naive** out) {
  naive* n;
  int rc;

  n = calloc(1, sizeof(*n) + timers * sizeof(n->timers[0]));
  if (n == NULL)
    return UV_ENOMEM;

  rc = uv_loop_init(&n->loop);
  if (rc < 0) {
    free(n);
    return rc;
  }

  rc = init_timers(n, timers);
  if (rc < 0) {
    naive_close(n);
    return rc;
  }
  *out = n;
  return 0;
}

int naive_start(naive* n, uint32_t timer, uint64_t ms) {
  return uv_timer_start(&n->timers[timer], on_timer, ms, 0);
}

void naive_turn(naive* n) {
  uv_run(&n->loop, UV_RUN_NOWAIT);
}

int naive_close(naive* n) {
  uint32_t i;
  int rc;

  for (i = 0; i < n->count; i++)
    uv_close((uv_handle_t*) &n->timers[i], NULL);
  uv_run(&n->loop, UV_RUN_DEFAULT);
  rc = uv_loop_close(&n->loop);
  if (rc == 0)
    free(n);
  return rc;
}
