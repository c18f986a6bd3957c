#include "topo/fabric-mesh.h"

#include "topo/fabric-private.h"
#include <string.h>

#define NO_WAY UINT16_MAX
#define DRAWS 4 /* cheapest ways, and detours, that adaptive routing looks at (as UGAL does with one of each: Kim, Dally 2008) */

typedef struct {
  guint a, b, cost;
  CsimRate rate;
  CsimTime latency;
} Cable;

/* One cable as a switch sees it. */
typedef struct {
  guint to, link, cost;
} Arc;

struct CsimMesh {
  GPtrArray *names;  /* char*, by switch */
  GArray *cables;    /* Cable */
  guint n_endpoints;
  guint *at;         /* endpoint -> switch, UINT_MAX none */
  guint *first;      /* arcs of switch s: arc[first[s]] .. arc[first[s + 1] - 1], in order of cables */
  Arc *arc;
  uint16_t *distance; /* [to * n + from] */
  gboolean ordered, detours;
};

CsimMesh *csim_mesh_new(guint n_endpoints) {
  CsimMesh *g = g_new0(CsimMesh, 1);
  g->names = g_ptr_array_new_with_free_func(g_free);
  g->cables = g_array_new(FALSE, FALSE, sizeof(Cable));
  g->n_endpoints = n_endpoints;
  g->at = g_new(guint, n_endpoints + 1);
  memset(g->at, 0xff, (n_endpoints + 1) * sizeof *g->at);
  return g;
}

void csim_mesh_free(CsimMesh *g) {
  if (g == NULL) return;
  g_ptr_array_unref(g->names);
  g_array_unref(g->cables);
  gpointer owned[] = {g->at, g->first, g->arc, g->distance, g};
  for (guint i = 0; i < G_N_ELEMENTS(owned); i++) g_free(owned[i]);
}

/* --- building ---------------------------------------------------------------- */

guint csim_mesh_add_switch(CsimMesh *g, const char *name) {
  g_ptr_array_add(g->names, g_strdup(name));
  return g->names->len - 1;
}

guint csim_mesh_n_switches(const CsimMesh *g) { return g->names->len; }
guint csim_mesh_n_cables(const CsimMesh *g) { return g->cables->len; }

const char *csim_mesh_switch_name(const CsimMesh *g, guint sw) {
  return sw < g->names->len ? (const char *)g_ptr_array_index(g->names, sw) : "nowhere";
}

guint csim_mesh_add_cable(CsimMesh *g, guint a, guint b, CsimRate rate, CsimTime latency, guint cost) {
  Cable c = {a, b, cost, rate, latency};
  g_array_append_val(g->cables, c);
  return g->cables->len - 1;
}

void csim_mesh_cable(const CsimMesh *g, guint cable, guint *a, guint *b, CsimRate *rate) {
  const Cable *c = &g_array_index(g->cables, Cable, cable);
  if (a != NULL) *a = c->a;
  if (b != NULL) *b = c->b;
  if (rate != NULL) *rate = c->rate;
}

CsimTime csim_mesh_cable_latency(const CsimMesh *g, guint cable) { return g_array_index(g->cables, Cable, cable).latency; }

void csim_mesh_attach(CsimMesh *g, guint endpoint, guint sw) {
  g_assert(endpoint < g->n_endpoints && sw < g->names->len);
  g->at[endpoint] = sw;
}

guint csim_mesh_switch_of(const CsimMesh *g, guint endpoint) { return g->at[endpoint]; }

void csim_mesh_set_style(CsimMesh *g, gboolean ordered, gboolean detours) {
  g->ordered = ordered;
  g->detours = detours;
}

static void list_arcs(CsimMesh *g, const double *health) {
  guint n = g->names->len;
  g_free(g->first);
  g_free(g->arc);
  g->first = g_new0(guint, n + 2);
  g->arc = g_new(Arc, 2 * g->cables->len + 1);
  for (guint pass = 0; pass < 2; pass++) {
    for (guint i = 0; i < g->cables->len; i++) {
      const Cable *c = &g_array_index(g->cables, Cable, i);
      if (health != NULL && health[i] <= 0) continue;
      if (pass == 0) {
        g->first[c->a + 2]++;
        g->first[c->b + 2]++;
      } else {
        g->arc[g->first[c->a + 1]++] = (Arc){c->b, 2 * i, c->cost};
        g->arc[g->first[c->b + 1]++] = (Arc){c->a, 2 * i + 1, c->cost};
      }
    }
    for (guint s = 0; pass == 0 && s < n; s++) g->first[s + 2] += g->first[s + 1];
  }
}

/* Costs of all ways to one switch, cheapest first: buckets by cost, since costs are small whole numbers. */
static void distances_to(CsimMesh *g, guint to, GArray *open) {
  uint16_t *distance = g->distance + (gsize)to * g->names->len;
  memset(distance, 0xff, g->names->len * sizeof *distance);
  distance[to] = 0;
  g_array_set_size(open, 0);
  g_array_append_val(open, to);
  for (guint i = 0; i < open->len; i++) {
    guint s = g_array_index(open, guint, i);
    for (guint k = g->first[s]; k < g->first[s + 1]; k++) {
      const Arc *arc = &g->arc[k];
      guint cost = distance[s] + arc->cost;
      if (cost >= distance[arc->to]) continue;
      distance[arc->to] = (uint16_t)cost;
      g_array_append_val(open, arc->to); /* looked at again if it was before: its neighbours may be nearer now */
    }
  }
}

void csim_mesh_finish(CsimMesh *g, const double *health) {
  guint n = g->names->len;
  g_autoptr(GArray) open = g_array_new(FALSE, FALSE, sizeof(guint));
  list_arcs(g, health);
  g_free(g->distance);
  g->distance = g_new(uint16_t, (gsize)n * n + 1);
  for (guint to = 0; to < n; to++) distances_to(g, to, open);
}

/* --- ways -------------------------------------------------------------------- */

typedef struct {
  const CsimMesh *g;
  CsimRouting routing;
  guint endpoint; /* destination */
  uint64_t hash;
} Ask;

static guint distance(const CsimMesh *g, guint from, guint to) { return g->distance[(gsize)to * g->names->len + from]; }

static gboolean leads(const CsimMesh *g, const Arc *arc, guint from, guint to) {
  return distance(g, arc->to, to) != NO_WAY && arc->cost + distance(g, arc->to, to) == distance(g, from, to);
}

/* The cheapest next cables: how many, and the n-th of them; only those to the first neighbour where the graph is ordered. */
static guint next_arcs(const Ask *q, guint s, guint to, guint wanted, const Arc **out) {
  const CsimMesh *g = q->g;
  guint n = 0, only = UINT_MAX;
  for (guint k = g->first[s]; k < g->first[s + 1]; k++) {
    const Arc *arc = &g->arc[k];
    if (!leads(g, arc, s, to) || (only != UINT_MAX && arc->to != only)) continue;
    if (q->routing == CSIM_ROUTING_STATIC && g->ordered) only = arc->to;
    if (n++ == wanted) *out = arc;
  }
  return n;
}

static guint pick(const Ask *q, guint s, guint n) {
  if (q->routing == CSIM_ROUTING_STATIC) return q->endpoint % n;
  return fabric_mix(q->hash ^ ((uint64_t)s * UINT64_C(0x9e3779b97f4a7c15))) % n;
}

/* Appends the links of one cheapest way. */
static gboolean walk(const Ask *q, guint from, guint to, CsimMeshWay *way) {
  const CsimMesh *g = q->g;
  if (from != to && distance(g, from, to) == NO_WAY) return FALSE;
  for (guint s = from; s != to;) {
    const Arc *arc = NULL;
    guint n = next_arcs(q, s, to, UINT_MAX, &arc);
    next_arcs(q, s, to, pick(q, s, n), &arc);
    if (way->n == way->max) return FALSE;
    way->link[way->n++] = arc->link;
    way->latency += g_array_index(g->cables, Cable, arc->link / 2).latency;
    way->switches++;
    s = arc->to;
  }
  return TRUE;
}

/* How full the fullest link of a way would be, in flows per rate, times the length of the way: what UGAL compares. */
static double pressure(const CsimMesh *g, const CsimMeshWay *way, const uint32_t *loads) {
  double worst = 0;
  for (guint i = 0; i < way->n; i++) {
    double flows = loads != NULL ? (double)loads[way->link[i]] + 1 : 1;
    worst = MAX(worst, flows / (double)g_array_index(g->cables, Cable, way->link[i] / 2).rate);
  }
  return worst * way->n;
}

static gboolean try_way(const Ask *q, guint from, guint over, guint to, CsimMeshWay *way) {
  way->n = 0;
  way->switches = 1;
  way->latency = 0;
  return over == UINT_MAX ? walk(q, from, to, way) : walk(q, from, over, way) && walk(q, over, to, way);
}

/* The i-th way that is looked at: by another hash each, from DRAWS on over another switch. */
static gboolean candidate(Ask *q, guint from, guint to, uint64_t hash, guint i, CsimMeshWay *way) {
  q->hash = hash + i * UINT64_C(0xd1b54a32d192ed03);
  guint over = i < DRAWS ? UINT_MAX : fabric_mix(q->hash ^ UINT64_C(0x2545f4914f6cdd1d)) % q->g->names->len;
  return over != from && over != to && try_way(q, from, over, to, way);
}

static gboolean least_loaded(Ask *q, guint from, guint to, const uint32_t *loads, CsimMeshWay *way) {
  guint buffer[CSIM_FABRIC_MAX_HOPS], tries = q->g->detours && loads != NULL ? 2 * DRAWS : DRAWS;
  uint64_t hash = q->hash;
  double best = 0;
  gboolean found = FALSE;
  g_assert(way->max <= CSIM_FABRIC_MAX_HOPS);
  for (guint i = 0; i < tries; i++) {
    CsimMeshWay other = {.max = way->max, .link = buffer};
    if (!candidate(q, from, to, hash, i, &other)) continue;
    double value = pressure(q->g, &other, loads);
    if (found && value >= best) continue;
    found = TRUE;
    best = value;
    memcpy(way->link, buffer, other.n * sizeof *buffer);
    way->n = other.n;
    way->switches = other.switches;
    way->latency = other.latency;
  }
  return found;
}

gboolean csim_mesh_candidate(const CsimMesh *g, guint from, guint to, uint64_t hash, guint i, CsimMeshWay *way) {
  guint a = g->at[from], b = g->at[to];
  Ask q = {g, CSIM_ROUTING_ADAPTIVE, to, hash};
  if (a == UINT_MAX || b == UINT_MAX || (i > 0 && a == b) || (i >= DRAWS && !g->detours)) return FALSE;
  return candidate(&q, a, b, hash, i, way);
}

gboolean csim_mesh_way(const CsimMesh *g, CsimRouting routing, guint from, guint to, uint64_t hash, const uint32_t *loads, CsimMeshWay *way) {
  guint a = g->at[from], b = g->at[to];
  Ask q = {g, routing, to, hash};
  if (a == UINT_MAX || b == UINT_MAX) return FALSE;
  if (routing == CSIM_ROUTING_ADAPTIVE && a != b) return least_loaded(&q, a, b, loads, way);
  return try_way(&q, a, UINT_MAX, b, way);
}
