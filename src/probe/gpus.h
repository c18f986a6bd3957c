/*
 * probe/gpus.h - which GPUs this machine has, asked in a process of its own so that the caller may still fork.
 *
 * Used by: copies.c, nccl-run.c, cmd-probe.c, exp/live.c.
 */
#ifndef CSIM_PROBE_GPUS_H
#define CSIM_PROBE_GPUS_H

#include "probe/table.h"

typedef struct {
  int n; /* visible ones */
  char name[96];
  int sm, n_multiprocessors; /* of the first; sm: 90 */
  CsimBytes l2, memory;
  int cuda_version; /* of the driver's interface: 13000 */
} CsimGpuFacts;

/* FALSE and CSIM_ERROR_UNSUPPORTED, one line, without a driver or a GPU. */
gboolean csim_probe_gpus(CsimGpuFacts *facts, GError **error);
/* hardware, gpu, cuda, driver. */
void csim_probe_gpu_facts(CsimProbeTable *table, const CsimGpuFacts *facts);

#endif
