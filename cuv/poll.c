#include "cuv.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

// 0 where the fd is not open. Pipes, sockets and files have an inode each; eventfds and their like share one.
static uint32_t file_of(int fd) {
  struct stat st;
  if (fstat(fd, &st) != 0) return 0;
  uint64_t id = (uint64_t)st.st_ino * 0x9e3779b97f4a7c15u ^ (uint64_t)st.st_dev * 0xc2b2ae3d27d4eb4fu;
  return (uint32_t)(id >> 32) | 1;
}

static int fd_of(const cuv_cell *c) {
  uv_os_fd_t fd = -1;
  return uv_fileno(&c->handle, &fd) == 0 ? fd : -1;
}

static void pause_poll(cuv_cell *c) {
  cuv_cell_list *list = &cuv_loop_of(c)->paused;
  (void)uv_poll_stop(&c->poll);
  if (list->len == list->cap) {
    list->cap = cuv_grown(list->cap);
    list->cells = cuv_must(realloc(list->cells, list->cap * sizeof *list->cells));
  }
  list->cells[list->len++] = c;
}

// libuv looks again, up to 48 times, while 1,024 or more descriptors are ready, and finds those that Go has not come to.
// A poll that was told in this turn has its completion amended, and pauses until Go has seen it.
//
// libuv stops the poll by itself when it reports an error.
static void on_poll(uv_poll_t *p, int status, int events) {
  cuv_cell *c = cuv_cell_of(p);
  cuv_loop *l = cuv_loop_of(c);
  cuv_done_buffer *b = &l->done[l->writing];
  if (status == 0 && c->turn == l->turn && c->record < b->len && b->records[c->record].slot == c->slot) {
    b->records[c->record].payload |= (uint64_t)events;
    pause_poll(c);
    return;
  }
  c->turn = l->turn;
  c->record = b->len;
  cuv_push(c, CUV_POLL, status, (uint64_t)events);
}

// When the kernel refuses an fd that was pollable once, libuv ends the process. So an fd that was closed under the poll,
// or whose number means another file by now, must not get that far: whoever waits is told.
static void watch(cuv_cell *c) {
  int err = file_of(fd_of(c)) == c->file ? uv_poll_start(&c->poll, c->mask, on_poll) : UV_EBADF;
  if (err != 0) cuv_push(c, CUV_POLL, err, 0);
}

void cuv_poll_resume(cuv_loop *l) {
  for (uint32_t i = 0; i < l->paused.len; i++) watch(l->paused.cells[i]);
  l->paused.len = 0;
}

int cuv_poll_open(cuv_cell *c, int fd) {
  int mode = fcntl(fd, F_GETFL);
  int err = uv_poll_init(&cuv_loop_of(c)->uv, &c->poll, fd);
  if (err != 0) return err;
  c->file = file_of(fd);
  c->turn = 0;
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
  c->mask = (uint8_t)s->arg;
  cuv_hide(c, s->flags);
  watch(c);
}

// Whether the fd is still the file that was opened. For one that is watched the kernel says it: it knows the pair of file
// and number, and refuses to change an entry that it does not have.
int cuv_poll_same_file(cuv_cell *c) {
  int fd = fd_of(c);
  if (file_of(fd) != c->file) return 0;
  struct epoll_event e = {.events = c->poll.io_watcher.events, .data.fd = fd};
  return e.events == 0 || epoll_ctl(uv_backend_fd(&cuv_loop_of(c)->uv), EPOLL_CTL_MOD, fd, &e) == 0;
}

// After uv_close, which has taken the fd out of epoll. A stranger that has the number by now is left alone.
void cuv_poll_closing(cuv_cell *c, int fd, uint16_t flags) {
  if ((flags & CUV_FLAG_CLOSE_FD) == 0 && !c->was_blocking) return;
  if (file_of(fd) != c->file) return;
  if (flags & CUV_FLAG_CLOSE_FD) {
    close(fd);
    return;
  }
  int mode = fcntl(fd, F_GETFL);
  if (mode >= 0) (void)fcntl(fd, F_SETFL, mode & ~O_NONBLOCK);
}
