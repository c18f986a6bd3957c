/*
 * topo/fabric-mesh.h - a fabric as a graph of switches: dragonfly, torus, or what the user lists.
 *
 * Used by: fabric.c (paths), generators (dragonfly.c, torus.c, links.c). Models: docs/models/fabrics.md.
 *
 * Built in three steps: switches, cables and endpoints are added; csim_mesh_finish counts the ways; paths are asked for. A cable is two directed links:
 * 2 * cable is a to b, 2 * cable + 1 is b to a. The way from switch to switch is the cheapest, where a cable costs its `cost`.
 *   static    by destination, as forwarding tables are; ordered graphs (torus) take the first cheapest neighbour: dimension order
 *   ecmp      each switch hashes over its cheapest next cables
 *   adaptive  least loaded: of a few cheapest ways, and where the graph detours, of a few ways over another switch at twice the cost, the one whose
 *             fullest link is least full; ties go to the shorter, then to the first. What is full is the caller's count of flows.
 */
#ifndef CSIM_TOPO_FABRIC_MESH_H
#define CSIM_TOPO_FABRIC_MESH_H

#include "topo/cluster.h"

#define CSIM_MESH_MAX_SWITCHES 4096

typedef struct CsimMesh CsimMesh;

CsimMesh *csim_mesh_new(guint n_endpoints);
void csim_mesh_free(CsimMesh *graph); /* NULL allowed */
/* Number of the new switch; name is copied. */
guint csim_mesh_add_switch(CsimMesh *graph, const char *name);
guint csim_mesh_n_switches(const CsimMesh *graph);
const char *csim_mesh_switch_name(const CsimMesh *graph, guint sw);
/* Number of the new cable. rate: payload of a direction; cost: 1 or more. */
guint csim_mesh_add_cable(CsimMesh *graph, guint a, guint b, CsimRate rate, CsimTime latency, guint cost);
guint csim_mesh_n_cables(const CsimMesh *graph);
void csim_mesh_cable(const CsimMesh *graph, guint cable, guint *a, guint *b, CsimRate *rate);
CsimTime csim_mesh_cable_latency(const CsimMesh *graph, guint cable);
void csim_mesh_attach(CsimMesh *graph, guint endpoint, guint sw);
/* The endpoint's switch, UINT_MAX for none yet. */
guint csim_mesh_switch_of(const CsimMesh *graph, guint endpoint);
/* ordered: static routes keep to the first neighbour. detours: adaptive routes may be non-minimal. */
void csim_mesh_set_style(CsimMesh *graph, gboolean ordered, gboolean detours);
/* health: by cable, or NULL: all whole; borrowed. Call again after it has changed. */
void csim_mesh_finish(CsimMesh *graph, const double *health);

typedef struct {
  guint n, max;
  guint *link;      /* out: directed links, in order; room for max */
  guint switches;   /* passed, both ends included */
  CsimTime latency; /* of the cables */
} CsimMeshWay;
/* The i-th way, of CSIM_FABRIC_MAX_WAYS, that adaptive routing looks at: cheapest ones first, then detours. FALSE: there is none. */
gboolean csim_mesh_candidate(const CsimMesh *graph, guint from, guint to, uint64_t hash, guint i, CsimMeshWay *way);
/* FALSE if there is no way, or none of at most way->max links. loads: by link, or NULL. */
gboolean csim_mesh_way(const CsimMesh *graph, CsimRouting routing, guint from, guint to, uint64_t hash, const uint32_t *loads, CsimMeshWay *way);

#endif
