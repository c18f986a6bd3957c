/* probe/copies-private.h - what copies.c and copies-peer.c share. */
#ifndef CSIM_PROBE_COPIES_PRIVATE_H
#define CSIM_PROBE_COPIES_PRIVATE_H

#include "probe/child.h"
#include "probe/copies.h"
#include "probe/cuda.h"

#define COPY_THREADS 640u /* a block of the copy kernel: as many as NCCL's largest */
#define COPY_KERNEL_SIZE (INT64_C(64) << 20)
#define COPY_KERNEL_REPEATS 9
#define LAUNCH_REPEATS 50
#define COPY_MAX_ROWS 4096

typedef struct {
  CsimChildHeader header;
  guint n;
  CsimCopyRow rows[COPY_MAX_ROWS];
} CopiesShared;

typedef struct {
  const CsimCopyOptions *options;
  CopiesShared *shared;
  CsimGpu gpu, peer; /* peer.cuda NULL: none */
  int n_gpus;
  CsimCuPtr a, b, peer_a, peer_b; /* options->max bytes each */
  void *host_a, *host_b;
} Copies;

typedef struct {
  const char *test;
  CsimBytes size;
  int blocks;
  int target; /* ce_pair: the other GPU */
} CopyJob;

void copies_add(Copies *p, const char *test, int peer, int blocks, CsimBytes size, double median_us, int ways);
void copies_row(Copies *p, const CsimCopyRow *row);
void copies_step(Copies *p); /* progress: a test is over */
int copies_repeats(CsimBytes size);
gboolean copies_time(Copies *p, gboolean (*go)(Copies *p, const CopyJob *job, GError **error), const CopyJob *job, int repeats,
                     double *median_us, GError **error);
gboolean copies_kernel(Copies *p, CsimCuPtr dst, CsimCuPtr src, CsimBytes size, int blocks, GError **error);
/* Everything with a second GPU; nothing when there is none. */
gboolean copies_peers(Copies *p, GError **error);

#endif
