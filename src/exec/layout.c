/*
 * exec/layout.c - where the run's data lie.
 *
 * The working set of a thousand GPUs is many times a processor's cache, so how many cache lines an operation touches decides its time:
 * lanes, connections and slots begin on lines, a lane knows its only connection without a look at a list, and equal paths are one.
 */
#include "exec/exec-private.h"
#include "models/prune.h"

#include <stdlib.h>
#include <string.h>

/* The same bytes from a cache line's start on. (g_malloc is malloc: one free serves both.) */
static void *align(void *array, gsize bytes) {
  void *aligned;
  if (bytes == 0) return array;
  if (posix_memalign(&aligned, 64, bytes) != 0) g_error("out of memory: %" G_GSIZE_FORMAT " bytes", bytes);
  memcpy(aligned, array, bytes);
  g_free(array);
  return aligned;
}

/* Not for sends and receives: each of their many connections serves a message or two, which do not earn back the copy. */
static void align_arrays(CsimExec *x) {
  if (x->choice.algo == CSIM_ALGO_P2P) return;
  x->lanes = align(x->lanes, x->n_lanes * sizeof(Lane));
  x->conns = align(x->conns, x->n_conns * sizeof(Conn));
  x->nets = align(x->nets, x->n_nets * sizeof(Net));
  x->slots = align(x->slots, (gsize)x->n_conns * x->cap * sizeof(Slot));
}

static void name_single_conns(CsimExec *x) {
  for (uint32_t i = 0; i < x->n_lanes; i++) {
    Lane *l = &x->lanes[i];
    if (l->n_recv == 1) l->recv = g_array_index(x->lane_conns, uint32_t, l->recv);
    if (l->n_send == 1) l->send = g_array_index(x->lane_conns, uint32_t, l->send);
  }
}

/* --- equal paths: the channels between two GPUs cross the same links --------------------------------------------------- */

typedef struct {
  const CsimFlowLink *links;
  guint n;
} Path;

static guint hash_path(gconstpointer key) {
  const Path *p = key;
  guint h = p->n;
  for (guint i = 0; i < p->n; i++) h = h * 31 + p->links[i].link;
  return h;
}

static gboolean same_path(gconstpointer a, gconstpointer b) {
  const Path *p = a, *q = b;
  return p->n == q->n && memcmp(p->links, q->links, p->n * sizeof *p->links) == 0;
}

/* The first path that was like links [first, first + n). */
static uint32_t first_like(const CsimExec *x, GHashTable *known, GArray *paths, uint32_t first, guint n) {
  const CsimFlowLink *pool = (const CsimFlowLink *)(void *)x->links->data;
  Path path = {pool + first, n};
  const Path *like = n > 0 ? g_hash_table_lookup(known, &path) : &path;
  if (like) return (uint32_t)(like->links - pool);
  g_array_append_val(paths, path);
  g_hash_table_add(known, &g_array_index(paths, Path, paths->len - 1));
  return first;
}

static void share_paths(CsimExec *x) {
  g_autoptr(GHashTable) known = g_hash_table_new(hash_path, same_path);
  g_autoptr(GArray) paths = g_array_sized_new(FALSE, FALSE, sizeof(Path), 2 * x->n_conns); /* must not move */
  for (uint32_t i = 0; i < x->n_conns; i++) {
    Conn *c = &x->conns[i];
    c->tx_links = first_like(x, known, paths, c->tx_links, c->n_tx_links);
    c->rx_links = first_like(x, known, paths, c->rx_links, c->n_rx_links);
  }
}

/* A processor core's own cache; above, what is touched next is fetched early. */
#define CACHE_BYTES (1 << 20)

static gboolean exceeds_cache(const CsimExec *x) {
  return x->n_lanes * sizeof(Lane) + x->n_conns * (sizeof(Conn) + x->cap * sizeof(Slot)) + x->n_nets * sizeof(Net) > CACHE_BYTES;
}

void exec_layout(CsimExec *x) {
  name_single_conns(x);
  share_paths(x);
  x->work = g_new(uint32_t, x->n_lanes);
  x->state = g_malloc(x->n_lanes);
  memset(x->state, LANE_DONE, x->n_lanes);
  x->cap = (uint32_t)(x->proto.slots / x->proto.slice_steps);
  g_assert(x->cap > 0 && x->cap <= SLOTS && (x->cap & (x->cap - 1)) == 0);
  x->slots = g_new0(Slot, (gsize)x->n_conns * x->cap);
  align_arrays(x);
  csim_engine_set_foresight(x->engine, !x->packets && exceeds_cache(x)); /* with packets nearly all events are theirs, which are not shown */
  for (guint i = 0; i < x->link_rates->len; i++) {
    const CsimPruneLink *rates = &g_array_index(x->link_rates, CsimPruneLink, i);
    csim_fluid_add_link(x->fluid, NULL, rates->capacity, rates->softness);
  }
}
