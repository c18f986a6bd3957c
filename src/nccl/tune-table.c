/* The cost table: bandwidth and latency of every (collective, algorithm, protocol). Source of all constants and rules in this file:
 * NCCL 2.30.7, src/graph/tuning.cc. */
#include "nccl/tune-internal.h"

#include <math.h>

enum { HW_NVLINK, HW_PCI, HW_NET, N_HW };
enum { VOLTA, AMPERE, HOPPER, BLACKWELL, N_CLASSES }; /* GPU generations of the tables */

/* Latencies in us: [algorithm][LL, LL128, Simple]. */
/* clang-format off */
static const float base_lat[CSIM_N_ALGOS][CSIM_N_PROTOS] = {
    {6.8f, 14.0f, 8.4f}, {6.6f, 14.0f, 8.4f}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {8.0f, 8.0f, 8.0f}};

static const float hw_lat[N_HW][CSIM_N_ALGOS][CSIM_N_PROTOS] = {
    {{0.6f, 1.25f, 4.0f}, {0.6f, 1.9f, 3.4f}, {0, 0, 3.7f}, {0, 0, 2.8f}, {0, 0, 25}, {0, 0, 25}, {0, 0, 4.0f}},
    {{1.0f, 1.9f, 4.0f}, {1.0f, 2.5f, 5.7f}, {0, 0, 3.7f}, {0, 0, 2.8f}, {0, 0, 0}, {0, 0, 0}, {0, 0, 4.0f}},
    {{5.0f, 8.5f, 14}, {2.7f, 4.0f, 14.0f}, {0, 0, 31}, {0, 0, 30}, {0, 0, 18}, {0, 0, 20.9f}, {0, 0, 14}}};
/* clang-format on */

/* Bandwidth limits in GB/s: [generation][one node, two nodes, more]. */
static const double ll_max_bw[N_CLASSES][3] = {
    {39, 39, 20.4}, {87.7, 22.5, 19.0}, {141, 45, 35}, {282, 90, 70}};
static const double ring_ll128_channel[N_CLASSES][3] = {
    {20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 36.7}, {40, 40, 40}};
static const double tree_ll128_channel[N_CLASSES][3] = {
    {20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 29}, {55.6, 31.67, 20}};
static const double tree_channel[N_CLASSES][3] = {
    {26.5, 18.5, 10}, {24, 23.6, 17.8}, {38.7, 41.4, 36}, {70, 42.8, 24}};
static const double nvls_tree_channel[N_CLASSES][3] = {
    {26.5, 18.5, 10}, {24, 23.6, 17.8}, {0, 57.7, 45.5}, {0, 96, 80}};
static const double nvls_efficiency[N_CLASSES] = {0, 0, 0.85, 0.74};

/* One entry of the table, and what its rules look at. */
typedef struct {
  const CsimTuneInput *in;
  const CsimTuneGraph *g;
  CsimColl func;
  CsimAlgo algo;
  CsimProto proto;
  int n_steps;
  int generation, nodes; /* row and column of the tables */
  float ppn;             /* ranks a node */
  float net_overhead;    /* us a ring step over the network */
} Cell;

static gboolean is_gather(CsimColl func) {
  return func == CSIM_COLL_ALL_GATHER || func == CSIM_COLL_REDUCE_SCATTER;
}
static gboolean is_rooted(CsimColl func) {
  return func == CSIM_COLL_BROADCAST || func == CSIM_COLL_REDUCE;
}
static gboolean is_nvls(CsimAlgo algo) {
  return algo == CSIM_ALGO_NVLS || algo == CSIM_ALGO_NVLS_TREE;
}
static gboolean is_collnet(CsimAlgo algo) {
  return algo == CSIM_ALGO_COLLNET_DIRECT || algo == CSIM_ALGO_COLLNET_CHAIN;
}

/* Which search result serves an algorithm (CSIM_GRAPH_*). */
static int graph_of(CsimAlgo algo) {
  static const int graph[CSIM_N_ALGOS] = {
      CSIM_GRAPH_TREE, CSIM_GRAPH_RING, CSIM_GRAPH_COLLNET_DIRECT, CSIM_GRAPH_COLLNET_CHAIN, CSIM_GRAPH_NVLS,
      CSIM_GRAPH_NVLS, CSIM_GRAPH_TREE};
  return graph[algo];
}

static int generation_of(int sm) {
  return sm >= 100 ? BLACKWELL : sm >= 90 ? HOPPER : sm >= 80 ? AMPERE : VOLTA;
}

static int steps_of(CsimColl func, int n_ranks) {
  if (func == CSIM_COLL_ALL_REDUCE) return 2 * (n_ranks - 1);
  return is_gather(func) ? n_ranks - 1 : n_ranks;
}

/* NCCL_NET_OVERHEAD is in ns; 2 us on AMD, 1 us elsewhere. */
static float net_overhead(const CsimTuneInput *in, const CsimNcclEnv *env) {
  int64_t ns = csim_nccl_env_int(env, "NCCL_NET_OVERHEAD", -2);
  if (ns != -2) return (float)ns * .001f;
  return in->cpu_arch == CSIM_ARCH_X86 && in->cpu_vendor == CSIM_VENDOR_AMD ? 2.0f : 1.0f;
}

/* Default: only with one GPU a node. Never below sm 60. */
static gboolean pat_enabled(const CsimTuneInput *in, const CsimNcclEnv *env) {
  int64_t wanted = csim_nccl_env_int(env, "NCCL_PAT_ENABLE", 2);
  if (in->min_sm < 60 || wanted == 0) return FALSE;
  return wanted != 2 || in->n_nodes == in->n_ranks;
}

static gboolean exists(const Cell *c, gboolean pat) {
  if (is_rooted(c->func)) return c->algo == CSIM_ALGO_RING;
  if (c->algo == CSIM_ALGO_PAT) return is_gather(c->func) && c->proto == CSIM_PROTO_SIMPLE && pat;
  if (is_gather(c->func) && c->algo != CSIM_ALGO_RING && c->algo != CSIM_ALGO_NVLS &&
      c->algo != CSIM_ALGO_COLLNET_DIRECT)
    return FALSE;
  return !is_nvls(c->algo) || (c->proto == CSIM_PROTO_SIMPLE && c->g->n_channels >= 2);
}

/* On several nodes the CPU decides about LL, on one node the GPU. */
static float ll_limit(const Cell *c) {
  int cpu_row =
      c->in->cpu_vendor == CSIM_VENDOR_AMD || c->in->cpu_vendor == CSIM_VENDOR_MIXED ? AMPERE : VOLTA;
  return (float)ll_max_bw[c->in->n_nodes == 1 ? c->generation : cpu_row][c->nodes];
}

/* The head's share comes back through its own link: (n-1)/n; AllReduce moves data both ways at once. */
static float nvls_channel_bw(const Cell *c) {
  const CsimTuneGraph *g = c->g;
  float intra = (float)(g->bw_intra * nvls_efficiency[c->generation] * (g->n_channels - 1) / g->n_channels);
  intra *= c->func == CSIM_COLL_ALL_REDUCE ? 2.0f : (c->ppn - 1) / c->ppn;
  float inter = g->bw_inter;
  if (c->algo == CSIM_ALGO_NVLS) return MIN(intra, inter);
  if (c->in->n_nodes <= 2) inter *= 2;
  return MIN(MIN(intra, inter), (float)nvls_tree_channel[c->generation][c->nodes]);
}

static float channel_bw(const Cell *c) {
  if (is_nvls(c->algo)) return nvls_channel_bw(c);
  return c->in->n_nodes <= 2 || is_collnet(c->algo) ? c->g->bw_intra : c->g->bw_inter;
}

static float ring_bw(const Cell *c, float bw) {
  if (c->proto == CSIM_PROTO_LL) return MIN(ll_limit(c), bw * .5f);
  if (c->proto == CSIM_PROTO_LL128)
    return (float)MIN(bw * .92, c->g->n_channels * ring_ll128_channel[c->generation][c->nodes]);
  return bw;
}

static float tree_bw(const Cell *c, float bw) {
  bw = (float)MIN(bw * .92, c->g->n_channels * tree_channel[c->generation][c->nodes]);
  if (c->proto == CSIM_PROTO_LL) bw = MIN((float)(bw / 3.8), ll_limit(c));
  if (c->proto == CSIM_PROTO_LL128) {
    double share = c->in->n_nodes == 1 ? 7.0 / 9.0 : 120.0 / 128.0;
    bw = (float)MIN(bw * share, c->g->n_channels * tree_ll128_channel[c->generation][c->nodes]);
  }
  return c->in->tree_pattern == CSIM_PATTERN_TREE ? (float)(bw * .85) : bw;
}

/* A GPU without a NIC of its own shares one: the excess counts half. */
static float collnet_direct_bw(const Cell *c, float bw) {
  const CsimTuneGraph *g = c->g;
  if (is_gather(c->func)) return (float)(c->ppn * MIN(g->bw_intra, g->bw_inter * 0.9));
  float factor = c->ppn / g->n_channels;
  factor -= (factor - 1) / 2;
  bw /= factor;
  return c->in->min_sm >= 90 ? (float)(bw * .85) : bw;
}

/* Gathers through the switch of several nodes need a plugin that does them, and a head for every rank. */
static gboolean gather_in_network_ok(const Cell *c) {
  if (!is_gather(c->func) || c->in->n_nodes == 1) return TRUE;
  if (c->algo != CSIM_ALGO_NVLS && c->algo != CSIM_ALGO_COLLNET_DIRECT) return TRUE;
  return c->in->coll_net && c->in->max_local_ranks <= c->in->collnet_heads;
}

/* Bus bandwidth of all channels. */
static float bus_bw(const Cell *c) {
  float bw = c->g->n_channels * channel_bw(c);
  if (!gather_in_network_ok(c) ||
      (is_collnet(c->algo) && (c->proto != CSIM_PROTO_SIMPLE || !c->g->n_channels)))
    return 0;
  switch (c->algo) {
  case CSIM_ALGO_RING:
    return ring_bw(c, bw);
  case CSIM_ALGO_TREE:
    return tree_bw(c, bw);
  case CSIM_ALGO_PAT:
    return (float)(bw * .75);
  case CSIM_ALGO_COLLNET_DIRECT:
    return collnet_direct_bw(c, bw);
  default:
    return bw;
  }
}

/* To data of the call per second. */
static float algorithm_bw(const Cell *c) {
  float bw = bus_bw(c);
  if (c->algo != CSIM_ALGO_RING && is_gather(c->func)) return bw;
  if (c->algo == CSIM_ALGO_RING || is_nvls(c->algo)) return bw * c->in->n_ranks / c->n_steps;
  return bw * .5f;
}

static int intra_hw(const Cell *c) {
  return c->g->type_intra == CSIM_PATH_NVL ? HW_NVLINK : HW_PCI;
}

static float intra_lat(const Cell *c) {
  return hw_lat[intra_hw(c)][c->algo][c->proto];
}

/* With one rank a node nothing hides the network: Tree's latency. Simple flushes once more over the NIC. */
static float inter_lat(const Cell *c) {
  float lat = hw_lat[HW_NET][c->ppn == 1 ? CSIM_ALGO_TREE : c->algo][c->proto] + c->g->latency_inter;
  return c->proto == CSIM_PROTO_SIMPLE ? lat + c->g->latency_inter : lat;
}

static float rooted_ring_lat(const Cell *c) {
  int hw = c->in->n_nodes == 1 ? intra_hw(c) : HW_NET;
  if (c->g->same_channels) return hw_lat[hw][CSIM_ALGO_RING][c->proto];
  return c->n_steps * hw_lat[hw][c->proto == CSIM_PROTO_SIMPLE ? CSIM_ALGO_TREE : CSIM_ALGO_RING][c->proto];
}

static float ring_lat(const Cell *c) {
  if (is_rooted(c->func)) return rooted_ring_lat(c);
  if (c->in->n_nodes == 1) return c->n_steps * intra_lat(c);
  float overhead = c->proto == CSIM_PROTO_SIMPLE ? 3 * c->net_overhead : c->net_overhead;
  int inter = c->func == CSIM_COLL_ALL_REDUCE ? 2 * (c->in->n_nodes - 1) : c->in->n_nodes - 1;
  return (c->n_steps - inter) * MAX(intra_lat(c), overhead) + inter * inter_lat(c);
}

static float latency(const Cell *c) {
  const CsimTuneInput *in = c->in;
  float base = base_lat[c->algo][c->proto], intra = intra_lat(c), inter = inter_lat(c);
  int local = in->n_ranks / in->n_nodes, levels = csim_log2_floor(in->n_nodes);
  switch (c->algo) {
  case CSIM_ALGO_RING:
    return base + ring_lat(c);
  case CSIM_ALGO_TREE:
    return base + 2 * ((local - 1) * intra + levels * inter);
  case CSIM_ALGO_COLLNET_DIRECT:
    return (float)(base + 2 * (MIN(1, local - 1) * intra + (local - 1) * 0.4) + inter);
  case CSIM_ALGO_COLLNET_CHAIN:
    return base + 2 * (local - 1) * intra + inter;
  case CSIM_ALGO_NVLS:
    return in->n_nodes > 1 ? intra + inter : intra;
  case CSIM_ALGO_NVLS_TREE:
    return base + intra + 2 * levels * inter;
  default:
    return (float)(base + levels * (inter / 3.5) + in->n_ranks * 2.8); /* PAT */
  }
}

/* LL128 needs 128-byte stores that stay whole all the way. */
static gboolean ll128_by_default(const Cell *c, const CsimNcclEnv *env) {
  const CsimTuneInput *in = c->in;
  gboolean far_nic_ok = in->min_sm >= 90 && csim_nccl_env_int(env, "NCCL_LL128_C2C", 1) != 0;
  if (c->g->type_inter > (far_nic_ok ? CSIM_PATH_PXN : CSIM_PATH_PXB) || c->g->type_intra > CSIM_PATH_NVB)
    return FALSE;
  return in->min_sm >= 70 && (in->min_sm == in->max_sm || in->min_sm >= 90);
}

static gboolean algo_possible(const Cell *c) {
  const CsimTuneInput *in = c->in;
  switch (c->algo) {
  case CSIM_ALGO_NVLS_TREE:
    return in->n_nodes > 1;
  case CSIM_ALGO_NVLS:
    return in->n_nodes == 1 || in->coll_net;
  case CSIM_ALGO_COLLNET_DIRECT:
    return in->coll_net && in->nvswitch;
  case CSIM_ALGO_COLLNET_CHAIN:
    return in->coll_net;
  default:
    return TRUE;
  }
}

static gboolean allowed(const Cell *c, const CsimNcclEnv *env) {
  gboolean named;
  if (!csim_nccl_env_allows(env, c->func, c->algo, c->proto, &named) || !algo_possible(c)) return FALSE;
  return c->proto != CSIM_PROTO_LL128 || named || ll128_by_default(c, env);
}

/* An entry that does not exist stays 0/0; one that is switched off keeps its latency, as in NCCL's printed table. */
static void fill_entry(CsimTuning *t, Cell *c, const CsimNcclEnv *env) {
  CsimTuneEntry *entry = &t->entry[c->func][c->algo][c->proto];
  c->g = &t->in.graph[graph_of(c->algo)];
  if (!exists(c, pat_enabled(c->in, env))) return;
  entry->lat = latency(c);
  entry->bw = allowed(c, env) ? algorithm_bw(c) : 0;
}

void csim_tune_fill_table(CsimTuning *t, const CsimNcclEnv *env) {
  const CsimTuneInput *in = &t->in;
  Cell cell = {.in = in, .generation = generation_of(in->min_sm), .nodes = MIN(in->n_nodes - 1, 2)};
  if (in->n_ranks <= 1) return; /* NCCL fills nothing for a single rank */
  cell.ppn = (float)in->n_ranks / in->n_nodes;
  cell.net_overhead = net_overhead(in, env);
  for (int f = 0; f < CSIM_N_NCCL_FUNCS; f++) {
    cell.func = (CsimColl)f;
    cell.n_steps = steps_of(cell.func, in->n_ranks);
    for (int i = 0; i < CSIM_N_ALGOS * CSIM_N_PROTOS; i++) {
      cell.algo = (CsimAlgo)(i / CSIM_N_PROTOS);
      cell.proto = (CsimProto)(i % CSIM_N_PROTOS);
      fill_entry(t, &cell, env);
    }
  }
}
