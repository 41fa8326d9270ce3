#include "cuv.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

// libuv installs its handler without SA_ONSTACK, which would run it on the small stack of a goroutine, and its last stop
// leaves SIG_DFL, which takes Go's own handler away for good. So every signal number that is watched gets a chain: one
// handler with the flags that Go needs, which calls whatever stood there before and then libuv's.
//
// After libuv's sigaction there would be a moment without the chain, which is enough to crash. So this file's sigaction
// stands in for the C library's wherever the program calls it: by the linker's --wrap in what is linked statically, Go's
// runtime included, and by its name in shared libraries, which find the program's functions first.

typedef void (*any_handler)(int, siginfo_t *, void *);

typedef struct {
  int watchers;             // guarded by lock: handles of ours
  _Atomic int others;       // the chain stands for libuv handles of somebody else's alone
  _Atomic uintptr_t before; // the handler that stood there, or 0 where the kernel would have acted by itself
  _Atomic uintptr_t below;  // what that one reaches when it calls the chain as the handler that it replaced
  struct sigaction saved;   // changed under lock: the disposition to put back
  struct sigaction lower;   // guarded by lock: the same, once the handler before is taken away
} chain;

static chain chains[NSIG];
static _Atomic uintptr_t libuv_handler; // one for all numbers; 0 until it is known
static _Atomic uintptr_t go_handler;    // the same of Go's runtime
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

// Read by signal handlers, which may not allocate.
#define PER_THREAD static _Thread_local __attribute__((tls_model("initial-exec")))
// While this thread is inside libuv's start or stop: the signal number, and what libuv's last stop shall leave.
PER_THREAD int busy;
PER_THREAD const struct sigaction *busy_leave;
PER_THREAD unsigned char depth[NSIG]; // how many calls of the chain for a number this thread is in

int __wrap_sigaction(int signum, const struct sigaction *act, struct sigaction *old);
#ifdef __GLIBC__
int __sigaction(int signum, const struct sigaction *act, struct sigaction *old);
#define real_sigaction __sigaction
int sigaction(int signum, const struct sigaction *act, struct sigaction *old) { return __wrap_sigaction(signum, act, old); }
#else // without another name for it, a shared libuv is put right afterwards
int __real_sigaction(int signum, const struct sigaction *act, struct sigaction *old);
#define real_sigaction __real_sigaction
#endif

static void block(sigset_t *mask) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, mask);
}

static void unblock(const sigset_t *mask) { pthread_sigmask(SIG_SETMASK, mask, NULL); }

// No handler may run on the thread that has the lock: it might call sigaction.
static void lock(sigset_t *mask) {
  block(mask);
  pthread_mutex_lock(&mutex);
}

static void unlock(const sigset_t *mask) {
  pthread_mutex_unlock(&mutex);
  unblock(mask);
}

// Not to be interrupted by another signal, which would wait for the lock that libuv's handler holds.
static void call_libuv(int signum) {
  sigset_t mask;
  uintptr_t libuv = atomic_load(&libuv_handler);
  if (libuv == 0) return;
  block(&mask);
  ((void (*)(int))libuv)(signum);
  unblock(&mask);
}

// Go's handler would take the default action where nobody is registered, and after our last close that is no longer us.
static uintptr_t unless_unwanted(chain *ch, uintptr_t next) {
  return next == atomic_load(&go_handler) && atomic_load(&ch->others) ? 0 : next;
}

// Go's handler first: once the loop is told, the signal may be left to its default action, which must not hit this one.
// All get the three arguments, as from the kernel, whether they look at them or not. A handler that was set on top of the
// chain may call what it replaced, which is the chain once more.
static void chained(int signum, siginfo_t *info, void *context) {
  chain *ch = &chains[signum];
  int level = depth[signum]++;
  uintptr_t next = level == 0 ? atomic_load(&ch->before) : level == 1 ? atomic_load(&ch->below) : 0;
  next = unless_unwanted(ch, next);
  if (next != 0) ((any_handler)next)(signum, info, context);
  if (level == 0) call_libuv(signum);
  depth[signum]--;
}

static int install(int signum, struct sigaction *old) {
  struct sigaction sa;
  memset(&sa, 0, sizeof sa);
  sigfillset(&sa.sa_mask);
  sa.sa_sigaction = chained;
  sa.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  return real_sigaction(signum, &sa, old);
}

// The handler's address, or 0 where the kernel is to act by itself.
static uintptr_t handler(const struct sigaction *sa) {
  return sa->sa_handler == SIG_DFL || sa->sa_handler == SIG_IGN ? 0 : (uintptr_t)sa->sa_handler;
}

static int is_chained(const struct sigaction *sa) { return handler(sa) == (uintptr_t)chained; }

static int stands(int signum, struct sigaction *current) {
  memset(current, 0, sizeof *current);
  return real_sigaction(signum, NULL, current) == 0 && is_chained(current);
}

// What stands there comes into the chain, and is put back in the end.
static void adopt(chain *ch, const struct sigaction *current) {
  uintptr_t now = handler(current), before = atomic_load(&ch->before);
  if (now != before) {
    atomic_store(&ch->below, now == 0 || now == atomic_load(&go_handler) ? 0 : before);
    ch->lower = ch->saved;
    atomic_store(&ch->before, now);
  }
  ch->saved = *current;
}

// A handler that was set on top of the chain is not part of it any more.
static void drop(chain *ch) {
  uintptr_t below = atomic_exchange(&ch->below, 0);
  if (below == 0) return;
  atomic_store(&ch->before, below);
  ch->saved = ch->lower;
}

// Somebody sets what is to be in the chain, not in its place: os/signal begins to handle a number that Go had left alone.
// Or C code puts the chain back, and so takes away a handler of its own that has come into it since.
static int joins(int signum, const struct sigaction *act, struct sigaction *old) {
  struct sigaction current;
  sigset_t mask;
  int go = handler(act) != 0 && handler(act) == atomic_load(&go_handler);
  if (!go && !is_chained(act)) return 0;
  lock(&mask);
  int stood = stands(signum, &current);
  if (stood && go) adopt(&chains[signum], act);
  if (stood && !go) drop(&chains[signum]);
  unlock(&mask);
  if (stood && go && old != NULL) *old = current;
  return stood && go;
}

// The last stop of a libuv handle that is not ours, after those that were ours. Go never clears the flags. No lock: libuv
// holds its own here, and our start takes them the other way round.
static int ends(int signum, const struct sigaction *act) {
  struct sigaction current;
  return act->sa_handler == SIG_DFL && act->sa_flags == 0 && atomic_load(&chains[signum].others) && stands(signum, &current);
}

static int by_libuv(int signum, const struct sigaction *act, struct sigaction *old) {
  if (handler(act) == 0) return real_sigaction(signum, busy_leave, old);
  atomic_store(&libuv_handler, handler(act));
  return install(signum, old);
}

int __wrap_sigaction(int signum, const struct sigaction *act, struct sigaction *old) {
  if (act == NULL || signum <= 0 || signum >= NSIG) return real_sigaction(signum, act, old);
  if (busy == signum) return by_libuv(signum, act, old);
  if (busy == 0 && joins(signum, act, old)) return 0;
  return real_sigaction(signum, ends(signum, act) ? &chains[signum].saved : act, old);
}

static void on_signal(uv_signal_t *s, int signum) { cuv_push(cuv_cell_of(s), CUV_SIGNAL, 0, (uint64_t)signum); }

// libuv has not called our sigaction. It had no need to, because the number is watched already: by us, and somebody has
// set a handler since, or by handles of somebody else's alone. Or it has called the C library's.
static int take_over(chain *ch, int signum, const struct sigaction *before, const struct sigaction *after) {
  struct sigaction none;
  uintptr_t libuv = atomic_load(&libuv_handler);
  if (handler(after) != handler(before) || libuv == 0) atomic_store(&libuv_handler, libuv = handler(after));
  if (libuv != 0 && atomic_load(&ch->before) == libuv) {
    memset(&none, 0, sizeof none); // SIG_DFL: what libuv leaves
    adopt(ch, &none);
  }
  return install(signum, NULL) != 0 ? UV_EINVAL : 0;
}

static int start(cuv_cell *c, int signum) {
  chain *ch = &chains[signum];
  struct sigaction before, after;
  if (real_sigaction(signum, NULL, &before) != 0) return UV_EINVAL;
  atomic_store(&ch->others, 0);
  if (!is_chained(&before)) adopt(ch, &before);
  busy_leave = &ch->saved;
  busy = signum;
  int err = uv_signal_start(&c->signal, on_signal, signum);
  busy = 0;
  if (err != 0) return err;
  ch->watchers++;
  return stands(signum, &after) ? 0 : take_over(ch, signum, &before, &after);
}

// Go's runtime has one handler for every signal, and needs that of SIGURG at all times.
static void find_go(void) {
  struct sigaction urg;
  if (atomic_load(&go_handler) == 0 && real_sigaction(SIGURG, NULL, &urg) == 0) atomic_store(&go_handler, handler(&urg));
}

int cuv_signal_open(cuv_cell *c, int signum, uint32_t gen, uint16_t flags) {
  sigset_t mask;
  int err = uv_signal_init(&cuv_loop_of(c)->uv, &c->signal);
  if (err != 0) return err;
  cuv_opened(c, CUV_SIGNAL, gen);
  cuv_hide(c, flags);
  lock(&mask);
  find_go();
  err = start(c, signum);
  unlock(&mask);
  if (err != 0) cuv_close(c, 0);
  return err;
}

// A handler that somebody has set since the start has won over the chain; here it is chained in its turn.
void cuv_signal_renew(int signum) {
  struct sigaction current;
  sigset_t mask;
  lock(&mask);
  if (!stands(signum, &current)) {
    adopt(&chains[signum], &current);
    (void)install(signum, NULL);
  }
  unlock(&mask);
}

// What our last close leaves; libuv's stop has set SIG_DFL by itself if it did not call our sigaction. The chain goes on
// for libuv handles of somebody else's.
static void leave(chain *ch, int signum, int stood) {
  struct sigaction current;
  if (stands(signum, &current)) {
    atomic_store(&ch->others, 1);
    return;
  }
  if (handler(&current) == 0) (void)real_sigaction(signum, busy_leave, NULL);
  if (stood) drop(ch); // a handler on top of the chain calls it from the top again
}

void cuv_signal_close(cuv_cell *c) {
  int signum = c->signal.signum;
  chain *ch = &chains[signum];
  struct sigaction before;
  sigset_t mask;
  lock(&mask);
  int stood = stands(signum, &before);
  busy_leave = stood ? &ch->saved : &before;
  busy = signum;
  cuv_close(c, 0);
  busy = 0;
  if (--ch->watchers == 0) leave(ch, signum, stood);
  unlock(&mask);
}

// Whether a handler of somebody else's gets the signal, or would but for the chain.
int cuv_signal_handled(int signum) {
  struct sigaction current;
  return stands(signum, &current) ? atomic_load(&chains[signum].before) != 0 : handler(&current) != 0;
}
