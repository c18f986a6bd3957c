/*
 * exec/partition.c - colour refinement over ranks and links.
 *
 * Colours start from what a rank or link is by itself. In each round a connection gets a colour from its own constants and the colours of all
 * that it touches; ranks and links add up the colours of their connections; equal sums stay together. The number of classes can only
 * grow; when a round adds none, the partition is equitable. Colours are 64-bit hashes of what would be compared, so the sums are
 * independent of the order of connections. A connection's constants name its place at both ends, which keeps the order of peers in the sums.
 */
#include "exec/partition.h"
#include "models/prune.h"

#include <string.h>

/* Finaliser of splitmix64 (Steele, Lea, Flood 2014). */
static inline uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return x ^ (x >> 31);
}
static inline uint64_t fold(uint64_t hash, uint64_t value) { return mix(hash * UINT64_C(0x9e3779b97f4a7c15) + value + 1); }

static uint64_t fold_double(uint64_t hash, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return fold(hash, bits);
}

/* Where a path's bytes come from; part of what a link sees of a connection. */
enum { SIDE_TX = 1, SIDE_RX, SIDE_NET, SIDE_PROXY };

typedef struct {
  const CsimExec *x;
  Partition *out;
  uint64_t *constant;  /* per connection */
  uint64_t *rank_sum, *link_sum;
  uint32_t *rank_before, *link_before; /* classes at the start of the round */
} Refiner;

/* --- numbering ------------------------------------------------------------------------------------------------------- */

typedef struct { uint64_t key; uint32_t class; } Entry;

/* Classes by key, numbered in order of first appearance; returns how many. Linear probing: keys are hashes already. */
static uint32_t number_keys(const uint64_t *keys, uint32_t n, uint32_t *classes) {
  uint32_t size = 16, found = 0;
  while (size < 2 * n) size *= 2;
  g_autofree Entry *table = g_new(Entry, size);
  for (uint32_t i = 0; i < size; i++) table[i].class = NO_INDEX;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t at = (uint32_t)keys[i] & (size - 1);
    while (table[at].class != NO_INDEX && table[at].key != keys[i]) at = (at + 1) & (size - 1);
    if (table[at].class == NO_INDEX) table[at] = (Entry){keys[i], found++};
    classes[i] = table[at].class;
  }
  return found;
}

/* --- what things are by themselves ----------------------------------------------------------------------------------- */

/* All that time depends on: offsets in the user's buffers are left out. */
static uint64_t programme(const CsimExec *x, CsimLane lane) {
  CsimPlanCursor cursor;
  CsimPrim p;
  uint64_t hash = 0;
  csim_plan_start(x->plan, lane, &cursor);
  while (csim_plan_next(x->plan, &cursor, &p)) {
    hash = fold(hash, (uint64_t)p.flags << 32 | p.more);
    hash = fold(hash, (uint64_t)(uint32_t)p.recv_peer << 32 | (uint32_t)p.send_peer);
    hash = fold(hash, (uint64_t)p.bytes);
  }
  return hash;
}

static uint64_t lane_key(const CsimExec *x, const Lane *l, uint32_t first_block) {
  uint64_t hash = fold(l->channel, l->role);
  hash = fold(hash, (uint64_t)l->n_recv << 16 | l->n_send);
  hash = fold(hash, (uint64_t)(l->block - first_block) << 1 | (l->sm_link != NO_INDEX));
  return fold(hash, programme(x, l->cursor.lane));
}

/* The place in the node keeps apart what a relay's proxy or a node's links serve; it costs nothing, since places of a node differ anyway once
 * there are several nodes. */
static uint64_t rank_key(const CsimExec *x, uint32_t rank) {
  const Rank *r = &x->ranks[rank];
  gboolean alone = csim_comm_info(x->spec.comm)->n_nodes == 1;
  uint64_t hash = fold(r->gpu, r->all.n_lanes);
  if (!alone) hash = fold(hash, (uint64_t)csim_comm_place(x->spec.comm, (int)rank).local_rank);
  for (uint32_t i = 0; i < r->all.n_lanes; i++)
    hash = fold(hash, lane_key(x, &x->lanes[r->all.first_lane + i], x->lanes[r->all.first_lane].block));
  return hash;
}

static void start_colours(Refiner *f) {
  const CsimExec *x = f->x;
  for (uint32_t r = 0; r < x->n_ranks; r++) f->rank_sum[r] = rank_key(x, r);
  for (guint l = 0; l < x->link_rates->len; l++) {
    const CsimPruneLink *rates = &g_array_index(x->link_rates, CsimPruneLink, l);
    f->link_sum[l] = fold_double(fold(0, (uint64_t)rates->capacity), rates->softness);
  }
}

/* --- connections ----------------------------------------------------------------------------------------------------- */

static void find_entries(Refiner *f) {
  const CsimExec *x = f->x;
  for (uint32_t i = 0; i < x->n_lanes; i++) {
    const Lane *l = &x->lanes[i];
    for (uint16_t k = 0; k < l->n_recv; k++) f->out->rx_entry[g_array_index(x->lane_conns, uint32_t, l->recv + k)] = k;
    for (uint16_t k = 0; k < l->n_send; k++) f->out->tx_entry[g_array_index(x->lane_conns, uint32_t, l->send + k)] = k;
  }
}

static uint32_t place_in_rank(const CsimExec *x, uint32_t lane) { return lane - x->ranks[x->lanes[lane].rank].all.first_lane; }

static uint64_t constant_of(const Refiner *f, uint32_t conn) {
  const CsimExec *x = f->x;
  const Conn *c = &x->conns[conn];
  uint64_t hash = fold((uint64_t)c->kind << 8 | c->tag, (uint64_t)c->latency);
  hash = fold(hash, (uint64_t)place_in_rank(x, c->tx_lane) << 32 | place_in_rank(x, c->rx_lane));
  hash = fold(hash, (uint64_t)f->out->tx_entry[conn] << 16 | f->out->rx_entry[conn]);
  if (c->net == NO_INDEX) return hash;
  const Net *n = &x->nets[c->net];
  return fold(fold(fold(hash, (uint64_t)n->latency), (uint64_t)n->flush), (uint64_t)n->cap);
}

static uint64_t fold_path(const Refiner *f, uint64_t hash, uint32_t first, guint n) {
  for (guint i = first; i < first + n; i++) {
    const CsimFlowLink *l = &g_array_index(f->x->links, CsimFlowLink, i);
    hash = fold_double(fold(hash, f->link_before[l->link]), (double)l->weight);
  }
  return fold(hash, n);
}

static uint64_t colour_of(const Refiner *f, uint32_t conn) {
  const CsimExec *x = f->x;
  const Conn *c = &x->conns[conn];
  uint64_t ends = (uint64_t)f->rank_before[x->lanes[c->tx_lane].rank] << 32 | f->rank_before[x->lanes[c->rx_lane].rank];
  uint64_t hash = fold_path(f, fold(f->constant[conn], ends), c->tx_links, c->n_tx_links);
  hash = fold_path(f, hash, c->rx_links, c->n_rx_links);
  if (c->net == NO_INDEX) return hash;
  const Net *n = &x->nets[c->net];
  hash = fold(hash, (uint64_t)f->rank_before[n->tx_rank] << 32 | f->rank_before[n->rx_rank]);
  return fold_path(f, hash, n->links, n->n_links);
}

static void tell_path(Refiner *f, uint64_t colour, uint32_t first, guint n) {
  for (guint i = first; i < first + n; i++) {
    const CsimFlowLink *l = &g_array_index(f->x->links, CsimFlowLink, i);
    f->link_sum[l->link] += fold_double(colour, (double)l->weight);
  }
}

static void tell_all(Refiner *f, uint32_t conn) {
  const CsimExec *x = f->x;
  const Conn *c = &x->conns[conn];
  uint64_t colour = colour_of(f, conn);
  f->rank_sum[x->lanes[c->tx_lane].rank] += fold(colour, SIDE_TX);
  f->rank_sum[x->lanes[c->rx_lane].rank] += fold(colour, SIDE_RX);
  tell_path(f, fold(colour, SIDE_TX), c->tx_links, c->n_tx_links);
  tell_path(f, fold(colour, SIDE_RX), c->rx_links, c->n_rx_links);
  if (c->net == NO_INDEX) return;
  const Net *n = &x->nets[c->net];
  f->rank_sum[n->tx_rank] += fold(colour, SIDE_PROXY);
  tell_path(f, fold(colour, SIDE_NET), n->links, n->n_links);
}

/* --- rounds ---------------------------------------------------------------------------------------------------------- */

/* A block's own link knows no connection, but its lanes. */
static void tell_blocks(Refiner *f) {
  const CsimExec *x = f->x;
  for (uint32_t i = 0; i < x->n_lanes; i++) {
    const Lane *l = &x->lanes[i];
    if (l->sm_link != NO_INDEX) f->link_sum[l->sm_link] += fold(f->rank_before[l->rank], place_in_rank(x, i));
  }
}

static gboolean take_classes(Refiner *f) {
  Partition *p = f->out;
  uint32_t ranks = p->n_rank_classes, links = p->n_link_classes;
  p->n_rank_classes = number_keys(f->rank_sum, f->x->n_ranks, p->rank_class);
  p->n_link_classes = number_keys(f->link_sum, f->x->link_rates->len, p->link_class);
  return p->n_rank_classes != ranks || p->n_link_classes != links;
}

static void refine_once(Refiner *f) {
  const CsimExec *x = f->x;
  memcpy(f->rank_before, f->out->rank_class, x->n_ranks * sizeof *f->rank_before);
  memcpy(f->link_before, f->out->link_class, x->link_rates->len * sizeof *f->link_before);
  for (uint32_t r = 0; r < x->n_ranks; r++) f->rank_sum[r] = fold(1, f->rank_before[r]);
  for (guint l = 0; l < x->link_rates->len; l++) f->link_sum[l] = fold(2, f->link_before[l]);
  for (uint32_t i = 0; i < x->n_conns; i++) tell_all(f, i);
  tell_blocks(f);
}

static Partition *partition_alloc(const CsimExec *x) {
  Partition *p = g_new0(Partition, 1);
  p->rank_class = g_new(uint32_t, x->n_ranks);
  p->link_class = g_new(uint32_t, x->link_rates->len + 1);
  p->tx_entry = g_new(uint16_t, x->n_conns + 1);
  p->rx_entry = g_new(uint16_t, x->n_conns + 1);
  return p;
}

Partition *exec_partition_new(const CsimExec *x) {
  guint links = x->link_rates->len;
  g_autofree uint64_t *constant = g_new(uint64_t, x->n_conns + 1);
  g_autofree uint64_t *sums = g_new(uint64_t, (gsize)x->n_ranks + links);
  g_autofree uint32_t *before = g_new(uint32_t, (gsize)x->n_ranks + links);
  Refiner f = {.x = x, .out = partition_alloc(x), .constant = constant, .rank_sum = sums, .link_sum = sums + x->n_ranks,
               .rank_before = before, .link_before = before + x->n_ranks};
  find_entries(&f);
  for (uint32_t i = 0; i < x->n_conns; i++) constant[i] = constant_of(&f, i);
  start_colours(&f);
  while (take_classes(&f) && f.out->n_rank_classes < x->n_ranks) refine_once(&f);
  return f.out;
}

void exec_partition_free(Partition *p) {
  if (!p) return;
  g_free(p->rank_class);
  g_free(p->link_class);
  g_free(p->tx_entry);
  g_free(p->rx_entry);
  g_free(p);
}
