/*
 * probe/copies.h - what one GPU and its links do without NCCL: copies, launches, a flag between two GPUs.
 *
 * Used by: `collsim probe copies`, `validate --live` (constants of --calibrate come from these rows and from sockets only).
 *
 * Tests (medians, times by events on the GPU unless said otherwise):
 *   h2d d2h        pinned host memory, copy engine            bidir        both at once on two streams; bandwidth counts both
 *   d2d            copy engine inside one GPU                 sm_local     copy kernel inside one GPU, by number of blocks
 *   launch_event   empty kernel between two events            launch_host  host time of one launch, many back to back
 *   launch_sync    host time of a launch and waiting for it
 *   ce_write       copy engine to a peer                      ce_bidir     both ways at once; bandwidth counts both
 *   ce_pair        copy engine, every ordered pair, one size  sm_write sm_read  copy kernel to and from a peer, by blocks
 *   flag_oneway    a number to a peer's memory and back, halved (no peer access: not measured)
 */
#ifndef CSIM_PROBE_COPIES_H
#define CSIM_PROBE_COPIES_H

#include "probe/gpus.h"

typedef struct {
  const char *test;     /* static */
  int gpu, peer;        /* ordinals; peer -1: none */
  int blocks;           /* of 640 threads; 0: copy engine or no copy */
  CsimBytes size;       /* bytes one way; 0: a launch */
  double median_us;
  double bw_gbps;       /* 1e9 bytes/s; 0: not a bandwidth */
} CsimCopyRow;

typedef struct {
  CsimBytes min, max; /* sizes: min, min x factor, ... */
  int factor;
  int gpu;            /* ordinal of the GPU looked at; its peer is the next one */
  double limit_s;     /* 0: none */
  void (*progress)(guint done, guint of, void *data); /* NULL allowed */
  void *data;
  const volatile int *interrupt; /* NULL allowed */
} CsimCopyOptions;
void csim_copy_options_init(CsimCopyOptions *options); /* 4 B to 1 GiB by 4, GPU 0, 300 s */

/* Appends rows (CsimCopyRow), measured in a process of its own. FALSE: no GPU (CSIM_ERROR_UNSUPPORTED), CUDA failed on the way
 * (CSIM_ERROR_IO), interrupted, or the limit was reached; what was measured until then is there. */
gboolean csim_probe_copies(const CsimCopyOptions *options, GArray *rows, GError **error);
/* Rows and facts as a table. */
CsimProbeTable *csim_copies_table(const GArray *rows, const CsimGpuFacts *gpus);

#endif
