/*
 * topo/fabric.h - the network between nodes: switches, cables, paths.
 *
 * Used by: topo/machine.c only. Equations and pictures: docs/models/network.md.
 *
 * An endpoint is a NIC: (rail, position); positions count the hosts of the cluster. Leaves have `down` ports to endpoints and `up` cables
 * to spines; with three tiers leaves and spines form pods, and each spine has `core_up` cables to cores.
 *   rail, rail-only  leaf = rail * leaves_per_rail + position / down
 *   fat tree         endpoints are numbered host by host, so that a host's NICs share a leaf
 * Links of the fabric have dense ids from 0: with static or ECMP routing one per cable and direction, with adaptive routing one
 * per leaf (and pod) and direction, the whole trunk: adaptive routing is taken as perfect spreading.
 *
 * A cable is left out of a route when it cannot bind: see "What is left out" in docs/models/network.md.
 */
#ifndef CSIM_TOPO_FABRIC_H
#define CSIM_TOPO_FABRIC_H

#include "models/catalogue.h"
#include "models/net.h"
#include "topo/cluster.h"

typedef struct {
  guint rail, position;
} CsimEndpoint;

typedef struct {
  CsimFabricKind kind;
  CsimRouting routing;
  int tiers;
  guint rails, positions;
  guint down, up; /* ports of a leaf to endpoints, cables to spines */
  guint leaves_per_rail, leaves;
  guint spines; /* 2 tiers: all; 3 tiers: of a pod */
  guint pods, leaves_per_pod, core_up;
  CsimRate cable;                 /* payload of a cable and direction */
  CsimRate endpoint_rate;         /* the widest NIC's payload */
  gboolean leaf_binds, pod_binds; /* adaptive: can a trunk be the limit? */
  guint n_links;
  CsimTime switch_latency, cable_leaf, cable_spine, cable_core;
} CsimFabric;

/* endpoint_line: line rate of the widest NIC. */
gboolean csim_fabric_init(const CsimFabricSpec *spec, guint rails, guint positions, CsimRate endpoint_line,
                          const CsimCatalogue *catalogue, const CsimNetModel *net, CsimFabric *out,
                          GError **error);

#define CSIM_FABRIC_MAX_HOPS 4
typedef struct {
  guint n, link[CSIM_FABRIC_MAX_HOPS]; /* fabric link ids, in order */
  guint switches;
  CsimTime latency; /* switches and cables; adapters are models/net.h's */
  /* The way as a packet takes it, nothing left out. Cables count as in "leaf0-spine1.2": up out of the first leaf, down into the last one,
   * core out of the spine. Meaningless where the path does not go so high. */
  guint from_leaf, to_leaf, up, down, core;
  gboolean over_spine, over_core;
} CsimFabricPath;

/* FALSE and CSIM_ERROR_ROUTE between two rails of a rail-only fabric. */
gboolean csim_fabric_path(const CsimFabric *f, CsimEndpoint from, CsimEndpoint to, uint32_t flow_hash,
                          CsimFabricPath *out, GError **error);
/* The switch of an endpoint's cable: a leaf, or the one switch there is (a rail-only fabric has one a rail). */
guint csim_fabric_leaf(const CsimFabric *f, CsimEndpoint e);
CsimRate csim_fabric_link_rate(const CsimFabric *f, guint link);
char *csim_fabric_link_name(const CsimFabric *f, guint link); /* "leaf3-spine1 up"; caller frees */

#endif
