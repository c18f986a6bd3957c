/* exp/live-private.h - what the parts of live*.c share. */
#ifndef CSIM_EXP_LIVE_PRIVATE_H
#define CSIM_EXP_LIVE_PRIVATE_H

#include "exp/live.h"

/* Rows of one run of NCCL: a tag, what to run, with which variables. */
typedef struct {
  char *tag;
  GArray *colls;        /* CsimColl */
  GPtrArray *variables; /* "NCCL_X=V", NULL-ended: the user's, then the series' own */
  CsimBytes max;
} LiveSeries;
GPtrArray *live_series(const CsimLiveOptions *options);
/* The options of that run; borrows from the series. */
CsimNcclOptions live_series_options(const CsimLiveOptions *options, const LiveSeries *series);

/* What stands for this machine in a run. */
typedef struct {
  char *target;         /* "DIR/nccl/topo.xml", or a cluster as JSON text */
  char *label;
  GPtrArray *constants; /* "socket.share=0.4", NULL-ended: what the user said, the link's rate first if it was told */
  guint n_link;         /* how many of them tell the link's rate */
  double nic_gbps;      /* speed of the interface as NCCL saw it; 0: one host */
} LiveTarget;
gboolean live_target(const CsimLiveOptions *options, const CsimNcclFacts *facts, const char *topo_file, LiveTarget *out,
                     GError **error);
void live_target_clear(LiveTarget *target);

/* Sets without measured times, one a collective of each series: what predictions are made for. */
GPtrArray *live_empty_sets(const CsimLiveOptions *options, const GPtrArray *series, const CsimNcclFacts *facts);
char *live_set_name(const char *tag, int n_ranks, CsimColl coll); /* "Ring-LL:4:all_reduce"; caller frees */
/* csim_validate on this target; takes over the sets. catalogue: a file of measured constants, which then say the link's rate too. */
CsimValidation *live_validate(const CsimLiveOptions *options, const LiveTarget *target, GPtrArray *sets, gboolean predict,
                              const char *catalogue);
/* Predictions as CSV. */
char *live_predictions_csv(const CsimValidation *predictions, const char *target, const char *date);
/* The catalogue's name of the first GPU of a topology file, which the caller frees, and out->gpu. */
gboolean live_gpu_model(const char *topo_file, const CsimCatalogue *catalogue, char **model, CsimLiveBasics *out, GError **error);

#endif
