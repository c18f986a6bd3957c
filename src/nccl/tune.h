/*
 * nccl/tune.h - NCCL's cost table, its choice, and how it cuts a call into pieces.
 *
 * Used by: exec (what to run), cli (`collsim tune`). What it covers and how good it is: docs/models/tuning.md.
 */
#ifndef CSIM_NCCL_TUNE_H
#define CSIM_NCCL_TUNE_H

#include "nccl/comm.h"

typedef struct CsimTuning CsimTuning;
/* comm must outlive the result; env is read here only. */
CsimTuning *csim_tuning_new(const CsimComm *comm, const CsimNcclEnv *env, GError **error);
void csim_tuning_free(CsimTuning *tuning); /* NULL allowed */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CsimTuning, csim_tuning_free)
int csim_tuning_n_ranks(const CsimTuning *tuning);

/* bw GB/s (algorithm bandwidth; 0: not available), lat us. */
typedef struct {
  float bw, lat;
} CsimTuneEntry;
CsimTuneEntry csim_tuning_entry(const CsimTuning *t, CsimColl func, CsimAlgo algo, CsimProto proto);
int csim_tuning_max_threads(const CsimTuning *t, CsimAlgo algo, CsimProto proto);
int csim_tuning_threshold(const CsimTuning *t, CsimAlgo algo, CsimProto proto); /* bytes a thread */
/* Predicted us of one call of n_bytes (NCCL's nBytes: the larger buffer); negative: unavailable. */
float csim_tuning_time(const CsimTuning *t, CsimColl func, CsimAlgo algo, CsimProto proto, CsimBytes n_bytes);

typedef struct {
  CsimAlgo algo;
  CsimProto proto;
  int n_channels, n_threads; /* allowed for the call; the enqueue step may use fewer channels */
  float time_us;             /* NCCL's prediction; -1 for P2P */
} CsimChoice;
/* NCCL's choice; CSIM_ERROR_NCCL "No algorithm/protocol available ..." when nothing is left. */
gboolean csim_tuning_choose(const CsimTuning *t, CsimColl func, CsimType type, CsimOp op, CsimBytes n_bytes,
                            CsimChoice *out, GError **error);

/* One channel's share of a call, in bytes of the split buffer (AllGather/ReduceScatter: of one rank's block). */
typedef struct {
  CsimBytes offset, bytes, chunk;
} CsimPart;

/* Fills parts[0..*n_used) for channels 0..*n_used-1 (NVLS on several nodes and CollNet: even split; else continuous byte distribution).
 * count: elements as NCCL counts them (per rank for AllGather/ReduceScatter). parts: CSIM_MAX_CHANNELS entries. */
void csim_tuning_split(const CsimTuning *t, CsimColl func, const CsimChoice *choice, CsimType type,
                       CsimBytes count, CsimPart *parts, int *n_used);

/* Slots, steps and slices of a protocol for (func, algo): NCCL's stepSize etc. in data bytes. */
typedef struct {
  CsimBytes step;               /* data bytes of one slot (LL 32768, LL128 576000, Simple 524288) */
  int slots;                    /* 8 */
  int chunk_steps, slice_steps; /* Ring Simple AllReduce 4/2 ... */
} CsimProtoShape;
CsimProtoShape csim_tuning_shape(const CsimTuning *t, CsimColl func, CsimAlgo algo, CsimProto proto);

/* How a send of `bytes` from one rank to another is cut: part i of n_parts covers [i * part, min((i + 1) * part, bytes)), which may be empty, and
 * runs on channel (first_channel + i) mod n_p2p_channels. part is a multiple of 4 KiB; chunk is what one step carries, in data bytes. */
typedef struct {
  int n_parts;
  CsimBytes part, chunk;
  CsimProto proto;
  int first_channel;
} CsimP2pSplit;
/* round: position of the peer in the rank's schedule. */
void csim_tuning_p2p_split(const CsimTuning *t, int from, int to, CsimBytes bytes, int round,
                           CsimP2pSplit *out);
/* Round r of a rank's schedule: whom it sends to and receives from. FALSE past the last round. */
gboolean csim_tuning_p2p_round(const CsimTuning *t, int rank, int round, int *send_to, int *recv_from);

/* Variables that are set, are modelled, and cannot change anything on this communicator (NCCL_CROSS_NIC on one node ...): a warning each. */
void csim_nccl_env_check_comm(const CsimNcclEnv *env, const CsimComm *comm, CsimDiag *diag);

#endif
