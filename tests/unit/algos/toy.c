/*
 * tests/unit/algos/toy.c - see toy.h.
 */
#include "toy.h"

/* --- rings ----------------------------------------------------------------------------------------- */

static int ring_position(const void *data, int channel, int rank) {
  return ((const Toy *)data)->position[channel][rank];
}
static int ring_rank_at(const void *data, int channel, int position) {
  return ((const Toy *)data)->order[channel][position];
}

/* Rank 0 stays at position 0. */
static void shuffle(int *order, int n, GRand *rand) {
  for (int i = 0; i < n; i++) order[i] = i;
  for (int i = n - 1; i > 1; i--) {
    int j = g_rand_int_range(rand, 1, i + 1), swap = order[i];
    order[i] = order[j];
    order[j] = swap;
  }
}

static void make_rings(Toy *toy, guint32 seed) {
  g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
  int n = toy->shape.n_ranks;
  for (int c = 0; c < toy->n_channels; c++) {
    toy->order[c] = g_new(int, n);
    toy->position[c] = g_new(int, n);
    shuffle(toy->order[c], n, rand);
    for (int i = 0; i < n; i++) toy->position[c][toy->order[c][i]] = i;
  }
}

/* --- trees ----------------------------------------------------------------------------------------- */

typedef struct {
  int up, child[2], which;
} Btree; /* which child of its parent */

static int lowest_bit(int r, int n) {
  int bit = 1;
  while (bit < n && !(r & bit)) bit <<= 1;
  return bit;
}

/* NCCL's binary tree over 0..n-1 (fact sheet, src/graph/trees.cc). */
static Btree btree(int r, int n) {
  Btree t = {-1, {-1, -1}, 0};
  int bit = lowest_bit(r, n), low = bit / 2;
  if (r == 0) {
    if (n > 1) t.child[1] = low;
    return t;
  }
  t.up = (r ^ bit) | (bit << 1);
  if (t.up >= n) t.up = r ^ bit;
  t.which = r < t.up ? 0 : 1;
  if (low > 0) t.child[0] = r - low;
  while (low > 0 && r + low >= n) low /= 2;
  if (low > 0) t.child[1] = r + low;
  return t;
}

static int map_back(int x, int n) {
  return x < 0 ? -1 : n % 2 ? (x + 1) % n : n - 1 - x;
}

/* Even channels: the tree; odd ones: mirrored if n is even, else shifted by one. */
static Btree double_tree(int channel, int r, int n) {
  if (channel % 2 == 0) return btree(r, n);
  Btree t = btree(n % 2 ? (r - 1 + n) % n : n - 1 - r, n);
  t.up = map_back(t.up, n);
  t.child[0] = map_back(t.child[0], n);
  t.child[1] = map_back(t.child[1], n);
  return t;
}

static int node_size(const Toy *toy, int node) {
  return toy->node_first[node + 1] - toy->node_first[node];
}

static int gpu(const Toy *toy, int channel, int node, int i) {
  int g = node_size(toy, node);
  return toy->node_first[node] + (i % g + channel) % g;
}

/* Child 0 hangs on the second GPU of the chain, child 1 on the first (pattern "balanced"). */
static void tree(const void *data, int channel, int rank, int *up, int down[3]) {
  const Toy *toy = data;
  int node = toy->node_of[rank], g = node_size(toy, node), n = 0;
  int place = (rank - toy->node_first[node] - channel % g + g) % g;
  Btree t = double_tree(channel, node, toy->n_nodes);
  down[0] = down[1] = down[2] = -1;
  *up = place > 0  ? gpu(toy, channel, node, place - 1)
        : t.up < 0 ? -1
                   : gpu(toy, channel, t.up, t.which == 0 ? 1 : 0);
  if (place + 1 < g) down[n++] = gpu(toy, channel, node, place + 1);
  if (t.child[0] >= 0 && place == (g > 1 ? 1 : 0)) down[n++] = gpu(toy, channel, t.child[0], 0);
  if (t.child[1] >= 0 && place == 0) down[n++] = gpu(toy, channel, t.child[1], 0);
}

/* --- NVLS: the first n_heads GPUs of each node ----------------------------------------------------- */

static int nvls_head(const void *data, int rank, int h) {
  const Toy *toy = data;
  return toy->node_first[toy->node_of[rank]] + h;
}

static int node_ranks(const void *data, int rank, const int **ranks) {
  const Toy *toy = data;
  int node = toy->node_of[rank];
  *ranks = &toy->ranks[toy->node_first[node]];
  return node_size(toy, node);
}

static void nvls_tree(const void *data, int channel, int head_rank, int *up, int down[3]) {
  const Toy *toy = data;
  int node = toy->node_of[head_rank], h = head_rank - toy->node_first[node];
  Btree t = double_tree(channel, node, toy->n_nodes);
  *up = t.up < 0 ? -1 : toy->node_first[t.up] + h;
  for (int i = 0; i < 2; i++) down[i + 1] = t.child[i] < 0 ? -1 : toy->node_first[t.child[i]] + h;
  down[0] = -1;
}

/* --- a network that reduces ------------------------------------------------------------------------ */

static int node_of(const void *data, int rank) {
  return ((const Toy *)data)->node_of[rank];
}
static int node_first(const void *data, int node) {
  return ((const Toy *)data)->node_first[node];
}

/* The tree's chain: its first GPU is the head. */
static void chain(const void *data, int channel, int rank, int *up, int *down) {
  const Toy *toy = data;
  int node = toy->node_of[rank], g = node_size(toy, node);
  int place = (rank - toy->node_first[node] - channel % g + g) % g;
  *up = place > 0 ? gpu(toy, channel, node, place - 1) : -1;
  *down = place + 1 < g ? gpu(toy, channel, node, place + 1) : -1;
}

/* --- send and receive ------------------------------------------------------------------------------ */

/* The i-th distance of groups: 0, 1, 3, 6, 10 ... modulo the next power of two, without those past the
 * end. */
static int group_delta(int i, int n_groups) {
  int pow2 = 1, delta = 0;
  while (pow2 < n_groups) pow2 <<= 1;
  for (int step = 0, seen = 0;; step++) {
    delta = (delta + step) & (pow2 - 1);
    if (delta < n_groups && seen++ == i) return delta;
  }
}

static gboolean p2p_round(const void *data, int rank, int round, int *send_to, int *recv_from) {
  const Toy *toy = data;
  int g = toy->group, n_groups = toy->shape.n_ranks / g;
  if (round >= toy->shape.n_ranks) return FALSE;
  int delta = group_delta(round / g, n_groups), local = round % g;
  *send_to = (rank / g + delta) % n_groups * g + (rank % g + local) % g;
  *recv_from = (rank / g - delta + n_groups) % n_groups * g + (rank % g - local + g) % g;
  return TRUE;
}

/* Fewer parts between nodes than inside one; part sizes at multiples of 64 bytes, so that a last part may
 * be empty. */
static void p2p_split(const void *data, int from, int to, CsimBytes bytes, int round, int *n_parts,
                      CsimBytes *part, CsimBytes *chunk, int *first_channel) {
  const Toy *toy = data;
  int most = toy->node_of[from] == toy->node_of[to] ? toy->n_channels : MAX(1, toy->n_channels / 2);
  *n_parts = (int)CLAMP((bytes + toy->p2p_min_part - 1) / toy->p2p_min_part, 1, most);
  *part = ((bytes + *n_parts - 1) / *n_parts + 63) / 64 * 64;
  *chunk = toy->p2p_chunk;
  *first_channel = round * 5 % toy->n_channels;
}

/* --- making one ------------------------------------------------------------------------------------ */

static int gcd(int a, int b) {
  return b == 0 ? a : gcd(b, a % b);
}

static void place_ranks(Toy *toy, const int *sizes) {
  int n = 0;
  toy->node_first = g_new(int, toy->n_nodes + 1);
  for (int i = 0; i < toy->n_nodes; i++) {
    toy->node_first[i] = n;
    toy->group = gcd(sizes[i], toy->group);
    n += sizes[i];
  }
  toy->node_first[toy->n_nodes] = toy->shape.n_ranks = n;
  toy->node_of = g_new(int, n);
  toy->ranks = g_new(int, n);
  for (int r = 0, node = 0; r < n; r++) {
    while (r >= toy->node_first[node + 1]) node++;
    toy->node_of[r] = node;
    toy->ranks[r] = r;
  }
}

Toy *toy_new(const int *sizes, int n_nodes, int n_channels, guint32 seed) {
  Toy *toy = g_new0(Toy, 1);
  toy->n_nodes = n_nodes;
  toy->n_channels = n_channels;
  toy->p2p_chunk = 256;
  toy->p2p_min_part = 128;
  place_ranks(toy, sizes);
  make_rings(toy, seed);
  toy->shape.data = toy;
  toy->shape.ring_position = ring_position;
  toy->shape.ring_rank_at = ring_rank_at;
  toy->shape.tree = tree;
  toy->shape.nvls_head = nvls_head;
  toy->shape.node_ranks = node_ranks;
  toy->shape.nvls_tree = nvls_tree;
  toy->shape.p2p_round = p2p_round;
  toy->shape.p2p_split = p2p_split;
  toy->shape.n_heads = sizes[0];
  for (int i = 1; i < n_nodes; i++) toy->shape.n_heads = MIN(toy->shape.n_heads, sizes[i]);
  toy->shape.network = TRUE;
  toy->shape.n_nodes = n_nodes;
  toy->shape.node_of = node_of;
  toy->shape.node_first = node_first;
  toy->shape.chain = chain;
  toy->shape.n_direct_heads = toy->shape.n_heads;
  toy->shape.direct_head = nvls_head;
  return toy;
}

Toy *toy_new_even(int n_ranks, int per_node, int n_channels) {
  int n_nodes = (n_ranks + per_node - 1) / per_node;
  g_autofree int *sizes = g_new(int, n_nodes);
  for (int i = 0; i < n_nodes; i++) sizes[i] = MIN(per_node, n_ranks - i * per_node);
  return toy_new(sizes, n_nodes, n_channels, (guint32)(n_ranks * 64 + n_channels));
}

void toy_free(Toy *toy) {
  if (!toy) return;
  for (int c = 0; c < toy->n_channels; c++) {
    g_free(toy->order[c]);
    g_free(toy->position[c]);
  }
  g_free(toy->node_of);
  g_free(toy->node_first);
  g_free(toy->ranks);
  g_free(toy);
}

CsimPlan *toy_plan(const Toy *toy, CsimColl coll, CsimAlgo algo, int root, CsimBytes count_bytes,
                   CsimBytes grain, CsimBytes chunk) {
  CsimPlanPart parts[TOY_MAX_CHANNELS];
  CsimBytes cells = (count_bytes + grain - 1) / grain,
            share = (cells + toy->n_channels - 1) / toy->n_channels * grain;
  for (int c = 0; c < toy->n_channels; c++) {
    CsimBytes begin = MIN(c * share, count_bytes);
    parts[c] = (CsimPlanPart){begin, MIN(share, count_bytes - begin), chunk};
  }
  CsimPlanSpec spec = {.coll = coll,
                       .algo = algo,
                       .count_bytes = count_bytes,
                       .elem_bytes = 1,
                       .root = root,
                       .n_channels = toy->n_channels,
                       .parts = parts,
                       .align_bytes = 16,
                       .slot_bytes = 512,
                       .shape = &toy->shape};
  g_autoptr(GError) error = NULL;
  CsimPlan *plan = csim_plan_new(&spec, &error);
  g_assert_no_error(error);
  return plan;
}
