#ifndef UVASYNC_BENCH_RAW_H
#define UVASYNC_BENCH_RAW_H

#include <stdint.h>
#include <uv.h>

/* What one round of a case did, and what it cost. The counts are compared with
 * those of the other side, so that equal work is checked and not assumed. */
typedef struct {
  uint64_t wall_ns;
  uint64_t cpu_ns; /* of the whole process */
  uint64_t starts;
  uint64_t stops;
  uint64_t events;
  uint64_t bytes;
  uint64_t closes;
  uint64_t turns;
  const char* failed; /* the call that failed, when the case returns an error */
} raw_result;

/* clock.c */
extern uint64_t raw_virtual_ns; /* 0: the real clock */
uint64_t raw_wall_now(void);
uint64_t raw_cpu_now(void);
int raw_virtual_reaches_libuv(void);

static inline void raw_advance(uint64_t ns) {
  __atomic_store_n(&raw_virtual_ns,
                   __atomic_load_n(&raw_virtual_ns, __ATOMIC_RELAXED) + ns,
                   __ATOMIC_RELAXED);
}

#define RAW_MS UINT64_C(1000000)

/* The same generator as measure.Random in Go: both sides of a case draw the
 * same delays. */
typedef struct {
  uint64_t state;
} raw_random;

static inline uint32_t raw_random_ms(raw_random* random, uint32_t max_ms) {
  random->state = random->state * UINT64_C(6364136223846793005) +
                  UINT64_C(1442695040888963407);
  return (uint32_t) (((random->state >> 32) * max_ms) >> 32) + 1;
}

/* loop.c */
int raw_check(raw_result* r, const char* call, int rc);
int raw_loop_open(uv_loop_t* loop, raw_result* r);
int raw_loop_close(uv_loop_t* loop, raw_result* r, int rc);
void raw_timed_begin(raw_result* r);
void raw_timed_end(raw_result* r);

/* The cases. Each does its own set-up and teardown, returns 0 or a libuv error
 * and fills in r. */
int raw_tick_empty(uint64_t turns, raw_result* r);
int raw_timers_virtual(uint32_t timers,
                       uint32_t max_ms,
                       uint64_t seed,
                       uint64_t fires,
                       raw_result* r);
int raw_timers_real(uint32_t timers,
                    uint32_t max_ms,
                    uint64_t seed,
                    uint64_t for_ns,
                    raw_result* r);
int raw_oneshot(uint32_t batch,
                uint32_t batches,
                uint32_t max_ms,
                uint64_t seed,
                raw_result* r);
int raw_deadlines_fire(const uint64_t* delays_ns, uint32_t n, raw_result* r);
int raw_deadlines_cancel(const uint64_t* delays_ns,
                         uint32_t n,
                         const uint32_t* stopped,
                         uint32_t stops,
                         uint32_t step_max_ms,
                         uint64_t seed,
                         raw_result* r);
int raw_poll(uint32_t pipes, uint32_t rounds, raw_result* r);
int raw_post(uint64_t messages, raw_result* r);
int raw_close_timers(uint32_t handles, uint32_t rounds, raw_result* r);
int raw_close_polls(uint32_t handles, uint32_t rounds, raw_result* r);

#endif
