#include "raw.h"

static void on_async(uv_async_t* async) {
  (void) async;
}

static void turn(uv_loop_t* loop, uint64_t turns, raw_result* r) {
  raw_timed_begin(r);
  for (r->turns = 0; r->turns < turns; r->turns++)
    uv_run(loop, UV_RUN_NOWAIT);
  raw_timed_end(r);
}

/* The referenced handle keeps uv_run from returning before it polls. */
int raw_tick_empty(uint64_t turns, raw_result* r) {
  uv_async_t async;
  uv_loop_t loop;
  int rc;

  rc = raw_loop_open(&loop, r);
  if (rc < 0)
    return rc;

  rc = raw_check(r, "uv_async_init", uv_async_init(&loop, &async, on_async));
  if (rc == 0)
    turn(&loop, turns, r);
  return raw_loop_close(&loop, r, rc);
}
