/*
 * topo/cluster-build.h - pieces of cluster loading; private to topo/cluster*.c.
 */
#ifndef CSIM_TOPO_CLUSTER_BUILD_H
#define CSIM_TOPO_CLUSTER_BUILD_H

#include "topo/cluster.h"

#define CSIM_CLUSTER_MAX_NODES 65536

CsimCluster *csim_cluster_new(const char *name);
/* The system of a shipped name ("dgx-h100") or of an XML file; findings go to cluster->diag. */
CsimSystem *csim_cluster_open_node(CsimCluster *cluster, const char *text, GError **error);
/* Adds `count` nodes of a system, which the cluster then owns. */
void csim_cluster_add_nodes(CsimCluster *cluster, CsimSystem *system, guint count);
/* What is built by default around these nodes. */
CsimFabricSpec csim_cluster_default_fabric(const CsimCluster *cluster);
/* A cluster JSON (docs/guide/cluster.md). n_nodes > 0 replaces the count of its only group of nodes. */
gboolean csim_cluster_read_json(CsimCluster *cluster, const char *path, guint n_nodes, GError **error);

#endif
