/* How a call is cut: slots and steps of a protocol, shares of the channels, chunk of a share. Source: NCCL 2.30.7, src/enqueue.cc
 * (scheduleCollTasksToPlan, calcCollChunking), src/init.cc (buffer sizes). */
#include "nccl/tune-internal.h"

#define MIN_TRAFFIC 32768 /* bytes of traffic that are worth a channel */
#define CELL_ALIGN 16
#define LEAST_BUFFER 32768 /* assumed: NCCL checks nothing and fails on less */

/* LL: 512 threads x 8 lines x 16 bytes x 8 slots; LL128: 640 threads x 120 x 8 bytes x 8 slots. */
void csim_tune_fill_buffers(CsimTuning *t, const CsimNcclEnv *env) {
  static const struct {
    const char *name;
    CsimBytes bytes;
  } buffers[CSIM_N_PROTOS] = {{"NCCL_LL_BUFFSIZE", 8 * 512 * 8 * 16},
                              {"NCCL_LL128_BUFFSIZE", 120 * 640 * 8 * 8},
                              {"NCCL_BUFFSIZE", 1 << 22}};
  for (int p = 0; p < CSIM_N_PROTOS; p++) {
    int64_t wanted = csim_nccl_env_int(env, buffers[p].name, -2);
    t->buffer[p] = wanted > 0 ? CLAMP(wanted, LEAST_BUFFER, G_MAXINT) : buffers[p].bytes;
  }
}

/* LL carries 8 bytes of data in 16, LL128 120 in 128. */
static CsimBytes data_of(CsimProto proto, CsimBytes raw) {
  return proto == CSIM_PROTO_LL ? raw / 2 : proto == CSIM_PROTO_LL128 ? raw / 16 * 15 : raw;
}

static gboolean is_gather(CsimColl func) {
  return func == CSIM_COLL_ALL_GATHER || func == CSIM_COLL_REDUCE_SCATTER;
}

CsimProtoShape csim_tuning_shape(const CsimTuning *t, CsimColl func, CsimAlgo algo, CsimProto proto) {
  CsimProtoShape shape = {data_of(proto, t->buffer[proto] / CSIM_STEPS), CSIM_STEPS, 1, 1};
  if (algo == CSIM_ALGO_P2P && proto == CSIM_PROTO_SIMPLE) shape.step = t->p2p_chunk;
  if (algo == CSIM_ALGO_RING && proto == CSIM_PROTO_SIMPLE &&
      (func == CSIM_COLL_ALL_REDUCE || is_gather(func))) {
    shape.chunk_steps = 4;
    shape.slice_steps = 2;
  }
  return shape;
}

/* Halves a chunk while its share of the call (whole chunks a channel and head) is below `enough`, not below `least`. */
static CsimBytes halve(CsimBytes chunk, CsimBytes n_bytes, CsimBytes ways, double enough, CsimBytes least) {
  while (chunk > least && (double)(n_bytes / (ways * chunk)) < enough) chunk /= 2;
  return chunk;
}

/* Fewer bytes than `enough` chunks a way: the chunk shrinks to `least`, once. */
static CsimBytes drop(CsimBytes chunk, CsimBytes n_bytes, CsimBytes ways, CsimBytes enough, CsimBytes least) {
  return n_bytes < enough * ways * chunk && chunk > least ? least : chunk;
}

static CsimBytes collnet_direct_chunk(const CsimTuning *t, CsimBytes chunk, CsimBytes n_bytes,
                                      CsimBytes n_channels) {
  CsimBytes ways = n_channels * MAX(t->in.collnet_heads, 1);
  int depth = t->in.n_ranks > t->in.n_nodes ? 2 : 1;
  chunk = halve(chunk, n_bytes, ways, 64 * depth, 131072);
  chunk = halve(chunk, n_bytes, ways, 8 * depth, 65536);
  return halve(chunk, n_bytes, ways, 8 * depth, 32768);
}

static CsimBytes collnet_chain_chunk(const CsimTuning *t, CsimBytes chunk, CsimBytes n_bytes,
                                     CsimBytes n_channels) {
  int depth = t->in.n_ranks / t->in.n_nodes;
  chunk = MIN(chunk, 262144);
  chunk = halve(chunk, n_bytes, n_channels, 64 * depth, 131072);
  chunk = halve(chunk, n_bytes, n_channels, 8 * depth, 65536);
  return halve(chunk, n_bytes, n_channels, depth, 32768);
}

/* A slow network behind NVLS gets small chunks, so that its latency hides. */
static CsimBytes nvls_chunk(const CsimTuning *t, CsimBytes n_bytes, CsimBytes n_channels) {
  gboolean slow =
      t->in.n_nodes > 1 && t->entry[CSIM_COLL_ALL_REDUCE][CSIM_ALGO_NVLS][CSIM_PROTO_SIMPLE].bw < 150;
  CsimBytes ways = n_channels * MAX(t->in.nvls_heads, 1),
            chunk = slow ? MIN(t->in.nvls_chunk, 32768) : t->in.nvls_chunk;
  chunk = drop(chunk, n_bytes, ways, 64, 65536);
  chunk = drop(chunk, n_bytes, ways, 8, 32768);
  return drop(chunk, n_bytes, ways, 2, 16384);
}

static CsimBytes nvls_tree_chunk(const CsimTuning *t, CsimBytes n_bytes, CsimBytes n_channels) {
  CsimBytes ways = n_channels * MAX(t->in.nvls_heads, 1),
            chunk = MIN(t->in.nvls_chunk, t->in.nvls_tree_max_chunk);
  chunk = drop(chunk, n_bytes, ways, 32, 262144);
  chunk = drop(chunk, n_bytes, ways, 16, 131072);
  chunk = drop(chunk, n_bytes, ways, 4, 65536);
  return drop(chunk, n_bytes, ways, 1, 32768);
}

static CsimBytes tree_ll128_chunk(const CsimTuning *t, CsimBytes chunk, CsimBytes n_bytes,
                                  CsimBytes n_channels) {
  float ppn = (float)t->in.n_ranks / t->in.n_nodes,
        steps = (float)(1 + csim_log2_floor(t->in.n_nodes) + 0.1 * ppn);
  chunk = halve(chunk, n_bytes, n_channels, steps * 64 / ppn, 131072);
  return halve(chunk, n_bytes, n_channels, steps * 16 / ppn, 32768);
}

static CsimBytes pat_chunk(CsimColl func, CsimBytes chunk, CsimBytes n_bytes, CsimBytes n_channels) {
  CsimBytes pieces = func == CSIM_COLL_ALL_GATHER ? 32 : 16;
  while (chunk * n_channels * pieces > n_bytes && chunk > 65536) chunk /= 2;
  return chunk;
}

static CsimBytes adjusted_chunk(const CsimTuning *t, CsimColl func, const CsimChoice *choice, CsimBytes chunk,
                                CsimBytes n_bytes, CsimBytes n_channels) {
  switch (choice->algo) {
  case CSIM_ALGO_COLLNET_DIRECT:
    return collnet_direct_chunk(t, chunk, n_bytes, n_channels);
  case CSIM_ALGO_COLLNET_CHAIN:
    return collnet_chain_chunk(t, chunk, n_bytes, n_channels);
  case CSIM_ALGO_NVLS:
    return nvls_chunk(t, n_bytes, n_channels);
  case CSIM_ALGO_NVLS_TREE:
    return nvls_tree_chunk(t, n_bytes, n_channels);
  case CSIM_ALGO_PAT:
    return pat_chunk(func, chunk, n_bytes, n_channels);
  case CSIM_ALGO_TREE:
    return choice->proto == CSIM_PROTO_LL128 ? tree_ll128_chunk(t, chunk, n_bytes, n_channels) : chunk;
  default:
    return chunk;
  }
}

/* n_bytes: of the whole call that goes over n_channels (for AllGather and ReduceScatter of all ranks). Data bytes. */
static CsimBytes chunk_of(const CsimTuning *t, CsimColl func, const CsimChoice *choice, CsimBytes n_bytes,
                          CsimBytes n_channels) {
  static const CsimBytes grain[CSIM_N_PROTOS] = {16, 1920, 512};
  CsimProtoShape shape = csim_tuning_shape(t, func, choice->algo, choice->proto);
  CsimBytes chunk = adjusted_chunk(t, func, choice, shape.step * shape.chunk_steps, n_bytes, n_channels);
  return MAX(chunk / grain[choice->proto] * grain[choice->proto], grain[choice->proto]);
}

static CsimBytes round_up(CsimBytes n, CsimBytes unit) {
  return (n + unit - 1) / unit * unit;
}
static CsimBytes divide_up(CsimBytes n, CsimBytes d) {
  return (n + d - 1) / d;
}

/* Bytes that travel for one byte of the split buffer, as NCCL weighs channels; a LL byte costs four. */
static CsimBytes traffic_a_byte(const CsimTuning *t, CsimColl func, CsimProto proto) {
  CsimBytes traffic = func == CSIM_COLL_ALL_REDUCE ? 2 : is_gather(func) ? t->in.n_ranks : 1;
  return proto == CSIM_PROTO_LL ? 4 * traffic : traffic;
}

/* Shares in cells: the first channel, n_mid equal ones, the last (hi may be 0 with n_mid 0). */
typedef struct {
  CsimBytes cells, lo, mid, hi;
  int n_mid;
} Deal;

/* One call starts at channel 0, so the first channel has room for a full share. */
static Deal deal_cells(CsimBytes cells, CsimBytes share, int limit) {
  Deal d = {.cells = cells, .lo = limit == 1 ? cells : MIN(cells, share), .mid = MIN(cells, share)};
  d.n_mid = (int)((cells - d.lo) / d.mid);
  d.hi = (cells - d.lo) % d.mid;
  if (limit < 1 + d.n_mid + (d.hi != 0)) { /* too many channels: larger shares for the middle */
    d.n_mid = limit - 2;
    d.mid = (cells - d.lo) / (d.n_mid + 1);
    d.hi = d.mid + (cells - d.lo) % (d.n_mid + 1);
  }
  if (d.hi == 0 && d.n_mid != 0) {
    d.hi = d.mid;
    d.n_mid--;
  }
  return d;
}

/* What a part means in bytes of the whole call. */
static CsimBytes call_bytes(const CsimTuning *t, CsimColl func, CsimBytes part) {
  return is_gather(func) ? part * t->in.n_ranks : part;
}

/* Continuous byte distribution. `bytes`: of the split buffer; cell: a multiple of 16 bytes, cut to whole elements. */
static void split_continuous(const CsimTuning *t, CsimColl func, const CsimChoice *choice, CsimBytes element,
                             CsimBytes bytes, CsimPart *parts, int *n_used) {
  CsimBytes weight = traffic_a_byte(t, func, choice->proto);
  CsimBytes per_channel = round_up(divide_up(MAX(MIN_TRAFFIC, bytes * weight), choice->n_channels), 16);
  CsimBytes cell = round_up(divide_up(MIN_TRAFFIC, weight), CELL_ALIGN), cell_data = cell / element * element;
  Deal d = deal_cells(divide_up(bytes, cell), divide_up(per_channel, cell * weight), choice->n_channels);
  int n = 1 + d.n_mid + (d.hi != 0);
  CsimBytes offset = 0;
  for (int i = 0; i < n; i++) {
    CsimBytes share = (i == 0 ? d.lo : i == n - 1 ? d.hi : d.mid) * cell_data;
    if (i == n - 1) share = bytes - offset; /* the last cell may be a part of one */
    parts[i] = (CsimPart){offset, share, chunk_of(t, func, choice, call_bytes(t, func, share), 1)};
    offset += share;
  }
  *n_used = n;
}

/* Even shares in whole 16-byte units; NCCL's kernels interleave these channels chunk by chunk. */
static void split_even(const CsimTuning *t, CsimColl func, const CsimChoice *choice, CsimBytes bytes,
                       CsimPart *parts, int *n_used) {
  CsimBytes share = round_up(divide_up(bytes, choice->n_channels), CELL_ALIGN);
  CsimBytes chunk = chunk_of(t, func, choice, call_bytes(t, func, bytes), choice->n_channels);
  for (int i = 0; i < choice->n_channels; i++) {
    CsimBytes offset = MIN(i * share, bytes);
    parts[i] = (CsimPart){offset, MIN(share, bytes - offset), chunk};
  }
  *n_used = choice->n_channels;
}

static gboolean is_even(const CsimTuning *t, CsimAlgo algo) {
  if (algo == CSIM_ALGO_COLLNET_DIRECT || algo == CSIM_ALGO_COLLNET_CHAIN) return TRUE;
  return algo == CSIM_ALGO_NVLS && t->in.n_nodes > 1;
}

void csim_tuning_split(const CsimTuning *t, CsimColl func, const CsimChoice *choice, CsimType type,
                       CsimBytes count, CsimPart *parts, int *n_used) {
  g_assert(func < CSIM_N_NCCL_FUNCS && choice->n_channels >= 1 && choice->n_channels <= CSIM_MAX_CHANNELS);
  CsimBytes element = csim_type_size(type), bytes = count * element;
  *n_used = 0;
  if (bytes == 0) return;
  if (is_even(t, choice->algo))
    split_even(t, func, choice, bytes, parts, n_used);
  else
    split_continuous(t, func, choice, element, bytes, parts, n_used);
}
