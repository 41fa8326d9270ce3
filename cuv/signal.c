#include "cuv.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

// libuv installs its handler without SA_ONSTACK, which would run it on the small stack of a goroutine, and its last stop
// leaves SIG_DFL, which takes Go's own handler away for good. So every signal number that is watched gets a chain: one
// handler with the flags that Go needs, which calls libuv's and then whatever stood there before.
//
// Between libuv's sigaction and ours there would be a window. Linked statically, this file's sigaction stands in for
// libuv's (the linker's --wrap) and closes it; with a shared libuv the window remains, and the chain is put in place after.

typedef void (*plain_handler)(int);
typedef void (*info_handler)(int, siginfo_t *, void *);

typedef struct {
  int watchers; // guarded by lock
  _Atomic uintptr_t libuv;
  _Atomic uintptr_t before;
  _Atomic int before_takes_info;
  struct sigaction saved; // guarded by lock: the disposition to put back
} chain;

static chain chains[NSIG];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
// While this thread is inside libuv's start or stop: the signal number, and what libuv's last stop shall leave.
static _Thread_local int busy;
static _Thread_local const struct sigaction *busy_leave;

int __real_sigaction(int signum, const struct sigaction *act, struct sigaction *old);
int __wrap_sigaction(int signum, const struct sigaction *act, struct sigaction *old);

static void chained(int signum, siginfo_t *info, void *context) {
  chain *ch = &chains[signum];
  uintptr_t libuv = atomic_load(&ch->libuv), before = atomic_load(&ch->before);
  if (libuv != 0) ((plain_handler)libuv)(signum);
  if (before == 0) return;
  if (atomic_load(&ch->before_takes_info))
    ((info_handler)before)(signum, info, context);
  else
    ((plain_handler)before)(signum);
}

static int install(int signum, struct sigaction *old) {
  struct sigaction sa;
  memset(&sa, 0, sizeof sa);
  sigfillset(&sa.sa_mask);
  sa.sa_sigaction = chained;
  sa.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  return __real_sigaction(signum, &sa, old);
}

static int is_chained(const struct sigaction *sa) { return (sa->sa_flags & SA_SIGINFO) && sa->sa_sigaction == chained; }

// The handler's address, or 0 where the kernel is to act by itself.
static uintptr_t handler(const struct sigaction *sa) {
  return sa->sa_handler == SIG_DFL || sa->sa_handler == SIG_IGN ? 0 : (uintptr_t)sa->sa_handler;
}

int __wrap_sigaction(int signum, const struct sigaction *act, struct sigaction *old) {
  if (busy == 0 || busy != signum || act == NULL) return __real_sigaction(signum, act, old);
  if (handler(act) == 0) return __real_sigaction(signum, busy_leave, old);
  atomic_store(&chains[signum].libuv, handler(act));
  return install(signum, old);
}

// What stands there is called after libuv's handler, and put back in the end. Where it is libuv's own, because somebody
// else watches the signal through it, once is enough.
static void adopt(chain *ch, const struct sigaction *current) {
  uintptr_t before = handler(current);
  ch->saved = *current;
  atomic_store(&ch->before_takes_info, (current->sa_flags & SA_SIGINFO) != 0);
  atomic_store(&ch->before, before == atomic_load(&ch->libuv) ? 0 : before);
}

static void on_signal(uv_signal_t *s, int signum) { cuv_push((cuv_cell *)s, CUV_SIGNAL, 0, (uint64_t)signum); }

// A handler that somebody has set since an earlier start of ours has won over the chain; here it is chained in its turn.
static int start(cuv_cell *c, int signum) {
  chain *ch = &chains[signum];
  struct sigaction before, after;
  if (__real_sigaction(signum, NULL, &before) != 0) return UV_EINVAL;
  if (!is_chained(&before)) adopt(ch, &before);
  busy_leave = &ch->saved;
  busy = signum;
  int err = uv_signal_start(&c->signal, on_signal, signum);
  busy = 0;
  if (err != 0) return err;
  ch->watchers++;
  if (__real_sigaction(signum, NULL, &after) != 0 || is_chained(&after)) return 0;
  if (handler(&after) != handler(&before)) atomic_store(&ch->libuv, handler(&after));
  return install(signum, NULL) != 0 ? UV_EINVAL : 0;
}

int cuv_signal_open(cuv_cell *c, int signum, uint32_t gen, uint16_t flags) {
  int err = uv_signal_init(&c->loop->uv, &c->signal);
  if (err != 0) return err;
  cuv_opened(c, CUV_SIGNAL, gen);
  cuv_hide(c, flags);
  pthread_mutex_lock(&lock);
  err = start(c, signum);
  pthread_mutex_unlock(&lock);
  if (err != 0) cuv_close(c, 0);
  return err;
}

// libuv's last stop sets SIG_DFL; where the wrap could not prevent that, it is put right afterwards.
void cuv_signal_close(cuv_cell *c) {
  int signum = c->signal.signum;
  chain *ch = &chains[signum];
  struct sigaction before, after;
  pthread_mutex_lock(&lock);
  (void)__real_sigaction(signum, NULL, &before);
  busy_leave = is_chained(&before) ? &ch->saved : &before;
  busy = signum;
  cuv_close(c, 0);
  busy = 0;
  if (--ch->watchers == 0 && __real_sigaction(signum, NULL, &after) == 0 && handler(&after) == 0)
    (void)__real_sigaction(signum, busy_leave, NULL);
  pthread_mutex_unlock(&lock);
}
