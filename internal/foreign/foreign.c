#include "foreign.h"

#include <stdlib.h>

#include "_cgo_export.h"

static foreign_handle *handle_new(uintptr_t fn) {
  foreign_handle *h = calloc(1, sizeof *h);
  if (h == NULL) abort();
  h->fn = fn;
  return h;
}

static void on_poll(uv_poll_t *p, int status, int events) {
  (void)status;
  (void)events;
  ((foreign_handle *)p)->events++;
}

foreign_handle *foreign_poll(uv_loop_t *loop, int fd, int *err) {
  foreign_handle *h = handle_new(0);
  *err = uv_poll_init(loop, &h->poll, fd);
  if (*err == 0) return h;
  free(h);
  return NULL;
}

int foreign_poll_start(foreign_handle *h, int events) { return uv_poll_start(&h->poll, events, on_poll); }

int foreign_poll_stop(foreign_handle *h) { return uv_poll_stop(&h->poll); }

static void on_timer(uv_timer_t *t) { foreignCall(((foreign_handle *)t)->fn); }

foreign_handle *foreign_timer(uv_loop_t *loop, uint64_t timeout, uint64_t repeat, uintptr_t fn) {
  foreign_handle *h = handle_new(fn);
  if (uv_timer_init(loop, &h->timer) != 0 || uv_timer_start(&h->timer, on_timer, timeout, repeat) != 0) abort();
  return h;
}

static void on_closed(uv_handle_t *h) { ((foreign_handle *)h)->closed = 1; }

void foreign_close(foreign_handle *h) { uv_close(&h->handle, on_closed); }

static void count_referenced(uv_handle_t *h, void *counts) {
  if (uv_is_active(h) && uv_has_ref(h)) ((int *)counts)[uv_handle_get_type(h)]++;
}

// counts has UV_HANDLE_TYPE_MAX places.
void foreign_count_referenced(uv_loop_t *loop, int *counts) { uv_walk(loop, count_referenced, counts); }

typedef struct {
  void **data;
  int room, n;
} data_list;

static void add_data(uv_handle_t *h, void *list) {
  data_list *l = list;
  void *data = uv_handle_get_data(h);
  if (data != NULL && l->n < l->room) l->data[l->n++] = data;
}

int foreign_data(uv_loop_t *loop, void **data, int room) {
  data_list list = {data, room, 0};
  uv_walk(loop, add_data, &list);
  return list.n;
}
