/* topo/torus.c - 2D and 3D torus: a switch a point, joined to its neighbours in each dimension, the ends too. */
#include "topo/fabric-private.h"

typedef struct {
  const FabricPlan *plan;
  guint dims[3], hosts, cables;
} Torus;

/* As square as it gets: the smallest sides whose product holds the points. */
static void default_dims(Torus *t, guint points, guint n) {
  for (guint i = 0; i < 3; i++) t->dims[i] = 1;
  for (guint grown = 0; t->dims[0] * t->dims[1] * t->dims[2] < points; grown = (grown + 1) % n) t->dims[grown]++;
}

static gboolean take_spec(Torus *t, GError **error) {
  const CsimFabricSpec *spec = &t->plan->cluster->fabric;
  const CsimFabric *f = t->plan->fabric;
  t->hosts = (guint)MAX(spec->hosts, 1);
  guint points = (f->positions + t->hosts - 1) / t->hosts, n = spec->n_dims > 0 ? (guint)spec->n_dims : 3;
  if (spec->n_dims > 0)
    for (guint i = 0; i < 3; i++) t->dims[i] = i < n ? (guint)spec->dims[i] : 1;
  else
    default_dims(t, points, n);
  /* As much out of a switch as its NICs can give it. */
  t->cables = spec->cables > 0 ? (guint)spec->cables : MAX(1, (f->rails * t->hosts + n) / (2 * n));
  gsize all = (gsize)t->dims[0] * t->dims[1] * t->dims[2];
  if (all >= points && all <= CSIM_MESH_MAX_SWITCHES) return TRUE;
  csim_error_set(error, CSIM_ERROR_LIMIT, CSIM_LOC_NONE, "a torus of %ux%ux%u points for %u hosts, %u a point; allowed: at least %u points, at most %d", t->dims[0],
                 t->dims[1], t->dims[2], f->positions, t->hosts, points, CSIM_MESH_MAX_SWITCHES);
  return FALSE;
}

static guint point(const Torus *t, const guint at[3]) { return (at[2] * t->dims[1] + at[1]) * t->dims[0] + at[0]; }

static void add_points(const Torus *t, CsimMesh *g) {
  for (guint i = 0; i < t->dims[0] * t->dims[1] * t->dims[2]; i++) {
    guint x = i % t->dims[0], y = i / t->dims[0] % t->dims[1], z = i / t->dims[0] / t->dims[1];
    g_autofree char *name = t->dims[2] > 1 ? g_strdup_printf("t%u.%u.%u", x, y, z) : g_strdup_printf("t%u.%u", x, y);
    csim_mesh_add_switch(g, name);
  }
}

/* Cables of one dimension, to the next point; two points have one neighbour, not two. */
static void join(const Torus *t, CsimMesh *g, guint dim) {
  const CsimFabric *f = t->plan->fabric;
  guint side = t->dims[dim], at[3];
  if (side < 2) return;
  for (at[2] = 0; at[2] < t->dims[2]; at[2]++)
    for (at[1] = 0; at[1] < t->dims[1]; at[1]++)
      for (at[0] = 0; at[0] < t->dims[0]; at[0]++) {
        guint next[3] = {at[0], at[1], at[2]};
        next[dim] = (at[dim] + 1) % side;
        if (side == 2 && at[dim] == 1) continue;
        for (guint k = 0; k < t->cables; k++) csim_mesh_add_cable(g, point(t, at), point(t, next), f->cable, f->cable_spine, 1);
      }
}

CsimMesh *fabric_torus(const FabricPlan *plan, GError **error) {
  const CsimFabric *f = plan->fabric;
  Torus t = {.plan = plan};
  if (!take_spec(&t, error)) return NULL;
  CsimMesh *g = csim_mesh_new(f->positions * f->rails);
  add_points(&t, g);
  for (guint dim = 0; dim < 3; dim++) join(&t, g, dim); /* cables of the first dimension come first: dimension order */
  for (guint e = 0; e < f->positions * f->rails; e++) csim_mesh_attach(g, e, e / f->rails / t.hosts);
  csim_mesh_set_style(g, TRUE, FALSE);
  return g;
}
