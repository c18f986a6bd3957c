/*
 * exec/cost.c - worker time of one operation (equations in models/gpu.h).
 */
#include "exec/cost.h"

#include <math.h>

#define WARP 32
#define FULL_WARPS 16.0 /* rates of Simple are stated for a block of 512 threads */
/* Threads that NCCL gives the two groups of a tree's LL and LL128 block of 640 (NCCL 2.30, device/all_reduce.h: 70 % reduce). */
#define TREE_UP_SHARE 0.7
#define TREE_DOWN_SHARE 0.3
/* The same for Simple: 384 and 256 of 640 threads. */
#define TREE_SIMPLE_UP_SHARE 0.6
#define TREE_SIMPLE_DOWN_SHARE 0.4

/* 0 at 256 threads and below, 1 at the protocol's full block. */
static double block_fraction(int threads, int full) {
  double f = (double)(threads - 256) / (full - 256);
  return CLAMP(f, 0.0, 1.0);
}

void csim_cost_init(CsimCost *cost, const CsimGpuModel *gpu, const CsimShmModel *shm, CsimColl coll, CsimAlgo algo, CsimProto proto, int threads,
                    CsimBytes buffer_bytes) {
  gboolean byte_typed = coll == CSIM_COLL_ALL_GATHER || coll == CSIM_COLL_BROADCAST;
  *cost = (CsimCost){.gpu = gpu, .warps = MAX(1, threads / WARP), .thread_factor = 1, .spills_l2 = buffer_bytes > gpu->l2_bytes};
  if (algo == CSIM_ALGO_NVLS || algo == CSIM_ALGO_NVLS_TREE) {
    cost->start = gpu->nvls_t0;
  } else if (proto == CSIM_PROTO_SIMPLE) {
    cost->start = algo == CSIM_ALGO_P2P ? gpu->simple.t0_pair : gpu->simple.t0 + (byte_typed ? gpu->simple.t0_bytes : 0);
    cost->thread_factor = pow(MIN(threads, 512) / 512.0, gpu->simple.thread_scale);
  } else {
    cost->ll = proto == CSIM_PROTO_LL ? &gpu->ll : &gpu->ll128;
    double f = block_fraction(threads, cost->ll->full_threads);
    cost->start = cost->ll->t0 + (CsimTime)(f * (double)cost->ll->t0_threads);
    cost->lat = cost->ll->lat + (CsimTime)(f * (double)cost->ll->lat_threads);
  }
  cost->host_load = shm->load;
}

void csim_cost_set_nvls(CsimCost *cost, CsimRate port, int local_ranks, int heads, int channels) {
  cost->nvls_ps = 1e12 / (double)port * (local_ranks + 1) / local_ranks * heads * channels;
}

/* A scatter serves one head after the other and tells all of them at its end (NCCL 2.30, device/prims_simple.h): its first operation has the
 * time of all, the others have none. A gather waits for heads that are done together anyway. */
static void nvls_cost(const CsimCost *cost, const CsimOp4Cost *op, CsimOpCost *out) {
  const CsimGpuModel *gpu = cost->gpu;
  out->sm_ps = 0;
  if (op->role == CSIM_ROLE_NVLS_REDUCE || op->role == CSIM_ROLE_NVLS_BCAST) {
    out->overhead = gpu->nvls_o;
    out->duration = (CsimTime)ceil((double)op->bytes * cost->nvls_ps);
    return;
  }
  int visits = op->role == CSIM_ROLE_NVLS_GATHER ? 1 : op->first_of_group ? op->group : 0;
  out->overhead = visits * gpu->nvls_visit;
  out->duration = (CsimTime)ceil((double)(visits * op->bytes) * gpu->nvls_copy_ps);
}

static gboolean is_pair(CsimRole role) { return role >= CSIM_ROLE_P2P_SEND && role <= CSIM_ROLE_P2P_COPY; }

static gboolean is_nvls(CsimRole role) { return role >= CSIM_ROLE_NVLS_SCATTER && role <= CSIM_ROLE_NVLS_GATHER; }

/* Send and receive share a work's warps, from 5 on with one more for the sender; a copy has both shares (NCCL 2.30, device/sendrecv.h). */
static int pair_warps(const CsimCost *cost, const CsimOp4Cost *op) {
  int warps = cost->warps / MAX(op->pairs, 1);
  int recv = MAX(1, warps <= 4 ? warps / 2 : (warps - 1) / 2), send = warps <= 4 ? recv : recv + 1;
  return op->role == CSIM_ROLE_P2P_RECV ? recv : op->role == CSIM_ROLE_P2P_SEND ? send : send + recv;
}

static int group_warps(const CsimCost *cost, const CsimOp4Cost *op) {
  switch (op->role) {
  case CSIM_ROLE_TREE_UP: return MAX(1, (int)lround(cost->warps * TREE_UP_SHARE));
  case CSIM_ROLE_TREE_DOWN: return MAX(1, (int)lround(cost->warps * TREE_DOWN_SHARE));
  case CSIM_ROLE_P2P_SEND:
  case CSIM_ROLE_P2P_RECV:
  case CSIM_ROLE_P2P_COPY: return pair_warps(cost, op);
  default: return cost->warps;
  }
}

/* Groups of warps that share a block's loads and stores (gpu.*.simple_tree_units): a tree's two, CollNetDirect's four. */
static gboolean shares_units(CsimRole role) {
  return role == CSIM_ROLE_TREE_UP || role == CSIM_ROLE_TREE_DOWN || (role >= CSIM_ROLE_DIRECT_SCATTER && role <= CSIM_ROLE_DIRECT_GATHER);
}

static gboolean is_tree(CsimRole role) { return role >= CSIM_ROLE_TREE_UP && role <= CSIM_ROLE_TREE_ROOT; }

/* The first peer of either side is part of the copy loop's body; each further child of a tree has a round of its own. */
static double tree_ps(const CsimCost *cost, const CsimOp4Cost *op) {
  const CsimGpuSimple *s = &cost->gpu->simple;
  gboolean apart = s->more_peer_ps > 0;
  int more_in = apart ? MAX(0, op->peers_in - 1) : 0, more_out = apart ? MAX(0, op->peers_out - 1) : 0;
  int remote = apart ? MIN(op->n_remote, 1) : op->n_remote, local = op->n_local + op->n_remote - more_out - remote;
  double ps = csim_gpu_simple_ps_per_byte(s, op->n_sources - more_in, local, remote) + s->more_peer_ps * (more_in + more_out);
  double share = op->role == CSIM_ROLE_TREE_UP ? TREE_SIMPLE_UP_SHARE : op->role == CSIM_ROLE_TREE_DOWN ? TREE_SIMPLE_DOWN_SHARE : 1;
  double warps = MIN(FULL_WARPS, share * cost->warps);
  return op->role == CSIM_ROLE_TREE_ROOT ? ps / s->tree_root : ps / pow(warps / FULL_WARPS, s->thread_scale);
}

/* CollNetChain gives either way half of the block's threads (NCCL 2.30, device/all_reduce.h). */
#define CHAIN_SHARE 0.5
static gboolean is_chain(CsimRole role) { return role == CSIM_ROLE_CHAIN_UP || role == CSIM_ROLE_CHAIN_DOWN; }

static gboolean visits_heads(CsimRole role) { return role == CSIM_ROLE_DIRECT_SCATTER || role == CSIM_ROLE_DIRECT_GATHER; }

static void simple_cost(const CsimCost *cost, const CsimOp4Cost *op, CsimOpCost *out) {
  const CsimGpuSimple *s = &cost->gpu->simple;
  out->overhead = op->role == CSIM_ROLE_P2P_COPY ? 0 : op->bytes > 0 ? s->o : s->o_empty; /* a copy is one loop, whatever its chunks */
  if (visits_heads(op->role)) out->overhead /= op->group;
  if (op->from_host && op->bytes > 0) out->overhead += cost->host_load;
  double ps = is_tree(op->role) ? tree_ps(cost, op)
                                : csim_gpu_simple_ps_per_byte(s, op->n_sources, op->n_local, op->n_remote) / cost->thread_factor;
  if (is_chain(op->role) && s->group_share >= 1) ps /= CHAIN_SHARE; /* else the two share a link */
  out->sm_ps = s->group_share < 1 || is_pair(op->role) ? ps : 0;
  if (is_pair(op->role)) ps *= MAX(1.0, FULL_WARPS / pair_warps(cost, op));
  if (shares_units(op->role) && s->tree_units > 0) {
    double units_ps = (op->n_sources + op->n_local + op->n_remote) * 1e3 / s->tree_units; /* GB/s -> ps/B */
    out->sm_ps = MAX(out->sm_ps, units_ps);
    ps = MAX(ps, units_ps);
  }
  double floor_share = s->t_min_bytes > 0 ? MIN(1.0, (double)op->bytes / (double)s->t_min_bytes) : 0;
  out->duration = (CsimTime)ceil(MAX((double)op->bytes * ps, (double)s->t_min * floor_share));
}

static void ll_cost(const CsimCost *cost, const CsimOp4Cost *op, CsimOpCost *out) {
  const CsimGpuLl *ll = cost->ll;
  double warp_iterations = ceil((double)op->bytes / (double)ll->line_bytes);
  double k = warp_iterations / group_warps(cost, op);
  if (k <= 8) k = ceil(k);
  double units = op->n_sources + op->n_local + op->n_remote;
  double issue = (double)ll->per_warp * units / 2;
  double round = (double)(ll->a + (op->from_host ? cost->host_load : 0));
  double t = MAX(k * round, round + issue * warp_iterations);
  if (op->n_local + op->n_remote >= 2) t *= ll->two_dst;
  if (op->receives_only) t *= ll->recv;
  if (op->reads_user && cost->spills_l2) t += k * (double)ll->l2_miss;
  out->overhead = k <= 1 ? ll->o_one : ll->o;
  out->duration = op->bytes > 0 ? (CsimTime)ceil(t) : 0;
  out->sm_ps = ll->group_share < 1 ? issue / ((double)ll->line_bytes * ll->wire_factor) : 0;
}

void csim_cost_op(const CsimCost *cost, const CsimOp4Cost *op, CsimOpCost *out) {
  if (is_nvls(op->role)) nvls_cost(cost, op, out);
  else if (cost->ll) ll_cost(cost, op, out);
  else simple_cost(cost, op, out);
  if (op->part) out->overhead = 0;
}
