/*
 * topo/fabric.h - the network between nodes: switches, cables, paths.
 *
 * Used by: topo/machine.c, placement. Equations and pictures: docs/models/network.md, docs/models/fabrics.md.
 *
 * An endpoint is a NIC: (rail, position); positions count the hosts of the cluster. Trees (one switch, fat tree, rail-optimised, rail-only) are
 * answered by arithmetic in fabric.c; everything else is a graph of switches (fabric-mesh.h) that a generator made.
 *
 * Trees: leaves have `down` ports to endpoints and `up` cables to spines; with three tiers leaves and spines form pods, and each spine
 * has `core_up` cables to cores.
 *   rail, rail-only  leaf = rail * leaves_per_rail + position / down
 *   fat tree         endpoints are numbered host by host, so that a host's NICs share a leaf
 * Links have dense ids from 0: one per cable and direction; in trees with adaptive routing one per leaf (and pod) and direction, the whole trunk:
 * adaptive routing is taken as perfect spreading there. With several planes each plane has a tree of its own, and each NIC a port on each.
 *
 * A cable is left out of a route when it cannot bind: see "What is left out" in docs/models/network.md.
 */
#ifndef CSIM_TOPO_FABRIC_H
#define CSIM_TOPO_FABRIC_H

#include "models/catalogue.h"
#include "models/net.h"
#include "topo/cluster.h"
#include "topo/fabric-mesh.h"

typedef struct {
  guint rail, position;
} CsimEndpoint;

/* A cable that comes and goes, and one of the links that lose it. */
typedef struct {
  guint link, cable;
  CsimRate lost;
  CsimTime period, down;
} CsimFabricFlap;

typedef struct {
  CsimFabricKind kind;
  CsimRouting routing;
  int tiers;
  guint rails, positions;
  guint planes;
  guint down, up; /* ports of a leaf to endpoints, cables to spines; of one plane */
  guint leaves_per_rail, leaves;
  guint spines; /* 2 tiers: all; 3 tiers: of a pod */
  guint pods, leaves_per_pod, core_up;
  CsimRate cable;                 /* payload of a cable and direction */
  CsimRate endpoint_rate;         /* the widest NIC's payload, over all its planes */
  gboolean leaf_binds, pod_binds; /* adaptive, whole: can a trunk be the limit? */
  gboolean keep_all;              /* leave nothing out of paths, for maps of link loads */
  guint n_links;
  CsimTime switch_latency, cable_leaf, cable_spine, cable_core;
  double *health;  /* per cable: share of its rate that is left, 0: down; NULL: all whole */
  GArray *flaps;   /* CsimFabricFlap; NULL: none */
  guint8 *dead;    /* per leaf and plane of a tree: the switch is lost; NULL: none */
  CsimMesh *graph; /* what is no tree; else NULL */
} CsimFabric;

/* endpoint_line: line rate of the widest NIC. hosts: positions by host name, for explicit lists (cluster.h). On success the caller clears it. */
gboolean csim_fabric_init(const CsimCluster *cluster, guint rails, CsimRate endpoint_line, const CsimCatalogue *catalogue,
                          const CsimNetModel *net, CsimFabric *out, GError **error);
void csim_fabric_clear(CsimFabric *f);

#define CSIM_FABRIC_MAX_HOPS 40
typedef struct {
  guint n, link[CSIM_FABRIC_MAX_HOPS]; /* fabric link ids, in order */
  guint switches;
  CsimTime latency; /* switches and cables; adapters are models/net.h's */
  /* Trees: the way as a packet takes it, nothing left out. Cables count as in "leaf0-spine1.2": up out of the first leaf, down into the last one,
   * core out of the spine. Meaningless where the path does not go so high. */
  guint plane, from_leaf, to_leaf, up, down, core;
  gboolean over_spine, over_core;
} CsimFabricPath;

/* flow_hash: entropy. loads: flows on each fabric link so far, counted up here, for fabrics that balance them (csim_fabric_balances); or NULL.
 * FALSE and CSIM_ERROR_ROUTE between two rails of a rail-only fabric, or where faults leave no way. */
gboolean csim_fabric_path(const CsimFabric *f, CsimEndpoint from, CsimEndpoint to, uint32_t flow_hash, uint32_t *loads,
                          CsimFabricPath *out, GError **error);
/* The distinct ways that adaptive routing over a graph chooses from, cheapest ones first; returns how many, at most CSIM_FABRIC_MAX_WAYS. 0: none. */
#define CSIM_FABRIC_MAX_WAYS 8
guint csim_fabric_ways(const CsimFabric *f, CsimEndpoint from, CsimEndpoint to, uint32_t flow_hash, CsimFabricPath *out);
/* Does the path depend on what else is there? */
gboolean csim_fabric_balances(const CsimFabric *f);
/* Can two flows between the same endpoints take different ways? */
gboolean csim_fabric_spreads(const CsimFabric *f);
CsimRate csim_fabric_link_rate(const CsimFabric *f, guint link);
char *csim_fabric_link_name(const CsimFabric *f, guint link); /* "leaf3-spine1.0 up"; caller frees */
/* The switch of an endpoint's cable: a leaf, or the one switch there is (a rail-only fabric has one a rail); of the first plane. */
guint csim_fabric_leaf(const CsimFabric *f, CsimEndpoint endpoint);

/* --- faults (fabric-faults.c) --- */
guint csim_fabric_n_cables(const CsimFabric *f);
char *csim_fabric_cable_name(const CsimFabric *f, guint cable); /* "leaf3-spine1.0"; caller frees */
#define CSIM_SWITCH_NAME 80
/* Puts the cluster's faults of links and switches in. seed: for random ones without a seed. */
gboolean csim_fabric_break(CsimFabric *f, const CsimCluster *cluster, uint64_t seed, GError **error);

#endif
