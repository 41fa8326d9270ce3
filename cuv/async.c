#include "cuv.h"

static void on_async(uv_async_t *a) { cuv_push(cuv_cell_of(a), CUV_ASYNC, 0, 0); }

int cuv_async_open(cuv_cell *c, uint32_t gen, uint16_t flags) {
  int err = uv_async_init(&cuv_loop_of(c)->uv, &c->async, on_async);
  if (err != 0) return err;
  cuv_opened(c, CUV_ASYNC, gen);
  cuv_hide(c, flags);
  return 0;
}

int cuv_async_send(cuv_cell *c) { return uv_async_send(&c->async); }
