/*
 * exp/inspect.h - what NCCL would make of a target, as text and as JSON in the names of the NCCL vectors.
 *
 * Used by: cli (`collsim topo|graph|tune`). A run serves as the loaded target (fidelity model: nothing is simulated).
 */
#ifndef CSIM_EXP_INSPECT_H
#define CSIM_EXP_INSPECT_H

#include "exp/run.h"

/* CSIM_JSON_* parts of nccl/comm.h, one top-level key a line; the system part always with nodes and paths. Caller frees. */
char *csim_inspect_json(const CsimRun *run, guint parts);

/* The graph of the first machine: nodes, links with GB/s, and each GPU's nearest NICs. */
void csim_inspect_topo(GString *out, const CsimRun *run);
char *csim_inspect_matrix(const CsimRun *run); /* like `nvidia-smi topo -m`; caller frees */
char *csim_inspect_dot(const CsimRun *run);    /* Graphviz; caller frees */
/* Search results, channel counts, first channels' rings, trees of the first ranks. */
void csim_inspect_graph(GString *out, const CsimRun *run);
char *csim_inspect_graph_xml(const CsimRun *run); /* as NCCL_GRAPH_DUMP_FILE; caller frees */

/* Latency and bandwidth by algorithm and protocol, and the choice over sizes. coll: one, or CSIM_N_COLLS for all NCCL knows. */
void csim_inspect_tune(GString *out, const CsimRun *run, CsimColl coll);

/* What the simulator finds fastest, against NCCL's choice: one line a size of the spec. Simulates every pair that NCCL's table offers. */
typedef struct {
  CsimBytes size_bytes;
  CsimAlgo choice_algo, best_algo;
  CsimProto choice_proto, best_proto;
  double choice_us, best_us; /* simulated */
} CsimTuneRow;
/* Rows (CsimTuneRow) for the sizes of the run's spec; progress is called before each simulated pair. NULL with an error, also for an interruption. */
typedef void (*CsimTuneProgress)(guint done, guint of);
GArray *csim_inspect_fastest(const CsimRun *run, CsimTuneProgress progress, GError **error);
void csim_inspect_fastest_text(GString *out, const GArray *rows, CsimColl coll);
/* A line for each size at which NCCL's table or the simulator switches; no finer than the rows' sizes. */
void csim_inspect_switches_text(GString *out, const GArray *rows, CsimColl coll);

/* Findings of loading the target alone (no communicator): the count of warnings and errors is *n. FALSE if it cannot be loaded at all. */
gboolean csim_inspect_check(GString *out, const CsimRunSpec *spec, guint *n, GError **error);

#endif
