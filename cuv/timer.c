#include "cuv.h"

static uint64_t millisecond_above(uint64_t ns) { return ns / 1000000 + (ns % 1000000 != 0); }

static void on_timer(uv_timer_t *t);

// Absolute: libuv adds its cached time, however old, to what it is given, so subtracting it cancels out. A timer armed for
// the millisecond above its due time cannot fire early, because libuv's time is the same clock rounded down.
static void arm(cuv_cell *c, uint64_t due, uint64_t at) {
  uint64_t now = uv_now(&cuv_loop_of(c)->uv);
  c->due = due;
  int err = uv_timer_start(&c->timer, on_timer, at > now ? at - now : 0, 0);
  if (err != 0) cuv_push(c, CUV_DONE_BUG, err, 0);
}

// The k-th firing is at origin + k periods; those that were missed merge into this one.
static void arm_next(cuv_cell *c) {
  uint64_t now = uv_now(&cuv_loop_of(c)->uv) * 1000000, missed = now > c->due ? (now - c->due) / c->period : 0;
  c->turn = cuv_loop_of(c)->turn;
  uint64_t due = c->due + (missed + 1) * c->period;
  arm(c, due, millisecond_above(due));
}

// libuv orders timers by millisecond, then by start. Timers of one turn and one millisecond stand side by side then, and Go
// puts them in the order of their delays when this finds that they are not.
static void note_order(cuv_loop *l, const cuv_cell *c) {
  if (c->turn == l->last_turn && c->due < l->last_due && millisecond_above(c->due) == millisecond_above(l->last_due))
    l->disorder = 1;
  l->last_turn = c->turn;
  l->last_due = c->due;
}

static void on_timer(uv_timer_t *t) {
  cuv_cell *c = cuv_cell_of(t);
  cuv_loop *l = cuv_loop_of(c);
  note_order(l, c);
  cuv_push(c, CUV_TIMER, (int32_t)c->turn, c->due);
  if (c->period != 0) arm_next(c);
  // libuv before 1.45 fires timers before it polls, and would then sleep although there is something to tell.
  if (l->run_guard) uv_stop(&l->uv);
}

static void open_timer(cuv_cell *c) {
  int err = uv_timer_init(&cuv_loop_of(c)->uv, &c->timer);
  if (err != 0) cuv_push(c, CUV_DONE_BUG, err, 0);
  cuv_opened(c, CUV_TIMER, c->gen);
}

void cuv_timer_apply(cuv_cell *c, const cuv_sub *s) {
  c->gen = s->gen;
  if (s->op == CUV_OP_TIMER_STOP) {
    if (c->open) uv_timer_stop(&c->timer);
    return;
  }
  if (!c->open) open_timer(c);
  if (s->op == CUV_OP_TIMER_SOONER && uv_is_active(&c->handle) && c->due <= cuv_loop_of(c)->now + s->arg) return;
  c->turn = cuv_loop_of(c)->turn;
  c->period = s->flags & CUV_FLAG_PERIODIC ? s->arg : 0;
  cuv_hide(c, s->flags);
  uint64_t due = s->op == CUV_OP_TIMER_AT ? s->arg : cuv_loop_of(c)->now + s->arg;
  arm(c, due, s->arg == 0 ? 0 : millisecond_above(due)); // no delay means this turn, not the next millisecond
}
