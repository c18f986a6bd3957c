/*
 * collsim/types.h - the small value types that every layer shares.
 *
 * Used by: everybody. Depends on: GLib's basic types only.
 *
 * Units are part of the type name. Time is a signed count of picoseconds,
 * sizes are signed bytes, rates are bytes per second; see docs/decisions/
 * for why. A struct field that carries another unit says so in its name
 * (time_us, bw_gbps = 1e9 bytes/s as NCCL and nccl-tests print it).
 */
#ifndef COLLSIM_TYPES_H
#define COLLSIM_TYPES_H

#include <glib.h>
#include <stdint.h>

G_BEGIN_DECLS

typedef int64_t CsimTime;  /* picoseconds */
typedef int64_t CsimBytes; /* bytes */
typedef int64_t CsimRate;  /* bytes per second */

#define CSIM_TIME_NEVER INT64_MAX
#define CSIM_NS INT64_C(1000)
#define CSIM_US INT64_C(1000000)
#define CSIM_MS INT64_C(1000000000)
#define CSIM_S INT64_C(1000000000000)

/* Collectives. The first five carry NCCL's own function numbers. */
typedef enum {
  CSIM_COLL_BROADCAST,
  CSIM_COLL_REDUCE,
  CSIM_COLL_ALL_GATHER,
  CSIM_COLL_REDUCE_SCATTER,
  CSIM_COLL_ALL_REDUCE,
  CSIM_COLL_SENDRECV, /* nccl-tests ring shift: to rank+1, from rank-1 */
  CSIM_COLL_ALLTOALL,
  CSIM_COLL_GATHER,
  CSIM_COLL_SCATTER,
  CSIM_COLL_HYPERCUBE,
  CSIM_N_COLLS
} CsimColl;
#define CSIM_N_NCCL_FUNCS 5 /* those that NCCL's tuning table knows */

/* Algorithms and protocols, with NCCL's numbers. */
typedef enum {
  CSIM_ALGO_TREE,
  CSIM_ALGO_RING,
  CSIM_ALGO_COLLNET_DIRECT,
  CSIM_ALGO_COLLNET_CHAIN,
  CSIM_ALGO_NVLS,
  CSIM_ALGO_NVLS_TREE,
  CSIM_ALGO_PAT,
  CSIM_N_ALGOS,
  CSIM_ALGO_P2P = CSIM_N_ALGOS /* send/recv based: no entry in NCCL's table */
} CsimAlgo;

typedef enum { CSIM_PROTO_LL, CSIM_PROTO_LL128, CSIM_PROTO_SIMPLE, CSIM_N_PROTOS } CsimProto;

/* Element types, names as nccl-tests prints them ("float", "bfloat16"). */
typedef enum {
  CSIM_TYPE_INT8, CSIM_TYPE_UINT8, CSIM_TYPE_INT32, CSIM_TYPE_UINT32, CSIM_TYPE_INT64,
  CSIM_TYPE_UINT64, CSIM_TYPE_HALF, CSIM_TYPE_FLOAT, CSIM_TYPE_DOUBLE, CSIM_TYPE_BFLOAT16,
  CSIM_TYPE_FP8_E4M3, CSIM_TYPE_FP8_E5M2, CSIM_N_TYPES
} CsimType;

typedef enum { CSIM_OP_SUM, CSIM_OP_PROD, CSIM_OP_MIN, CSIM_OP_MAX, CSIM_OP_AVG, CSIM_N_OPS } CsimOp;

/* Who drives the GPUs: a process a rank, a thread a rank, or a single thread for all of a node. */
typedef enum { CSIM_LAUNCH_PROCESS, CSIM_LAUNCH_THREAD, CSIM_LAUNCH_SINGLE, CSIM_N_LAUNCHES } CsimLaunch;

/*
 * Names. The *_name functions return static text ("all_reduce", "Ring",
 * "LL128", "float", "sum"); the *_parse functions accept the same text without
 * regard to case ("AllReduce" too for collectives) and return FALSE for
 * anything else, leaving *out alone.
 */
const char *csim_coll_name(CsimColl coll);          /* nccl-tests form: "all_reduce" */
const char *csim_coll_nccl_name(CsimColl coll);     /* NCCL form: "AllReduce" */
gboolean csim_coll_parse(const char *text, CsimColl *out);
const char *csim_algo_name(CsimAlgo algo);
gboolean csim_algo_parse(const char *text, CsimAlgo *out);
const char *csim_proto_name(CsimProto proto);
gboolean csim_proto_parse(const char *text, CsimProto *out);
const char *csim_type_name(CsimType type);
gboolean csim_type_parse(const char *text, CsimType *out);
CsimBytes csim_type_size(CsimType type);
const char *csim_op_name(CsimOp op);
gboolean csim_op_parse(const char *text, CsimOp *out);
const char *csim_launch_name(CsimLaunch launch); /* "process", "thread", "single" */
gboolean csim_launch_parse(const char *text, CsimLaunch *out);

G_END_DECLS
#endif
