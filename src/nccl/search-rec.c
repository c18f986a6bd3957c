/*
 * One attempt of the channel search: a depth-first walk NIC -> GPU -> GPU .. -> NIC, channel after channel,
 * until the time budget (a count of visits) is used up (fact sheet 2.4; NCCL 2.30.7, src/graph/search.cc).
 *
 * The order in which branches are tried is part of the result, since the budget usually ends the walk.
 */
#include "nccl/search-state.h"

typedef enum { ORDER_FREE, ORDER_INDEX, ORDER_REPLAY } Order;

/* What stays the same down one branch. back_to_net, back_to_first: the step at which it happens, -1 never. */
typedef struct {
  int back_to_net, back_to_first;
  Order order;
} Branch;

static void search_channel(CsimSearch *s);
static void visit_gpu(CsimSearch *s, int gpu, int step, Branch branch);

#define INDEX_ORDER_BUDGET (1 << 10)

static const CsimTopoNode *net_node(const CsimSearch *s, int net) {
  return csim_system_node(s->system, CSIM_NODE_NET, net);
}

/* The GPU at `step` of the previous channel. */
static int replay(const CsimSearch *s, int step) {
  return s->work.intra[(s->work.n_channels - 1) * s->n_gpus + step];
}

/* ncclTopoCompareGraphs: is the finished candidate better than the best so far? */
static gboolean better(const CsimSearch *s) {
  const CsimCandidate *c = &s->work, *best = &s->best;
  if (c->n_channels < c->min_channels) return FALSE;
  if (c->pattern == CSIM_PATTERN_NVLS) {
    if (c->n_channels > best->n_channels && c->n_channels <= s->n_gpus) return TRUE;
    return c->n_channels * c->bw_inter > best->n_channels * best->bw_inter;
  }
  float total = c->n_channels * c->bw_intra, best_total = best->n_channels * best->bw_intra;
  if (total != best_total) return total > best_total;
  return c->pattern == best->pattern && c->cross_nic == best->cross_nic && c->n_hops < best->n_hops;
}

static void finish_channel(CsimSearch *s) {
  CsimCandidate *c = &s->work;
  c->n_channels++;
  if (better(s)) {
    csim_candidate_copy(&s->best, c, s->n_gpus);
    if (c->n_channels == c->max_channels) s->time = -1;
  }
  if (c->n_channels < c->max_channels) search_channel(s);
  c->n_channels--;
}

static void try_gpu(CsimSearch *s, CsimSearchEnd from, int a, int gpu, int step, Branch branch) {
  gboolean start = a < 0;
  if (!start && !csim_search_follow(s, from, a, CSIM_FROM_GPU, gpu, 1)) return;
  uint64_t flag = UINT64_C(1) << s->work.n_channels;
  s->used[gpu] ^= flag;
  visit_gpu(s, gpu, step, branch);
  s->used[gpu] ^= flag;
  if (!start) csim_search_follow(s, from, a, CSIM_FROM_GPU, gpu, -1);
}

/* NVLS head: every GPU pulls from and pushes to the switch, the head twice. */
static void visit_nvls(CsimSearch *s, int head) {
  int down = 0, up = 0;
  while (down < s->n_gpus &&
         csim_search_follow(s, CSIM_FROM_NVS, 0, CSIM_FROM_GPU, down, down == head ? 2 : 1))
    down++;
  if (down == s->n_gpus) {
    while (up < s->n_gpus && csim_search_follow(s, CSIM_FROM_GPU, up, CSIM_FROM_NVS, 0, up == head ? 2 : 1))
      up++;
    if (up == s->n_gpus) visit_gpu(s, -1, s->n_gpus, (Branch){-1, -1, ORDER_FREE});
  }
  while (up-- > 0) csim_search_follow(s, CSIM_FROM_GPU, up, CSIM_FROM_NVS, 0, up == head ? -2 : -1);
  while (down-- > 0) csim_search_follow(s, CSIM_FROM_NVS, 0, CSIM_FROM_GPU, down, down == head ? -2 : -1);
}

/* CollNetDirect head: exchanges with every other GPU at 1/(n-1) of the bandwidth each. */
static void visit_direct(CsimSearch *s, int head) {
  float share = (float)(1.0 / (float)(s->n_gpus - 1));
  int out = 0, in = 0;
  while (out < s->n_gpus && csim_search_follow(s, CSIM_FROM_GPU, head, CSIM_FROM_GPU, out, share)) out++;
  if (out == s->n_gpus) {
    while (in < s->n_gpus && csim_search_follow(s, CSIM_FROM_GPU, in, CSIM_FROM_GPU, head, share)) in++;
    if (in == s->n_gpus) {
      int *intra = &s->work.intra[s->work.n_channels * s->n_gpus];
      for (int g = 0, step = 1; g < s->n_gpus; g++)
        if (g != head) intra[step++] = g;
      visit_gpu(s, -1, s->n_gpus, (Branch){-1, -1, ORDER_FREE});
    }
  }
  while (in-- > 0) csim_search_follow(s, CSIM_FROM_GPU, in, CSIM_FROM_GPU, head, -share);
  while (out-- > 0) csim_search_follow(s, CSIM_FROM_GPU, head, CSIM_FROM_GPU, out, -share);
}

static gboolean same_rail(const CsimSearch *s, const CsimTopoNode *a, const CsimTopoNode *b) {
  if (a->net.rail >= 0 && b->net.rail >= 0) return a->net.rail == b->net.rail;
  if (s->rail_per_host && csim_node_host(a) != csim_node_host(b))
    return a->net.pci_id == b->net.pci_id && a->net.port == b->net.port;
  return a->net.asic == b->net.asic && a->net.port == b->net.port;
}

/* May the channel that entered through its start NIC leave through `net`? */
static gboolean may_leave(const CsimSearch *s, int net) {
  const CsimCandidate *c = &s->work;
  const CsimTopoNode *start = net_node(s, c->inter[c->n_channels * 2]), *end = net_node(s, net);
  if (start->net.plane >= 0 && end->net.plane >= 0 && start->net.plane != end->net.plane) return FALSE;
  if (c->pattern == CSIM_PATTERN_TREE && start != end) return FALSE;
  if (c->pattern == CSIM_PATTERN_RING && c->cross_nic == 2)
    return !(c->n_channels & 1) || net == c->inter[(c->n_channels - 1) * 2];
  return c->cross_nic != 0 || same_rail(s, start, end);
}

/* Leaves to the NIC. A balanced tree does so from its first two GPUs, with half of the bandwidth each. */
static void leave_by(CsimSearch *s, int gpu, int step, int net, Branch branch) {
  CsimCandidate *c = &s->work;
  gboolean balanced = c->pattern == CSIM_PATTERN_BALANCED_TREE;
  float bw = c->bw_inter, taken = balanced ? bw / 2 : bw;
  branch.back_to_net = balanced && step == 0 ? 1 : -1;
  c->bw_inter = taken;
  gboolean ok = csim_search_follow(s, CSIM_FROM_GPU, gpu, CSIM_FROM_NET, net, 1);
  c->bw_inter = bw;
  if (!ok) return;
  c->inter[c->n_channels * 2 + 1] = net;
  visit_gpu(s, gpu, step, branch);
  c->bw_inter = taken;
  csim_search_follow(s, CSIM_FROM_GPU, gpu, CSIM_FROM_NET, net, -1);
  c->bw_inter = bw;
}

static void visit_net(CsimSearch *s, int gpu, int step, Branch branch) {
  if (!s->limits.inter) return;
  CsimCandidate *c = &s->work;
  const CsimNetList *nets = csim_search_select_nets(s, gpu);
  for (int i = 0; i < nets->n; i++) {
    int net = nets->net[i];
    if (!may_leave(s, net)) continue;
    if (c->pattern == CSIM_PATTERN_BALANCED_TREE && step > 0 && net != c->inter[c->n_channels * 2 + 1])
      continue;
    leave_by(s, gpu, step, net, branch);
  }
}

static int next_gpus(CsimSearch *s, int gpu, int step, Branch branch, int *next) {
  if (branch.order == ORDER_INDEX) return next[0] = step + 1, 1;
  if (branch.order == ORDER_REPLAY) return next[0] = replay(s, step + 1), 1;
  int sort_net = branch.back_to_net == -1 ? 0 : branch.back_to_net == step + 1 ? 1 : -1;
  return csim_search_next_gpus(s, gpu, next, sort_net);
}

static void visit_next(CsimSearch *s, int gpu, int step, Branch branch) {
  guint base = s->scratch->len;
  g_array_set_size(s->scratch, base + s->n_gpus);
  int n = next_gpus(s, gpu, step, branch, &g_array_index(s->scratch, int, base));
  for (int i = 0; i < n; i++)
    try_gpu(s, CSIM_FROM_GPU, gpu, g_array_index(s->scratch, int, base + i), step + 1, branch);
  g_array_set_size(s->scratch, base);
}

static void close_ring(CsimSearch *s, int gpu, int step, Branch branch) {
  int first = s->work.intra[s->work.n_channels * s->n_gpus];
  if (!csim_search_follow(s, CSIM_FROM_GPU, gpu, CSIM_FROM_GPU, first, 1)) return;
  branch.back_to_first = -1;
  visit_gpu(s, first, step + 1, branch);
  csim_search_follow(s, CSIM_FROM_GPU, gpu, CSIM_FROM_GPU, first, -1);
}

/* The channel has reached `gpu` as its step-th (n_gpus: complete). Costs one unit of time. */
static void visit_gpu(CsimSearch *s, int gpu, int step, Branch branch) {
  if (s->time <= 0) return;
  s->time--;
  if (step == s->n_gpus) return finish_channel(s);
  s->work.intra[s->work.n_channels * s->n_gpus + step] = gpu;
  if (step == branch.back_to_net) return visit_net(s, gpu, step, branch);
  if (s->work.pattern == CSIM_PATTERN_NVLS) return visit_nvls(s, gpu);
  if (s->work.pattern == CSIM_PATTERN_COLLNET_DIRECT) return visit_direct(s, gpu);
  if (step < s->n_gpus - 1) return visit_next(s, gpu, step, branch);
  if (step == branch.back_to_first) return close_ring(s, gpu, step, branch);
  branch.back_to_net = branch.back_to_first = -1;
  visit_gpu(s, gpu, s->n_gpus, branch);
}

static gboolean is_head_already(const CsimSearch *s, int gpu) {
  for (int c = 0; c < s->work.n_channels; c++)
    if (s->work.intra[c * s->n_gpus] == gpu) return TRUE;
  return FALSE;
}

/* Heads for NVLS and CollNetDirect: TRUE if the NIC led to one. */
static gboolean start_head(CsimSearch *s, int net, int n_candidates, Branch branch) {
  int gpu = s->net_local_gpu[net];
  if (s->work.n_channels >= n_candidates || gpu < 0 || is_head_already(s, gpu)) return FALSE;
  try_gpu(s, CSIM_FROM_NET, net, gpu, 0, branch);
  return TRUE;
}

static void try_index_order(CsimSearch *s, int net, Branch branch) {
  int saved = s->time;
  s->time = INDEX_ORDER_BUDGET; /* a reference solution, outside the budget */
  branch.order = ORDER_INDEX;
  try_gpu(s, CSIM_FROM_NET, net, 0, 0, branch);
  s->time = s->time == -1 ? -1 : saved;
}

static void start_channel(CsimSearch *s, int net, Branch branch) {
  if (s->work.n_channels > 0 && s->work.same_channels) {
    branch.order = ORDER_REPLAY;
    return try_gpu(s, CSIM_FROM_NET, net, replay(s, 0), 0, branch);
  }
  if (s->work.n_channels == 0 && !s->has_nvs) try_index_order(s, net, branch);
  int local = s->net_local_gpu[net];
  if (local >= 0) try_gpu(s, CSIM_FROM_NET, net, local, 0, branch);
  const CsimNetList *near = &s->near_gpus[net];
  for (int i = 0; i < near->n; i++)
    if (near->net[i] != local) try_gpu(s, CSIM_FROM_NET, net, near->net[i], 0, branch);
}

static gboolean may_enter(const CsimSearch *s, int net, int bw) {
  const CsimCandidate *c = &s->work;
  if (c->coll_net && !net_node(s, net)->net.coll) return FALSE;
  if (s->net_bw[net] < bw) return FALSE;
  gboolean pair = c->pattern == CSIM_PATTERN_RING && c->cross_nic == 2 && (c->n_channels & 1);
  return !pair || net == c->inter[(c->n_channels - 1) * 2 + 1];
}

/* All NICs on one port share its bandwidth. */
static void charge_port(CsimSearch *s, int net, int bw) {
  const CsimTopoNode *node = net_node(s, net);
  for (int n = 0; n < s->n_nets; n++) {
    const CsimTopoNode *other = net_node(s, n);
    if (other->net.asic == node->net.asic && other->net.port == node->net.port) s->net_bw[n] -= bw;
  }
}

static void search_from_nets(CsimSearch *s, Branch branch) {
  int bw = (int)s->work.bw_inter;
  gboolean heads = s->work.pattern == CSIM_PATTERN_NVLS || s->work.pattern == CSIM_PATTERN_COLLNET_DIRECT;
  gboolean found = FALSE;
  const CsimNetList *nets = csim_search_select_nets(s, -1);
  for (int i = 0; i < nets->n && !found; i++) {
    int net = nets->net[(s->work.n_channels + i) % nets->n];
    if (!may_enter(s, net, bw)) continue;
    s->work.inter[s->work.n_channels * 2] = net;
    s->work.latency_inter = net_node(s, net)->net.latency;
    charge_port(s, net, bw);
    if (heads)
      found = start_head(s, net, nets->n, branch);
    else
      start_channel(s, net, branch);
    charge_port(s, net, -bw);
  }
}

static void search_from_gpus(CsimSearch *s, Branch branch) {
  int channel = s->work.n_channels;
  if (s->work.pattern == CSIM_PATTERN_NVLS) return try_gpu(s, CSIM_FROM_GPU, -1, channel, 0, branch);
  Branch first = branch;
  first.order = channel == 0 ? ORDER_INDEX : ORDER_REPLAY;
  try_gpu(s, CSIM_FROM_GPU, -1, channel == 0 ? 0 : replay(s, 0), 0, first);
  if (s->work.same_channels && channel > 0) return;
  for (int g = 0; g < s->n_gpus; g++) try_gpu(s, CSIM_FROM_GPU, -1, g, 0, branch);
}

/* Step after which a channel goes back to the NIC (several nodes) or to its first GPU. */
static Branch branch_of(const CsimSearch *s) {
  Branch b = {-1, -1, ORDER_FREE};
  gboolean ring = s->work.pattern == CSIM_PATTERN_RING;
  if (s->limits.inter)
    b.back_to_net = ring ? s->n_gpus - 1 : s->work.pattern == CSIM_PATTERN_SPLIT_TREE ? 1 : 0;
  else if (ring)
    b.back_to_first = s->n_gpus - 1;
  return b;
}

static void search_channel(CsimSearch *s) {
  if (s->limits.inter)
    search_from_nets(s, branch_of(s));
  else
    search_from_gpus(s, branch_of(s));
}

void csim_search_attempt(CsimSearch *s, int time) {
  s->time = time;
  /* n_hops goes on from where it was: in the second pass it includes the first solution's. */
  s->work.n_channels = 0;
  search_channel(s);
}
