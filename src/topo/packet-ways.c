/* topo/packet-ways.c - the ways of queue pairs through a machine's packet network, and the virtual lanes on them. */
#include "topo/packet-fabric-private.h"

#include <string.h>

typedef struct {
  guint n, port[CSIM_PKT_MAX_HOPS];
  guint8 lane[CSIM_PKT_MAX_HOPS];
} Way;

static guint leaf_cable(const CsimFabric *f, guint plane, guint leaf, guint cable) {
  return plane * (csim_fabric_n_cables(f) / f->planes) + leaf * f->up + cable;
}

static guint core_cable(const CsimFabric *f, const CsimFabricPath *path, guint leaf) {
  guint spine = leaf / f->leaves_per_pod * f->spines + path->up % f->spines;
  return leaf_cable(f, path->plane, 0, 0) + f->leaves * f->up + spine * f->core_up + path->core;
}

/* The ports by which a packet leaves each node of its way through a tree: one lane, since what only climbs and then descends waits in no circle. */
static void tree_way(const CsimPacketFabric *p, CsimNicRef from, CsimNicRef to, const CsimFabricPath *path, Way *w) {
  const CsimFabric *f = p->fabric;
  w->port[w->n++] = p->host_port[packet_host(p, from, path->plane)];
  if (path->over_spine) w->port[w->n++] = p->cable_port[leaf_cable(f, path->plane, path->from_leaf, path->up)];
  if (path->over_core) {
    w->port[w->n++] = p->cable_port[core_cable(f, path, path->from_leaf)];
    w->port[w->n++] = p->cable_port[core_cable(f, path, path->to_leaf)] + 1;
  }
  if (path->over_spine) w->port[w->n++] = p->cable_port[leaf_cable(f, path->plane, path->to_leaf, path->down)] + 1;
  w->port[w->n++] = p->host_port[packet_host(p, to, path->plane)] + 1;
}

/* Links in an order that goes round rings: cables forth upwards, then cables back downwards. */
static guint rank_of(const CsimPacketFabric *p, guint link) {
  guint cables = csim_mesh_n_cables(p->fabric->graph);
  return link % 2 == 0 ? link / 2 : 2 * cables - link / 2;
}

/*
 * A way goes on by the next virtual lane wherever the order of links descends. So lanes never fall along a way and links rise within a lane: no
 * circle of buffers can wait for itself (Dally, Seitz 1987) as long as the lanes suffice; the last one is used for the rest.
 */
static void graph_way(const CsimPacketFabric *p, CsimNicRef from, CsimNicRef to, const CsimFabricPath *path, Way *w) {
  guint8 lane = 0;
  w->port[w->n++] = p->host_port[packet_host(p, from, 0)];
  for (guint i = 0; i < path->n; i++) {
    if (i > 0 && rank_of(p, path->link[i]) <= rank_of(p, path->link[i - 1]) && lane + 1 < CSIM_PKT_CLASSES) lane++;
    w->lane[w->n] = lane;
    w->port[w->n++] = p->cable_port[path->link[i] / 2] + path->link[i] % 2;
  }
  w->lane[w->n] = lane;
  w->port[w->n++] = p->host_port[packet_host(p, to, 0)] + 1;
}

static gboolean find_way(const CsimPacketFabric *p, CsimNicRef from, CsimNicRef to, uint32_t hash, Way *w, guint *plane, GError **error) {
  CsimEndpoint a = csim_machine_nic_endpoint(p->machine, from), b = csim_machine_nic_endpoint(p->machine, to);
  CsimFabricPath path = {0};
  memset(w, 0, sizeof *w);
  if (!csim_fabric_path(p->fabric, a, b, hash, NULL, &path, error)) return FALSE;
  if (p->fabric->graph != NULL) graph_way(p, from, to, &path, w);
  else tree_way(p, from, to, &path, w);
  *plane = p->fabric->graph != NULL ? 0 : path.plane;
  return TRUE;
}

/* EFA's adapters spread frames over the ways of a tree, without looking, wherever these are not fixed. */
static gboolean sprays(const CsimPacketFabric *p) {
  const CsimFabricSpec *spec = &csim_machine_cluster(p->machine)->fabric;
  return spec->transport == CSIM_TRANSPORT_EFA && spec->routing != CSIM_ROUTING_STATIC && p->fabric->graph == NULL;
}

/* TCP takes overtaking for loss, and keeps to one way. */
static gboolean adapts(const CsimPacketFabric *p) {
  const CsimFabricSpec *spec = &csim_machine_cluster(p->machine)->fabric;
  return spec->routing == CSIM_ROUTING_ADAPTIVE && spec->transport != CSIM_TRANSPORT_SOCKET;
}

static CsimPktRouting each_frame(const CsimPacketFabric *p) {
  gboolean graph = p->fabric->graph != NULL;
  return sprays(p) ? CSIM_PKT_SPRAY : !adapts(p) ? CSIM_PKT_ONE_PATH : graph ? CSIM_PKT_WAYS : CSIM_PKT_ADAPTIVE;
}

/* On all planes at once: each switch finds its own shortest ways. Planes without one are left out. */
static guint on_all_planes(CsimPacketFabric *p, CsimNicRef from, CsimNicRef to, guint *qps, GError **error) {
  CsimPktQpSpec spec = {.routing = each_frame(p)};
  guint n = 0;
  for (guint plane = 0; plane < p->planes; plane++) {
    guint src = packet_host(p, from, plane), dst = packet_host(p, to, plane);
    if (p->host_port[src] == NO_PORT || p->host_port[dst] == NO_PORT) continue;
    qps[n] = csim_pkt_add_qp(p->net, src, dst, &spec, NULL);
    if (qps[n] != G_MAXUINT32) n++;
  }
  if (n == 0) csim_error_set(error, CSIM_ERROR_ROUTE, CSIM_LOC_NONE, "no plane has a way left with these faults; allowed: faults that leave one");
  return n;
}

/* The ways that flows would choose from, for every frame to choose from. */
static guint list_ways(const CsimPacketFabric *p, CsimNicRef from, CsimNicRef to, uint32_t hash, Way *ways, CsimPktWay *out) {
  CsimFabricPath paths[CSIM_FABRIC_MAX_WAYS];
  guint n = csim_fabric_ways(p->fabric, csim_machine_nic_endpoint(p->machine, from), csim_machine_nic_endpoint(p->machine, to), hash, paths);
  G_STATIC_ASSERT(CSIM_FABRIC_MAX_WAYS <= CSIM_PKT_MAX_WAYS);
  for (guint i = 0; i < n; i++) {
    ways[i].n = 0;
    graph_way(p, from, to, &paths[i], &ways[i]);
    out[i] = (CsimPktWay){ways[i].n, ways[i].port, ways[i].lane};
  }
  return n;
}

guint csim_packet_fabric_qps(CsimPacketFabric *p, CsimNicRef from, CsimNicRef to, uint32_t flow_hash, guint *qps, GError **error) {
  gboolean graph = p->fabric->graph != NULL;
  Way there, back, ways[CSIM_FABRIC_MAX_WAYS] = {{0}};
  CsimPktWay several[CSIM_FABRIC_MAX_WAYS];
  guint plane = 0, back_plane = 0;
  if (!find_way(p, from, to, flow_hash, &there, &plane, error)) return 0;
  if (adapts(p) && p->planes > 1) return on_all_planes(p, from, to, qps, error);
  if (!find_way(p, to, from, flow_hash, &back, &back_plane, error)) return 0;
  CsimPktQpSpec spec = {.path = there.port, .n_path = there.n, .back = back.port, .n_back = back.n};
  spec.routing = each_frame(p);
  if (graph) spec.lane = there.lane, spec.back_lane = back.lane;
  if (spec.routing == CSIM_PKT_WAYS) spec.n_ways = list_ways(p, from, to, flow_hash, ways, several), spec.ways = several;
  if (plane != back_plane) spec.back = NULL; /* acknowledgements keep to the plane; hashed both ways they may be on two */
  qps[0] = csim_pkt_add_qp(p->net, packet_host(p, from, plane), packet_host(p, to, plane), &spec, error);
  return qps[0] == G_MAXUINT32 ? 0 : 1;
}
