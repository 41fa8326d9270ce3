#ifndef FOREIGN_H
#define FOREIGN_H

#include <stdint.h>
#include <uv.h>

typedef struct {
  union {
    uv_handle_t handle;
    uv_poll_t poll;
    uv_timer_t timer;
  };
  uintptr_t fn; // a cgo.Handle to what is called in Go
  int events;
  int closed;
} foreign_handle;

foreign_handle *foreign_poll(uv_loop_t *loop, int fd, int *err);
int foreign_poll_start(foreign_handle *h, int events);
int foreign_poll_stop(foreign_handle *h);
foreign_handle *foreign_timer(uv_loop_t *loop, uint64_t timeout, uint64_t repeat, uintptr_t fn);
void foreign_close(foreign_handle *h);

void foreign_count_referenced(uv_loop_t *loop, int *counts);
int foreign_data(uv_loop_t *loop, void **data, int room);

#endif
