#include "raw.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define NEVER_MS UINT64_C(1000000000)

typedef struct {
  uv_loop_t loop;
  uv_handle_t** handles;
  uint32_t made; /* handles that are initialised, and so have to be closed */
  int* fds;      /* NULL: timers */
  uint32_t opened;
  raw_result* r;
} closer;

static void on_closed(uv_handle_t* handle) {
  raw_result* r;

  r = handle->data;
  r->closes++;
  free(handle);
}

static void on_timer(uv_timer_t* timer) {
  raw_result* r;

  r = timer->data;
  r->events++;
}

static void on_poll(uv_poll_t* poll, int status, int events) {
  raw_result* r;

  (void) status;
  (void) events;
  r = poll->data;
  r->events++;
}

static int add_timer(closer* c) {
  uv_timer_t* timer;
  int rc;

  timer = malloc(sizeof(*timer));
  if (timer == NULL)
    return raw_check(c->r, "malloc", UV_ENOMEM);

  rc = uv_timer_init(&c->loop, timer);
  if (rc < 0) {
    free(timer);
    return raw_check(c->r, "uv_timer_init", rc);
  }

  timer->data = c->r;
  c->handles[c->made++] = (uv_handle_t*) timer;
  rc = uv_timer_start(timer, on_timer, NEVER_MS, 0);
  return raw_check(c->r, "uv_timer_start", rc);
}

static int add_poll(closer* c) {
  uv_poll_t* poll;
  int rc;

  poll = malloc(sizeof(*poll));
  if (poll == NULL)
    return raw_check(c->r, "malloc", UV_ENOMEM);

  rc = uv_poll_init(&c->loop, poll, c->fds[c->made]);
  if (rc < 0) {
    free(poll);
    return raw_check(c->r, "uv_poll_init", rc);
  }

  poll->data = c->r;
  c->handles[c->made++] = (uv_handle_t*) poll;
  rc = uv_poll_start(poll, UV_READABLE, on_poll);
  return raw_check(c->r, "uv_poll_start", rc);
}

static int add_all(closer* c, uint32_t n) {
  int rc;

  c->made = 0;
  while (c->made < n) {
    rc = c->fds != NULL ? add_poll(c) : add_timer(c);
    if (rc < 0)
      return rc;
    c->r->starts++;
  }
  return 0;
}

static void close_all(closer* c) {
  uint64_t want;
  uint32_t i;

  want = c->r->closes + c->made;
  for (i = 0; i < c->made; i++)
    uv_close(c->handles[i], on_closed);
  while (c->r->closes < want)
    uv_run(&c->loop, UV_RUN_NOWAIT);
}

/* The turn between start and close puts every handle in place: without it a
 * binding that batches could drop the start unseen. */
static int run_rounds(closer* c, uint32_t n, uint32_t rounds) {
  uint32_t i;
  int rc;

  rc = 0;
  raw_timed_begin(c->r);
  for (i = 0; i < rounds && rc == 0; i++) {
    rc = add_all(c, n);
    uv_run(&c->loop, UV_RUN_NOWAIT);
    close_all(c);
  }
  raw_timed_end(c->r);
  return rc;
}

static int run(closer* c, uint32_t n, uint32_t rounds) {
  int rc;

  c->handles = calloc(n, sizeof(*c->handles));
  if (c->handles == NULL)
    return raw_check(c->r, "calloc", UV_ENOMEM);

  rc = raw_loop_open(&c->loop, c->r);
  if (rc == 0)
    rc = raw_loop_close(&c->loop, c->r, run_rounds(c, n, rounds));
  free(c->handles);
  return rc;
}

static int open_fds(closer* c, uint32_t n) {
  for (; c->opened < n; c->opened++) {
    c->fds[c->opened] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (c->fds[c->opened] < 0)
      return raw_check(c->r, "eventfd", -errno);
  }
  return 0;
}

static void close_fds(closer* c) {
  uint32_t i;

  for (i = 0; i < c->opened; i++)
    close(c->fds[i]);
  free(c->fds);
}

int raw_close_timers(uint32_t n, uint32_t rounds, raw_result* r) {
  closer c = {.r = r};

  return run(&c, n, rounds);
}

int raw_close_polls(uint32_t n, uint32_t rounds, raw_result* r) {
  closer c = {.r = r};
  int rc;

  c.fds = calloc(n, sizeof(*c.fds));
  if (c.fds == NULL)
    return raw_check(r, "calloc", UV_ENOMEM);

  rc = open_fds(&c, n);
  if (rc == 0)
    rc = run(&c, n, rounds);
  close_fds(&c);
  return rc;
}
