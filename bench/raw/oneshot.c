#include "raw.h"

#include <stdlib.h>

typedef struct {
  uv_loop_t loop;
  raw_random random;
  uint32_t max_ms;
  raw_result* r;
} oneshots;

static void on_closed(uv_handle_t* handle) {
  oneshots* o;

  o = handle->data;
  o->r->closes++;
  free(handle);
}

static void on_fire(uv_timer_t* timer) {
  oneshots* o;

  o = timer->data;
  o->r->events++;
  uv_close((uv_handle_t*) timer, on_closed);
}

static int create(oneshots* o) {
  uv_timer_t* timer;
  int rc;

  timer = malloc(sizeof(*timer));
  if (timer == NULL)
    return raw_check(o->r, "malloc", UV_ENOMEM);

  rc = uv_timer_init(&o->loop, timer);
  if (rc < 0) {
    free(timer);
    return raw_check(o->r, "uv_timer_init", rc);
  }

  timer->data = o;
  rc = uv_timer_start(timer,
                      on_fire,
                      raw_random_ms(&o->random, o->max_ms),
                      0);
  if (rc < 0) {
    uv_close((uv_handle_t*) timer, on_closed);
    return raw_check(o->r, "uv_timer_start", rc);
  }

  o->r->starts++;
  return 0;
}

/* One batch from nothing to nothing: the loop has no handle left at its end. */
static int run_batch(oneshots* o, uint32_t batch) {
  uint32_t i;

  uv_update_time(&o->loop);
  for (i = 0; i < batch; i++) {
    int rc;

    rc = create(o);
    if (rc < 0)
      return rc;
  }

  while (o->r->closes < o->r->starts) {
    raw_advance(RAW_MS);
    uv_run(&o->loop, UV_RUN_NOWAIT);
    o->r->turns++;
  }
  return 0;
}

int raw_oneshot(uint32_t batch,
                uint32_t batches,
                uint32_t max_ms,
                uint64_t seed,
                raw_result* r) {
  oneshots o = {.random = {seed}, .max_ms = max_ms, .r = r};
  uint32_t i;
  int rc;

  rc = raw_loop_open(&o.loop, r);
  if (rc < 0)
    return rc;

  raw_timed_begin(r);
  for (i = 0; i < batches && rc == 0; i++)
    rc = run_batch(&o, batch);
  raw_timed_end(r);

  return raw_loop_close(&o.loop, r, rc);
}
