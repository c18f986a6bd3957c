/*
 * topo/cluster.h - the described cluster: nodes, fabric, transport, placement, faults.
 *
 * Three sources, one result: the short form "dgx-h100*128", an NCCL XML ("FILE.xml", "FILE.xml*16"), or a cluster JSON
 * ("FILE.json", or the text itself, which starts with '{'; schema in docs/guide/cluster.md). Shipped nodes are looked for by name in topologies/.
 * Immutable after loading, shared between threads.
 */
#ifndef CSIM_TOPO_CLUSTER_H
#define CSIM_TOPO_CLUSTER_H

#include "topo/packet-settings.h"
#include "topo/system.h"

typedef enum { CSIM_FABRIC_SWITCH, CSIM_FABRIC_FAT_TREE, CSIM_FABRIC_RAIL, CSIM_FABRIC_RAIL_ONLY } CsimFabricKind;
typedef enum { CSIM_ROUTING_STATIC, CSIM_ROUTING_ECMP, CSIM_ROUTING_ADAPTIVE } CsimRouting;
typedef enum { CSIM_TRANSPORT_IB, CSIM_TRANSPORT_ROCE, CSIM_TRANSPORT_SOCKET, CSIM_TRANSPORT_SLINGSHOT, CSIM_TRANSPORT_EFA } CsimTransport;

typedef struct {
  CsimFabricKind kind;
  int tiers;               /* 1..3 */
  int radix;               /* ports a switch */
  double oversubscription; /* 1: non-blocking, 2: half the uplinks; per leaf */
  CsimRate link_rate;      /* 0: the NICs' */
  CsimTime cable_leaf, cable_spine; /* propagation */
  CsimTransport transport;
  int mtu;
  CsimRouting routing;
  gboolean sharp;
  CsimPacketSettings packet; /* switches, adapters, RoCE, InfiniBand */
} CsimFabricSpec;

typedef struct CsimCluster {
  char *name;              /* the text it was made from */
  guint n_nodes;           /* machines; an XML of several hosts in one NVLink domain is one */
  GPtrArray *systems;      /* CsimSystem*, distinct node kinds */
  guint *node_system;      /* n_nodes indices into systems */
  CsimFabricSpec fabric;
  CsimDiag *diag;          /* findings of loading */
} CsimCluster;

/* "ib", "roce", "socket", "slingshot", "efa": the catalogue groups. */
const char *csim_transport_name(CsimTransport transport);

/* n_nodes: overrides the count in `target` if > 0. */
CsimCluster *csim_cluster_load(const char *target, guint n_nodes, GError **error);
void csim_cluster_free(CsimCluster *cluster);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CsimCluster, csim_cluster_free)

static inline const CsimSystem *csim_cluster_system(const CsimCluster *c, guint node) {
  return (const CsimSystem *)g_ptr_array_index(c->systems, c->node_system[node]);
}
/* Names of the shipped nodes, NULL-ended, with a one-line description each; static. */
typedef struct { const char *name, *summary; } CsimShippedNode;
const CsimShippedNode *csim_shipped_nodes(void);

#endif
