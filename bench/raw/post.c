#include "raw.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

typedef struct {
  void (*run)(void* arg);
  void* arg;
} message;

typedef struct {
  message* items;
  size_t len;
  size_t cap;
} batch;

/* The usual queue for another thread's messages: senders append under a mutex
 * and wake the loop; the loop swaps the array for its spare one and runs it
 * without the lock. Both arrays keep their memory. */
typedef struct {
  uv_loop_t loop;
  uv_async_t async;
  pthread_mutex_t mutex;
  batch waiting; /* guarded by mutex */
  int sender_rc; /* guarded by mutex */
  batch running; /* loop thread only */
  int rc;        /* loop thread only: sender_rc as last seen */
  sem_t go;
  uint64_t messages;
  raw_result* r;
} mailbox;

static int batch_append(batch* b, message m) {
  if (b->len == b->cap) {
    message* items;
    size_t cap;

    cap = b->cap == 0 ? 64 : 2 * b->cap;
    items = realloc(b->items, cap * sizeof(*items));
    if (items == NULL)
      return UV_ENOMEM;
    b->items = items;
    b->cap = cap;
  }
  b->items[b->len++] = m;
  return 0;
}

static int post(mailbox* box, message m) {
  int sent;
  int rc;

  pthread_mutex_lock(&box->mutex);
  rc = batch_append(&box->waiting, m);
  if (rc < 0)
    box->sender_rc = rc;
  pthread_mutex_unlock(&box->mutex);

  sent = uv_async_send(&box->async);
  return rc < 0 ? rc : sent;
}

static void on_async(uv_async_t* async) {
  mailbox* box;
  batch b;
  size_t i;

  box = async->data;
  box->running.len = 0;

  pthread_mutex_lock(&box->mutex);
  b = box->waiting;
  box->waiting = box->running;
  box->rc = box->sender_rc;
  pthread_mutex_unlock(&box->mutex);

  box->running = b;
  for (i = 0; i < b.len; i++)
    b.items[i].run(b.items[i].arg);
}

static void count(void* arg) {
  raw_result* r;

  r = arg;
  r->events++;
}

static void* send_all(void* arg) {
  mailbox* box;
  message m;
  uint64_t i;

  box = arg;
  m.run = count;
  m.arg = box->r;
  while (sem_wait(&box->go) != 0)
    continue;
  for (i = 0; i < box->messages; i++) {
    if (post(box, m) < 0)
      break;
  }
  return NULL;
}

static void receive_all(mailbox* box) {
  raw_timed_begin(box->r);
  sem_post(&box->go);
  while (box->r->events < box->messages && box->rc == 0) {
    uv_run(&box->loop, UV_RUN_ONCE);
    box->r->turns++;
  }
  raw_timed_end(box->r);
}

static int run_sender(mailbox* box) {
  pthread_t sender;
  int rc;

  rc = pthread_create(&sender, NULL, send_all, box);
  if (rc != 0)
    return raw_check(box->r, "pthread_create", -rc);

  receive_all(box);
  pthread_join(sender, NULL);
  return raw_check(box->r, "realloc", box->rc);
}

static int run_loop(mailbox* box) {
  int rc;

  rc = raw_loop_open(&box->loop, box->r);
  if (rc < 0)
    return rc;

  rc = uv_async_init(&box->loop, &box->async, on_async);
  box->async.data = box;
  if (raw_check(box->r, "uv_async_init", rc) == 0)
    rc = run_sender(box);
  return raw_loop_close(&box->loop, box->r, rc);
}

int raw_post(uint64_t messages, raw_result* r) {
  mailbox box = {.messages = messages, .r = r};
  int rc;

  rc = pthread_mutex_init(&box.mutex, NULL);
  if (rc != 0)
    return raw_check(r, "pthread_mutex_init", -rc);
  if (sem_init(&box.go, 0, 0) != 0) {
    pthread_mutex_destroy(&box.mutex);
    return raw_check(r, "sem_init", UV_EINVAL);
  }

  rc = run_loop(&box);
  sem_destroy(&box.go);
  pthread_mutex_destroy(&box.mutex);
  free(box.waiting.items);
  free(box.running.items);
  return rc;
}
