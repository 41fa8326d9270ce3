#ifndef CSIGNAL_H
#define CSIGNAL_H

#include <signal.h>
#include <stdint.h>
#include <uv.h>

typedef enum { CSIGNAL_PLAIN, CSIGNAL_INFO, CSIGNAL_CHAINING, CSIGNAL_RAISING } csignal_style;

int csignal_install(int num, csignal_style style, int flags);
int csignal_set(int num, const struct sigaction *sa);
uintptr_t csignal_handler(const struct sigaction *sa);
int csignal_flags(const struct sigaction *sa);
uint64_t csignal_mask(const struct sigaction *sa);
long csignal_count(int num);

int csignal_raise(int num);
int csignal_storm(int num, int n, int threads);
int csignal_broken_pipe(void);

// A uv_signal_t of somebody else's.
typedef struct {
  uv_signal_t handle;
  int count;
  int closed;
} csignal_watch;

csignal_watch *csignal_watch_new(uv_loop_t *loop, int num, int once, int *err);
void csignal_watch_close(csignal_watch *w);

#endif
