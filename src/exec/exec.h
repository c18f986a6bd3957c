/*
 * exec/exec.h - runs one collective call on a machine, in simulated time.
 *
 * Used by: exp. Takes a plan's lanes, makes the connections between them (P2P, SHM, NET, NVLS) with NCCL's slots, slices and protocols,
 * and moves every slice through channel workers, proxies and fluid links. Equations: docs/models/gpu.md.
 */
#ifndef CSIM_EXEC_EXEC_H
#define CSIM_EXEC_EXEC_H

#include "exec/packet-log.h"
#include "nccl/tune.h"
#include "sim/trace.h"
#include "topo/machine.h"
#include "topo/packet-fabric.h"

/* Tracks of the trace: a span's track is a rank's channel; its name the primitive ("recvReduceSend"), its arg the bytes / 1 KiB. A counter's
 * track is a machine link (csim_machine_link_name), its value the rate in bytes/s, its name "rate". */
#define CSIM_TRACK(rank, channel) ((uint32_t)(rank) << 8 | (uint32_t)(channel))
#define CSIM_TRACK_RANK(track) ((track) >> 8)
#define CSIM_TRACK_CHANNEL(track) ((track) & 0xff)

typedef struct {
  const CsimMachine *machine;
  const CsimComm *comm;
  const CsimTuning *tuning;
  const CsimNcclEnv *env;
  uint64_t seed;
  CsimLaunch launch;
  gboolean virtual_machine; /* launches cost host.launch_vm, and those of one process are serialised */
  int iters;              /* back-to-back calls; the reported time is their period */
  CsimQueueKind queue;
  const volatile int *interrupt; /* may be NULL */
  gboolean digest;
  gboolean packets;       /* network messages as packets (models/pkt) instead of flows; every rank is simulated */
  gboolean packet_series; /* what ports did over time goes into the log (exec/packet-log.h) */
  gboolean no_symmetry;   /* simulate every rank, also those that must behave alike; a trace does that anyway */
  gboolean keep_links;    /* leave no link out of paths that this call cannot fill (models/prune.h): slower, but shows all loads. The order of what is
                             simultaneous changes with it: times move by less than 0.1 % */
  CsimTrace *trace;       /* filled with the operations of every lane and the rates of the links; NULL: none */
} CsimExecSpec;

typedef struct {
  CsimColl coll;
  CsimType type;
  CsimOp op;
  CsimBytes count; /* NCCL's count argument */
  int root;
} CsimCall;

/* Where the time of the critical rank went; shares of time_us. Sum is 1 within rounding. */
typedef struct {
  double launch, overhead, copy, link; /* kernel start and host; per-operation overhead; data move; more of it through sharing */
  double wait, credit;                 /* for a peer's data; for a free slot */
  CsimLinkId busiest; /* the link that bound longest, or UINT32_MAX */
  double busiest_share; /* of the time it was saturated */
} CsimBreakdown;

typedef struct {
  CsimChoice choice;
  int n_channels;    /* used */
  double time_us;    /* nccl-tests' time */
  CsimBreakdown where;
  uint64_t digest, events;
  CsimTime span;     /* what was simulated: so many calls, back to back, over this time; csim_exec_loads is of all of it */
  int calls;
} CsimExecResult;

/* What NCCL's variables and the seed say of packets. */
CsimPacketOptions csim_exec_packet_options(const CsimNcclEnv *env, uint64_t seed);

typedef struct CsimExec CsimExec; /* reusable: keeps slabs between calls; one thread at a time */
CsimExec *csim_exec_new(const CsimExecSpec *spec, GError **error);
void csim_exec_free(CsimExec *exec);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CsimExec, csim_exec_free)

/* What one link carried in the calls simulated last (CsimExecResult): bytes (times the weights of their flows), time with traffic, time in which
 * it set rates, most transfers at once. */
typedef struct { CsimLinkId link; CsimLinkUse use; } CsimLinkLoad;
/* Links without traffic left out, in no particular order; valid until the next call. Links that could not bind may be left out of
 * paths (models/prune.h) and show nothing. NVLS adds bytes to NVLink ports, no times: it is not made of flows. */
const CsimLinkLoad *csim_exec_loads(const CsimExec *exec, guint *n);
/* Of the last call at packet fidelity, else NULL; valid until the next call (take a reference). */
CsimPacketLog *csim_exec_packets(const CsimExec *exec);
/* CSIM_ERROR_NCCL (no algorithm left), CSIM_ERROR_UNSUPPORTED, CSIM_ERROR_INTERRUPTED; a dead-lock is a bug and aborts with who waits for whom. */
gboolean csim_exec_call(CsimExec *exec, const CsimCall *call, CsimExecResult *out, GError **error);

#endif
