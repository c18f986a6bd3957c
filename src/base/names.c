/* base/names.c - the names in collsim/types.h, one table a type. */
#include "collsim/types.h"

/* nccl-tests' executable names without "_perf", beside NCCL's function names. */
static const char *const coll_names[CSIM_N_COLLS][2] = {
    [CSIM_COLL_BROADCAST] = {"broadcast", "Broadcast"},
    [CSIM_COLL_REDUCE] = {"reduce", "Reduce"},
    [CSIM_COLL_ALL_GATHER] = {"all_gather", "AllGather"},
    [CSIM_COLL_REDUCE_SCATTER] = {"reduce_scatter", "ReduceScatter"},
    [CSIM_COLL_ALL_REDUCE] = {"all_reduce", "AllReduce"},
    [CSIM_COLL_SENDRECV] = {"sendrecv", "SendRecv"},
    [CSIM_COLL_ALLTOALL] = {"alltoall", "AlltoAll"},
    [CSIM_COLL_GATHER] = {"gather", "Gather"},
    [CSIM_COLL_SCATTER] = {"scatter", "Scatter"},
    [CSIM_COLL_HYPERCUBE] = {"hypercube", "HyperCube"},
};

/* NCCL 2.30, src/include/nccl_common.h order; the last is ours. */
static const char *const algo_names[CSIM_N_ALGOS + 1] = {
    [CSIM_ALGO_TREE] = "Tree",
    [CSIM_ALGO_RING] = "Ring",
    [CSIM_ALGO_COLLNET_DIRECT] = "CollNetDirect",
    [CSIM_ALGO_COLLNET_CHAIN] = "CollNetChain",
    [CSIM_ALGO_NVLS] = "NVLS",
    [CSIM_ALGO_NVLS_TREE] = "NVLSTree",
    [CSIM_ALGO_PAT] = "PAT",
    [CSIM_ALGO_P2P] = "P2P",
};

static const char *const proto_names[CSIM_N_PROTOS] = {"LL", "LL128", "Simple"};

/* nccl-tests' names of the element types. */
static const struct {
  const char *name;
  CsimBytes size;
} types[CSIM_N_TYPES] = {
    [CSIM_TYPE_INT8] = {"int8", 1},       [CSIM_TYPE_UINT8] = {"uint8", 1},
    [CSIM_TYPE_INT32] = {"int32", 4},     [CSIM_TYPE_UINT32] = {"uint32", 4},
    [CSIM_TYPE_INT64] = {"int64", 8},     [CSIM_TYPE_UINT64] = {"uint64", 8},
    [CSIM_TYPE_HALF] = {"half", 2},       [CSIM_TYPE_FLOAT] = {"float", 4},
    [CSIM_TYPE_DOUBLE] = {"double", 8},   [CSIM_TYPE_BFLOAT16] = {"bfloat16", 2},
    [CSIM_TYPE_FP8_E4M3] = {"f8e4m3", 1}, [CSIM_TYPE_FP8_E5M2] = {"f8e5m2", 1},
};

static const char *const op_names[CSIM_N_OPS] = {"sum", "prod", "min", "max", "avg"};

static const char *const launch_names[CSIM_N_LAUNCHES] = {"process", "thread", "single"};

static gboolean same(const char *text, const char *name) {
  return text != NULL && g_ascii_strcasecmp(text, name) == 0;
}

static int find(const char *text, const char *const *names, int n) {
  for (int i = 0; i < n; i++)
    if (same(text, names[i])) return i;
  return -1;
}

const char *csim_coll_name(CsimColl coll) {
  g_assert((guint)coll < CSIM_N_COLLS);
  return coll_names[coll][0];
}

const char *csim_coll_nccl_name(CsimColl coll) {
  g_assert((guint)coll < CSIM_N_COLLS);
  return coll_names[coll][1];
}

gboolean csim_coll_parse(const char *text, CsimColl *out) {
  int i = find(text, &coll_names[0][0], 2 * CSIM_N_COLLS);
  if (i >= 0) *out = (CsimColl)(i / 2);
  return i >= 0;
}

const char *csim_algo_name(CsimAlgo algo) {
  g_assert((guint)algo < G_N_ELEMENTS(algo_names));
  return algo_names[algo];
}

gboolean csim_algo_parse(const char *text, CsimAlgo *out) {
  int i = find(text, algo_names, G_N_ELEMENTS(algo_names));
  if (i >= 0) *out = (CsimAlgo)i;
  return i >= 0;
}

const char *csim_proto_name(CsimProto proto) {
  g_assert((guint)proto < CSIM_N_PROTOS);
  return proto_names[proto];
}

gboolean csim_proto_parse(const char *text, CsimProto *out) {
  int i = find(text, proto_names, CSIM_N_PROTOS);
  if (i >= 0) *out = (CsimProto)i;
  return i >= 0;
}

const char *csim_type_name(CsimType type) {
  g_assert((guint)type < CSIM_N_TYPES);
  return types[type].name;
}

CsimBytes csim_type_size(CsimType type) {
  g_assert((guint)type < CSIM_N_TYPES);
  return types[type].size;
}

gboolean csim_type_parse(const char *text, CsimType *out) {
  for (int i = 0; i < CSIM_N_TYPES; i++) {
    if (!same(text, types[i].name)) continue;
    *out = (CsimType)i;
    return TRUE;
  }
  return FALSE;
}

const char *csim_op_name(CsimOp op) {
  g_assert((guint)op < CSIM_N_OPS);
  return op_names[op];
}

gboolean csim_op_parse(const char *text, CsimOp *out) {
  int i = find(text, op_names, CSIM_N_OPS);
  if (i >= 0) *out = (CsimOp)i;
  return i >= 0;
}

const char *csim_launch_name(CsimLaunch launch) {
  g_assert((guint)launch < CSIM_N_LAUNCHES);
  return launch_names[launch];
}

gboolean csim_launch_parse(const char *text, CsimLaunch *out) {
  int i = find(text, launch_names, CSIM_N_LAUNCHES);
  if (i >= 0) *out = (CsimLaunch)i;
  return i >= 0;
}
