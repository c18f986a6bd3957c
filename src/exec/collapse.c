/*
 * exec/collapse.c - the quotient of a built call by its partition.
 *
 * A kept connection is one whose sender is kept. Its receiver is the like lane of the kept rank of the receiver's class: all connections
 * from one lane class at one place end at one lane class at one place, and each receiver there has exactly one of them, so sender and
 * receiver classes are equally large and one connection stands for all.
 * A path's links become the first links of their classes. What a link carries of a kept path is what all paths of its class put on it.
 */
#include "exec/collapse.h"
#include "exec/partition.h"
#include "models/prune.h"

#include <math.h>

#define FLOW_UNIT 16777216.0 /* weights are whole numbers of 2^-24 in the solver (models/fluid.h) */

typedef struct {
  CsimExec *x;
  const Partition *p;
  uint32_t *first_rank;  /* by rank class */
  uint32_t *class_ranks; /* ... and how many */
  uint32_t *class_links; /* how many links, by link class */
  uint32_t *new_lane;    /* by old lane; NO_INDEX: left out */
  uint32_t *new_conn;
  uint32_t *new_link;    /* by link class; NO_INDEX: carries nothing */
  GArray *links, *link_rates, *lane_conns;
  GHashTable *old_paths; /* PathKey of a path -> its separator + 1, see below */
  GHashTable *new_paths; /* PathKey of a path's quotient -> itself */
} Quotient;

/* --- who stays ------------------------------------------------------------------------------------------------------- */

static uint32_t kept_rank(const Quotient *q, uint32_t rank) { return q->first_rank[q->p->rank_class[rank]]; }

static void count_classes(Quotient *q) {
  const CsimExec *x = q->x;
  for (uint32_t r = x->n_ranks; r-- > 0;) {
    q->first_rank[q->p->rank_class[r]] = r;
    q->class_ranks[q->p->rank_class[r]]++;
  }
  for (guint l = 0; l < x->link_rates->len; l++) q->class_links[q->p->link_class[l]]++;
}

static void number_kept(Quotient *q) {
  const CsimExec *x = q->x;
  uint32_t lanes = 0, conns = 0;
  for (uint32_t i = 0; i < x->n_lanes; i++)
    q->new_lane[i] = kept_rank(q, x->lanes[i].rank) == x->lanes[i].rank ? lanes++ : NO_INDEX;
  for (uint32_t i = 0; i < x->n_conns; i++)
    q->new_conn[i] = q->new_lane[x->conns[i].tx_lane] != NO_INDEX ? conns++ : NO_INDEX;
}

/* The like lane of the kept rank. */
static uint32_t kept_lane(const Quotient *q, uint32_t lane) {
  const Rank *ranks = q->x->ranks;
  uint32_t rank = q->x->lanes[lane].rank;
  return ranks[kept_rank(q, rank)].all.first_lane + (lane - ranks[rank].all.first_lane);
}

static uint32_t kept_conn(const Quotient *q, uint32_t conn) {
  const CsimExec *x = q->x;
  const Lane *tx = &x->lanes[kept_lane(q, x->conns[conn].tx_lane)];
  return g_array_index(x->lane_conns, uint32_t, tx->send + q->p->tx_entry[conn]);
}

/* --- paths ----------------------------------------------------------------------------------------------------------- */

static uint32_t link_for(Quotient *q, uint32_t old) {
  uint32_t class = q->p->link_class[old];
  if (q->new_link[class] != NO_INDEX) return q->new_link[class];
  g_array_append_val(q->link_rates, g_array_index(q->x->link_rates, CsimPruneLink, old));
  return q->new_link[class] = q->link_rates->len - 1;
}

/* `paths` paths weigh `weight` each on the links of a class, `links` in number: what one of these carries. FALSE: no float says it exactly. */
static gboolean weight_per_link(double weight, uint32_t paths, uint32_t links, float *out) {
  double units = nearbyint(weight * FLOW_UNIT) * paths;
  *out = (float)(units / links / FLOW_UNIT);
  return units < 0x1p53 && fmod(units, links) == 0 && (double)*out * FLOW_UNIT * links == units && *out < CSIM_FLUID_MAX_WEIGHT;
}

/* Weight of a path on links of a class; 0 if that was asked for before. */
static double weight_on_class(const Quotient *q, const CsimFlowLink *path, guint n, guint at) {
  uint32_t class = q->p->link_class[path[at].link];
  double sum = 0;
  for (guint i = 0; i < n; i++) {
    if (q->p->link_class[path[i].link] != class) continue;
    if (i < at) return 0;
    sum += (double)path[i].weight;
  }
  return sum;
}

/* The solver treats flows over equal paths as one group. Different paths whose quotients are equal must stay different groups: all but the
 * first get a separator, a link of their own that never fills. */
#define SEPARATOR_CAPACITY (INT64_MAX / 4)

static GBytes *path_key(const CsimFlowLink *path, guint n) { return g_bytes_new(path, n * sizeof *path); }

static uint32_t add_separator(Quotient *q) {
  CsimPruneLink rates = {SEPARATOR_CAPACITY, 0};
  g_array_append_val(q->link_rates, rates);
  return q->link_rates->len - 1;
}

static void separate(Quotient *q, const CsimFlowLink *path, guint n, uint32_t first) {
  gpointer known;
  GBytes *old = path_key(path, n);
  uint32_t separator = NO_INDEX;
  if (g_hash_table_lookup_extended(q->old_paths, old, NULL, &known)) {
    g_bytes_unref(old);
    separator = GPOINTER_TO_UINT(known) - 1;
  } else {
    const CsimFlowLink *quotient = &g_array_index(q->links, CsimFlowLink, first);
    if (!g_hash_table_add(q->new_paths, path_key(quotient, q->links->len - first))) separator = add_separator(q);
    g_hash_table_insert(q->old_paths, old, GUINT_TO_POINTER(separator + 1));
  }
  CsimFlowLink link = {separator, 1};
  if (separator != NO_INDEX) g_array_append_val(q->links, link);
}

/* Appends the quotient of a path that `paths` connections have; *first and *n_out say where it lies. */
static gboolean take_path(Quotient *q, uint32_t paths, uint32_t *first, guint n, guint *n_out) {
  const CsimFlowLink *path = (const CsimFlowLink *)(void *)q->x->links->data + *first;
  *first = q->links->len;
  for (guint i = 0; i < n; i++) {
    double weight = weight_on_class(q, path, n, i);
    if (weight == 0) continue;
    CsimFlowLink link = {.link = link_for(q, path[i].link)};
    if (!weight_per_link(weight, paths, q->class_links[q->p->link_class[path[i].link]], &link.weight)) return FALSE;
    g_array_append_val(q->links, link);
  }
  if (n > 0) separate(q, path, n, *first);
  *n_out = q->links->len - *first;
  return TRUE;
}

/* --- new arrays ------------------------------------------------------------------------------------------------------ */

static gboolean take_conn(Quotient *q, uint32_t old, Conn *c, GArray *nets) {
  CsimExec *x = q->x;
  *c = x->conns[old];
  guint n_tx, n_rx, n_net, n_back;
  uint32_t paths = q->class_ranks[q->p->rank_class[x->lanes[c->tx_lane].rank]];
  c->tx_lane = q->new_lane[c->tx_lane];
  c->rx_lane = q->new_lane[kept_lane(q, c->rx_lane)];
  if (!take_path(q, paths, &c->tx_links, c->n_tx_links, &n_tx) || !take_path(q, paths, &c->rx_links, c->n_rx_links, &n_rx)) return FALSE;
  c->n_tx_links = (uint8_t)n_tx;
  c->n_rx_links = (uint8_t)n_rx;
  if (c->net == NO_INDEX) return TRUE;
  Net n = x->nets[c->net];
  if (!take_path(q, paths, &n.links, n.n_links, &n_net)) return FALSE;
  if (!take_path(q, paths, &n.back_links, n.n_back_links, &n_back)) return FALSE;
  n.n_links = (uint16_t)n_net;
  n.n_back_links = (uint16_t)n_back;
  n.conn = q->new_conn[old];
  n.tx_rank = kept_rank(q, n.tx_rank);
  n.rx_rank = kept_rank(q, n.rx_rank);
  c->net = nets->len;
  g_array_append_val(nets, n);
  return TRUE;
}

static gboolean take_conns(Quotient *q, GArray *conns, GArray *nets) {
  for (uint32_t i = 0; i < q->x->n_conns; i++) {
    Conn c;
    if (q->new_conn[i] == NO_INDEX) continue;
    if (!take_conn(q, i, &c, nets)) return FALSE;
    g_array_append_val(conns, c);
  }
  return TRUE;
}

static void take_ends(Quotient *q, uint32_t first, guint n) {
  for (guint k = 0; k < n; k++) {
    uint32_t conn = q->new_conn[kept_conn(q, g_array_index(q->x->lane_conns, uint32_t, first + k))];
    g_array_append_val(q->lane_conns, conn);
  }
}

static void take_lane(Quotient *q, const Lane *old, uint32_t block, GArray *lanes) {
  Lane l = *old;
  l.block = block;
  l.recv = q->lane_conns->len;
  l.send = l.recv + l.n_recv;
  take_ends(q, old->recv, l.n_recv);
  take_ends(q, old->send, l.n_send);
  if (l.sm_link != NO_INDEX) l.sm_link = link_for(q, l.sm_link);
  g_array_append_val(lanes, l);
}

/* Lanes of a rank lie together, and so do those of a block. */
static void take_lanes(Quotient *q, GArray *lanes, GArray *blocks) {
  const CsimExec *x = q->x;
  uint32_t last_block = NO_INDEX;
  for (uint32_t i = 0; i < x->n_lanes; i++) {
    const Lane *l = &x->lanes[i];
    if (q->new_lane[i] == NO_INDEX) continue;
    if (l->block != last_block) {
      Group block = x->blocks[l->block];
      block.first_lane = lanes->len;
      g_array_append_val(blocks, block);
      last_block = l->block;
    }
    take_lane(q, l, blocks->len - 1, lanes);
  }
}

static void take_ranks(Quotient *q) {
  CsimExec *x = q->x;
  for (uint32_t r = 0; r < x->n_ranks; r++) {
    Rank *rank = &x->ranks[r];
    gboolean kept = kept_rank(q, r) == r;
    rank->weight = kept ? q->class_ranks[q->p->rank_class[r]] : 0;
    if (kept && rank->all.n_lanes > 0) rank->all.first_lane = q->new_lane[rank->all.first_lane];
    if (!kept) rank->all.n_lanes = rank->lanes_left = 0;
  }
}

static void take_link_reps(Quotient *q) {
  CsimExec *x = q->x;
  x->link_rep = g_new(uint32_t, x->link_rates->len + 1);
  for (guint l = 0; l < x->link_rates->len; l++) x->link_rep[l] = q->new_link[q->p->link_class[l]];
}

#define REPLACE(field, array) (g_free(field), (field) = (void *)g_array_free(g_steal_pointer(&(array)), FALSE))

static gboolean build_quotient(Quotient *q) {
  CsimExec *x = q->x;
  g_autoptr(GArray) conns = g_array_new(FALSE, FALSE, sizeof(Conn));
  g_autoptr(GArray) nets = g_array_new(FALSE, FALSE, sizeof(Net));
  g_autoptr(GArray) lanes = g_array_new(FALSE, FALSE, sizeof(Lane));
  g_autoptr(GArray) blocks = g_array_new(FALSE, FALSE, sizeof(Group));
  if (!take_conns(q, conns, nets)) return FALSE;
  take_lanes(q, lanes, blocks);
  take_link_reps(q);
  take_ranks(q);
  x->n_conns = conns->len;
  x->n_nets = nets->len;
  x->n_lanes = lanes->len;
  REPLACE(x->conns, conns);
  REPLACE(x->nets, nets);
  REPLACE(x->lanes, lanes);
  REPLACE(x->blocks, blocks);
  return TRUE;
}

static void swap_arrays(GArray **a, GArray **b) {
  GArray *old = *a;
  *a = *b;
  *b = old;
}

static void collapse(CsimExec *x, const Partition *p) {
  g_autofree uint32_t *by_class = g_new0(uint32_t, 2 * p->n_rank_classes + 2 * p->n_link_classes);
  g_autofree uint32_t *by_old = g_new(uint32_t, (gsize)x->n_lanes + x->n_conns);
  g_autoptr(GArray) links = g_array_new(FALSE, FALSE, sizeof(CsimFlowLink));
  g_autoptr(GArray) rates = g_array_new(FALSE, FALSE, sizeof(CsimPruneLink));
  g_autoptr(GArray) lane_conns = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  g_autoptr(GHashTable) old_paths = g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL);
  g_autoptr(GHashTable) new_paths = g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL);
  Quotient q = {.x = x, .p = p, .first_rank = by_class, .class_ranks = by_class + p->n_rank_classes,
                .class_links = by_class + 2 * p->n_rank_classes, .new_link = by_class + 2 * p->n_rank_classes + p->n_link_classes,
                .new_lane = by_old, .new_conn = by_old + x->n_lanes, .links = links, .link_rates = rates, .lane_conns = lane_conns,
                .old_paths = old_paths, .new_paths = new_paths};
  for (uint32_t i = 0; i < p->n_link_classes; i++) q.new_link[i] = NO_INDEX;
  count_classes(&q);
  number_kept(&q);
  if (!build_quotient(&q)) return;
  swap_arrays(&x->links, &links);
  swap_arrays(&x->link_rates, &rates);
  swap_arrays(&x->lane_conns, &lane_conns);
}

void exec_collapse(CsimExec *x) {
  g_autoptr(Partition) p = exec_partition_new(x);
  if (p->n_rank_classes < x->n_ranks) collapse(x, p);
}
