/*
 * nccl/graph-xml.h - NCCL_GRAPH_FILE in, NCCL_GRAPH_DUMP_FILE out.
 *
 * Used by: the communicator (a file replaces the search), `collsim graph --xml`. Form: fact sheet 7.3.
 */
#ifndef CSIM_NCCL_GRAPH_XML_H
#define CSIM_NCCL_GRAPH_XML_H

#include "nccl/graph.h"

/* If NCCL_GRAPH_FILE names a readable file with channels for graph->id, fills *graph from it and returns
 * TRUE, as NCCL does. inter: the job has several nodes, so that channels need their two NICs. A file that cannot
 * be used is a warning in diag, and FALSE: the search goes on. */
gboolean csim_graph_xml_read(const CsimSystem *system, const CsimNcclEnv *env, gboolean inter, CsimDiag *diag,
                             CsimGraph *graph);
/* The text NCCL_GRAPH_DUMP_FILE would hold: graph[CSIM_N_GRAPHS] by id. inter: channels begin and end with a
 * NIC. Caller frees. */
char *csim_graph_xml_text(const CsimSystem *system, const CsimGraph *graph, gboolean inter);

#endif
