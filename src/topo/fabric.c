#include "topo/fabric.h"

/* --- shape ------------------------------------------------------------------- */

static guint div_up(guint a, guint b) {
  return (a + b - 1) / b;
}

static gboolean is_rail(const CsimFabric *f) {
  return f->kind == CSIM_FABRIC_RAIL || f->kind == CSIM_FABRIC_RAIL_ONLY;
}

/* Ports of a leaf towards endpoints: radix * x/(1+x) for oversubscription x. A fat tree keeps a host on one leaf where its NICs fit. */
static void split_leaf(CsimFabric *f, const CsimFabricSpec *spec, guint radix) {
  double x = spec->oversubscription > 0 ? spec->oversubscription : 1;
  guint down = (guint)((double)radix * x / (1 + x) + 0.5);
  f->down = CLAMP(down, 1, radix - 1);
  f->up = radix - f->down;
  if (!is_rail(f) && f->down >= f->rails) f->down -= f->down % f->rails;
}

static void count_leaves(CsimFabric *f) {
  f->leaves_per_rail = is_rail(f) ? div_up(f->positions, f->down) : 0;
  f->leaves = is_rail(f) ? f->leaves_per_rail * f->rails : div_up(f->positions * f->rails, f->down);
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
  f->leaves_per_pod = f->tiers == 3 ? MAX(radix / 2, 1) : f->leaves;
  f->pods = f->leaves > 0 ? div_up(f->leaves, MAX(f->leaves_per_pod, 1)) : 0;
  f->core_up = radix - MIN(f->leaves_per_pod, radix - 1);
  f->spines = f->tiers == 3 ? f->up : MIN(f->up, MAX(div_up(leaves_together(f) * f->up, radix), 1));
  if (f->tiers == 3 && f->pods > radix) return too_large(error, f->pods, radix, radix, 3);
  return TRUE;
}

static gboolean is_adaptive(const CsimFabric *f) {
  return f->routing == CSIM_ROUTING_ADAPTIVE;
}

static void count_links(CsimFabric *f) {
  if (f->tiers == 1) {
    f->n_links = 0;
    return;
  }
  guint leaf_links = is_adaptive(f) ? f->leaves : f->leaves * f->up;
  guint pod_links = f->tiers < 3 ? 0 : is_adaptive(f) ? f->pods : f->pods * f->spines * f->core_up;
  f->n_links = 2 * (leaf_links + pod_links);
  f->leaf_binds = (double)f->up * (double)f->cable < (double)f->down * (double)f->endpoint_rate;
  f->pod_binds = (double)f->spines * f->core_up * (double)f->cable <
                 (double)f->leaves_per_pod *
                     MIN((double)f->up * (double)f->cable, (double)f->down * (double)f->endpoint_rate);
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

gboolean csim_fabric_init(const CsimFabricSpec *spec, guint rails, guint positions, CsimRate endpoint_line,
                          const CsimCatalogue *c, const CsimNetModel *net, CsimFabric *f, GError **error) {
  *f = (CsimFabric){
      .kind = spec->kind, .routing = spec->routing, .rails = MAX(rails, 1), .positions = MAX(positions, 1)};
  guint radix = spec->radix > 0 ? (guint)spec->radix : (guint)csim_catalogue_number(c, "switch.radix");
  f->endpoint_rate = csim_net_payload_rate(net, endpoint_line);
  f->cable = spec->link_rate > 0 ? csim_net_payload_rate(net, spec->link_rate) : f->endpoint_rate;
  if (!shape(f, spec, MAX(radix, 2), error)) return FALSE;
  count_links(f);
  latencies(f, spec, c);
  return TRUE;
}

/* --- ids --------------------------------------------------------------------- */

typedef struct {
  guint leaf, port;
} LeafPort;

static LeafPort leaf_port(const CsimFabric *f, CsimEndpoint e) {
  if (f->tiers == 1) return (LeafPort){0, 0};
  if (is_rail(f)) return (LeafPort){e.rail * f->leaves_per_rail + e.position / f->down, e.position % f->down};
  guint number = e.position * f->rails + e.rail;
  return (LeafPort){number / f->down, number % f->down};
}

static guint leaf_link(const CsimFabric *f, guint leaf, guint cable, gboolean down) {
  return 2 * (is_adaptive(f) ? leaf : leaf * f->up + cable) + (down ? 1 : 0);
}

static guint core_link(const CsimFabric *f, guint pod, guint spine, guint cable, gboolean down) {
  guint first = is_adaptive(f) ? f->leaves : f->leaves * f->up;
  return 2 * (first + (is_adaptive(f) ? pod : (pod * f->spines + spine) * f->core_up + cable)) +
         (down ? 1 : 0);
}

CsimRate csim_fabric_link_rate(const CsimFabric *f, guint link) {
  g_assert(link < f->n_links);
  if (!is_adaptive(f)) return f->cable;
  return f->cable * (link < 2 * f->leaves ? f->up : f->spines * f->core_up);
}

char *csim_fabric_link_name(const CsimFabric *f, guint link) {
  const char *way = link % 2 != 0 ? "down" : "up";
  guint pair = link / 2, first = is_adaptive(f) ? f->leaves : f->leaves * f->up;
  if (is_adaptive(f))
    return pair < first ? g_strdup_printf("leaf%u trunk %s", pair, way)
                        : g_strdup_printf("pod%u trunk %s", pair - first, way);
  if (pair < first) {
    guint leaf = pair / f->up, cable = pair % f->up, spine = cable % f->spines;
    if (f->tiers == 3)
      return g_strdup_printf("leaf%u-spine%u.%u %s", leaf, leaf / f->leaves_per_pod, spine, way);
    return g_strdup_printf("leaf%u-spine%u.%u %s", leaf, spine, cable / f->spines, way);
  }
  guint spine = (pair - first) / f->core_up, cable = (pair - first) % f->core_up;
  return g_strdup_printf("spine%u.%u-core%u.%u %s", spine / f->spines, spine % f->spines, spine % f->spines,
                         cable, way);
}

/* --- paths ------------------------------------------------------------------- */

/* Finaliser of splitmix64 (Steele, Lea, Flood 2014): spreads flow numbers over cables. */
static guint mix(uint64_t x) {
  x += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (guint)((x ^ (x >> 31)) >> 33);
}

typedef struct {
  LeafPort from, to;
  guint up, down, core; /* cables: out of the first leaf, into the last one, spine to core */
} Choice;

/* Static: by destination, as InfiniBand's forwarding tables are (one entry per LID). */
static void choose_static(const CsimFabric *f, Choice *c) {
  c->down = c->up = c->to.port % f->up;
  c->core = f->core_up > 0 ? c->to.leaf % f->leaves_per_pod % f->core_up : 0;
}

/* ECMP: the leaf hashes over its cables; with several cables between a spine and a leaf the spine hashes again. */
static void choose_ecmp(const CsimFabric *f, CsimEndpoint from, CsimEndpoint to, uint32_t flow, Choice *c) {
  uint64_t key = ((uint64_t)flow << 32) ^ ((uint64_t)(from.position * f->rails + from.rail) << 20) ^
                 (to.position * f->rails + to.rail);
  c->up = mix(key) % f->up;
  guint spine = c->up % f->spines;
  guint parallel = (f->up - spine + f->spines - 1) / f->spines;
  c->down = spine + f->spines * (mix(key ^ UINT64_C(0x5bd1e995)) % parallel);
  c->core = f->core_up > 0 ? mix(key ^ UINT64_C(0xc2b2ae35)) % f->core_up : 0;
}

static void add_link(CsimFabricPath *path, guint link) {
  g_assert(path->n < CSIM_FABRIC_MAX_HOPS);
  path->link[path->n++] = link;
}

/* With static routes a down cable serves one endpoint only, if there are as many as ports: then that NIC's own wire is never wider. */
static gboolean down_cable_binds(const CsimFabric *f) {
  return f->routing != CSIM_ROUTING_STATIC || f->up < f->down || f->cable < f->endpoint_rate;
}

static gboolean core_down_binds(const CsimFabric *f) {
  return down_cable_binds(f) || f->core_up < f->leaves_per_pod;
}

static void climb(const CsimFabric *f, const Choice *c, CsimFabricPath *path) {
  guint pod_from = c->from.leaf / f->leaves_per_pod, pod_to = c->to.leaf / f->leaves_per_pod;
  gboolean over_core = f->tiers == 3 && pod_from != pod_to;
  gboolean trunks = is_adaptive(f);
  guint spine = c->up % f->spines;
  if (!trunks || f->leaf_binds) add_link(path, leaf_link(f, c->from.leaf, c->up, FALSE));
  if (over_core && (!trunks || f->pod_binds)) add_link(path, core_link(f, pod_from, spine, c->core, FALSE));
  if (over_core && (trunks ? f->pod_binds : core_down_binds(f)))
    add_link(path, core_link(f, pod_to, spine, c->core, TRUE));
  if (trunks ? f->leaf_binds : down_cable_binds(f)) add_link(path, leaf_link(f, c->to.leaf, c->down, TRUE));
  path->switches = over_core ? 5 : 3;
  path->over_spine = TRUE;
  path->over_core = over_core;
  path->up = c->up;
  path->down = c->down;
  path->core = c->core;
  path->latency += 2 * f->cable_spine + (over_core ? 2 * f->cable_core : 0);
}

guint csim_fabric_leaf(const CsimFabric *f, CsimEndpoint e) {
  return f->tiers > 1 ? leaf_port(f, e).leaf : f->kind == CSIM_FABRIC_RAIL_ONLY ? e.rail : 0;
}

gboolean csim_fabric_path(const CsimFabric *f, CsimEndpoint from, CsimEndpoint to, uint32_t flow_hash,
                          CsimFabricPath *path, GError **error) {
  *path = (CsimFabricPath){.switches = 1};
  if (f->kind == CSIM_FABRIC_RAIL_ONLY && from.rail != to.rail) {
    csim_error_set(
        error, CSIM_ERROR_ROUTE, CSIM_LOC_NONE,
        "no path from rail %u to rail %u in a rail-only fabric; allowed: the same rail (NCCL needs PXN here)",
        from.rail, to.rail);
    return FALSE;
  }
  Choice choice = {.from = leaf_port(f, from), .to = leaf_port(f, to)};
  path->latency = 2 * f->cable_leaf;
  path->from_leaf = csim_fabric_leaf(f, from);
  path->to_leaf = csim_fabric_leaf(f, to);
  if (choice.from.leaf != choice.to.leaf) {
    if (f->routing == CSIM_ROUTING_ECMP)
      choose_ecmp(f, from, to, flow_hash, &choice);
    else
      choose_static(f, &choice);
    climb(f, &choice, path);
  }
  path->latency += path->switches * f->switch_latency;
  return TRUE;
}
