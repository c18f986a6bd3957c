/*
 * exec/partition.c - colour refinement over ranks and links.
 *
 * Ranks and links are the nodes. They start in classes of what they are by themselves. A connection has a colour from its own constants and the
 * classes of all nodes that it touches; a node adds up the colours of its connections; nodes of a class with different sums part.
 * What keeps the class's number is not looked at again, so a difference that travels round a ring costs what it meets, not a round
 * over everything. When nothing parts any more, the partition is equitable. Colours are 64-bit hashes of what would be compared, so the
 * sums are independent of the order of connections; a connection's constants name its place at both ends, which keeps the order of peers.
 */
#include "exec/partition.h"
#include "models/prune.h"

#include <stdlib.h>
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

/* What a connection is to a node. */
enum { SIDE_TX = 1, SIDE_RX, SIDE_NET, SIDE_PROXY, SIDE_NET_BACK };

/* Nodes: ranks, then links. */
typedef struct {
  const CsimExec *x;
  Partition *out;
  uint32_t n_nodes, n_classes, n_rank_classes;
  uint32_t *class;      /* per node */
  uint64_t *sum;        /* per node, of its connections' colours */
  uint64_t *class_sum;  /* per class: of each of its nodes */
  uint32_t *class_size;
  uint64_t *constant, *colour; /* per connection */
  uint32_t *first, *conns;     /* node's connections: conns[first[node]] .. conns[first[node + 1] - 1] */
  GArray *affected;     /* connections of this round */
  GArray *touched;      /* nodes of this round, and then those that changed class */
  uint8_t *is_affected, *is_touched;
} Refiner;

static uint32_t link_node(const Refiner *f, uint32_t link) { return f->x->n_ranks + link; }

/* --- numbering ------------------------------------------------------------------------------------------------------- */

typedef struct { uint64_t key; uint32_t class; } Entry;

/* Classes by key, numbered from `base` in order of first appearance; returns how many. Linear probing: keys are hashes already. */
static uint32_t number_keys(const uint64_t *keys, uint32_t n, uint32_t base, uint32_t *classes) {
  uint32_t size = 16, found = 0;
  while (size < 2 * n) size *= 2;
  g_autofree Entry *table = g_new(Entry, size);
  for (uint32_t i = 0; i < size; i++) table[i].class = NO_INDEX;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t at = (uint32_t)keys[i] & (size - 1);
    while (table[at].class != NO_INDEX && table[at].key != keys[i]) at = (at + 1) & (size - 1);
    if (table[at].class == NO_INDEX) table[at] = (Entry){keys[i], base + found++};
    classes[i] = table[at].class;
  }
  return found;
}

/* --- what things are by themselves ----------------------------------------------------------------------------------- */

static uint64_t lane_key(const CsimExec *x, const Lane *l, uint32_t first_block) {
  uint64_t hash = fold(l->channel, l->role);
  hash = fold(hash, (uint64_t)l->n_recv << 16 | l->n_send);
  hash = fold(hash, (uint64_t)(l->block - first_block) << 1 | (l->sm_link != NO_INDEX));
  return fold(hash, csim_plan_signature(x->plan, l->cursor.lane));
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

static void start_classes(Refiner *f) {
  const CsimExec *x = f->x;
  for (uint32_t r = 0; r < x->n_ranks; r++) f->sum[r] = rank_key(x, r);
  for (guint l = 0; l < x->link_rates->len; l++) {
    const CsimPruneLink *rates = &g_array_index(x->link_rates, CsimPruneLink, l);
    f->sum[link_node(f, l)] = fold_double(fold(0, (uint64_t)rates->capacity), rates->softness);
  }
  f->n_rank_classes = number_keys(f->sum, x->n_ranks, 0, f->class);
  f->n_classes = f->n_rank_classes + number_keys(f->sum + x->n_ranks, x->link_rates->len, f->n_rank_classes, f->class + x->n_ranks);
  for (uint32_t i = 0; i < f->n_nodes; i++) {
    f->class_size[f->class[i]]++;
    f->sum[i] = 0;
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
  return fold(fold(fold(hash, (uint64_t)n->latency), (uint64_t)n->flush << 1 | (uint64_t)(n->loopback != 0)), (uint64_t)n->cap);
}

static uint64_t fold_path(const Refiner *f, uint64_t hash, uint32_t first, guint n) {
  for (guint i = first; i < first + n; i++) {
    const CsimFlowLink *l = &g_array_index(f->x->links, CsimFlowLink, i);
    hash = fold_double(fold(hash, f->class[link_node(f, l->link)]), (double)l->weight);
  }
  return fold(hash, n);
}

static uint64_t colour_of(const Refiner *f, uint32_t conn) {
  const CsimExec *x = f->x;
  const Conn *c = &x->conns[conn];
  uint64_t ends = (uint64_t)f->class[x->lanes[c->tx_lane].rank] << 32 | f->class[x->lanes[c->rx_lane].rank];
  uint64_t hash = fold_path(f, fold(f->constant[conn], ends), c->tx_links, c->n_tx_links);
  hash = fold_path(f, hash, c->rx_links, c->n_rx_links);
  if (c->net == NO_INDEX) return hash;
  const Net *n = &x->nets[c->net];
  hash = fold(hash, (uint64_t)f->class[n->tx_rank] << 32 | f->class[n->rx_rank]);
  hash = fold_path(f, hash, n->links, n->n_links);
  return n->collnet ? fold_path(f, fold(hash, n->root_rank), n->back_links, n->n_back_links) : hash;
}

/* Calls fn for every node that a connection touches, with what the connection is to it. */
typedef void (*TouchFn)(Refiner *f, uint32_t conn, uint32_t node, uint64_t as);

static void touch_path(Refiner *f, uint32_t conn, uint64_t side, uint32_t first, guint n, TouchFn fn) {
  for (guint i = first; i < first + n; i++) {
    const CsimFlowLink *l = &g_array_index(f->x->links, CsimFlowLink, i);
    fn(f, conn, link_node(f, l->link), fold_double(side, (double)l->weight));
  }
}

static void touch_all(Refiner *f, uint32_t conn, TouchFn fn) {
  const CsimExec *x = f->x;
  const Conn *c = &x->conns[conn];
  fn(f, conn, x->lanes[c->tx_lane].rank, SIDE_TX);
  fn(f, conn, x->lanes[c->rx_lane].rank, SIDE_RX);
  touch_path(f, conn, SIDE_TX, c->tx_links, c->n_tx_links, fn);
  touch_path(f, conn, SIDE_RX, c->rx_links, c->n_rx_links, fn);
  if (c->net == NO_INDEX) return;
  const Net *n = &x->nets[c->net];
  fn(f, conn, n->tx_rank, SIDE_PROXY);
  touch_path(f, conn, SIDE_NET, n->links, n->n_links, fn);
  touch_path(f, conn, SIDE_NET_BACK, n->back_links, n->n_back_links, fn);
}

static void count_conn(Refiner *f, uint32_t conn, uint32_t node, uint64_t as) { f->first[node + 2]++; }
static void list_conn(Refiner *f, uint32_t conn, uint32_t node, uint64_t as) { f->conns[f->first[node + 1]++] = conn; }

static void list_conns(Refiner *f) {
  f->first = g_new0(uint32_t, (gsize)f->n_nodes + 3);
  for (uint32_t i = 0; i < f->x->n_conns; i++) touch_all(f, i, count_conn);
  for (uint32_t i = 0; i < f->n_nodes; i++) f->first[i + 2] += f->first[i + 1];
  f->conns = g_new(uint32_t, (gsize)f->first[f->n_nodes + 1] + 1);
  for (uint32_t i = 0; i < f->x->n_conns; i++) touch_all(f, i, list_conn);
}

/* --- rounds ---------------------------------------------------------------------------------------------------------- */

static void take_out(Refiner *f, uint32_t conn, uint32_t node, uint64_t as) { f->sum[node] -= fold(f->colour[conn], as); }

static void put_in(Refiner *f, uint32_t conn, uint32_t node, uint64_t as) {
  f->sum[node] += fold(f->colour[conn], as);
  if (f->is_touched[node]) return;
  f->is_touched[node] = 1;
  g_array_append_val(f->touched, node);
}

static void affect(Refiner *f, uint32_t conn) {
  if (f->is_affected[conn]) return;
  f->is_affected[conn] = 1;
  g_array_append_val(f->affected, conn);
}

/* The connections of the nodes that changed class. */
static void affect_all(Refiner *f) {
  for (guint i = 0; i < f->touched->len; i++) {
    uint32_t node = g_array_index(f->touched, uint32_t, i);
    for (uint32_t k = f->first[node]; k < f->first[node + 1]; k++) affect(f, f->conns[k]);
  }
  g_array_set_size(f->touched, 0);
}

static void recolour(Refiner *f, gboolean first_time) {
  for (guint i = 0; i < f->affected->len; i++) {
    uint32_t conn = g_array_index(f->affected, uint32_t, i);
    f->is_affected[conn] = 0;
    if (!first_time) touch_all(f, conn, take_out);
    f->colour[conn] = colour_of(f, conn);
    touch_all(f, conn, put_in);
  }
  g_array_set_size(f->affected, 0);
}

typedef struct { uint64_t sum; uint32_t class, node; } Part;

static gint compare_parts(gconstpointer a, gconstpointer b) {
  const Part *p = a, *q = b;
  if (p->class != q->class) return p->class < q->class ? -1 : 1;
  if (p->sum != q->sum) return p->sum < q->sum ? -1 : 1;
  return p->node < q->node ? -1 : p->node > q->node;
}

static guint run_of(const Part *parts, guint n, guint at, gboolean same_sum) {
  guint end = at;
  while (end < n && parts[end].class == parts[at].class && (!same_sum || parts[end].sum == parts[at].sum)) end++;
  return end - at;
}

/* The sum of those that keep the class's number: the nodes that were not touched, or the largest part. */
static uint64_t staying_sum(const Refiner *f, const Part *parts, guint n) {
  uint64_t best = parts[0].sum;
  guint most = 0;
  if (n < f->class_size[parts[0].class]) return f->class_sum[parts[0].class];
  for (guint i = 0; i < n; i += run_of(parts, n, i, TRUE)) {
    guint length = run_of(parts, n, i, TRUE);
    if (length <= most) continue;
    most = length;
    best = parts[i].sum;
  }
  return best;
}

static void move_part(Refiner *f, const Part *part, guint n) {
  uint32_t class = f->n_classes++;
  f->n_rank_classes += part[0].node < f->x->n_ranks;
  f->class_sum[class] = part[0].sum;
  f->class_size[class] = n;
  f->class_size[part[0].class] -= n;
  for (guint i = 0; i < n; i++) {
    f->class[part[i].node] = class;
    g_array_append_val(f->touched, part[i].node);
  }
}

/* parts: the touched nodes of one class. */
static void split_class(Refiner *f, const Part *parts, guint n) {
  uint64_t stays = staying_sum(f, parts, n);
  f->class_sum[parts[0].class] = stays;
  for (guint i = 0; i < n;) {
    guint length = run_of(parts, n, i, TRUE);
    if (parts[i].sum != stays) move_part(f, &parts[i], length);
    i += length;
  }
}

/* Leaves the nodes that changed class in f->touched. */
static void split(Refiner *f) {
  guint n = f->touched->len;
  g_autofree Part *parts = g_new(Part, n + 1);
  for (guint i = 0; i < n; i++) {
    uint32_t node = g_array_index(f->touched, uint32_t, i);
    f->is_touched[node] = 0;
    parts[i] = (Part){f->sum[node], f->class[node], node};
  }
  qsort(parts, n, sizeof *parts, compare_parts);
  g_array_set_size(f->touched, 0);
  for (guint i = 0; i < n;) {
    guint length = run_of(parts, n, i, FALSE);
    split_class(f, &parts[i], length);
    i += length;
  }
}

static void refine(Refiner *f) {
  for (uint32_t i = 0; i < f->x->n_conns; i++) affect(f, i);
  for (gboolean first_time = TRUE; f->affected->len > 0 && f->n_rank_classes < f->x->n_ranks; first_time = FALSE) {
    recolour(f, first_time);
    split(f);
    affect_all(f);
  }
}

/* --- result ---------------------------------------------------------------------------------------------------------- */

/* Classes get their final numbers. A block's own link is what its rank and place are; no connection knows it. */
static void write_classes(Refiner *f) {
  const CsimExec *x = f->x;
  for (uint32_t i = 0; i < f->n_nodes; i++) f->sum[i] = fold(0, f->class[i]);
  for (uint32_t i = 0; i < x->n_lanes; i++) {
    const Lane *l = &x->lanes[i];
    uint64_t *sum = l->sm_link != NO_INDEX ? &f->sum[link_node(f, l->sm_link)] : NULL;
    if (sum) *sum = fold(fold(1, f->class[l->rank]), l->block - x->lanes[x->ranks[l->rank].all.first_lane].block);
  }
  f->out->n_rank_classes = number_keys(f->sum, x->n_ranks, 0, f->out->rank_class);
  f->out->n_link_classes = number_keys(f->sum + x->n_ranks, x->link_rates->len, 0, f->out->link_class);
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
  uint32_t n = x->n_ranks + x->link_rates->len;
  g_autofree uint64_t *wide = g_new0(uint64_t, 2 * (gsize)n + 2 * (gsize)x->n_conns);
  g_autofree uint32_t *narrow = g_new0(uint32_t, 2 * (gsize)n);
  g_autofree uint8_t *flags = g_new0(uint8_t, (gsize)n + x->n_conns);
  g_autoptr(GArray) affected = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  g_autoptr(GArray) touched = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  Refiner f = {.x = x, .out = partition_alloc(x), .n_nodes = n, .class = narrow, .class_size = narrow + n, .sum = wide, .class_sum = wide + n,
               .constant = wide + 2 * n, .colour = wide + 2 * (gsize)n + x->n_conns, .affected = affected, .touched = touched,
               .is_touched = flags, .is_affected = flags + n};
  find_entries(&f);
  for (uint32_t i = 0; i < x->n_conns; i++) f.constant[i] = constant_of(&f, i);
  start_classes(&f);
  list_conns(&f);
  refine(&f);
  write_classes(&f);
  g_free(f.first);
  g_free(f.conns);
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
