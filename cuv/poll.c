#include "cuv.h"

#include <fcntl.h>
#include <unistd.h>

// libuv stops the poll by itself when it reports an error.
static void on_poll(uv_poll_t *p, int status, int events) {
  cuv_push((cuv_cell *)p, CUV_POLL, status, (uint64_t)events);
}

int cuv_poll_open(cuv_cell *c, int fd) {
  int mode = fcntl(fd, F_GETFL);
  int err = uv_poll_init(&c->loop->uv, &c->poll, fd);
  if (err != 0) return err;
  c->fd = fd;
  c->was_blocking = mode >= 0 && (mode & O_NONBLOCK) == 0;
  cuv_opened(c, CUV_POLL, 0);
  return 0;
}

void cuv_poll_apply(cuv_cell *c, const cuv_sub *s) {
  c->gen = s->gen;
  if (s->op == CUV_OP_POLL_STOP) {
    int err = uv_poll_stop(&c->poll);
    if (err != 0) cuv_push(c, CUV_DONE_BUG, err, 0);
    return;
  }
  cuv_hide(c, s->flags);
  // UV_EEXIST: a handle that is not ours has taken the fd since; whoever waits is told as for any error of the fd.
  int err = uv_poll_start(&c->poll, (int)s->arg, on_poll);
  if (err != 0) cuv_push(c, CUV_POLL, err, 0);
}

// After uv_close, which has taken the fd out of epoll.
void cuv_poll_closing(cuv_cell *c, uint16_t flags) {
  if (flags & CUV_FLAG_CLOSE_FD) {
    close(c->fd);
    return;
  }
  int mode = c->was_blocking ? fcntl(c->fd, F_GETFL) : -1;
  if (mode >= 0) (void)fcntl(c->fd, F_SETFL, mode & ~O_NONBLOCK);
}
