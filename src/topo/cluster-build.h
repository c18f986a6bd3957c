/*
 * topo/cluster-build.h - pieces of cluster loading; private to topo/cluster*.c, placement*.c, faults*.c.
 */
#ifndef CSIM_TOPO_CLUSTER_BUILD_H
#define CSIM_TOPO_CLUSTER_BUILD_H

#include "topo/cluster.h"
#include "topo/nccl-xml.h"
#include "topo/placement.h"

#define CSIM_CLUSTER_MAX_NODES 65536

CsimCluster *csim_cluster_new(const char *name);
/* The parsed topology file of a shipped name ("dgx-h100") or of a path; findings go to diag. */
CsimNcclXml *csim_cluster_open_xml(const char *text, CsimDiag *diag, GError **error);
/* Its system; findings go to cluster->diag. */
CsimSystem *csim_cluster_open_node(CsimCluster *cluster, const char *text, GError **error);
/* Adds `count` nodes of a system, which the cluster then owns. source: as given to csim_cluster_open_node. names: of the hosts, as many, or NULL. */
void csim_cluster_add_nodes(CsimCluster *cluster, CsimSystem *system, const char *source, guint count, const GPtrArray *names);
/* Adds a system that no node uses yet (a broken one); its index. */
guint csim_cluster_add_system(CsimCluster *cluster, CsimSystem *system, const char *source);
/* What is built by default around these nodes. */
CsimFabricSpec csim_cluster_default_fabric(const CsimCluster *cluster);
/* A cluster JSON (docs/guide/cluster.md). n_nodes > 0 replaces the count of its only group of nodes, unless there is a placement. */
gboolean csim_cluster_read_json(CsimCluster *cluster, const char *path, guint n_nodes, gboolean placed, CsimPlacement *placement, GError **error);
/* The member "fabric" of a cluster file (fabric-json.c). */
void csim_fabric_spec_read(CsimJson *fabric, CsimFabricSpec *spec);

/* cluster-words.c: "random,seed=3" is {"order":"random","seed":3} with first = "order". numbers: NULL-ended names of members whose values are
 * numbers. A text that starts with '{' is JSON already. The caller frees. */
char *csim_cluster_words_to_json(const char *text, const char *first, const char *const *numbers);
void csim_cluster_append_words(GString *out, const char *text, const char *first, const char *const *numbers);
void csim_cluster_append_member(GString *out, const char *key, const char *value, const char *const *numbers);
/* FALSE and the first error, without a place, in front of it what was given. */
gboolean csim_cluster_check_words(const CsimDiag *diag, const char *what, const char *text, GError **error);

#endif
