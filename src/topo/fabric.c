#include "topo/fabric-private.h"
#include <string.h>

/* --- shape ------------------------------------------------------------------- */

static guint div_up(guint a, guint b) {
  return (a + b - 1) / b;
}

/* Ports towards endpoints, or towards leaves: radix * x/(1+x) for oversubscription x. */
static guint ports_down(guint radix, double oversubscription) {
  double x = oversubscription > 0 ? oversubscription : 1;
  return CLAMP((guint)((double)radix * x / (1 + x) + 0.5), 1, radix - 1);
}

/* A fat tree keeps a host on one leaf where its NICs fit. */
static void split_leaf(CsimFabric *f, const CsimFabricSpec *spec, guint radix) {
  f->down = ports_down(radix, spec->oversubscription);
  f->up = radix - f->down;
  if (!fabric_is_rail(f) && f->down >= f->rails) f->down -= f->down % f->rails;
}

static void count_leaves(CsimFabric *f) {
  f->leaves_per_rail = fabric_is_rail(f) ? div_up(f->positions, f->down) : 0;
  f->leaves = fabric_is_rail(f) ? f->leaves_per_rail * f->rails : div_up(f->positions * f->rails, f->down);
}

/* Endpoints that share one switch when there is only one tier. */
static guint single_tier_ports(const CsimFabric *f) {
  return f->kind == CSIM_FABRIC_RAIL_ONLY ? f->positions : f->positions * f->rails;
}

/* Leaves that share spines. */
static guint leaves_together(const CsimFabric *f) {
  return f->kind == CSIM_FABRIC_RAIL_ONLY ? f->leaves_per_rail : f->leaves;
}

static int tiers_needed(const CsimFabric *f, guint radix) {
  if (f->kind == CSIM_FABRIC_SWITCH || single_tier_ports(f) <= radix) return 1;
  return leaves_together(f) <= radix ? 2 : 3;
}

static gboolean too_large(GError **error, guint needs, guint has, guint radix, int tiers) {
  csim_error_set(error, CSIM_ERROR_LIMIT, CSIM_LOC_NONE,
                 "a fabric of %d tiers with %u-port switches needs %u %s; allowed: %u (add a tier, or ports)",
                 tiers, radix, needs,
                 tiers == 1   ? "ports on its switch"
                 : tiers == 2 ? "leaves"
                              : "pods",
                 has);
  return FALSE;
}

static gboolean shape(CsimFabric *f, const CsimFabricSpec *spec, guint radix, GError **error) {
  split_leaf(f, spec, radix);
  count_leaves(f);
  int needed = tiers_needed(f, radix);
  f->tiers = f->kind == CSIM_FABRIC_SWITCH ? 1 : spec->tiers > 0 ? spec->tiers : needed;
  if (f->tiers == 1 && needed > 1) return too_large(error, single_tier_ports(f), radix, radix, 1);
  if (f->tiers == 2 && needed > 2) return too_large(error, leaves_together(f), radix, radix, 2);
  if (f->tiers == 1) f->leaves = f->kind == CSIM_FABRIC_RAIL_ONLY ? f->rails : 1;
  f->leaves_per_pod = f->tiers == 3 ? ports_down(radix, spec->core_oversubscription) : f->leaves;
  f->pods = f->leaves > 0 ? div_up(f->leaves, MAX(f->leaves_per_pod, 1)) : 0;
  f->core_up = radix - MIN(f->leaves_per_pod, radix - 1);
  f->spines = f->tiers == 3 ? f->up : MIN(f->up, MAX(div_up(leaves_together(f) * f->up, radix), 1));
  if (f->tiers == 3 && f->pods > radix) return too_large(error, f->pods, radix, radix, 3);
  return TRUE;
}

/* One port a plane and NIC, where flows are bound to one plane. */
static guint plane_ports(const CsimFabric *f) {
  return f->planes > 1 && !fabric_is_adaptive(f) ? f->rails * f->positions * f->planes : 0;
}

static void count_links(CsimFabric *f) {
  double wires = (double)f->down * (double)f->endpoint_rate, up = (double)f->planes * f->up * (double)f->cable;
  f->n_links = 2 * (f->planes * fabric_plane_cables(f) + plane_ports(f));
  if (fabric_is_adaptive(f)) f->n_links = f->tiers < 2 ? 0 : 2 * (f->leaves + (f->tiers < 3 ? 0 : f->pods));
  f->leaf_binds = up < wires;
  f->pod_binds = (double)f->planes * f->spines * f->core_up * (double)f->cable < (double)f->leaves_per_pod * MIN(up, wires);
}

static CsimTime cable_time(const CsimCatalogue *c, CsimTime given, const char *length) {
  if (given > 0) return given;
  return (CsimTime)(csim_catalogue_number(c, "cable.%s", length) *
                    (double)csim_catalogue_time(c, "cable.per_metre"));
}

static void latencies(CsimFabric *f, const CsimFabricSpec *spec, const CsimCatalogue *c) {
  f->switch_latency = csim_catalogue_time(
      c, spec->transport == CSIM_TRANSPORT_IB ? "switch.ib_latency" : "switch.ethernet_latency");
  f->switch_latency = csim_packet_switch_latency(&spec->packet, c, f->switch_latency);
  if (spec->transport == CSIM_TRANSPORT_SLINGSHOT)
    f->switch_latency = csim_catalogue_time(c, "slingshot.switch_latency");
  f->cable_leaf = cable_time(c, spec->cable_leaf, "leaf_m");
  f->cable_spine = cable_time(c, spec->cable_spine, "spine_m");
  f->cable_core = cable_time(c, 0, "core_m");
}

static gboolean make_graph(CsimFabric *f, const CsimCluster *cluster, guint radix, const CsimNetModel *net, GError **error) {
  FabricPlan plan = {cluster, f, radix};
  switch (f->kind) {
  case CSIM_FABRIC_DRAGONFLY:
    f->graph = fabric_dragonfly(&plan, error);
    break;
  case CSIM_FABRIC_DRAGONFLY_PLUS:
    f->graph = fabric_dragonfly_plus(&plan, error);
    break;
  case CSIM_FABRIC_TORUS:
    f->graph = fabric_torus(&plan, error);
    break;
  default:
    f->graph = fabric_list(&plan, net, error);
    break;
  }
  if (f->graph == NULL) return FALSE;
  csim_mesh_finish(f->graph, NULL);
  f->n_links = 2 * csim_mesh_n_cables(f->graph);
  return TRUE;
}

gboolean csim_fabric_init(const CsimCluster *cluster, guint rails, CsimRate endpoint_line, const CsimCatalogue *c, const CsimNetModel *net,
                          CsimFabric *f, GError **error) {
  const CsimFabricSpec *spec = &cluster->fabric;
  *f = (CsimFabric){.kind = spec->kind, .routing = spec->routing, .rails = MAX(rails, 1), .planes = (guint)MAX(spec->planes, 1)};
  f->positions = MAX(cluster->place_position[cluster->n_places], 1);
  guint radix = spec->radix > 0 ? (guint)spec->radix : (guint)csim_catalogue_number(c, "switch.radix");
  f->endpoint_rate = csim_net_payload_rate(net, endpoint_line);
  f->cable = csim_net_payload_rate(net, spec->link_rate > 0 ? spec->link_rate : endpoint_line / f->planes);
  latencies(f, spec, c);
  if (spec->kind >= CSIM_FABRIC_DRAGONFLY) return make_graph(f, cluster, MAX(radix, 2), net, error);
  if (!shape(f, spec, MAX(radix, 2), error)) return FALSE;
  count_links(f);
  return TRUE;
}

void csim_fabric_clear(CsimFabric *f) {
  g_clear_pointer(&f->graph, csim_mesh_free);
  g_clear_pointer(&f->health, g_free);
  g_clear_pointer(&f->dead, g_free);
  g_clear_pointer(&f->flaps, g_array_unref);
}

/* --- ids --------------------------------------------------------------------- */

FabricPort fabric_port(const CsimFabric *f, CsimEndpoint e) {
  if (f->tiers == 1) return (FabricPort){f->kind == CSIM_FABRIC_RAIL_ONLY ? e.rail : 0, 0};
  if (fabric_is_rail(f)) return (FabricPort){e.rail * f->leaves_per_rail + e.position / f->down, e.position % f->down};
  guint number = e.position * f->rails + e.rail;
  return (FabricPort){number / f->down, number % f->down};
}

guint csim_fabric_leaf(const CsimFabric *f, CsimEndpoint e) {
  return f->graph != NULL ? csim_mesh_switch_of(f->graph, e.position * f->rails + e.rail) : fabric_port(f, e).leaf;
}

double fabric_leaf_trunk(const CsimFabric *f, guint leaf) {
  double sum = 0;
  if (f->health == NULL) return (double)f->planes * f->up * (double)f->cable;
  for (guint p = 0; p < f->planes; p++)
    for (guint i = 0; i < f->up; i++) sum += fabric_health(f, fabric_leaf_cable(f, p, leaf, i));
  return sum * (double)f->cable;
}

static double pod_trunk(const CsimFabric *f, guint pod) {
  double sum = 0;
  if (f->health == NULL) return (double)f->planes * f->spines * f->core_up * (double)f->cable;
  for (guint p = 0; p < f->planes; p++)
    for (guint s = 0; s < f->spines; s++)
      for (guint i = 0; i < f->core_up; i++) sum += fabric_health(f, fabric_core_cable(f, p, pod, s, i));
  return sum * (double)f->cable;
}

CsimRate csim_fabric_link_rate(const CsimFabric *f, guint link) {
  g_assert(link < f->n_links);
  guint cable = link / 2, cables = csim_fabric_n_cables(f);
  if (f->graph != NULL) {
    CsimRate rate;
    csim_mesh_cable(f->graph, cable, NULL, NULL, &rate);
    return MAX((CsimRate)((double)rate * fabric_health(f, cable)), 1);
  }
  if (fabric_is_adaptive(f)) return MAX((CsimRate)(cable < f->leaves ? fabric_leaf_trunk(f, cable) : pod_trunk(f, cable - f->leaves)), 1);
  if (cable >= cables) return f->endpoint_rate / f->planes;
  return MAX((CsimRate)((double)f->cable * fabric_health(f, cable)), 1);
}

static char *port_name(const CsimFabric *f, guint port, const char *way) {
  guint endpoint = port / f->planes;
  return g_strdup_printf("host%u/rail%u plane%u %s", endpoint / f->rails, endpoint % f->rails, port % f->planes, way);
}

char *csim_fabric_link_name(const CsimFabric *f, guint link) {
  const char *way = link % 2 != 0 ? "down" : "up";
  guint pair = link / 2, cables = csim_fabric_n_cables(f);
  if (f->graph == NULL && fabric_is_adaptive(f))
    return pair < f->leaves ? g_strdup_printf("leaf%u trunk %s", pair, way) : g_strdup_printf("pod%u trunk %s", pair - f->leaves, way);
  if (pair >= cables) return port_name(f, pair - cables, link % 2 != 0 ? "in" : "out");
  g_autofree char *name = csim_fabric_cable_name(f, pair);
  if (f->graph == NULL) return g_strdup_printf("%s %s", name, way);
  return g_strdup_printf("%s %s", name, link % 2 != 0 ? "back" : "forth");
}

/* --- paths ------------------------------------------------------------------- */

gboolean csim_fabric_balances(const CsimFabric *f) {
  return f->graph != NULL && fabric_is_adaptive(f);
}

gboolean csim_fabric_spreads(const CsimFabric *f) {
  if (f->graph != NULL) return f->routing != CSIM_ROUTING_STATIC;
  return f->routing == CSIM_ROUTING_ECMP ? f->tiers > 1 || f->planes > 1 : f->planes > 1 && !fabric_is_adaptive(f);
}

static uint64_t graph_key(const CsimFabric *f, CsimEndpoint from, CsimEndpoint to, uint32_t flow_hash) {
  return ((uint64_t)flow_hash << 32) ^ ((uint64_t)(from.position * f->rails + from.rail) << 20) ^ (to.position * f->rails + to.rail);
}

static gboolean graph_path(const CsimFabric *f, CsimEndpoint from, CsimEndpoint to, uint32_t flow_hash, uint32_t *loads, CsimFabricPath *path,
                           GError **error) {
  guint a = from.position * f->rails + from.rail, b = to.position * f->rails + to.rail;
  uint64_t key = graph_key(f, from, to, flow_hash);
  CsimMeshWay way = {.max = CSIM_FABRIC_MAX_HOPS, .link = path->link};
  if (!csim_mesh_way(f->graph, f->routing, a, b, key, loads, &way)) {
    csim_error_set(error, CSIM_ERROR_ROUTE, CSIM_LOC_NONE, "no way from %s to %s%s; allowed: a fabric that joins all nodes of the job, over at most %d cables",
                   csim_mesh_switch_name(f->graph, csim_mesh_switch_of(f->graph, a)),
                   csim_mesh_switch_name(f->graph, csim_mesh_switch_of(f->graph, b)), f->health != NULL ? " with these faults" : "",
                   CSIM_FABRIC_MAX_HOPS);
    return FALSE;
  }
  for (guint i = 0; loads != NULL && i < way.n; i++) loads[way.link[i]]++;
  path->n = way.n;
  path->switches = way.switches;
  path->latency = 2 * f->cable_leaf + way.latency;
  return TRUE;
}

static gboolean same_links(const CsimFabricPath *a, const CsimFabricPath *b) {
  return a->n == b->n && memcmp(a->link, b->link, a->n * sizeof *a->link) == 0;
}

guint csim_fabric_ways(const CsimFabric *f, CsimEndpoint from, CsimEndpoint to, uint32_t flow_hash, CsimFabricPath *out) {
  guint a = from.position * f->rails + from.rail, b = to.position * f->rails + to.rail, n = 0;
  for (guint i = 0; i < CSIM_FABRIC_MAX_WAYS; i++) {
    CsimFabricPath *path = &out[n];
    CsimMeshWay way = {.max = CSIM_FABRIC_MAX_HOPS, .link = path->link};
    if (!csim_mesh_candidate(f->graph, a, b, graph_key(f, from, to, flow_hash), i, &way)) continue;
    path->n = way.n;
    path->switches = way.switches;
    guint k = 0;
    while (k < n && !same_links(&out[k], path)) k++;
    if (k == n) n++;
  }
  return n;
}

gboolean csim_fabric_path(const CsimFabric *f, CsimEndpoint from, CsimEndpoint to, uint32_t flow_hash, uint32_t *loads, CsimFabricPath *path,
                          GError **error) {
  path->n = 0;
  path->switches = 1;
  path->over_spine = path->over_core = FALSE;
  path->latency = 2 * f->cable_leaf;
  gboolean ok = f->graph != NULL ? graph_path(f, from, to, flow_hash, loads, path, error) : fabric_tree_path(f, from, to, flow_hash, path, error);
  path->latency += path->switches * f->switch_latency;
  return ok;
}
