/*
 * topo/placement.h - which of the cluster's nodes a job gets, and in which order.
 *
 * Used by: cluster loading only. Ranks go node by node in the order made here. Schema and pictures: docs/guide/cluster.md.
 */
#ifndef CSIM_TOPO_PLACEMENT_H
#define CSIM_TOPO_PLACEMENT_H

#include "base/json-read.h"
#include "topo/cluster.h"

typedef enum {
  CSIM_ORDER_PACKED,  /* by number */
  CSIM_ORDER_RANDOM,  /* any of the free nodes, in any order */
  CSIM_ORDER_BY_LEAF, /* as few leaves as possible: the leaf with the most free nodes first, by number inside it */
  CSIM_ORDER_SPREAD,  /* one node of each leaf in turn */
  CSIM_ORDER_STRIDED, /* 0, s, 2s, ..., 1, 1+s, ... */
  CSIM_ORDER_HOSTS    /* a list of hosts */
} CsimOrder;

typedef struct {
  gboolean given;      /* FALSE: every node, by number */
  CsimOrder order;
  guint nodes;         /* of the job; 0: all that are free */
  guint stride;
  double busy;         /* share of the cluster's nodes that other jobs have, drawn at random */
  gboolean has_seed;
  uint64_t seed;
  char *hosts;         /* hostlist, ours; CSIM_ORDER_HOSTS */
  CsimLoc loc;         /* of the placement, for messages about it as a whole */
} CsimPlacement;

void csim_placement_clear(CsimPlacement *placement);
/* The member "placement" of a cluster file. folder: where a hosts file's name is relative to. Findings go to the document's diag. */
void csim_placement_read(CsimJson *object, const char *folder, CsimPlacement *out);
/* The command line's form: "random", "random,seed=3,nodes=64", "strided,stride=4", "hosts=node[1-4,7]", "file=hosts.txt". */
gboolean csim_placement_parse(const char *text, CsimPlacement *out, GError **error);

/* Puts the job's nodes in order: cluster->n_nodes, node_place, node_system, node_hardware. On entry these list every place of the
 * cluster. seed: where the placement has none. CSIM_ERROR_VALUE if there are too few nodes, CSIM_ERROR_REFERENCE for an unknown host. */
gboolean csim_placement_apply(const CsimPlacement *placement, uint64_t seed, CsimCluster *cluster, GError **error);

/* Place of a host of that name, or -1. */
int csim_cluster_find_place(const CsimCluster *cluster, const char *name);

#endif
