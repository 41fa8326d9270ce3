#include "raw.h"

#include <time.h>

/* The link flag --wrap=clock_gettime sends every call in the program's own C
 * code, the static libuv included, to the function below. A shared libuv keeps
 * the C library's: raw_virtual_reaches_libuv tells the two apart. */
int __real_clock_gettime(clockid_t id, struct timespec* ts);
int __wrap_clock_gettime(clockid_t id, struct timespec* ts);

uint64_t raw_virtual_ns;

static int is_monotonic(clockid_t id) {
  return id == CLOCK_MONOTONIC || id == CLOCK_MONOTONIC_COARSE ||
         id == CLOCK_MONOTONIC_RAW;
}

int __wrap_clock_gettime(clockid_t id, struct timespec* ts) {
  uint64_t now;

  now = __atomic_load_n(&raw_virtual_ns, __ATOMIC_RELAXED);
  if (now == 0 || !is_monotonic(id))
    return __real_clock_gettime(id, ts);

  ts->tv_sec = (time_t) (now / 1000000000u);
  ts->tv_nsec = (long) (now % 1000000000u);
  return 0;
}

static uint64_t read_clock(clockid_t id) {
  struct timespec ts;

  if (__real_clock_gettime(id, &ts) != 0)
    return 0;
  return (uint64_t) ts.tv_sec * 1000000000u + (uint64_t) ts.tv_nsec;
}

uint64_t raw_wall_now(void) {
  return read_clock(CLOCK_MONOTONIC);
}

uint64_t raw_cpu_now(void) {
  return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

/* To be called while the virtual clock is on and nobody advances it. */
int raw_virtual_reaches_libuv(void) {
  return raw_virtual_ns != 0 && uv_hrtime() == raw_virtual_ns;
}
