#include "raw.h"

#include <stdlib.h>

/* n timers, each started again from its own callback with the next delay. */
typedef struct {
  uv_loop_t loop;
  uv_timer_t* timers;
  raw_random random;
  uint32_t max_ms;
  uint64_t fires;
  int rc;
} mill;

static void on_timer(uv_timer_t* timer) {
  mill* m;
  int rc;

  m = timer->data;
  m->fires++;
  rc = uv_timer_start(timer, on_timer, raw_random_ms(&m->random, m->max_ms), 0);
  if (rc < 0)
    m->rc = rc;
}

static int mill_start(mill* m, uint32_t n, raw_result* r) {
  uint32_t i;

  for (i = 0; i < n; i++) {
    int rc;

    rc = uv_timer_init(&m->loop, &m->timers[i]);
    if (rc < 0)
      return raw_check(r, "uv_timer_init", rc);

    m->timers[i].data = m;
    rc = uv_timer_start(&m->timers[i],
                        on_timer,
                        raw_random_ms(&m->random, m->max_ms),
                        0);
    if (rc < 0)
      return raw_check(r, "uv_timer_start", rc);
  }
  return 0;
}

static void turn_virtual(mill* m) {
  raw_advance(RAW_MS);
  uv_run(&m->loop, UV_RUN_NOWAIT);
}

/* Every timer has fired at least once when the warm-up ends, so what is
 * measured is the steady state. */
static void run_virtual(mill* m, uint64_t fires, raw_result* r) {
  uint32_t i;

  for (i = 0; i < 2 * m->max_ms; i++)
    turn_virtual(m);

  m->fires = 0;
  raw_timed_begin(r);
  for (r->turns = 0; m->fires < fires; r->turns++)
    turn_virtual(m);
  raw_timed_end(r);
}

static void run_real(mill* m, uint64_t for_ns, raw_result* r) {
  uint64_t end;

  raw_timed_begin(r);
  end = raw_wall_now() + for_ns;
  for (r->turns = 0; raw_wall_now() < end; r->turns++)
    uv_run(&m->loop, UV_RUN_ONCE);
  raw_timed_end(r);
}

static int mill_run(mill* m,
                    uint32_t n,
                    uint64_t fires,
                    uint64_t for_ns,
                    raw_result* r) {
  int rc;

  rc = raw_loop_open(&m->loop, r);
  if (rc < 0)
    return rc;

  rc = mill_start(m, n, r);
  if (rc == 0 && for_ns != 0)
    run_real(m, for_ns, r);
  else if (rc == 0)
    run_virtual(m, fires, r);

  /* The timers re-arm themselves, so every start but the first ones is a
   * firing. */
  r->events = m->fires;
  r->starts = m->fires;
  if (rc == 0)
    rc = raw_check(r, "uv_timer_start", m->rc);
  return raw_loop_close(&m->loop, r, rc);
}

static int timers(uint32_t n,
                  uint32_t max_ms,
                  uint64_t seed,
                  uint64_t fires,
                  uint64_t for_ns,
                  raw_result* r) {
  mill m = {.random = {seed}, .max_ms = max_ms};
  int rc;

  m.timers = calloc(n, sizeof(*m.timers));
  if (m.timers == NULL)
    return raw_check(r, "calloc", UV_ENOMEM);

  rc = mill_run(&m, n, fires, for_ns, r);
  free(m.timers);
  return rc;
}

int raw_timers_virtual(uint32_t n,
                       uint32_t max_ms,
                       uint64_t seed,
                       uint64_t fires,
                       raw_result* r) {
  return timers(n, max_ms, seed, fires, 0, r);
}

int raw_timers_real(uint32_t n,
                    uint32_t max_ms,
                    uint64_t seed,
                    uint64_t for_ns,
                    raw_result* r) {
  return timers(n, max_ms, seed, 0, for_ns, r);
}
