/*
 * models/gpu.h - what one GPU's channel workers cost: launch, primitives, flags, NVLink SHARP.
 *
 * Used by: exec. Filled from the catalogue ("gpu.<model>.*", "nvlink.<gen>.*", "host.*"); immutable afterwards.
 * docs/models/gpu.md explains where each equation comes from; `collsim models` prints value and source of each field
 * under the name given here after "=".
 *
 * Words: an *op* is one primitive on one slice (Simple) or one chunk (LL, LL128). nt: threads of the block that work on it, warps = nt/32.
 * sources: 1 or 2 (a received and a local operand); destinations: local (the user's or scratch memory) and remote (a peer's buffer).
 */
#ifndef CSIM_MODELS_GPU_H
#define CSIM_MODELS_GPU_H

#include "models/catalogue.h"

/* Simple: store and forward per slice.
 *   start = max(worker free, slice visible, credit visible) + o        (o_empty if the slice has no bytes)
 *   rate  = 1 / csim_gpu_simple_ps_per_byte(...), further limited by the links it writes to
 *   end   = start + max(bytes / rate, t_min * min(1, bytes / t_min_bytes))
 *   the receiver sees it at end + post + flag; the credit reaches the sender at end + credit. */
typedef struct {
  double base_ps;        /* = simple_base: ps/B of the loop and the first load, at 512 threads */
  double source_ps;      /* = simple_source: for each further source */
  double local_dst_ps;   /* = simple_local_dst */
  double remote_dst_ps;  /* = simple_remote_dst: the first remote destination; more of them cost the same each */
  CsimTime o, o_empty;   /* = simple_o, simple_o_empty: wait, barrier, pipeline fill and drain of an op */
  CsimTime t_min;        /* = simple_t_min: floor of an op of t_min_bytes or more; in proportion below */
  CsimBytes t_min_bytes; /* = simple_t_min_bytes */
  CsimTime post;         /* = simple_post: fence before the flag is written */
  CsimTime t0;           /* = simple_t0: kernel start to first op, and last op to kernel end */
  CsimTime t0_bytes;     /* = simple_t0_bytes: added for all_gather and broadcast (byte-typed kernels) */
  CsimTime t0_pair;      /* = simple_t0_pair: in place of t0 for sends and receives */
  double thread_scale;   /* = simple_thread_scale: rate ~ (nt/512)^thread_scale; 0: the block size does not matter */
  double group_share;    /* = simple_group_share: share of the SM that each of two groups of a block gets while both copy (0.5); 1: none lost */
  double tree_root;      /* = simple_tree_root: factor on the rate at a tree's root */
  double more_peer_ps;   /* = simple_more_peer_ps: in a tree, ps/B for each child beyond the first that an op reads from or writes to, in place of
                          * source_ps and of a destination; 0: as the first. A tree's two groups have 384 and 256 threads, its root all */
  double tree_units;     /* = simple_tree_units: GB/s of 16-byte loads plus stores that the two groups of a tree's block, or CollNetDirect's
                          * four, have together; in a tree a rank with k children moves 2k+4 units a byte; 0: no limit */
} CsimGpuSimple;

/* LL and LL128: cut through, quantised by iterations. With W = ceil(bytes / line_bytes) warp iterations and k = W / warps
 * (rounded up to a whole number while k <= 8: every warp runs the block's last iteration):
 *   t   = max(k * a, a + per_warp * units/2 * W) * factor,   units = loads + stores of user and FIFO data:
 *         2 send, recv; 3 recvCopySend, recvReduceSend, recvReduceCopy, copySend; 4 recvReduceCopySend
 *   factor = two_dst if the op has two destinations, recv if it only receives, else 1
 *   plus k * l2_miss if the op reads user data and the working set exceeds l2_bytes
 *   start = max(worker free + o, first line visible, credit visible);  o = o_one if k <= 1
 *   end   = max(start + t or the link if slower, sender's end + lat)
 *   first line visible to the receiver at the sender's start + a + lat
 *   wire bytes = wire_factor * bytes.
 * t0 and lat grow with the block: + t0_threads, + lat_threads at full_threads, linear from 256 threads. */
typedef struct {
  CsimBytes line_bytes;    /* payload of one warp iteration: LL 256, LL128 1920 */
  double wire_factor;      /* LL 2, LL128 16/15 */
  CsimTime a;              /* = ll_a: one load-poll-store round */
  CsimTime per_warp;       /* = ll_per_warp: SM time of a warp iteration and load + store pair */
  double two_dst, recv;    /* = ll_two_dst, ll_recv: factors on t */
  CsimTime o, o_one;       /* = ll_o, ll_o_one */
  CsimTime lat, lat_threads; /* = ll_lat, ll_lat_threads: flag one way, as the polling warp sees it */
  CsimTime t0, t0_threads; /* = ll_t0, ll_t0_threads */
  int full_threads;        /* 512 (LL), 640 (LL128) */
  CsimTime l2_miss;        /* = ll_l2_miss, per iteration */
  double group_share;      /* two groups of one block: each gets this share (1 for LL: latency bound) */
} CsimGpuLl;

typedef struct {
  const char *name;       /* catalogue model, "h100" */
  double clock;           /* share of its usual clock: 1, or less after csim_gpu_model_slow */
  CsimGpuSimple simple;
  CsimGpuLl ll, ll128;
  CsimTime flag;          /* = hop_latency: flag one way between two slices over NVLink, with the barrier that releases the block */
  CsimTime credit;        /* = credit_latency: a freed slot becomes visible to the sender */
  CsimBytes l2_bytes;     /* = l2: usable L2; working set = send + receive buffer of the call */
  CsimRate hbm_rate;      /* = hbm: memory bandwidth, read + write */
  /* NVLS with n GPUs a node, nch channels. Per loop of heads * chunk bytes on each channel, one after the other for a loop, at the same time for
   * loops that follow each other:
   *   scatter, gather   heads * (nvls_visit + chunk * nvls_copy_ps), on every rank
   *   reduce            nvls_o + chunk / (port * n/(n+1) / (heads * nch)), on heads
   * nvls_t0: kernel start plus end. */
  CsimTime nvls_t0, nvls_o, nvls_visit;
  double nvls_copy_ps;
  /* Decorrelation of channels: channel c starts c * stagger late; every o is multiplied by 1 + jitter * u, u uniform in [-1, 1). */
  CsimTime stagger;       /* = host.stagger */
  double jitter;          /* = host.jitter */
  CsimTime launch;        /* = launch: host time to launch on one GPU; one thread driving g GPUs needs g * launch per call */
  CsimTime launch_task;   /* = host.launch_task: more of it for each send or receive of a group */
  double launch_norm;     /* = host.launch_norm: T = (T_gpu^p + (g*launch)^p)^(1/p) */
  /* Ports, for reference (machine.h builds the links from the same values). */
  int nvlink_gen;         /* 0: none */
  CsimRate nvlink_rate;   /* payload of kernel stores per link and direction, both directions busy */
  double nvlink_softness;
  /* Kernel accesses to host memory over PCIe, limits of the whole GPU (SHM, network staging): a load waits for completions. */
  double host_read_share, host_write_share; /* = host_read_share: of the PCIe payload rate */
  CsimTime host_flag;     /* = host_flag: flag in host memory seen by the GPU, or by another GPU through host memory */
} CsimGpuModel;

/* model: a name that csim_catalogue_gpu_model returns. Aborts on a name that is not in the catalogue (a bug). */
void csim_gpu_model_init(const CsimCatalogue *catalogue, const char *model, CsimGpuModel *out);

/* Slows what the channel workers do to `clock` of its usual speed, 0 < clock <= 1: copies, reductions, and the instructions around them. NVLink, memory
 * and the host keep their own clocks. Once a model. */
void csim_gpu_model_slow(CsimGpuModel *gpu, double clock);

/* ps per payload byte of one Simple op by a full block of 512 threads. n_sources, n_local, n_remote: as in the op. */
static inline double csim_gpu_simple_ps_per_byte(const CsimGpuSimple *s, int n_sources, int n_local, int n_remote) {
  int more = n_sources > 1 ? n_sources - 1 : 0;
  return s->base_ps + s->source_ps * more + s->local_dst_ps * n_local + s->remote_dst_ps * n_remote;
}

#endif
