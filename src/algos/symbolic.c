/*
 * algos/symbolic.c - sets of ranks, values and buffers for the verifier.
 */
#include "algos/symbolic.h"

#include <string.h>

/* --- sets ------------------------------------------------------------------------------------------ */

struct SymSets {
  int n_ranks;
  guint n_words;
  GHashTable *all; /* SymSet -> itself */
  SymSet *scratch;
};

struct SymSet {
  guint n_words;
  uint64_t words[];
};

static guint set_hash(gconstpointer data) {
  const SymSet *s = data;
  uint64_t h = 0;
  for (guint i = 0; i < s->n_words; i++) h = (h ^ s->words[i]) * UINT64_C(0x9e3779b97f4a7c15);
  return (guint)(h >> 32);
}

static gboolean set_equal(gconstpointer a, gconstpointer b) {
  const SymSet *x = a, *y = b;
  return memcmp(x->words, y->words, x->n_words * sizeof *x->words) == 0;
}

static gsize set_size(guint n_words) {
  return sizeof(SymSet) + n_words * sizeof(uint64_t);
}

static void clear_scratch(SymSets *sets) {
  memset(sets->scratch->words, 0, sets->n_words * sizeof(uint64_t));
}

static const SymSet *intern_scratch(SymSets *sets) {
  const SymSet *known = g_hash_table_lookup(sets->all, sets->scratch);
  if (known) return known;
  SymSet *copy = g_memdup2(sets->scratch, set_size(sets->n_words));
  g_hash_table_add(sets->all, copy);
  return copy;
}

SymSets *sym_sets_new(int n_ranks) {
  SymSets *sets = g_new0(SymSets, 1);
  sets->n_ranks = n_ranks;
  sets->n_words = ((guint)n_ranks + 63) / 64;
  sets->all = g_hash_table_new_full(set_hash, set_equal, g_free, NULL);
  sets->scratch = g_malloc0(set_size(sets->n_words));
  sets->scratch->n_words = sets->n_words;
  return sets;
}

void sym_sets_free(SymSets *sets) {
  if (!sets) return;
  g_hash_table_destroy(sets->all);
  g_free(sets->scratch);
  g_free(sets);
}

static gboolean has_rank(const SymSet *set, int rank) {
  return set->words[rank / 64] >> (rank % 64) & 1;
}

const SymSet *sym_set_one(SymSets *sets, int rank) {
  clear_scratch(sets);
  sets->scratch->words[rank / 64] = UINT64_C(1) << (rank % 64);
  return intern_scratch(sets);
}

const SymSet *sym_set_all(SymSets *sets) {
  clear_scratch(sets);
  for (int r = 0; r < sets->n_ranks; r++) sets->scratch->words[r / 64] |= UINT64_C(1) << (r % 64);
  return intern_scratch(sets);
}

const SymSet *sym_set_union(SymSets *sets, const SymSet *a, const SymSet *b) {
  for (guint i = 0; i < sets->n_words; i++) {
    if (a->words[i] & b->words[i]) return NULL;
    sets->scratch->words[i] = a->words[i] | b->words[i];
  }
  return intern_scratch(sets);
}

char *sym_set_text(const SymSets *sets, const SymSet *set) {
  GString *text = g_string_new(NULL);
  for (int r = 0; r < sets->n_ranks; r++) {
    if (!has_rank(set, r)) continue;
    int last = r;
    while (last + 1 < sets->n_ranks && has_rank(set, last + 1)) last++;
    g_string_append_printf(text, last > r ? "%s%d-%d" : "%s%d", text->len ? "," : "", r, last);
    r = last;
  }
  return g_string_free(text, FALSE);
}

/* --- values ---------------------------------------------------------------------------------------- */

static SymPiece *piece_at(const GArray *array, guint i) {
  return &g_array_index(array, SymPiece, i);
}

GArray *sym_array_new(void) {
  return g_array_new(FALSE, FALSE, sizeof(SymPiece));
}

static gboolean goes_on(const SymPiece *a, const SymPiece *b) {
  return a->at + a->bytes == b->at && a->src + a->bytes == b->src && a->set == b->set;
}

static void append(GArray *array, SymPiece piece) {
  if (array->len > 0 && goes_on(piece_at(array, array->len - 1), &piece))
    piece_at(array, array->len - 1)->bytes += piece.bytes;
  else
    g_array_append_val(array, piece);
}

void sym_value_set(GArray *value, CsimBytes bytes, CsimBytes src, const SymSet *set) {
  g_array_set_size(value, 0);
  if (bytes > 0) append(value, (SymPiece){0, bytes, src, set});
}

/* The part of p from byte `at` on, for the given length. */
static SymPiece cut(const SymPiece *p, CsimBytes at, CsimBytes bytes) {
  return (SymPiece){at, bytes, p->src + (at - p->at), p->set};
}

const char *sym_value_add(SymSets *sets, GArray *value, const GArray *other, CsimBytes *where) {
  g_autoptr(GArray) sum = sym_array_new();
  CsimBytes at = 0;
  for (guint i = 0, j = 0; i < value->len && j < other->len;) {
    const SymPiece *a = piece_at(value, i), *b = piece_at(other, j);
    CsimBytes end = MIN(a->at + a->bytes, b->at + b->bytes);
    SymPiece piece = cut(a, at, end - at);
    *where = at;
    if (piece.src != cut(b, at, 1).src) return "adds different elements";
    piece.set = sym_set_union(sets, a->set, b->set);
    if (!piece.set) return "adds a contribution twice";
    append(sum, piece);
    at = end;
    i += a->at + a->bytes == end;
    j += b->at + b->bytes == end;
  }
  g_array_set_size(value, 0);
  g_array_append_vals(value, sum->data, sum->len);
  return NULL;
}

/* --- messages ---------------------------------------------------------------------------------------- */

void sym_message_put(SymMessage *message, const GArray *value) {
  if (!message->data) {
    message->data = sym_array_new();
    message->ends = g_array_new(FALSE, FALSE, sizeof(guint));
  }
  g_array_append_vals(message->data, value->data, value->len);
  g_array_append_val(message->ends, message->data->len);
}

gboolean sym_message_take(SymMessage *message, GArray *value) {
  guint i = message->taken++, begin = i > 0 ? g_array_index(message->ends, guint, i - 1) : 0;
  guint end = g_array_index(message->ends, guint, i);
  g_array_set_size(value, 0);
  if (end > begin) g_array_append_vals(value, piece_at(message->data, begin), end - begin);
  if (message->taken < message->ends->len) return FALSE;
  message->taken = 0;
  g_array_set_size(message->data, 0);
  g_array_set_size(message->ends, 0);
  return TRUE;
}

void sym_message_clear(SymMessage *message) {
  if (!message->data) return;
  g_array_unref(message->data);
  g_array_unref(message->ends);
}

/* --- buffers --------------------------------------------------------------------------------------- */

/* The first piece that ends after the place. */
static guint find_piece(const GArray *buffer, CsimBytes place) {
  guint lo = 0, hi = buffer->len;
  while (lo < hi) {
    guint mid = (lo + hi) / 2;
    const SymPiece *p = piece_at(buffer, mid);
    if (p->at + p->bytes <= place)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

static gboolean store_piece(GArray *buffer, SymPiece piece, CsimBytes *where) {
  guint i = find_piece(buffer, piece.at);
  if (i < buffer->len && piece_at(buffer, i)->at < piece.at + piece.bytes) {
    *where = MAX(piece.at, piece_at(buffer, i)->at);
    return FALSE;
  }
  gboolean joins_next = i < buffer->len && goes_on(&piece, piece_at(buffer, i));
  gboolean joins_last = i > 0 && goes_on(piece_at(buffer, i - 1), &piece);
  if (joins_next) {
    piece.bytes += piece_at(buffer, i)->bytes;
    *piece_at(buffer, i) = piece;
  }
  if (joins_last) {
    piece_at(buffer, i - 1)->bytes += piece.bytes;
    if (joins_next) g_array_remove_index(buffer, i);
  } else if (!joins_next) {
    g_array_insert_val(buffer, i, piece);
  }
  return TRUE;
}

gboolean sym_buffer_store(GArray *buffer, CsimBytes offset, const GArray *value, CsimBytes *where) {
  for (guint i = 0; i < value->len; i++) {
    SymPiece piece = *piece_at(value, i);
    piece.at += offset;
    if (!store_piece(buffer, piece, where)) return FALSE;
  }
  return TRUE;
}

gboolean sym_buffer_load(const GArray *buffer, CsimBytes offset, CsimBytes bytes, GArray *value,
                         CsimBytes *where) {
  CsimBytes at = offset, end = offset + bytes;
  for (guint i = find_piece(buffer, offset); at < end; i++) {
    *where = at;
    if (i == buffer->len || piece_at(buffer, i)->at > at) return FALSE;
    const SymPiece *p = piece_at(buffer, i);
    SymPiece piece = cut(p, at, MIN(end, p->at + p->bytes) - at);
    at += piece.bytes;
    piece.at -= offset;
    append(value, piece);
  }
  return TRUE;
}
