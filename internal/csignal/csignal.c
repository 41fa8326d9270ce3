#include "csignal.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static _Atomic long counts[NSIG];
static struct sigaction replaced[NSIG]; // by the chaining handler

static void on_plain(int num) { atomic_fetch_add(&counts[num], 1); }

static void on_info(int num, siginfo_t *info, void *context) {
  if (info != NULL && context != NULL && info->si_signo == num) atomic_fetch_add(&counts[num], 1);
}

// What C libraries do that want to be good neighbours.
static void on_chaining(int num, siginfo_t *info, void *context) {
  on_info(num, info, context);
  const struct sigaction *next = &replaced[num];
  if (next->sa_handler == SIG_DFL || next->sa_handler == SIG_IGN) return;
  if (next->sa_flags & SA_SIGINFO)
    next->sa_sigaction(num, info, context);
  else
    next->sa_handler(num);
}

static void on_raising(int num, siginfo_t *info, void *context) {
  on_info(num, info, context);
  pthread_kill(pthread_self(), SIGWINCH);
}

int csignal_install(int num, csignal_style style, int flags) {
  struct sigaction sa;
  memset(&sa, 0, sizeof sa);
  sigemptyset(&sa.sa_mask);
  sigaddset(&sa.sa_mask, SIGUSR2);
  sa.sa_flags = flags;
  if (style == CSIGNAL_PLAIN) {
    sa.sa_handler = on_plain;
  } else {
    sa.sa_sigaction = style == CSIGNAL_INFO ? on_info : style == CSIGNAL_CHAINING ? on_chaining : on_raising;
    sa.sa_flags |= SA_SIGINFO;
  }
  return sigaction(num, &sa, style == CSIGNAL_CHAINING ? &replaced[num] : NULL);
}

int csignal_set(int num, const struct sigaction *sa) { return sigaction(num, sa, NULL); }

uintptr_t csignal_handler(const struct sigaction *sa) { return (uintptr_t)sa->sa_handler; }

// Without SA_RESTORER, which the C library adds and has no name for.
int csignal_flags(const struct sigaction *sa) { return sa->sa_flags & ~0x04000000; }

// The kernel knows 64 signals; what the C library keeps beyond is not the kernel's.
uint64_t csignal_mask(const struct sigaction *sa) {
  uint64_t mask;
  memcpy(&mask, &sa->sa_mask, sizeof mask);
  return mask;
}

long csignal_count(int num) { return atomic_load(&counts[num]); }

typedef struct {
  int num, n, err;
} raising;

static void *raise_here(void *arg) {
  raising *r = arg;
  r->err = pthread_kill(pthread_self(), r->num);
  return NULL;
}

static void *raise_process(void *arg) {
  raising *r = arg;
  for (int i = 0; i < r->n; i++)
    if (kill(getpid(), r->num) != 0) r->err = errno;
  return NULL;
}

// Whatever thread the caller runs on, this one gets no signal that the process is sent.
static int on_threads(void *(*body)(void *), raising *r, int threads, int blocked) {
  pthread_t ids[64];
  sigset_t all, before;
  int n = 0, err = 0;
  sigfillset(&all);
  if (blocked) pthread_sigmask(SIG_SETMASK, &all, &before);
  while (n < threads && n < 64 && (err = pthread_create(&ids[n], NULL, body, r)) == 0) n++;
  if (blocked) pthread_sigmask(SIG_SETMASK, &before, NULL);
  for (int i = 0; i < n; i++) pthread_join(ids[i], NULL);
  return err != 0 ? err : r->err;
}

int csignal_raise(int num) {
  raising r = {num, 1, 0};
  return on_threads(raise_here, &r, 1, 0);
}

int csignal_storm(int num, int n, int threads) {
  raising r = {num, n, 0};
  return on_threads(raise_process, &r, threads, 1);
}

static void *write_broken(void *arg) {
  int fds[2];
  raising *r = arg;
  if (pipe(fds) != 0) {
    r->err = errno;
    return NULL;
  }
  close(fds[0]);
  r->err = write(fds[1], "x", 1) < 0 ? errno : 0;
  close(fds[1]);
  return NULL;
}

int csignal_broken_pipe(void) {
  raising r = {0, 1, 0};
  return on_threads(write_broken, &r, 1, 0);
}

static void on_watch(uv_signal_t *s, int num) {
  (void)num;
  ((csignal_watch *)s)->count++;
}

csignal_watch *csignal_watch_new(uv_loop_t *loop, int num, int once, int *err) {
  csignal_watch *w = calloc(1, sizeof *w);
  if (w == NULL) abort();
  *err = uv_signal_init(loop, &w->handle);
  if (*err != 0) {
    free(w);
    return NULL;
  }
  *err = (once ? uv_signal_start_oneshot : uv_signal_start)(&w->handle, on_watch, num);
  return w;
}

static void on_closed(uv_handle_t *h) { ((csignal_watch *)h)->closed = 1; }

void csignal_watch_close(csignal_watch *w) { uv_close((uv_handle_t *)&w->handle, on_closed); }
