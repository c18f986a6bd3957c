/* topo/fabric-faults.c - cables and switches of a fabric by name, and what is broken of them. */
#include "base/rng.h"
#include "topo/fabric-private.h"
#include "topo/faults.h"
#include <string.h>

#define RNG_CABLES 13 /* purpose of the stream of this file */

guint csim_fabric_n_cables(const CsimFabric *f) {
  return f->graph != NULL ? csim_mesh_n_cables(f->graph) : f->planes * fabric_plane_cables(f);
}

/* --- names ------------------------------------------------------------------- */

typedef struct {
  guint plane, leaf, spine, pod, core;
  guint number; /* of cables between the same two, from 0 */
  gboolean to_core;
} Cable;

static Cable cable_of(const CsimFabric *f, guint cable) {
  guint plane_cables = fabric_plane_cables(f), leaf_cables = fabric_leaf_cables(f);
  Cable c = {.plane = cable / plane_cables};
  guint in_plane = cable % plane_cables;
  if (in_plane < leaf_cables) {
    c.leaf = in_plane / f->up;
    c.spine = in_plane % f->up % f->spines;
    c.number = in_plane % f->up / f->spines;
    c.pod = c.leaf / f->leaves_per_pod;
    return c;
  }
  guint spine = (in_plane - leaf_cables) / f->core_up;
  c.to_core = TRUE;
  c.core = (in_plane - leaf_cables) % f->core_up;
  c.pod = spine / f->spines;
  c.spine = spine % f->spines;
  return c;
}

static void spine_name(const CsimFabric *f, const Cable *c, const char *plane, char *out, gsize size) {
  if (f->tiers == 3) g_snprintf(out, size, "%sspine%u.%u", plane, c->pod, c->spine);
  else g_snprintf(out, size, "%sspine%u", plane, c->spine);
}

/* The switches at its ends, "leaf3" and "spine1"; with several planes "plane0/leaf3". */
static void cable_ends(const CsimFabric *f, guint cable, char *a, char *b, gsize size) {
  if (f->graph != NULL) {
    guint from, to;
    csim_mesh_cable(f->graph, cable, &from, &to, NULL);
    g_strlcpy(a, csim_mesh_switch_name(f->graph, from), size);
    g_strlcpy(b, csim_mesh_switch_name(f->graph, to), size);
    return;
  }
  Cable c = cable_of(f, cable);
  char plane[24] = "";
  if (f->planes > 1) g_snprintf(plane, sizeof plane, "plane%u/", c.plane);
  if (c.to_core) {
    spine_name(f, &c, plane, a, size);
    g_snprintf(b, size, "%score%u.%u", plane, c.spine, c.core);
  } else {
    g_snprintf(a, size, "%sleaf%u", plane, c.leaf);
    spine_name(f, &c, plane, b, size);
  }
}

/* Of cables between the same two switches, which one this is. */
static guint number_among(const CsimMesh *g, guint cable) {
  guint a, b, x, y, n = 0;
  csim_mesh_cable(g, cable, &a, &b, NULL);
  for (guint i = cable; i-- > 0;) { /* generators lay parallel cables one after the other */
    csim_mesh_cable(g, i, &x, &y, NULL);
    if (x != a || y != b) break;
    n++;
  }
  return n;
}

char *csim_fabric_cable_name(const CsimFabric *f, guint cable) {
  char a[CSIM_SWITCH_NAME], b[CSIM_SWITCH_NAME];
  cable_ends(f, cable, a, b, sizeof a);
  if (f->graph != NULL) return g_strdup_printf("%s-%s.%u", a, b, number_among(f->graph, cable));
  const char *to = strrchr(b, '/');
  Cable c = cable_of(f, cable);
  to = to != NULL ? to + 1 : b;
  if (f->tiers == 3) return g_strdup_printf("%s-%s", a, to);
  return g_strdup_printf("%s-%s.%u", a, to, c.number);
}

/* --- faults ------------------------------------------------------------------ */

static gboolean no_cables(const CsimFabric *f, const CsimFault *fault, GError **error) {
  guint n = csim_fabric_n_cables(f);
  if (n == 0)
    return csim_fault_fail(fault, error, CSIM_ERROR_REFERENCE, "this fabric has no cables between switches; allowed: in a fabric of more than one tier");
  g_autofree char *first = csim_fabric_cable_name(f, 0), *last = csim_fabric_cable_name(f, n - 1);
  return csim_fault_fail(fault, error, CSIM_ERROR_REFERENCE, "no cable '%.60s' in this fabric; allowed: such as %s and %s, with * and ?, or random",
                         fault->at, first, last);
}

static void add_flap(CsimFabric *f, const CsimFault *fault, guint cable, guint pair) {
  CsimRate rate = f->cable;
  if (f->graph != NULL) csim_mesh_cable(f->graph, cable, NULL, NULL, &rate);
  for (guint way = 0; way < 2; way++) {
    CsimFabricFlap flap = {2 * pair + way, cable, (CsimRate)((double)rate * (1 - fault->rate)), fault->period, fault->down};
    g_array_append_val(f->flaps, flap);
  }
}

/* A steady fault takes its share for good; a flapping one leaves ways as they are, since nobody reroutes that fast. */
static void break_cable(CsimFabric *f, const CsimFault *fault, guint cable) {
  if (fault->period == 0) {
    f->health[cable] *= fault->rate;
    return;
  }
  if (f->flaps == NULL) f->flaps = g_array_new(FALSE, FALSE, sizeof(CsimFabricFlap));
  f->keep_all = TRUE;
  if (f->graph != NULL || !fabric_is_adaptive(f)) {
    add_flap(f, fault, cable, cable);
    return;
  }
  Cable c = cable_of(f, cable);
  add_flap(f, fault, cable, c.to_core ? f->leaves + c.pod : c.leaf);
}

static gboolean break_named(CsimFabric *f, const CsimFault *fault, GError **error) {
  guint hits = 0;
  for (guint i = 0; i < csim_fabric_n_cables(f); i++) {
    g_autofree char *name = csim_fabric_cable_name(f, i);
    if (!g_pattern_match_simple(fault->at, name)) continue;
    break_cable(f, fault, i);
    hits++;
  }
  return hits > 0 || no_cables(f, fault, error);
}

static gboolean break_random(CsimFabric *f, const CsimFault *fault, uint64_t seed, GError **error) {
  guint n = csim_fabric_n_cables(f);
  if (n == 0) return no_cables(f, fault, error);
  if (fault->count > n)
    return csim_fault_fail(fault, error, CSIM_ERROR_VALUE, "%u random cables of %u; allowed: up to all of them", fault->count, n);
  g_autofree uint32_t *all = g_new(uint32_t, n);
  for (guint i = 0; i < n; i++) all[i] = i;
  CsimRng rng;
  csim_rng_init(&rng, fault->has_seed ? fault->seed : seed, 0, RNG_CABLES);
  csim_rng_shuffle(&rng, all, n);
  for (guint i = 0; i < fault->count; i++) break_cable(f, fault, all[i]);
  return TRUE;
}

/* "leaf3", also "plane1/leaf3"; without a plane: on all of them. */
static guint kill_leaves(CsimFabric *f, const char *at) {
  guint hits = 0;
  if (f->graph != NULL) return 0;
  for (guint i = 0; i < f->planes * f->leaves; i++) {
    g_autofree char *name = g_strdup_printf("leaf%u", i % f->leaves), *full = g_strdup_printf("plane%u/%s", i / f->leaves, name);
    if (!g_pattern_match_simple(at, name) && !g_pattern_match_simple(at, full)) continue;
    f->dead[i] = 1;
    hits++;
  }
  return hits;
}

static gboolean is_end(const char *at, const char *name) {
  const char *bare = strrchr(name, '/');
  return g_pattern_match_simple(at, name) || (bare != NULL && g_pattern_match_simple(at, bare + 1));
}

static gboolean break_switch(CsimFabric *f, const CsimFault *fault, GError **error) {
  guint hits = kill_leaves(f, fault->at), n = csim_fabric_n_cables(f);
  char a[CSIM_SWITCH_NAME], b[CSIM_SWITCH_NAME];
  for (guint i = 0; i < n; i++) {
    cable_ends(f, i, a, b, sizeof a);
    if (!is_end(fault->at, a) && !is_end(fault->at, b)) continue;
    f->health[i] = 0;
    hits++;
  }
  if (hits > 0) return TRUE;
  if (n == 0) return csim_fault_fail(fault, error, CSIM_ERROR_REFERENCE, "no switch '%.60s' in this fabric; allowed: leaf0", fault->at);
  cable_ends(f, 0, a, b, sizeof a);
  return csim_fault_fail(fault, error, CSIM_ERROR_REFERENCE, "no switch '%.60s' in this fabric; allowed: such as %s and %s, with * and ?", fault->at, a, b);
}

gboolean csim_fabric_break(CsimFabric *f, const CsimCluster *cluster, uint64_t seed, GError **error) {
  gboolean any = FALSE;
  for (guint i = 0; i < cluster->faults->len; i++) {
    const CsimFault *fault = &g_array_index(cluster->faults, CsimFault, i);
    if (fault->kind != CSIM_FAULT_LINK && fault->kind != CSIM_FAULT_SWITCH) continue;
    guint n = csim_fabric_n_cables(f);
    if (!any) {
      f->health = g_new(double, n + 1);
      for (guint k = 0; k <= n; k++) f->health[k] = 1;
      f->dead = g_new0(guint8, (gsize)f->planes * MAX(f->leaves, 1) + 1);
      any = TRUE;
    }
    gboolean ok = fault->kind == CSIM_FAULT_SWITCH           ? break_switch(f, fault, error)
                  : strcmp(fault->at, "random") == 0 ? break_random(f, fault, seed, error)
                                                     : break_named(f, fault, error);
    if (!ok) return FALSE;
  }
  if (any && f->graph != NULL) csim_mesh_finish(f->graph, f->health);
  return TRUE;
}
