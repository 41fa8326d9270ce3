#include "raw.h"

/* Keeps the name of the first call that failed; passes rc on. */
int raw_check(raw_result* r, const char* call, int rc) {
  if (rc < 0 && r->failed == NULL)
    r->failed = call;
  return rc;
}

int raw_loop_open(uv_loop_t* loop, raw_result* r) {
  return raw_check(r, "uv_loop_init", uv_loop_init(loop));
}

static void close_handle(uv_handle_t* handle, void* arg) {
  (void) arg;
  if (!uv_is_closing(handle))
    uv_close(handle, NULL);
}

/* Closes whatever is open, and the loop. An error the case already had, rc,
 * wins over one that shows here. Handles that still live are the caller's
 * memory, to be freed after this. */
int raw_loop_close(uv_loop_t* loop, raw_result* r, int rc) {
  int closed;

  uv_walk(loop, close_handle, NULL);
  uv_run(loop, UV_RUN_DEFAULT);
  closed = raw_check(r, "uv_loop_close", uv_loop_close(loop));
  return rc < 0 ? rc : closed;
}

/* The pair may be called several times; the parts add up. */
void raw_timed_begin(raw_result* r) {
  r->cpu_ns -= raw_cpu_now();
  r->wall_ns -= raw_wall_now();
}

void raw_timed_end(raw_result* r) {
  r->wall_ns += raw_wall_now();
  r->cpu_ns += raw_cpu_now();
}
