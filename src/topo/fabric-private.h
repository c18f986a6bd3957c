/*
 * topo/fabric-private.h - numbering of a tree's cables and links; private to fabric*.c and the generators.
 *
 * Cables of a plane: those of leaves first (leaf * up + cable), then, with three tiers, those of spines to cores. Links: two a cable and
 * direction (up, down); then the ports of NICs on the planes. With adaptive routing links are trunks: two a leaf, then two a pod, over all planes.
 */
#ifndef CSIM_TOPO_FABRIC_PRIVATE_H
#define CSIM_TOPO_FABRIC_PRIVATE_H

#include "topo/fabric.h"

static inline gboolean fabric_is_rail(const CsimFabric *f) {
  return f->kind == CSIM_FABRIC_RAIL || f->kind == CSIM_FABRIC_RAIL_ONLY;
}
static inline gboolean fabric_is_adaptive(const CsimFabric *f) { return f->routing == CSIM_ROUTING_ADAPTIVE; }

static inline guint fabric_leaf_cables(const CsimFabric *f) { return f->tiers > 1 ? f->leaves * f->up : 0; }
static inline guint fabric_core_cables(const CsimFabric *f) { return f->tiers > 2 ? f->pods * f->spines * f->core_up : 0; }
static inline guint fabric_plane_cables(const CsimFabric *f) { return fabric_leaf_cables(f) + fabric_core_cables(f); }

static inline guint fabric_leaf_cable(const CsimFabric *f, guint plane, guint leaf, guint cable) {
  return plane * fabric_plane_cables(f) + leaf * f->up + cable;
}
static inline guint fabric_core_cable(const CsimFabric *f, guint plane, guint pod, guint spine, guint cable) {
  return plane * fabric_plane_cables(f) + fabric_leaf_cables(f) + (pod * f->spines + spine) * f->core_up + cable;
}
static inline double fabric_health(const CsimFabric *f, guint cable) { return f->health != NULL ? f->health[cable] : 1; }
static inline gboolean fabric_leaf_dead(const CsimFabric *f, guint plane, guint leaf) {
  return f->dead != NULL && f->dead[plane * f->leaves + leaf];
}

typedef struct { guint leaf, port; } FabricPort;
FabricPort fabric_port(const CsimFabric *f, CsimEndpoint e);
/* Left of the trunk of a leaf's uplinks; payload bytes/s over all planes. */
double fabric_leaf_trunk(const CsimFabric *f, guint leaf);

/* fabric-ways.c */
gboolean fabric_tree_path(const CsimFabric *f, CsimEndpoint from, CsimEndpoint to, uint32_t flow_hash, CsimFabricPath *path, GError **error);

/* Generators: dragonfly.c, torus.c, links.c. The graph is attached but not finished. */
typedef struct {
  const CsimCluster *cluster;
  const CsimFabric *fabric; /* rails, positions, cable, cable_leaf, cable_spine */
  guint radix;
} FabricPlan;
CsimMesh *fabric_dragonfly(const FabricPlan *plan, GError **error);
CsimMesh *fabric_dragonfly_plus(const FabricPlan *plan, GError **error);
CsimMesh *fabric_torus(const FabricPlan *plan, GError **error);
CsimMesh *fabric_list(const FabricPlan *plan, const CsimNetModel *net, GError **error);

/* Finaliser of splitmix64 (Steele, Lea, Flood 2014): spreads flow numbers over cables. */
static inline guint fabric_mix(uint64_t x) {
  x += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (guint)((x ^ (x >> 31)) >> 33);
}

#endif
