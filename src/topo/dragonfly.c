/*
 * topo/dragonfly.c - dragonfly (Kim, Dally, Scott, Abts, ISCA 2008) and dragonfly+ (Shpiner et al., HiPINEB 2017).
 *
 * A group is a full mesh of routers, or in dragonfly+ leaves and spines joined each to each; every pair of groups is joined by equally
 * many global cables. Local cables cost 1 and global ones 3, so that the cheapest way has one global cable.
 */
#include "topo/fabric-private.h"

#define LOCAL_COST 1
#define GLOBAL_COST 3

typedef struct {
  const FabricPlan *plan;
  guint groups;
  guint routers;  /* with global cables, a group; their switches come first in a group */
  guint leaves;   /* dragonfly+: with NICs; 0: the routers have them */
  guint hosts;    /* NICs a router or leaf */
  guint global;   /* global cables a router */
} Fly;

static guint group_size(const Fly *d) { return d->routers + d->leaves; }
static guint switch_at(const Fly *d, guint group, guint i) { return group * group_size(d) + i; }

static guint group_nics(const Fly *d) { return d->hosts * (d->leaves > 0 ? d->leaves : d->routers); }

/* --- cables ------------------------------------------------------------------ */

static void add_switches(const Fly *d, CsimMesh *g) {
  for (guint group = 0; group < d->groups; group++)
    for (guint i = 0; i < group_size(d); i++) {
      gboolean leaf = i >= d->routers;
      g_autofree char *name = leaf ? g_strdup_printf("g%u.leaf%u", group, i - d->routers)
                              : d->leaves > 0 ? g_strdup_printf("g%u.spine%u", group, i)
                                              : g_strdup_printf("g%u.r%u", group, i);
      csim_mesh_add_switch(g, name);
    }
}

static void add_local(const Fly *d, CsimMesh *g) {
  const CsimFabric *f = d->plan->fabric;
  for (guint group = 0; group < d->groups; group++)
    for (guint a = 0; a < d->routers; a++)
      for (guint b = d->leaves > 0 ? d->routers : a + 1; b < group_size(d); b++)
        csim_mesh_add_cable(g, switch_at(d, group, a), switch_at(d, group, b), f->cable, f->cable_leaf, LOCAL_COST);
}

/* Port q of a group, router q / global, leads to the group q % (groups - 1) + 1 further on. Both ends of a pair count theirs in order; what does
 * not come out even stays unused. */
static void join_groups(const Fly *d, CsimMesh *g, guint low, guint high) {
  const CsimFabric *f = d->plan->fabric;
  guint ports = d->routers * d->global, others = d->groups - 1, forth = high - low - 1, back = d->groups - (high - low) - 1;
  for (guint k = 0;; k++) {
    guint p = forth + k * others, q = back + k * others;
    if (p >= ports || q >= ports) return;
    csim_mesh_add_cable(g, switch_at(d, low, p / d->global), switch_at(d, high, q / d->global), f->cable, f->cable_core, GLOBAL_COST);
  }
}

static CsimMesh *build(const Fly *d) {
  const CsimFabric *f = d->plan->fabric;
  CsimMesh *g = csim_mesh_new(f->positions * f->rails);
  add_switches(d, g);
  add_local(d, g);
  for (guint low = 0; low < d->groups; low++)
    for (guint high = low + 1; high < d->groups; high++) join_groups(d, g, low, high);
  for (guint e = 0; e < f->positions * f->rails; e++) {
    guint group = e / group_nics(d), in_group = e % group_nics(d);
    csim_mesh_attach(g, e, switch_at(d, group, d->leaves > 0 ? d->routers + in_group / d->hosts : in_group / d->hosts));
  }
  csim_mesh_set_style(g, FALSE, TRUE);
  return g;
}

/* --- sizes ------------------------------------------------------------------- */

/* groups: asked for, 0: as many as the NICs need, at least 2. */
static gboolean size(Fly *d, guint asked, GError **error) {
  const CsimFabric *f = d->plan->fabric;
  guint nics = f->positions * f->rails, needed = MAX(2, (nics + group_nics(d) - 1) / group_nics(d)), most = d->routers * d->global + 1;
  d->groups = asked > 0 ? asked : needed;
  if (d->groups >= needed && d->groups <= most && (gsize)d->groups * group_size(d) <= CSIM_MESH_MAX_SWITCHES && d->groups >= 2) return TRUE;
  csim_error_set(error, CSIM_ERROR_LIMIT, CSIM_LOC_NONE,
                 "a dragonfly of %u groups with %u NICs and %u global cables each, for %u NICs; allowed: %u to %u groups, and %d switches in all", d->groups,
                 group_nics(d), d->routers * d->global, nics, needed, most, CSIM_MESH_MAX_SWITCHES);
  return FALSE;
}

static gboolean fits(guint ports, guint radix, GError **error) {
  if (ports <= radix) return TRUE;
  csim_error_set(error, CSIM_ERROR_LIMIT, CSIM_LOC_NONE,
                 "a dragonfly router with %u ports for NICs, its group and global cables has a radix of %u; allowed: up to that", ports, radix);
  return FALSE;
}

static guint or_default(int given, guint otherwise) { return given > 0 ? (guint)given : MAX(otherwise, 1); }

/* Balanced: a = 2p = 2h, from a radix of 4p - 1. */
CsimMesh *fabric_dragonfly(const FabricPlan *plan, GError **error) {
  const CsimFabricSpec *spec = &plan->cluster->fabric;
  guint quarter = (plan->radix + 1) / 4;
  Fly d = {.plan = plan, .routers = or_default(spec->routers, 2 * quarter), .hosts = or_default(spec->hosts, quarter),
           .global = or_default(spec->global, quarter)};
  if (!fits(d.hosts + d.routers - 1 + d.global, plan->radix, error) || !size(&d, (guint)spec->groups, error)) return NULL;
  return build(&d);
}

/* Half the ports of leaves and spines each way. */
CsimMesh *fabric_dragonfly_plus(const FabricPlan *plan, GError **error) {
  guint half = MAX(plan->radix / 2, 1);
  Fly d = {.plan = plan, .routers = half, .leaves = half, .hosts = half, .global = half};
  return size(&d, (guint)plan->cluster->fabric.groups, error) ? build(&d) : NULL;
}
