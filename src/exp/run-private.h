/*
 * exp/run-private.h - what a CsimRun holds, for run.c, load.c and trace-view.c only.
 */
#ifndef CSIM_EXP_RUN_PRIVATE_H
#define CSIM_EXP_RUN_PRIVATE_H

#include "exp/run.h"
#include "sim/trace.h"

struct CsimRun {
  CsimRunSpec spec;
  CsimRunInfo info;
  GArray *wishes; /* CsimBytes: the sizes asked for */
  CsimDiag *diag;
  CsimNcclEnv *env;
  CsimCluster *cluster;
  CsimComm *comm;
  CsimTuning *tuning;
  CsimCatalogue *catalogue;
  CsimMachine *machine; /* with exec: NULL for the model */
  CsimExec *exec;
  CsimTrace *trace; /* NULL unless asked for */
  gint64 started_us;
};

/* load.c: the sizes of nccl-tests' loop, and everything that the spec names. */
GArray *csim_run_sizes(const CsimRunSpec *spec, GError **error);
gboolean csim_run_load(CsimRun *run, GError **error);

/* load.c: hosts of one XML are one NVLink domain unless NCCL_MNNVL_ENABLE=0. */
gboolean csim_is_multi_node_nvlink(const CsimCluster *cluster, const CsimNcclEnv *env);

#endif
