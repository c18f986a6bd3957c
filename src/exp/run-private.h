/*
 * exp/run-private.h - what a CsimRun holds, for run.c, load.c and trace-view.c only.
 */
#ifndef CSIM_EXP_RUN_PRIVATE_H
#define CSIM_EXP_RUN_PRIVATE_H

#include "exp/run.h"
#include "sim/trace.h"

struct CsimLoaded {
  gint refs;
  CsimLoaded *base; /* whose cluster, catalogue and machine these are; NULL: its own */
  CsimDiag *diag;
  CsimNcclEnv *env;
  CsimCluster *cluster;
  CsimComm *comm;
  CsimTuning *tuning;
  CsimCatalogue *catalogue;
  uint64_t seed;        /* of what placements and faults draw */
  gboolean whole_fabric;
  CsimMachine *machine; /* NULL until a run with a simulation asks for it */
  GError *no_machine;   /* or why there is none */
  GMutex mutex;         /* of the two above */
};

struct CsimRun {
  CsimRunSpec spec;
  CsimRunInfo info;
  GArray *wishes; /* CsimBytes: the sizes asked for */
  CsimLoaded *loaded;
  CsimDiag *own_diag;   /* of this run's fidelity; NULL: nothing was looked for */
  const CsimDiag *diag; /* these are loaded's */
  const CsimNcclEnv *env;
  const CsimCluster *cluster;
  const CsimComm *comm;
  const CsimTuning *tuning;
  const CsimCatalogue *catalogue;
  const CsimMachine *machine; /* with exec: NULL for the model */
  CsimExec *exec;
  CsimTrace *trace; /* NULL unless asked for */
  GPtrArray *link_lists;  /* GArray* of CsimRowLink, of the rows so far */
  GPtrArray *packet_logs; /* CsimPacketLog*, of the rows so far */
  gint64 started_us;
};

/* load.c: the sizes of nccl-tests' loop; what of a run is its own, on what is loaded. */
GArray *csim_run_sizes(const CsimRunSpec *spec, GError **error);
gboolean csim_run_load(CsimRun *run, CsimLoaded *loaded, GError **error);

/* run.c: a row alone, with its events in run->info; then what the run as a whole makes of it, in order of rows. */
gboolean csim_run_compute(CsimRun *run, guint i, CsimRow *out, GError **error);
void csim_run_account(CsimRun *run, CsimRow *row, uint64_t events);

/* run.c: a row's log lives as long as the run. NULL allowed. */
void csim_run_keep_packets(CsimRun *run, CsimPacketLog *log);

/* run.c: the same for a row's links. */
void csim_run_keep_links(CsimRun *run, const GArray *links);

/* row-links.c: the row's top, fabric and links, of the call that exec did last. */
void csim_run_read_links(CsimRun *run, const CsimExecResult *result, CsimRow *row);

/* load.c: the cluster as the spec and the variables say. */
CsimCluster *csim_run_load_cluster(const CsimRunSpec *spec, const CsimNcclEnv *env, GError **error);

/* load.c: hosts of one XML are one NVLink domain unless NCCL_MNNVL_ENABLE=0. */
gboolean csim_is_multi_node_nvlink(const CsimCluster *cluster, const CsimNcclEnv *env);

#endif
