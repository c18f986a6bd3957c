/*
 * topo/cluster-fabric.h - the fabric around a cluster's nodes.
 *
 * Used by: machine.c and placement.c. Implemented in cluster-fabric.c.
 */
#ifndef CSIM_TOPO_CLUSTER_FABRIC_H
#define CSIM_TOPO_CLUSTER_FABRIC_H

#include "topo/fabric.h"

/* Whole; faults are put in by csim_fabric_break. The caller clears it. */
gboolean csim_cluster_make_fabric(const CsimCluster *cluster, const CsimCatalogue *catalogue, const CsimNetModel *net, CsimFabric *out,
                                  GError **error);
/* Switch of each place's first NIC, n_places of them, with the catalogue as shipped. NULL and an error if there is no such fabric. Caller frees. */
guint *csim_cluster_leaves(const CsimCluster *cluster, GError **error);

#endif
