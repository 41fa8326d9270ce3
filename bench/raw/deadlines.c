#include "raw.h"

#include <stdlib.h>

typedef struct {
  uv_loop_t loop;
  uv_timer_t* timers;
  const uint64_t* delays_ns;
  uint32_t n;
  raw_result* r;
} deadlines;

static void on_deadline(uv_timer_t* timer) {
  raw_result* r;

  r = timer->data;
  r->events++;
}

/* Writes to every handle, so the timed part does not pay for fresh pages. */
static int init_all(deadlines* d) {
  uint32_t i;

  for (i = 0; i < d->n; i++) {
    int rc;

    rc = uv_timer_init(&d->loop, &d->timers[i]);
    if (rc < 0)
      return raw_check(d->r, "uv_timer_init", rc);
    d->timers[i].data = d->r;
  }
  return 0;
}

static int start_all(deadlines* d) {
  uint32_t i;

  uv_update_time(&d->loop);
  for (i = 0; i < d->n; i++) {
    uint64_t ms;
    int rc;

    ms = (d->delays_ns[i] + RAW_MS - 1) / RAW_MS;
    rc = uv_timer_start(&d->timers[i], on_deadline, ms, 0);
    if (rc < 0)
      return raw_check(d->r, "uv_timer_start", rc);
    d->r->starts++;
  }
  return 0;
}

static int stop_some(deadlines* d, const uint32_t* stopped, uint32_t stops) {
  uint32_t i;

  for (i = 0; i < stops; i++) {
    int rc;

    rc = uv_timer_stop(&d->timers[stopped[i]]);
    if (rc < 0)
      return raw_check(d->r, "uv_timer_stop", rc);
    d->r->stops++;
  }
  return 0;
}

static int run_fire(deadlines* d) {
  int rc;

  raw_timed_begin(d->r);
  rc = start_all(d);
  while (rc == 0 && d->r->events < d->r->starts) {
    uv_run(&d->loop, UV_RUN_ONCE);
    d->r->turns++;
  }
  raw_timed_end(d->r);
  return rc;
}

static int run_cancel(deadlines* d,
                      const uint32_t* stopped,
                      uint32_t stops,
                      uint32_t step_max_ms,
                      uint64_t seed) {
  raw_random random = {seed};
  int rc;

  raw_timed_begin(d->r);
  rc = start_all(d);
  if (rc == 0)
    rc = stop_some(d, stopped, stops);
  while (rc == 0 && d->r->events < d->r->starts - d->r->stops) {
    raw_advance(RAW_MS * raw_random_ms(&random, step_max_ms));
    uv_run(&d->loop, UV_RUN_NOWAIT);
    d->r->turns++;
  }
  raw_timed_end(d->r);
  return rc;
}

static int deadlines_open(deadlines* d) {
  int rc;

  d->timers = calloc(d->n, sizeof(*d->timers));
  if (d->timers == NULL)
    return raw_check(d->r, "calloc", UV_ENOMEM);

  rc = raw_loop_open(&d->loop, d->r);
  if (rc < 0)
    free(d->timers);
  return rc;
}

static int deadlines_close(deadlines* d, int rc) {
  rc = raw_loop_close(&d->loop, d->r, rc);
  free(d->timers);
  return rc;
}

int raw_deadlines_fire(const uint64_t* delays_ns, uint32_t n, raw_result* r) {
  deadlines d = {.delays_ns = delays_ns, .n = n, .r = r};
  int rc;

  rc = deadlines_open(&d);
  if (rc < 0)
    return rc;

  rc = init_all(&d);
  if (rc == 0)
    rc = run_fire(&d);
  return deadlines_close(&d, rc);
}

int raw_deadlines_cancel(const uint64_t* delays_ns,
                         uint32_t n,
                         const uint32_t* stopped,
                         uint32_t stops,
                         uint32_t step_max_ms,
                         uint64_t seed,
                         raw_result* r) {
  deadlines d = {.delays_ns = delays_ns, .n = n, .r = r};
  int rc;

  rc = deadlines_open(&d);
  if (rc < 0)
    return rc;

  rc = init_all(&d);
  if (rc == 0)
    rc = run_cancel(&d, stopped, stops, step_max_ms, seed);
  return deadlines_close(&d, rc);
}
