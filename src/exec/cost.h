/*
 * exec/cost.h - the worker's time for one operation, from the GPU model.
 *
 * Used by: lane.c. Equations and constants: models/gpu.h, docs/models/gpu.md.
 */
#ifndef CSIM_EXEC_COST_H
#define CSIM_EXEC_COST_H

#include "algos/plan.h"
#include "models/gpu.h"
#include "models/net.h"

/* What is the same for every operation of a call on one GPU model. */
typedef struct {
  const CsimGpuModel *gpu;
  const CsimGpuLl *ll;     /* NULL for Simple */
  CsimTime start;          /* kernel start to first operation */
  CsimTime lat;            /* LL, LL128: flag one way for this block size */
  CsimTime host_load;      /* what a load from shared host memory takes longer than one from own memory */
  double thread_factor;    /* Simple: (threads/512)^scale */
  int warps;               /* of the whole block */
  double nvls_ps;          /* NVLS: ps a byte of a head's operation */
  gboolean spills_l2;      /* the call's buffers exceed the L2 */
} CsimCost;

typedef struct {
  CsimTime overhead;       /* before the data move: wait, barrier, fill */
  CsimTime duration;       /* of the data, were the lane alone on its block and links */
  double sm_ps;            /* ps of the whole block's time that one byte takes (with its flags, LL and LL128); shared blocks add these up to 1e12 ps/s */
} CsimOpCost;

/* threads: of the block without NCCL's extra synchronisation warps. buffer_bytes: send + receive buffer of a rank. */
void csim_cost_init(CsimCost *cost, const CsimGpuModel *gpu, const CsimShmModel *shm, CsimColl coll, CsimAlgo algo, CsimProto proto, int threads,
                    CsimBytes buffer_bytes);

/*
 * NVLS (models/gpu.h). A head reads a chunk of every GPU of its node and the switch hands it the sum: each port out carries the chunk once, the head's in
 * once. It stores a chunk once and the switch hands it to all: the head's port out once, each port in once. n heads at work load each port
 * with n + 1 chunks, of which a channel is taken to have its even share.
 */
void csim_cost_set_nvls(CsimCost *cost, CsimRate port, int local_ranks, int heads, int channels);

/* n_sources: operands read (received ones and the user's); n_local, n_remote: destinations written in own and in peers' memory.
 * peers_in, peers_out: how many of them are connections. reads_user: one operand is the user's buffer. receives_only: no source but the received
 * one, no remote destination. */
typedef struct {
  CsimRole role;
  int n_sources, n_local, n_remote;
  int peers_in, peers_out;
  gboolean reads_user, receives_only;
  gboolean from_host; /* received data lie in shared host memory */
  int group; /* scatter and gather: heads that one NCCL operation serves, each of which is an operation here; else 1 */
  gboolean first_of_group;
  int pairs; /* send/recv: works that share the block, half its lanes (a copy is one of them) */
  gboolean part; /* CSIM_PRIM_PART: the operation's overhead is its last piece's */
  CsimBytes bytes;
} CsimOp4Cost;
void csim_cost_op(const CsimCost *cost, const CsimOp4Cost *op, CsimOpCost *out);

#endif
