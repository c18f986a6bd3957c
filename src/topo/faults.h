/*
 * topo/faults.h - what is broken: read from cluster files and command lines, and put into nodes and fabric.
 *
 * Used by: cluster loading (nodes), machine.c (fabric). Schema: docs/guide/cluster.md; what each does: docs/models/faults.md.
 */
#ifndef CSIM_TOPO_FAULTS_H
#define CSIM_TOPO_FAULTS_H

#include "base/json-read.h"
#include "topo/cluster.h"

typedef enum {
  CSIM_FAULT_LINK,   /* cables between switches: rate */
  CSIM_FAULT_SWITCH, /* a switch with all its cables */
  CSIM_FAULT_NIC,    /* rate; 0: down, NCCL finds no such port */
  CSIM_FAULT_PCIE,   /* width, generation of the link above a device */
  CSIM_FAULT_NVLINK, /* links lost */
  CSIM_FAULT_GPU,    /* clock */
  CSIM_FAULT_LOSS,   /* rate: share of packets, on every cable */
  CSIM_FAULT_STUCK,  /* a NIC that takes in nothing, from `period` on for `down` (0: for ever); packets only */
  CSIM_FAULT_BIND    /* a GPU's process runs on NUMA node `numa` */
} CsimFaultKind;

typedef enum { CSIM_SEEN_AS_REAL, CSIM_SEEN, CSIM_UNSEEN, CSIM_SEEN_ONLY } CsimFaultSeen;

typedef struct {
  CsimFaultKind kind;
  const char *at;    /* interned: "leaf0-spine1.0", "leaf*", "random"; "node3/gpu2"; NULL: loss */
  const char *to;    /* NVLink of a mesh: the GPU at the other end; interned or NULL */
  double rate;       /* of what it was; 0: down */
  double clock;
  int width, generation; /* PCIe; 0: as it was */
  int links;         /* NVLinks lost */
  int numa;          /* as the topology file's numaid */
  guint count;       /* of random cables */
  gboolean has_seed;
  uint64_t seed;
  CsimTime period, down; /* flapping: `rate` for `down` of every `period`; 0: steady. Stuck: from, for */
  CsimFaultSeen seen;
  CsimLoc loc;
  const char *text;  /* as on the command line, interned; NULL: of a file */
} CsimFault;

/* The array "faults" of a cluster file; findings go to the document's diag. */
void csim_faults_read(CsimJson *array, GArray *out);
/* "link:leaf0-spine1.0:rate=0.5", "gpu:node3/gpu2:clock=0.7", "loss:rate=0.001". */
gboolean csim_fault_parse(const char *text, GArray *out, GError **error);

/* An error about one fault, with its place, or its text on the command line. */
gboolean csim_fault_fail(const CsimFault *fault, GError **error, CsimErrorCode code, const char *format, ...) G_GNUC_PRINTF(4, 5);

/* Puts faults of nodes into the cluster's systems: each kind of broken node becomes a system of its own. node_system and node_hardware list
 * every place. Of the options: hca, buffers_follow. CSIM_ERROR_REFERENCE for a node or device that is not there. */
gboolean csim_faults_apply_nodes(CsimCluster *cluster, const CsimClusterOptions *options, GError **error);

#endif
