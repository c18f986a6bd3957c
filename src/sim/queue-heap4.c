/*
 * sim/queue-heap4.c - the reference queue: a 4-ary heap keyed by (time, order of arrival).
 */
#include "sim/queue.h"

typedef struct {
  CsimQueueEntry entry;
  uint64_t order;
} HeapItem;

struct CsimQueue {
  HeapItem *items;
  gsize n, capacity;
  uint64_t pushed;
  CsimTime floor;
};

static gboolean before(const HeapItem *a, const HeapItem *b) {
  if (a->entry.time != b->entry.time) return a->entry.time < b->entry.time;
  return a->order < b->order;
}

static CsimQueue *heap4_new(void) {
  CsimQueue *q = g_new0(CsimQueue, 1);
  q->floor = INT64_MIN;
  return q;
}

static void heap4_free(CsimQueue *q) {
  if (!q) return;
  g_free(q->items);
  g_free(q);
}

static void sift_up(CsimQueue *q, gsize at, HeapItem item) {
  while (at > 0) {
    gsize parent = (at - 1) / 4;
    if (!before(&item, &q->items[parent])) break;
    q->items[at] = q->items[parent];
    at = parent;
  }
  q->items[at] = item;
}

static gsize smallest_child(const CsimQueue *q, gsize at) {
  gsize first = 4 * at + 1, best = first, end = MIN(first + 4, q->n);
  for (gsize i = first + 1; i < end; i++)
    if (before(&q->items[i], &q->items[best])) best = i;
  return best;
}

static void sift_down(CsimQueue *q, HeapItem item) {
  gsize at = 0;
  while (4 * at + 1 < q->n) {
    gsize child = smallest_child(q, at);
    if (!before(&q->items[child], &item)) break;
    q->items[at] = q->items[child];
    at = child;
  }
  q->items[at] = item;
}

static void heap4_push(CsimQueue *q, CsimQueueEntry entry) {
  g_assert(entry.time >= q->floor);
  if (q->n == q->capacity) {
    q->capacity = MAX(64, 2 * q->capacity);
    q->items = g_renew(HeapItem, q->items, q->capacity);
  }
  sift_up(q, q->n++, (HeapItem){entry, q->pushed++});
}

static gboolean heap4_pop(CsimQueue *q, CsimTime limit, CsimQueueEntry *out) {
  if (q->n == 0 || q->items[0].entry.time > limit) return FALSE;
  *out = q->items[0].entry;
  q->floor = out->time;
  HeapItem last = q->items[--q->n];
  if (q->n > 0) sift_down(q, last);
  return TRUE;
}

static void heap4_rewind(CsimQueue *q, CsimTime now) {
  g_assert(q->n == 0);
  q->floor = now;
}

static gsize heap4_size(const CsimQueue *q) { return q->n; }

static gsize heap4_bytes(const CsimQueue *q) { return q->capacity * sizeof(HeapItem); }

const CsimQueueClass csim_queue_heap4 = {
    .name = "heap4",
    .new_queue = heap4_new,
    .free_queue = heap4_free,
    .push = heap4_push,
    .pop = heap4_pop,
    .rewind = heap4_rewind,
    .size = heap4_size,
    .bytes = heap4_bytes,
};
