#define _GNU_SOURCE
#include "raw.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct {
  uv_poll_t poll;
  int fds[2]; /* read end, write end */
} pipe_watch;

typedef struct {
  uv_loop_t loop;
  pipe_watch* pipes;
  uint32_t opened;
  raw_result* r;
  int rc;
} polls;

/* uv_poll hands readiness over and nothing else; the read is the user's. */
static void on_readable(uv_poll_t* poll, int status, int events) {
  pipe_watch* p;
  char buf[64];
  ssize_t got;
  polls* all;

  p = (pipe_watch*) poll;
  all = poll->data;
  if (status < 0 || !(events & UV_READABLE)) {
    all->rc = status < 0 ? status : UV_EIO;
    return;
  }

  got = read(p->fds[0], buf, sizeof(buf));
  if (got < 0) {
    all->rc = -errno;
    return;
  }

  all->r->events++;
  all->r->bytes += (uint64_t) got;
}

static int watch(polls* all, pipe_watch* p) {
  int rc;

  rc = uv_poll_init(&all->loop, &p->poll, p->fds[0]);
  if (rc < 0)
    return raw_check(all->r, "uv_poll_init", rc);

  p->poll.data = all;
  rc = uv_poll_start(&p->poll, UV_READABLE, on_readable);
  return raw_check(all->r, "uv_poll_start", rc);
}

static int open_pipes(polls* all, uint32_t n) {
  for (; all->opened < n; all->opened++) {
    if (pipe2(all->pipes[all->opened].fds, O_NONBLOCK | O_CLOEXEC) != 0)
      return raw_check(all->r, "pipe2", -errno);
  }
  return 0;
}

static int watch_pipes(polls* all) {
  uint32_t i;

  for (i = 0; i < all->opened; i++) {
    int rc;

    rc = watch(all, &all->pipes[i]);
    if (rc < 0)
      return rc;
    all->r->starts++;
  }
  return 0;
}

static void close_pipes(polls* all) {
  uint32_t i;

  for (i = 0; i < all->opened; i++) {
    close(all->pipes[i].fds[0]);
    close(all->pipes[i].fds[1]);
  }
}

static int fill(polls* all) {
  uint32_t i;

  for (i = 0; i < all->opened; i++) {
    if (write(all->pipes[i].fds[1], "x", 1) != 1)
      return raw_check(all->r, "write", -errno);
  }
  return 0;
}

/* Only from readiness to the last byte read: the writes are not timed. */
static int run_round(polls* all) {
  uint64_t want;
  int rc;

  rc = fill(all);
  if (rc < 0)
    return rc;

  want = all->r->events + all->opened;
  raw_timed_begin(all->r);
  while (all->r->events < want && all->rc == 0) {
    uv_run(&all->loop, UV_RUN_ONCE);
    all->r->turns++;
  }
  raw_timed_end(all->r);
  return raw_check(all->r, "read", all->rc);
}

static int polls_run(polls* all, uint32_t rounds) {
  uint32_t i;
  int rc;

  rc = watch_pipes(all);
  if (rc == 0)
    rc = run_round(all); /* makes libuv register the fds, and warms up */

  all->r->wall_ns = 0;
  all->r->cpu_ns = 0;
  all->r->events = 0;
  all->r->bytes = 0;
  all->r->turns = 0;
  for (i = 0; i < rounds && rc == 0; i++)
    rc = run_round(all);
  return rc;
}

static int polls_open_and_run(polls* all, uint32_t n, uint32_t rounds) {
  int rc;

  rc = open_pipes(all, n);
  if (rc == 0)
    rc = raw_loop_open(&all->loop, all->r);
  if (rc == 0)
    rc = raw_loop_close(&all->loop, all->r, polls_run(all, rounds));
  close_pipes(all);
  return rc;
}

int raw_poll(uint32_t n, uint32_t rounds, raw_result* r) {
  polls all = {.r = r};
  int rc;

  all.pipes = calloc(n, sizeof(*all.pipes));
  if (all.pipes == NULL)
    return raw_check(r, "calloc", UV_ENOMEM);

  rc = polls_open_and_run(&all, n, rounds);
  free(all.pipes);
  return rc;
}
