/* Threads, thresholds, predicted times and NCCL's choice. Source: NCCL 2.30.7, src/graph/tuning.cc, src/enqueue.cc. */
#include "nccl/tune-internal.h"

#include <stdio.h>

#define WARP 32
#define SIMPLE_MAX_THREADS 512
#define LL_MAX_THREADS 512
#define LL128_MAX_THREADS 640
#define MAX_THREADS 640
#define SLOW_RING_GBPS 12 /* NCCL's reference for PCIe: up to this, half the threads do */

/* Correction of Tree's bandwidth: [protocol][floor(log2(bytes / 64))]. The last column serves NVLSTree only. */
#define N_CORRECTIONS 24
static const float tree_correction[CSIM_N_PROTOS][N_CORRECTIONS] = {
    {1, 1, 1, 1, .9f, .8f, .7f, .7f, .7f, .7f, .6f, .5f, .4f, .4f, .5f, .6f, .7f, .8f, .9f, 1, 1, 1, 1, 1},
    {1, 1, 1, 1, 1, .9f, .8f, .8f, .8f, .7f, .6f, .6f, .6f, .6f, .6f, .6f, .8f, .9f, .9f, .9f, .9f, 1, 1, 1},
    {.9f, .9f, .9f, .9f, .9f, .9f, .9f, .8f, .7f, .6f, .6f, .5f,
     .5f, .5f, .5f, .6f, .7f, .8f, .7f, .7f, .8f, .9f, .9f, .9f}};

/* A value that is no multiple of a warp means the largest; others are clamped. */
static int threads_from_env(const CsimNcclEnv *env, const char *name, int least, int most, int fallback) {
  int64_t wanted = csim_nccl_env_int(env, name, -2);
  if (wanted <= 0) return fallback;
  return wanted % WARP ? most : (int)CLAMP(wanted, least, most);
}

static void fill_max_threads(CsimTuning *t, const CsimNcclEnv *env) {
  const CsimTuneGraph *ring = &t->in.graph[CSIM_GRAPH_RING];
  int ring_simple =
      ring->bw_intra * ring->n_channels <= SLOW_RING_GBPS ? SIMPLE_MAX_THREADS / 2 : SIMPLE_MAX_THREADS;
  int ll = threads_from_env(env, "NCCL_NTHREADS", 2 * WARP, LL_MAX_THREADS, LL_MAX_THREADS);
  int ll128 = threads_from_env(env, "NCCL_LL128_NTHREADS", LL128_MAX_THREADS / 4, LL128_MAX_THREADS,
                               LL128_MAX_THREADS);
  static const CsimAlgo wide[] = {CSIM_ALGO_COLLNET_DIRECT, CSIM_ALGO_COLLNET_CHAIN, CSIM_ALGO_NVLS,
                                  CSIM_ALGO_NVLS_TREE};
  for (int a = CSIM_ALGO_TREE; a <= CSIM_ALGO_RING; a++) {
    t->max_threads[a][CSIM_PROTO_LL] = ll;
    t->max_threads[a][CSIM_PROTO_LL128] = ll128;
    t->max_threads[a][CSIM_PROTO_SIMPLE] =
        threads_from_env(env, "NCCL_NTHREADS", 2 * WARP, SIMPLE_MAX_THREADS,
                         a == CSIM_ALGO_RING ? ring_simple : SIMPLE_MAX_THREADS);
  }
  for (guint i = 0; i < G_N_ELEMENTS(wide); i++) t->max_threads[wide[i]][CSIM_PROTO_SIMPLE] = MAX_THREADS;
}

/* NCCL_THREAD_THRESHOLDS: up to six numbers for Tree, then Ring; negative ones say nothing. */
static void override_thresholds(CsimTuning *t, const CsimNcclEnv *env) {
  const char *text = csim_nccl_env_text(env, "NCCL_THREAD_THRESHOLDS");
  long v[6] = {-2, -2, -2, -2, -2, -2};
  if (!text) return;
  if (sscanf(text, "%ld %ld %ld %ld %ld %ld", v, v + 1, v + 2, v + 3, v + 4, v + 5) < 1) return;
  for (int i = 0; i < 6; i++)
    if (v[i] >= 0) t->threshold[i / CSIM_N_PROTOS][i % CSIM_N_PROTOS] = (int)MIN(v[i], G_MAXINT);
}

static void fill_threads(CsimTuning *t, const CsimNcclEnv *env) {
  fill_max_threads(t, env);
  if (t->in.n_ranks <= 1) return;
  for (int a = 0; a < CSIM_N_ALGOS; a++) {
    t->threshold[a][CSIM_PROTO_LL] = t->threshold[a][CSIM_PROTO_LL128] = 8;
    t->threshold[a][CSIM_PROTO_SIMPLE] = 64;
  }
  t->threshold[CSIM_ALGO_RING][CSIM_PROTO_LL] *= t->in.n_ranks;
  t->threshold[CSIM_ALGO_COLLNET_DIRECT][CSIM_PROTO_SIMPLE] = 512;
  t->threshold[CSIM_ALGO_COLLNET_CHAIN][CSIM_PROTO_SIMPLE] = 512;
  override_thresholds(t, env);
}

CsimTuning *csim_tuning_from_input(const CsimTuneInput *in, const CsimComm *comm, const CsimNcclEnv *env) {
  CsimTuning *t = g_new0(CsimTuning, 1);
  t->in = *in;
  t->comm = comm;
  csim_tune_fill_table(t, env);
  fill_threads(t, env);
  csim_tune_fill_buffers(t, env);
  csim_tune_fill_p2p(t, env);
  return t;
}

void csim_tuning_free(CsimTuning *tuning) {
  if (!tuning) return;
  g_array_unref(tuning->p2p_delta);
  g_free(tuning->p2p_position);
  g_free(tuning->p2p_rank_at);
  g_free(tuning);
}

int csim_tuning_n_ranks(const CsimTuning *tuning) {
  return tuning->in.n_ranks;
}

CsimTuneEntry csim_tuning_entry(const CsimTuning *t, CsimColl func, CsimAlgo algo, CsimProto proto) {
  g_assert(func < CSIM_N_NCCL_FUNCS && algo < CSIM_N_ALGOS && proto < CSIM_N_PROTOS);
  return t->entry[func][algo][proto];
}

int csim_tuning_max_threads(const CsimTuning *t, CsimAlgo algo, CsimProto proto) {
  return t->max_threads[algo][proto];
}
int csim_tuning_threshold(const CsimTuning *t, CsimAlgo algo, CsimProto proto) {
  return t->threshold[algo][proto];
}

static float correction(const CsimTuning *t, CsimAlgo algo, CsimProto proto, CsimBytes n_bytes) {
  int i = csim_log2_floor(n_bytes >> 6);
  gboolean tree = algo == CSIM_ALGO_TREE && i < N_CORRECTIONS - 1;
  gboolean nvls_tree = algo == CSIM_ALGO_NVLS_TREE && i < N_CORRECTIONS && t->in.min_sm >= 100 &&
                       t->in.cpu_arch == CSIM_ARCH_X86;
  return i >= 0 && (tree || nvls_tree) ? tree_correction[proto][i] : 1;
}

/* Large enough pieces make a Simple ring over several nodes wait for the network's plateau. */
static float latency_factor(const CsimTuning *t, CsimAlgo algo, CsimProto proto, CsimBytes n_bytes) {
  if (algo != CSIM_ALGO_RING || proto != CSIM_PROTO_SIMPLE || t->in.n_nodes == 1) return 1;
  if (n_bytes / (MAX((CsimBytes)t->in.n_channels, 1) * t->in.n_ranks) < 64) return 1;
  return t->in.min_sm < 80 ? 1.9f : 1.4f;
}

float csim_tuning_time(const CsimTuning *t, CsimColl func, CsimAlgo algo, CsimProto proto,
                       CsimBytes n_bytes) {
  CsimTuneEntry e = csim_tuning_entry(t, func, algo, proto);
  if (e.bw == 0) return -1;
  if (func == CSIM_COLL_ALL_REDUCE) {
    e.bw *= correction(t, algo, proto, n_bytes);
    e.lat *= latency_factor(t, algo, proto, n_bytes);
  }
  return e.lat + n_bytes / (1000 * e.bw);
}

static gboolean nvls_reduces(CsimType type, CsimOp op) {
  switch (type) {
  case CSIM_TYPE_INT32:
  case CSIM_TYPE_UINT32:
  case CSIM_TYPE_INT64:
  case CSIM_TYPE_UINT64:
  case CSIM_TYPE_HALF:
  case CSIM_TYPE_BFLOAT16:
    return op == CSIM_OP_SUM || op == CSIM_OP_MIN || op == CSIM_OP_MAX;
  case CSIM_TYPE_FLOAT:
  case CSIM_TYPE_DOUBLE:
    return op == CSIM_OP_SUM;
  default:
    return FALSE;
  }
}

/* What NCCL's SHARP plugin offers: sum, min and max of types that the switches can add (SHARP plugin, sharp_plugin.c). */
static gboolean sharp_reduces(const CsimTuning *t, CsimType type, CsimOp op) {
  if (op != CSIM_OP_SUM && op != CSIM_OP_MIN && op != CSIM_OP_MAX) return FALSE;
  switch (type) {
  case CSIM_TYPE_INT32:
  case CSIM_TYPE_UINT32:
  case CSIM_TYPE_INT64:
  case CSIM_TYPE_UINT64:
  case CSIM_TYPE_HALF:
  case CSIM_TYPE_FLOAT:
  case CSIM_TYPE_DOUBLE:
    return TRUE;
  case CSIM_TYPE_INT8:
  case CSIM_TYPE_UINT8:
  case CSIM_TYPE_BFLOAT16:
    return t->in.sharp_generation >= 3;
  default:
    return FALSE;
  }
}

typedef struct {
  CsimColl func;
  CsimType type;
  CsimOp op;
  CsimBytes n_bytes;
} Call;

static gboolean reduces(const Call *call) {
  return call->func != CSIM_COLL_ALL_GATHER && call->func != CSIM_COLL_BROADCAST;
}

/* What the call itself rules out, on top of the table. */
static gboolean fits(const CsimTuning *t, const Call *call, CsimAlgo algo) {
  switch (algo) {
  case CSIM_ALGO_COLLNET_DIRECT:
  case CSIM_ALGO_COLLNET_CHAIN:
    return t->in.max_local_ranks <= 8 && (!reduces(call) || sharp_reduces(t, call->type, call->op));
  case CSIM_ALGO_NVLS:
    if (t->in.n_nodes > 1 && reduces(call) && !sharp_reduces(t, call->type, call->op)) return FALSE;
    if (call->func != CSIM_COLL_ALL_REDUCE && t->in.max_local_ranks > 32) return FALSE;
    return !reduces(call) || nvls_reduces(call->type, call->op);
  case CSIM_ALGO_NVLS_TREE:
    return nvls_reduces(call->type, call->op);
  case CSIM_ALGO_PAT:
    return call->func != CSIM_COLL_REDUCE_SCATTER || call->op != CSIM_OP_AVG;
  default:
    return TRUE;
  }
}

static float call_time(const CsimTuning *t, const Call *call, CsimAlgo algo, CsimProto proto) {
  float time = fits(t, call, algo) ? csim_tuning_time(t, call->func, algo, proto, call->n_bytes) : -1;
  gboolean fp8 = call->type == CSIM_TYPE_FP8_E4M3 || call->type == CSIM_TYPE_FP8_E5M2;
  /* Rounding to fp8 at every step of a long ring would lose too much: NCCL makes it the last resort. */
  return time > 0 && fp8 && algo == CSIM_ALGO_RING && t->in.n_ranks > 8 && reduces(call) ? time * 1024 : time;
}

/* The cheapest; the lower id among equals. FALSE: nothing is allowed. */
static gboolean cheapest(const CsimTuning *t, const Call *call, CsimChoice *out) {
  out->time_us = -1;
  for (int i = 0; i < CSIM_N_ALGOS * CSIM_N_PROTOS; i++) {
    CsimAlgo algo = (CsimAlgo)(i / CSIM_N_PROTOS);
    CsimProto proto = (CsimProto)(i % CSIM_N_PROTOS);
    float time = call_time(t, call, algo, proto);
    if (time < 0 || (out->time_us >= 0 && time >= out->time_us)) continue;
    out->algo = algo;
    out->proto = proto;
    out->time_us = time;
  }
  return out->time_us >= 0;
}

/* Fewer channels, then fewer threads, for a call that would not feed them. */
static void shrink(const CsimTuning *t, CsimBytes n_bytes, int threshold, int *nc, int *nt) {
  while (n_bytes<(CsimBytes)*nc * * nt * threshold && * nc> 1) (*nc)--;
  while (n_bytes < (CsimBytes)*nc * *nt * threshold && *nt % 128 == 0) *nt /= 2;
}

/* CollNetDirect drops channels in halves, asking less of each thread when a half is complete. */
static void shrink_collnet_direct(const CsimTuning *t, CsimBytes n_bytes, int threshold, int *nc, int nt) {
  for (int s = 16; s >= 1; s /= 2)
    while (n_bytes<(CsimBytes)*nc * nt * t->in.collnet_heads * threshold && * nc> s) {
      if (*nc == s + s / 2) threshold /= 2;
      (*nc)--;
    }
}

void csim_tune_call_size(const CsimTuning *t, CsimAlgo algo, CsimProto proto, CsimBytes n_bytes,
                         int *n_channels, int *n_threads) {
  int nc = t->in.n_channels, nt = t->max_threads[algo][proto], threshold = t->threshold[algo][proto];
  if (algo == CSIM_ALGO_NVLS || algo == CSIM_ALGO_NVLS_TREE)
    nc = algo == CSIM_ALGO_NVLS && t->in.n_nodes > 1 ? MIN(nc, t->in.n_nvls_channels) : t->in.n_nvls_channels;
  else if (algo == CSIM_ALGO_COLLNET_DIRECT)
    shrink_collnet_direct(t, n_bytes, threshold, &nc, nt);
  else
    shrink(t, n_bytes, threshold, &nc, &nt);
  if (proto == CSIM_PROTO_SIMPLE && algo == CSIM_ALGO_RING) nt += WARP; /* a warp that only synchronizes */
  if (proto == CSIM_PROTO_SIMPLE && algo == CSIM_ALGO_TREE) nt += 4 * WARP;
  nt = MAX(nt, 3 * WARP);
  if (algo == CSIM_ALGO_TREE || algo == CSIM_ALGO_PAT) nt = MAX_THREADS;
  *n_channels = MAX(nc, 1);
  *n_threads = nt;
}

/* Send/recv based: no table, one protocol rule; shown for the transfer to the last rank. */
static void choose_p2p(const CsimTuning *t, CsimColl func, CsimBytes n_bytes, CsimChoice *out) {
  gboolean per_peer = func == CSIM_COLL_ALLTOALL || func == CSIM_COLL_GATHER || func == CSIM_COLL_SCATTER;
  CsimP2pSplit split;
  csim_tuning_p2p_split(t, 0, t->in.n_ranks - 1, per_peer ? n_bytes / t->in.n_ranks : n_bytes, 0, &split);
  *out = (CsimChoice){CSIM_ALGO_P2P, split.proto, t->in.n_p2p_channels, MAX_THREADS, -1};
}

static gboolean refuse(const Call *call, GError **error) {
  g_set_error(error, CSIM_ERROR, CSIM_ERROR_NCCL,
              "No algorithm/protocol available for function %s with datatype %s; NCCL_ALGO and NCCL_PROTO "
              "must leave one",
              csim_coll_nccl_name(call->func), csim_type_name(call->type));
  return FALSE;
}

gboolean csim_tuning_choose(const CsimTuning *t, CsimColl func, CsimType type, CsimOp op, CsimBytes n_bytes,
                            CsimChoice *out, GError **error) {
  Call call = {func, type, op, n_bytes};
  if (func >= CSIM_N_NCCL_FUNCS) {
    choose_p2p(t, func, n_bytes, out);
    return TRUE;
  }
  if (t->in.n_ranks == 1)
    *out = (CsimChoice){.algo = CSIM_ALGO_RING, .proto = CSIM_PROTO_SIMPLE};
  else if (!cheapest(t, &call, out))
    return refuse(&call, error);
  csim_tune_call_size(t, out->algo, out->proto, n_bytes, &out->n_channels, &out->n_threads);
  return TRUE;
}
