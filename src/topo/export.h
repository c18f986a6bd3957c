/*
 * topo/export.h - the node graph for other tools.
 *
 * Used by: `collsim topo --dot`. (JSON and the matrix need paths: nccl/json.h, nccl/topo-matrix.h.)
 */
#ifndef CSIM_TOPO_EXPORT_H
#define CSIM_TOPO_EXPORT_H

#include "topo/system.h"

/* Graphviz text: one node a node of NCCL's graph, one edge a pair of links with its GB/s. Caller frees. */
char *csim_topo_dot(const CsimSystem *system);

#endif
