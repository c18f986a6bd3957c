/*
 * exp/live.h - predictions beside what this machine's own GPUs do, in one go.
 *
 * Used by: `collsim validate --live`. Implemented in live.c (order of steps), live-series.c (what is measured), live-predict.c (the
 * target; predictions before), live-calibrate.c (constants from basic probes).
 *
 * Order, so that no prediction can know its measurement: NCCL's topology dump; basic probes (copies, sockets); predictions of every
 * series with the shipped catalogue, written to predictions.csv; only then NCCL's runs, written to nccl.csv; comparison. With
 * `calibrate`: constants from the basic probes alone, written before the runs as well; a second comparison with them.
 *
 * Files in `folder`: nccl/ (topo.xml, graph.xml, nccl.log), copies.csv, sockets.csv, predictions.csv, nccl.csv.
 */
#ifndef CSIM_EXP_LIVE_H
#define CSIM_EXP_LIVE_H

#include "exp/validate.h"
#include "probe/nccl-run.h"

typedef struct {
  const char *folder;
  CsimNcclOptions nccl;   /* collectives, sizes, GPUs, ranks, launch, iterations; dump is ours */
  gboolean forced;        /* all_reduce with each algorithm and protocol as well */
  const char *link_rate;  /* of every rank's shaped link ("4Gb/s"); NULL: the interface's own speed */
  const char *calibrate;  /* file for constants from basic probes; NULL: none */
  CsimValidateOptions validate; /* limit, jobs, seed, catalogue, constants, interrupt, progress */
  void (*step)(const char *what, void *data); /* "measuring Ring-LL"; NULL allowed */
  void *data;
} CsimLiveOptions;

/* One constant that a basic probe gives. */
typedef struct {
  char *name;       /* "socket.share" */
  char *old, *value; /* as text with units: what the catalogue had, what was measured */
  char *from;       /* "probe sockets, ring of 4 ranks" */
} CsimLiveConstant;

typedef struct {
  CsimNcclFacts facts;
  char *date, *target, *predictions_digest; /* SHA-256 of predictions.csv */
  GPtrArray *constants;                     /* CsimLiveConstant*; empty without calibrate */
  CsimValidation *before, *after;           /* after NULL without calibrate */
  guint64 wrong;                            /* elements that NCCL got wrong */
  guint n_changed;                          /* predictions that differ from predictions.csv: 0, or the run is not deterministic */
} CsimLive;

/* NULL: any error of the probes or of the readers; what was written until then stays. */
CsimLive *csim_live(const CsimLiveOptions *options, GError **error);
void csim_live_free(CsimLive *live);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CsimLive, csim_live_free)

/* For tests: constants from tables of the two basic probes (rows of CsimCopyRow, CsimSocketRow; NULL: not probed). */
typedef struct {
  const GArray *copies, *sockets;
  int n_ranks;
  double nic_gbps;         /* speed of the ranks' interface, 1e9 bytes/s; 0: no network */
  const char *gpu_model;   /* "h200" in the catalogue; NULL: GPUs' constants are left alone */
  struct {
    int nvlinks, nvlink_gen; /* 0: none */
  } gpu;
} CsimLiveBasics;
GPtrArray *csim_live_calibrate(const CsimLiveBasics *basics, const CsimCatalogue *catalogue);
/* The constants as a catalogue file for --catalogue. */
char *csim_live_constants_json(const GPtrArray *constants, const char *source);

#endif
