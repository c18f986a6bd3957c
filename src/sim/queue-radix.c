/*
 * sim/queue-radix.c - the default queue: a monotone radix heap (docs/decisions/0001-event-queue.md).
 *
 * `last` is the date popped last; no entry is earlier. An entry lies in the bucket named by the highest digit
 * (DIGIT_BITS bits) in which its date differs from `last`, and by that digit; equal dates lie in bucket 0. The
 * lowest non-empty bucket therefore holds the earliest entries. When bucket 0 is empty, `last` becomes the
 * minimum of the lowest bucket and its entries spread over buckets of lower digits.
 *
 * Buckets are lists of blocks, appended to and spread in order: equal dates stay in order of arrival without
 * any comparison and no entry is copied to make room. Block i is the first of bucket i for ever; further ones are
 * reserved on push for the worst spread of the pending entries, so that memory depends on their largest number only.
 */
#include "sim/engine-internal.h"
#include "sim/queue.h"

#define DIGIT_BITS 6 /* so that a word has a bit for each bucket of a level */
#define DIGITS (1u << DIGIT_BITS)
#define LEVELS ((63 + DIGIT_BITS) / DIGIT_BITS)
#define N_BUCKETS (1 + LEVELS * DIGITS)

/* A bucket of this many entries is told of (CsimQueueAhead): fewer are not worth the call, of more the first would be forgotten again. */
#define AHEAD_LEAST 4
#define AHEAD_BLOCKS 8

#define BLOCK_ENTRIES 31 /* with the header 512 bytes */
#define NO_BLOCK UINT32_MAX

typedef struct {
  uint32_t next, n;
  uint64_t reserved; /* entries do not lie across cache lines */
  CsimQueueEntry entry[BLOCK_ENTRIES];
} Block;

typedef struct {
  uint32_t head, tail; /* blocks */
  CsimTime min;
} Bucket;

struct CsimQueue {
  CsimTime last;
  uint32_t head_at; /* first entry of bucket 0's head block that is still there */
  gsize n, room; /* entries; and for how many the blocks suffice */
  uint32_t levels;       /* those with buckets that are not empty */
  uint64_t mask[LEVELS]; /* and which; bucket 0 is in none */
  CsimQueueAhead ahead;
  void *ahead_data;
  CsimTime told; /* entries before it were told of, but for those that came since */
  Bucket bucket[N_BUCKETS];
  Block *blocks;
  uint32_t n_blocks, free_block;
};

/* However n entries lie, they need at most n / BLOCK_ENTRIES blocks beside the first ones; bucket 0 may have one more
 * that is partly taken. */
static void grow_blocks(CsimQueue *q) {
  uint32_t held = q->n_blocks, old = held ? held : N_BUCKETS;
  q->n_blocks = MAX(2 * N_BUCKETS, 2 * held);
  q->room = (gsize)(q->n_blocks - N_BUCKETS - 1) * BLOCK_ENTRIES;
  q->blocks = csim_grow_aligned(q->blocks, held * sizeof(Block), q->n_blocks * sizeof(Block));
  for (uint32_t i = q->n_blocks; i-- > old;) {
    q->blocks[i].next = q->free_block;
    q->free_block = i;
  }
}

static uint32_t take_block(CsimQueue *q) {
  uint32_t b = q->free_block;
  q->free_block = q->blocks[b].next;
  q->blocks[b].next = NO_BLOCK;
  q->blocks[b].n = 0;
  return b;
}

static void give_block(CsimQueue *q, uint32_t b) {
  q->blocks[b].next = q->free_block;
  q->free_block = b;
}

static CsimQueue *radix_new(void) {
  CsimQueue *q = g_new0(CsimQueue, 1);
  q->free_block = NO_BLOCK;
  for (guint i = 0; i < N_BUCKETS; i++)
    q->bucket[i].tail = NO_BLOCK;
  grow_blocks(q);
  return q;
}

static void radix_free(CsimQueue *q) {
  if (!q) return;
  free(q->blocks);
  g_free(q);
}

static inline guint bucket_of(CsimTime last, CsimTime time) {
  uint64_t differ = (uint64_t)time ^ (uint64_t)last;
  if (differ == 0) return 0;
  guint level = (63u - (guint)__builtin_clzll(differ)) / DIGIT_BITS;
  return 1 + level * DIGITS + (((uint64_t)time >> (level * DIGIT_BITS)) & (DIGITS - 1));
}

static inline gboolean is_empty(const Bucket *b) { return b->tail == NO_BLOCK; }

static void open_bucket(CsimQueue *q, guint i) {
  Bucket *b = &q->bucket[i];
  b->head = b->tail = i;
  b->min = CSIM_TIME_NEVER;
  q->blocks[i].n = 0;
  q->blocks[i].next = NO_BLOCK;
  if (i == 0) return;
  guint level = (i - 1) / DIGITS;
  q->mask[level] |= UINT64_C(1) << ((i - 1) % DIGITS);
  q->levels |= 1u << level;
}

static inline void close_bucket(CsimQueue *q, guint i) {
  q->bucket[i].tail = NO_BLOCK;
  if (i == 0) return;
  guint level = (i - 1) / DIGITS;
  q->mask[level] &= ~(UINT64_C(1) << ((i - 1) % DIGITS));
  if (q->mask[level] == 0) q->levels &= ~(1u << level);
}

static Block *extend_bucket(CsimQueue *q, Bucket *b) {
  uint32_t fresh = take_block(q);
  q->blocks[b->tail].next = fresh;
  b->tail = fresh;
  return &q->blocks[fresh];
}

static inline void append(CsimQueue *q, guint i, CsimQueueEntry entry) {
  Bucket *b = &q->bucket[i];
  if (is_empty(b)) open_bucket(q, i);
  Block *block = &q->blocks[b->tail];
  if (G_UNLIKELY(block->n == BLOCK_ENTRIES)) block = extend_bucket(q, b);
  block->entry[block->n++] = entry;
  if (entry.time < b->min) b->min = entry.time;
}

static void radix_push(CsimQueue *q, CsimQueueEntry entry) {
  g_assert(entry.time >= q->last);
  if (G_UNLIKELY(q->n == q->room)) grow_blocks(q);
  q->n++;
  append(q, bucket_of(q->last, entry.time), entry);
}

/* Bucket 0 apart. */
static inline guint lowest_bucket(const CsimQueue *q) {
  if (q->levels == 0) return N_BUCKETS;
  guint level = (guint)__builtin_ctz(q->levels);
  return 1 + level * DIGITS + (guint)__builtin_ctzll(q->mask[level]);
}

/* Bucket i is about to be spread. */
static void tell_ahead(CsimQueue *q, guint i) {
  uint32_t at = q->bucket[i].head;
  guint blocks = 1;
  if (q->bucket[i].min < q->told || q->blocks[at].n < AHEAD_LEAST) return;
  while (at != q->bucket[i].tail && blocks++ < AHEAD_BLOCKS)
    at = q->blocks[at].next;
  if (at != q->bucket[i].tail) return;
  guint shift = (i - 1) / DIGITS * DIGIT_BITS;
  q->told = (CsimTime)((((uint64_t)q->bucket[i].min >> shift) + 1) << shift);
  for (at = q->bucket[i].head; at != NO_BLOCK; at = q->blocks[at].next)
    q->ahead(q->ahead_data, q->blocks[at].entry, q->blocks[at].n);
}

/* Bucket i was the lowest: its minimum becomes `last` and its entries move to lower buckets. */
static void spread(CsimQueue *q, guint i) {
  if (q->ahead) tell_ahead(q, i);
  uint32_t at = q->bucket[i].head;
  q->last = q->bucket[i].min;
  close_bucket(q, i);
  while (at != NO_BLOCK) {
    const Block *block = &q->blocks[at];
    uint32_t next = block->next;
    for (uint32_t k = 0; k < block->n; k++)
      append(q, bucket_of(q->last, block->entry[k].time), block->entry[k]);
    if (at != i) give_block(q, at);
    at = next;
  }
}

static CsimQueueEntry take_first(CsimQueue *q) {
  Bucket *b = &q->bucket[0];
  Block *block = &q->blocks[b->head];
  CsimQueueEntry first = block->entry[q->head_at++];
  if (q->head_at == block->n) {
    uint32_t done = b->head, next = block->next;
    q->head_at = 0;
    if (next == NO_BLOCK) close_bucket(q, 0);
    else b->head = next;
    if (done != 0) give_block(q, done);
  }
  q->n--;
  return first;
}

static gboolean radix_pop(CsimQueue *q, CsimTime limit, CsimQueueEntry *out) {
  if (is_empty(&q->bucket[0])) {
    guint i = lowest_bucket(q);
    if (i == N_BUCKETS || q->bucket[i].min > limit) return FALSE;
    if (q->blocks[i].n == 1) { /* alone: it need not go through bucket 0 */
      close_bucket(q, i);
      q->n--;
      *out = q->blocks[i].entry[0];
      q->last = out->time;
      return TRUE;
    }
    spread(q, i);
  }
  if (q->last > limit) return FALSE;
  *out = take_first(q);
  return TRUE;
}

static void radix_rewind(CsimQueue *q, CsimTime now) {
  g_assert(q->n == 0);
  q->last = now;
}

static gsize radix_size(const CsimQueue *q) { return q->n; }

static void radix_set_ahead(CsimQueue *q, CsimQueueAhead fn, void *data) {
  q->ahead = fn;
  q->ahead_data = data;
}

static gsize radix_bytes(const CsimQueue *q) { return q->n_blocks * sizeof(Block); }

const CsimQueueClass csim_queue_radix = {
    .name = "radix",
    .new_queue = radix_new,
    .free_queue = radix_free,
    .push = radix_push,
    .pop = radix_pop,
    .rewind = radix_rewind,
    .size = radix_size,
    .bytes = radix_bytes,
    .set_ahead = radix_set_ahead,
};
