/*
 * sim/queue-radix.c - the default queue: a monotone radix heap (docs/decisions/0001-event-queue.md).
 *
 * `last` is the date popped last; no entry is earlier. An entry lies in the bucket named by the highest digit
 * (DIGIT_BITS bits) in which its date differs from `last`, and by that digit. The lowest non-empty bucket therefore holds
 * the earliest entries. When it is needed, `last` becomes its minimum; if all its entries have that date, they are
 * taken from where they lie: it is the current bucket, to which later entries of that date are appended. Else its entries
 * spread over buckets of lower digits, those of the minimum to bucket 0, which is then the current one.
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
#define AHEAD_MOST 248

/* Blocks lie one after the other: of BLOCK cells the first is the number of the next block, the others are entries. */
#define BLOCK 32u
#define BLOCK_ENTRIES (BLOCK - 1)
#define NO_BLOCK UINT32_MAX

typedef union {
  CsimQueueEntry entry;
  uint32_t next;
} Cell;
G_STATIC_ASSERT(sizeof(Cell) == 16);

/* end: the cell after the last entry's; 0: empty. At a multiple of BLOCK the last block is full. */
typedef struct {
  CsimTime min;
  uint32_t end, n;
} Bucket;

struct CsimQueue {
  CsimTime last;
  uint32_t current; /* bucket whose entries have the date `last`; 0: none has, or bucket 0 */
  uint32_t at;      /* cell of its first entry that is still there; 0: none */
  gsize n, room;    /* entries; and for how many the blocks suffice */
  Cell *cells;
  uint32_t n_blocks, free_block;
  uint32_t levels;       /* those with buckets that are not empty */
  uint64_t mask[LEVELS]; /* and which; the current bucket is in none */
  CsimQueueAhead ahead;
  void *ahead_data;
  CsimTime told; /* entries before it were told of, but for those that came since */
  Bucket bucket[N_BUCKETS];
};

static inline uint32_t *next_of(CsimQueue *q, uint32_t block) { return &q->cells[block * BLOCK].next; }

/* However n entries lie, they need at most n / BLOCK_ENTRIES blocks beside the first ones; the current bucket may have one more
 * that is partly taken. */
G_GNUC_NO_INLINE static void grow_blocks(CsimQueue *q) {
  uint32_t held = q->n_blocks, old = held ? held : N_BUCKETS;
  q->n_blocks = MAX(2 * N_BUCKETS, 2 * held);
  g_assert(q->n_blocks < UINT32_MAX / BLOCK);
  q->room = (gsize)(q->n_blocks - N_BUCKETS - 1) * BLOCK_ENTRIES;
  q->cells = csim_grow_aligned(q->cells, held * BLOCK * sizeof(Cell), q->n_blocks * BLOCK * sizeof(Cell));
  for (uint32_t i = q->n_blocks; i-- > old;) {
    *next_of(q, i) = q->free_block;
    q->free_block = i;
  }
}

static inline void give_block(CsimQueue *q, uint32_t block) {
  if (block < N_BUCKETS) return; /* its bucket's for ever */
  *next_of(q, block) = q->free_block;
  q->free_block = block;
}

static CsimQueue *radix_new(void) {
  CsimQueue *q = g_new0(CsimQueue, 1);
  q->free_block = NO_BLOCK;
  grow_blocks(q);
  return q;
}

static void radix_free(CsimQueue *q) {
  if (!q) return;
  free(q->cells);
  g_free(q);
}

/* For times that differ. */
static inline guint bucket_of(CsimTime last, CsimTime time) {
  guint level = (63u - (guint)__builtin_clzll((uint64_t)time ^ (uint64_t)last)) / DIGIT_BITS;
  return 1 + level * DIGITS + (((uint64_t)time >> (level * DIGIT_BITS)) & (DIGITS - 1));
}

/* ---- buckets ---- */

static void open_bucket(CsimQueue *q, guint i) {
  q->bucket[i] = (Bucket){.min = CSIM_TIME_NEVER, .end = i * BLOCK + 1};
  if (i == 0) return;
  guint level = (i - 1) / DIGITS;
  q->mask[level] |= UINT64_C(1) << ((i - 1) % DIGITS);
  q->levels |= 1u << level;
}

/* It is no longer among those that wait; its entries are still there. */
static inline void unlist(CsimQueue *q, guint i) {
  guint level = (i - 1) / DIGITS;
  q->mask[level] &= ~(UINT64_C(1) << ((i - 1) % DIGITS));
  if (q->mask[level] == 0) q->levels &= ~(1u << level);
}

/* `end` is at a multiple of BLOCK: the bucket is empty, or its last block full. Returns the new end. */
G_GNUC_NO_INLINE static uint32_t extend_bucket(CsimQueue *q, guint i) {
  uint32_t end = q->bucket[i].end, fresh = q->free_block;
  if (end == 0) {
    open_bucket(q, i);
    return q->bucket[i].end;
  }
  q->free_block = *next_of(q, fresh);
  *next_of(q, end / BLOCK - 1) = fresh;
  return fresh * BLOCK + 1;
}

static inline void append(CsimQueue *q, guint i, CsimQueueEntry entry) {
  Bucket *b = &q->bucket[i];
  uint32_t end = b->end;
  if (end % BLOCK == 0) end = extend_bucket(q, i);
  q->cells[end].entry = entry;
  b->end = end + 1;
  b->n++;
  if (entry.time < b->min) b->min = entry.time;
}

/* An entry of the date `last`. */
static inline void append_current(CsimQueue *q, CsimQueueEntry entry) {
  append(q, q->current, entry);
  if (q->at == 0) q->at = 1; /* bucket 0's first */
}

static inline void put(CsimQueue *q, CsimQueueEntry entry) {
  if (entry.time == q->last) append_current(q, entry);
  else append(q, bucket_of(q->last, entry.time), entry);
}

static void radix_push(CsimQueue *q, CsimQueueEntry entry) {
  g_assert(entry.time >= q->last);
  if (G_UNLIKELY(q->n == q->room)) grow_blocks(q);
  q->n++;
  put(q, entry);
}

/* The current bucket apart. */
static inline guint lowest_bucket(const CsimQueue *q) {
  if (q->levels == 0) return N_BUCKETS;
  guint level = (guint)__builtin_ctz(q->levels);
  return 1 + level * DIGITS + (guint)__builtin_ctzll(q->mask[level]);
}

/* The cells [first, first + result) are entries of a bucket with that end, in the block of `first`. */
static inline uint32_t run_of(uint32_t first, uint32_t end) {
  uint32_t block_end = (first / BLOCK + 1) * BLOCK;
  return (end > first && end <= block_end ? end : block_end) - first;
}

/* Bucket i is about to be used up. */
static void tell_ahead(CsimQueue *q, guint i) {
  const Bucket *b = &q->bucket[i];
  guint shift = (i - 1) / DIGITS * DIGIT_BITS;
  if (b->min < q->told || b->n > AHEAD_MOST) return;
  q->told = (CsimTime)((((uint64_t)b->min >> shift) + 1) << shift);
  for (uint32_t at = i * BLOCK + 1;;) {
    uint32_t n = run_of(at, b->end);
    q->ahead(q->ahead_data, &q->cells[at].entry, n);
    if (at + n == b->end) return;
    at = *next_of(q, at / BLOCK) * BLOCK + 1;
  }
}

/* Have all entries of bucket i its minimum's date? Of more than a block that is not asked: they spread, which is always right. */
static gboolean is_uniform(const CsimQueue *q, guint i) {
  const Bucket *b = &q->bucket[i];
  if (b->n > BLOCK_ENTRIES) return FALSE;
  for (uint32_t at = i * BLOCK + 1; at < b->end; at++)
    if (q->cells[at].entry.time != b->min) return FALSE;
  return TRUE;
}

/* Moves the entries of bucket i, whose minimum `last` now is, to lower buckets. */
static void spread(CsimQueue *q, guint i) {
  uint32_t end = q->bucket[i].end, at = i * BLOCK + 1;
  q->bucket[i].end = 0;
  for (;;) {
    uint32_t n = run_of(at, end), block = at / BLOCK, next = *next_of(q, block);
    for (uint32_t k = 0; k < n; k++) put(q, q->cells[at + k].entry);
    give_block(q, block);
    if (at + n == end) return;
    at = next * BLOCK + 1;
  }
}

/* There is no entry of the date `last` left, and bucket i is the lowest. */
G_GNUC_NO_INLINE static void advance(CsimQueue *q, guint i) {
  if (q->ahead && q->bucket[i].n >= AHEAD_LEAST) tell_ahead(q, i);
  q->last = q->bucket[i].min;
  unlist(q, i);
  if (is_uniform(q, i)) {
    q->current = i;
    q->at = i * BLOCK + 1;
  } else {
    spread(q, i);
  }
}

/* The only entry of bucket i, the lowest. */
static CsimQueueEntry take_alone(CsimQueue *q, guint i) {
  unlist(q, i);
  q->bucket[i].end = 0;
  q->n--;
  q->last = q->bucket[i].min;
  return q->cells[i * BLOCK + 1].entry;
}

/* The last entry of the current bucket, in cell `at`, was taken. */
static void close_current(CsimQueue *q, uint32_t at) {
  give_block(q, at / BLOCK);
  q->bucket[q->current].end = 0;
  q->current = q->at = 0;
}

static gboolean radix_pop(CsimQueue *q, CsimTime limit, CsimQueueEntry *out) {
  if (q->at == 0) {
    guint i = lowest_bucket(q);
    if (i == N_BUCKETS || q->bucket[i].min > limit) return FALSE;
    if (q->bucket[i].n == 1) {
      *out = take_alone(q, i);
      return TRUE;
    }
    advance(q, i);
  } else if (q->last > limit) {
    return FALSE;
  }
  uint32_t at = q->at;
  *out = q->cells[at].entry;
  q->n--;
  if (at + 1 == q->bucket[q->current].end) {
    close_current(q, at);
  } else if ((at + 1) % BLOCK == 0) {
    q->at = *next_of(q, at / BLOCK) * BLOCK + 1;
    give_block(q, at / BLOCK);
  } else {
    q->at = at + 1;
  }
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

static gsize radix_bytes(const CsimQueue *q) { return q->n_blocks * BLOCK * sizeof(Cell); }

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
