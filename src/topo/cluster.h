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

typedef enum {
  CSIM_FABRIC_SWITCH, CSIM_FABRIC_FAT_TREE, CSIM_FABRIC_RAIL, CSIM_FABRIC_RAIL_ONLY,
  CSIM_FABRIC_DRAGONFLY, CSIM_FABRIC_DRAGONFLY_PLUS, CSIM_FABRIC_TORUS, CSIM_FABRIC_LINKS
} CsimFabricKind;
typedef enum { CSIM_ROUTING_STATIC, CSIM_ROUTING_ECMP, CSIM_ROUTING_ADAPTIVE } CsimRouting;
typedef enum { CSIM_TRANSPORT_IB, CSIM_TRANSPORT_ROCE, CSIM_TRANSPORT_SOCKET, CSIM_TRANSPORT_SLINGSHOT, CSIM_TRANSPORT_EFA } CsimTransport;

/* One line of an explicit list of cables, and one of the hosts that hang on a switch (kind "links"). Texts are interned. */
typedef struct { const char *from, *to; int cables; CsimRate rate; CsimTime cable; CsimLoc loc; } CsimCableSpec;
typedef struct { const char *at, *hosts; int first_nic, last_nic; CsimLoc loc; } CsimAttachSpec; /* NICs of each host; -1: all */

/* 0 or NULL where a member is left to its default, if nothing else is said. */
typedef struct {
  CsimFabricKind kind;
  int tiers;               /* 1..3 */
  int radix;               /* ports a switch */
  double oversubscription; /* 1: non-blocking, 2: half the uplinks; of a leaf */
  double core_oversubscription; /* the same of a spine towards the cores (three tiers) */
  int planes;              /* parallel fabrics, each of which gets 1/planes of every NIC; 0 and 1: one */
  int groups, routers, hosts, global; /* dragonfly: groups, routers a group, NICs a router, global cables a router; torus: hosts = nodes a switch */
  int dims[3], n_dims;     /* torus */
  int cables;              /* torus: between neighbours */
  GArray *links, *attach;  /* explicit list: CsimCableSpec, CsimAttachSpec; the cluster's */
  CsimRate link_rate;      /* 0: the NICs' */
  CsimTime cable_leaf, cable_spine; /* propagation */
  CsimTransport transport;
  int mtu;
  CsimRouting routing;
  gboolean sharp;
  CsimPacketSettings packet; /* switches, adapters, RoCE, InfiniBand */
} CsimFabricSpec;

/* The job's nodes are 0 .. n_nodes-1 in the order of ranks; each is one of the cluster's n_places machines, its *place*, which are numbered and named
 * as the file lists them. Without a placement the job has all of them, in that order. */
typedef struct CsimCluster {
  char *name;              /* the text it was made from */
  guint n_nodes;           /* machines of the job; an XML of several hosts in one NVLink domain is one */
  GPtrArray *systems;      /* CsimSystem*, distinct node kinds */
  GPtrArray *sources;      /* char*, beside each: the shipped name or file that it was read from */
  guint *node_system;      /* n_nodes indices into systems: what NCCL is told */
  guint *node_hardware;    /* the same: what is there. Differs only for a fault that NCCL does not see */
  guint n_places;
  guint *node_place;       /* n_nodes */
  guint *place_position;   /* n_places + 1: position of a machine's first host in the fabric; the last is the number of hosts */
  char **place_name;       /* n_places: "node7", or a host's name of the file */
  CsimFabricSpec fabric;
  GArray *faults;          /* CsimFault (topo/faults.h), as given */
  gboolean seeded;         /* something was drawn, or is to be, by the options' seed */
  double loss;             /* of a fault: share of packets lost on every cable; packet fidelity only */
  gboolean stuck;          /* some NIC takes in nothing for a while (faults.h) */
  gboolean bound_in_vain;  /* a process is bound to a NUMA node, but its buffers are near its GPU all the same */
  CsimDiag *diag;          /* findings of loading */
} CsimCluster;

/* What a cluster file calls them, in the order of the enumerations, NULL at the end. */
extern const char *const csim_fabric_kind_names[], *const csim_transport_names[], *const csim_routing_names[];
/* "ib", "roce", "socket", "slingshot", "efa": the catalogue groups. */
const char *csim_transport_name(CsimTransport transport);

/* What a command line adds to a target. */
typedef struct {
  guint n_nodes;             /* > 0: replaces the target's count of nodes; with a placement: how many of the cluster's nodes the job takes */
  const char *placement;     /* "random,seed=3" (topo/placement.h) or NULL: the file's */
  const char *const *faults; /* "link:leaf0-spine1.0:rate=0.5" (topo/faults.h), NULL-ended, added to the file's; or NULL */
  const char *hca;           /* NCCL_IB_HCA (topo/adapters.h), NULL: all adapters */
  gboolean buffers_follow;   /* host buffers lie where the process runs, not near its GPU (NCCL_CUMEM_HOST_ENABLE=0) */
  uint64_t seed;             /* of what is random and has no seed of its own */
} CsimClusterOptions;

CsimCluster *csim_cluster_load_with(const char *target, const CsimClusterOptions *options, GError **error);
/* Generation of SHARP in switches that fit the slowest NIC (models/sharp.h), 0 without NICs. */
int csim_cluster_sharp_generation(const CsimCluster *cluster);

/* n_nodes: overrides the count in `target` if > 0. */
CsimCluster *csim_cluster_load(const char *target, guint n_nodes, GError **error);
void csim_cluster_free(CsimCluster *cluster);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CsimCluster, csim_cluster_free)

static inline const CsimSystem *csim_cluster_system(const CsimCluster *c, guint node) {
  return (const CsimSystem *)g_ptr_array_index(c->systems, c->node_system[node]);
}
static inline const CsimSystem *csim_cluster_hardware(const CsimCluster *c, guint node) {
  return (const CsimSystem *)g_ptr_array_index(c->systems, c->node_hardware[node]);
}
/* Position of the node's first host in the fabric. */
static inline guint csim_cluster_position(const CsimCluster *c, guint node) { return c->place_position[c->node_place[node]]; }
static inline const char *csim_cluster_node_name(const CsimCluster *c, guint node) { return c->place_name[c->node_place[node]]; }

/* Names of the shipped nodes, NULL-ended, with a one-line description each; static. */
typedef struct { const char *name, *summary; } CsimShippedNode;
const CsimShippedNode *csim_shipped_nodes(void);

#endif
