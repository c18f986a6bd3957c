/* topo/fabric-ways.c - ways through a tree: by destination, by hash, or spread over all. */
#include "topo/fabric-private.h"

#define REHASHES 16 /* with cables down a hash is drawn again so often before the cables are tried in order */

typedef struct {
  FabricPort from, to;
  guint plane;
  guint up, down, core; /* cables: out of the first leaf, into the last one, spine to core */
} Choice;

/* Cables between one spine and a leaf. */
static guint parallel(const CsimFabric *f, guint spine) {
  return (f->up - spine + f->spines - 1) / f->spines;
}

static gboolean over_core(const CsimFabric *f, const Choice *c) {
  return f->tiers == 3 && c->from.leaf / f->leaves_per_pod != c->to.leaf / f->leaves_per_pod;
}

/* Static: by destination, as InfiniBand's forwarding tables are (one entry per LID). */
static void choose_static(const CsimFabric *f, Choice *c) {
  c->down = c->up = c->to.port % f->up;
  c->core = f->core_up > 0 ? c->to.leaf % f->leaves_per_pod % f->core_up : 0;
}

/* ECMP: the leaf hashes over its cables; with several cables between a spine and a leaf the spine hashes again. */
static void choose_ecmp(const CsimFabric *f, uint64_t key, Choice *c) {
  c->up = fabric_mix(key) % f->up;
  guint spine = c->up % f->spines;
  c->down = spine + f->spines * (fabric_mix(key ^ UINT64_C(0x5bd1e995)) % parallel(f, spine));
  c->core = f->core_up > 0 ? fabric_mix(key ^ UINT64_C(0xc2b2ae35)) % f->core_up : 0;
}

/* --- what is broken ---------------------------------------------------------- */

static gboolean is_whole(const CsimFabric *f, const Choice *c) {
  guint spine = c->up % f->spines;
  if (fabric_health(f, fabric_leaf_cable(f, c->plane, c->from.leaf, c->up)) <= 0) return FALSE;
  if (fabric_health(f, fabric_leaf_cable(f, c->plane, c->to.leaf, c->down)) <= 0) return FALSE;
  if (!over_core(f, c)) return TRUE;
  guint from = c->from.leaf / f->leaves_per_pod, to = c->to.leaf / f->leaves_per_pod;
  return fabric_health(f, fabric_core_cable(f, c->plane, from, spine, c->core)) > 0 &&
         fabric_health(f, fabric_core_cable(f, c->plane, to, spine, c->core)) > 0;
}

/* The next whole way in order of cables, beginning with the one chosen. */
static gboolean next_whole(const CsimFabric *f, Choice *c) {
  guint cores = over_core(f, c) ? f->core_up : 1, first_up = c->up, first_core = c->core;
  for (guint u = 0; u < f->up; u++) {
    c->up = (first_up + u) % f->up;
    guint spine = c->up % f->spines;
    for (guint d = 0; d < parallel(f, spine); d++) {
      c->down = spine + f->spines * ((c->up / f->spines + d) % parallel(f, spine));
      for (guint k = 0; k < cores; k++) {
        c->core = cores > 1 ? (first_core + k) % cores : first_core;
        if (is_whole(f, c)) return TRUE;
      }
    }
  }
  return FALSE;
}

static gboolean around_faults(const CsimFabric *f, uint64_t key, Choice *c) {
  if (f->health == NULL || is_whole(f, c)) return TRUE;
  for (guint i = 1; f->routing == CSIM_ROUTING_ECMP && i <= REHASHES; i++) {
    choose_ecmp(f, key + i * UINT64_C(0x9e3779b97f4a7c15), c);
    if (is_whole(f, c)) return TRUE;
  }
  return next_whole(f, c);
}

/* --- links ------------------------------------------------------------------- */

static void add_link(CsimFabricPath *path, guint link) {
  g_assert(path->n < CSIM_FABRIC_MAX_HOPS);
  path->link[path->n++] = link;
}

/* With static routes a down cable serves one endpoint only, if there are as many as ports: then that NIC's own wire is never wider. With faults
 * or planes that is so no more. */
static gboolean down_cable_binds(const CsimFabric *f) {
  return f->keep_all || f->health != NULL || f->planes > 1 || f->routing != CSIM_ROUTING_STATIC || f->up < f->down || f->cable < f->endpoint_rate;
}

static gboolean core_down_binds(const CsimFabric *f) {
  return down_cable_binds(f) || f->core_up < f->leaves_per_pod;
}

static void climb_cables(const CsimFabric *f, const Choice *c, CsimFabricPath *path) {
  guint pod_from = c->from.leaf / f->leaves_per_pod, pod_to = c->to.leaf / f->leaves_per_pod, spine = c->up % f->spines;
  gboolean core = over_core(f, c);
  add_link(path, 2 * fabric_leaf_cable(f, c->plane, c->from.leaf, c->up));
  if (core) add_link(path, 2 * fabric_core_cable(f, c->plane, pod_from, spine, c->core));
  if (core && core_down_binds(f)) add_link(path, 2 * fabric_core_cable(f, c->plane, pod_to, spine, c->core) + 1);
  if (down_cable_binds(f)) add_link(path, 2 * fabric_leaf_cable(f, c->plane, c->to.leaf, c->down) + 1);
}

static gboolean leaf_binds(const CsimFabric *f, guint leaf) {
  if (f->health == NULL || f->keep_all) return f->leaf_binds || f->keep_all;
  return fabric_leaf_trunk(f, leaf) < (double)f->down * (double)f->endpoint_rate;
}

static gboolean pod_binds(const CsimFabric *f) {
  return f->pod_binds || f->keep_all || f->health != NULL;
}

static void climb_trunks(const CsimFabric *f, const Choice *c, CsimFabricPath *path) {
  guint pod_from = c->from.leaf / f->leaves_per_pod, pod_to = c->to.leaf / f->leaves_per_pod;
  gboolean core = over_core(f, c) && pod_binds(f);
  if (leaf_binds(f, c->from.leaf)) add_link(path, 2 * c->from.leaf);
  if (core) add_link(path, 2 * (f->leaves + pod_from));
  if (core) add_link(path, 2 * (f->leaves + pod_to) + 1);
  if (leaf_binds(f, c->to.leaf)) add_link(path, 2 * c->to.leaf + 1);
}

static void add_port(const CsimFabric *f, CsimEndpoint e, guint plane, gboolean in, CsimFabricPath *path) {
  if (f->planes == 1 || fabric_is_adaptive(f)) return;
  guint port = (e.position * f->rails + e.rail) * f->planes + plane;
  add_link(path, 2 * (f->planes * fabric_plane_cables(f) + port) + (in ? 1 : 0));
}

/* --- one way ----------------------------------------------------------------- */

static gboolean no_way(const CsimFabric *f, const Choice *c, GError **error) {
  gboolean first = fabric_leaf_dead(f, c->plane, c->from.leaf), last = fabric_leaf_dead(f, c->plane, c->to.leaf);
  if (first || last)
    csim_error_set(error, CSIM_ERROR_ROUTE, CSIM_LOC_NONE,
                   "no way: switch leaf%u is lost, and NICs of this job hang on it; allowed: with these NICs down as well, or a placement without their nodes",
                   first ? c->from.leaf : c->to.leaf);
  else
    csim_error_set(error, CSIM_ERROR_ROUTE, CSIM_LOC_NONE, "no way is left from leaf%u to leaf%u with these faults; allowed: faults that leave one",
                   c->from.leaf, c->to.leaf);
  return FALSE;
}

/* Flows are bound to a plane by their hash; where all planes are used at once any whole one will do. */
static gboolean choose(const CsimFabric *f, uint64_t key, Choice *c) {
  guint first = f->planes > 1 ? fabric_mix(key ^ UINT64_C(0x27d4eb2f)) % f->planes : 0;
  for (guint i = 0; i < f->planes; i++) {
    c->plane = (first + i) % f->planes;
    if (fabric_leaf_dead(f, c->plane, c->from.leaf) || fabric_leaf_dead(f, c->plane, c->to.leaf)) continue;
    if (c->from.leaf == c->to.leaf) return TRUE;
    if (f->routing == CSIM_ROUTING_ECMP) choose_ecmp(f, key, c);
    else choose_static(f, c);
    if (around_faults(f, key, c)) return TRUE;
  }
  return FALSE;
}

gboolean fabric_tree_path(const CsimFabric *f, CsimEndpoint from, CsimEndpoint to, uint32_t flow_hash, CsimFabricPath *path, GError **error) {
  if (f->kind == CSIM_FABRIC_RAIL_ONLY && from.rail != to.rail) {
    csim_error_set(
        error, CSIM_ERROR_ROUTE, CSIM_LOC_NONE,
        "no path from rail %u to rail %u in a rail-only fabric; allowed: the same rail (NCCL needs PXN here)",
        from.rail, to.rail);
    return FALSE;
  }
  uint64_t key = ((uint64_t)flow_hash << 32) ^ ((uint64_t)(from.position * f->rails + from.rail) << 20) ^
                 (to.position * f->rails + to.rail);
  Choice c = {.from = fabric_port(f, from), .to = fabric_port(f, to)};
  if (!choose(f, key, &c)) return no_way(f, &c, error);
  path->from_leaf = c.from.leaf;
  path->to_leaf = c.to.leaf;
  path->plane = c.plane;
  add_port(f, from, c.plane, FALSE, path);
  if (c.from.leaf != c.to.leaf) {
    if (fabric_is_adaptive(f)) climb_trunks(f, &c, path);
    else climb_cables(f, &c, path);
    gboolean core = over_core(f, &c);
    path->over_spine = TRUE;
    path->over_core = core;
    path->up = c.up;
    path->down = c.down;
    path->core = c.core;
    path->switches = core ? 5 : 3;
    path->latency += 2 * f->cable_spine + (core ? 2 * f->cable_core : 0);
  }
  add_port(f, to, c.plane, TRUE, path);
  return TRUE;
}
