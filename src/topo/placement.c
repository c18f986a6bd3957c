#include "topo/placement.h"

#include "base/rng.h"
#include "topo/cluster-fabric.h"
#include "topo/hostlist.h"
#include <string.h>

#define RNG_BUSY 11  /* purposes of the streams of this file */
#define RNG_ORDER 12

void csim_placement_clear(CsimPlacement *p) {
  g_clear_pointer(&p->hosts, g_free);
}

int csim_cluster_find_place(const CsimCluster *c, const char *name) {
  for (guint i = 0; i < c->n_places; i++)
    if (strcmp(c->place_name[i], name) == 0) return (int)i;
  return -1;
}

/* --- who is free ------------------------------------------------------------- */

static gboolean fail(const CsimPlacement *p, GError **error, CsimErrorCode code, const char *text) {
  csim_error_set(error, code, p->loc, "%s", text);
  return FALSE;
}

static void drop_busy(const CsimPlacement *p, uint64_t seed, GArray *places) {
  guint taken = (guint)(p->busy * places->len + 0.5);
  g_autofree uint32_t *all = g_memdup2(places->data, places->len * sizeof(uint32_t));
  CsimRng rng;
  csim_rng_init(&rng, seed, 0, RNG_BUSY);
  csim_rng_shuffle(&rng, all, places->len);
  g_autofree gboolean *gone = g_new0(gboolean, places->len + 1);
  for (guint i = 0; i < taken; i++) gone[all[i]] = TRUE;
  for (guint i = places->len; i-- > 0;)
    if (gone[i]) g_array_remove_index(places, i);
}

static gboolean listed_hosts(const CsimPlacement *p, const CsimCluster *c, GArray *places, GError **error) {
  g_autoptr(GPtrArray) names = csim_hostlist_parse(p->hosts, error);
  if (names == NULL) {
    csim_error_prefix_loc(error, p->loc);
    return FALSE;
  }
  g_autoptr(GHashTable) numbers = g_hash_table_new(g_str_hash, g_str_equal);
  for (guint i = 0; i < c->n_places; i++) g_hash_table_insert(numbers, c->place_name[i], GUINT_TO_POINTER(i + 1));
  for (guint i = 0; i < names->len; i++) {
    const char *name = (const char *)g_ptr_array_index(names, i);
    guint number = GPOINTER_TO_UINT(g_hash_table_lookup(numbers, name));
    if (number == 0) {
      g_autofree char *text = g_strdup_printf("no host '%.60s' in this cluster, or it is listed twice; allowed: %s to %s, each once", name,
                                              c->place_name[0], c->place_name[c->n_places - 1]);
      return fail(p, error, CSIM_ERROR_REFERENCE, text);
    }
    uint32_t place = number - 1;
    g_array_append_val(places, place);
    g_hash_table_remove(numbers, name);
  }
  return TRUE;
}

/* --- orders ------------------------------------------------------------------ */

static void stride(GArray *places, guint step) {
  g_autoptr(GArray) out = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  for (guint first = 0; first < MIN(step, places->len); first++)
    for (guint i = first; i < places->len; i += step) g_array_append_val(out, g_array_index(places, uint32_t, i));
  memcpy(places->data, out->data, out->len * sizeof(uint32_t));
}

typedef struct { uint32_t place, leaf, in_leaf, leaf_size; } Seat;

/* The leaf with most free nodes first; then by leaf, then by number. */
static gint by_leaf(gconstpointer a, gconstpointer b) {
  const Seat *p = a, *q = b;
  if (p->leaf_size != q->leaf_size) return p->leaf_size > q->leaf_size ? -1 : 1;
  if (p->leaf != q->leaf) return p->leaf < q->leaf ? -1 : 1;
  return p->place < q->place ? -1 : p->place > q->place;
}

static gint by_turn(gconstpointer a, gconstpointer b) {
  const Seat *p = a, *q = b;
  if (p->in_leaf != q->in_leaf) return p->in_leaf < q->in_leaf ? -1 : 1;
  return p->place < q->place ? -1 : p->place > q->place;
}

static gboolean order_by_leaf(const CsimPlacement *p, const CsimCluster *c, GArray *places, GError **error) {
  g_autofree guint *leaf = csim_cluster_leaves(c, error);
  if (leaf == NULL) return FALSE;
  g_autofree Seat *seats = g_new0(Seat, places->len + 1);
  g_autoptr(GHashTable) sizes = g_hash_table_new(NULL, NULL);
  for (guint i = 0; i < places->len; i++) {
    uint32_t place = g_array_index(places, uint32_t, i);
    guint have = GPOINTER_TO_UINT(g_hash_table_lookup(sizes, GUINT_TO_POINTER(leaf[place])));
    seats[i] = (Seat){place, leaf[place], have, 0};
    g_hash_table_insert(sizes, GUINT_TO_POINTER(leaf[place]), GUINT_TO_POINTER(have + 1));
  }
  for (guint i = 0; i < places->len; i++)
    seats[i].leaf_size = GPOINTER_TO_UINT(g_hash_table_lookup(sizes, GUINT_TO_POINTER(seats[i].leaf)));
  qsort(seats, places->len, sizeof *seats, p->order == CSIM_ORDER_BY_LEAF ? by_leaf : by_turn);
  for (guint i = 0; i < places->len; i++) g_array_index(places, uint32_t, i) = seats[i].place;
  return TRUE;
}

static gboolean put_in_order(const CsimPlacement *p, uint64_t seed, const CsimCluster *c, GArray *places, GError **error) {
  CsimRng rng;
  switch (p->order) {
  case CSIM_ORDER_PACKED:
  case CSIM_ORDER_HOSTS:
    return TRUE;
  case CSIM_ORDER_RANDOM:
    csim_rng_init(&rng, seed, 0, RNG_ORDER);
    csim_rng_shuffle(&rng, (uint32_t *)(void *)places->data, places->len);
    return TRUE;
  case CSIM_ORDER_STRIDED:
    stride(places, MAX(p->stride, 1));
    return TRUE;
  case CSIM_ORDER_BY_LEAF:
  case CSIM_ORDER_SPREAD:
    return order_by_leaf(p, c, places, error);
  }
  g_assert_not_reached();
}

/* --- applying ---------------------------------------------------------------- */

static gboolean enough(const CsimPlacement *p, const CsimCluster *c, guint have, GError **error) {
  if (have > 0 && p->nodes <= have) return TRUE;
  g_autofree char *text = g_strdup_printf("the job takes %u nodes; allowed: 1 to %u, which are free of %u%s", MAX(p->nodes, 1), have,
                                          c->n_places, p->order == CSIM_ORDER_HOSTS ? " and listed" : "");
  return fail(p, error, CSIM_ERROR_VALUE, text);
}

static void take(CsimCluster *c, const GArray *places, guint n) {
  g_autofree guint *system = g_steal_pointer(&c->node_system), *hardware = g_steal_pointer(&c->node_hardware);
  c->n_nodes = n;
  c->node_system = g_new(guint, n);
  c->node_hardware = g_new(guint, n);
  c->node_place = g_renew(guint, c->node_place, n);
  for (guint i = 0; i < n; i++) {
    uint32_t place = g_array_index(places, uint32_t, i);
    c->node_place[i] = place;
    c->node_system[i] = system[place];
    c->node_hardware[i] = hardware[place];
  }
}

gboolean csim_placement_apply(const CsimPlacement *p, uint64_t seed, CsimCluster *c, GError **error) {
  if (!p->given) return TRUE;
  if (p->has_seed) seed = p->seed;
  else c->seeded |= p->order == CSIM_ORDER_RANDOM || p->busy > 0;
  g_autoptr(GArray) places = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  if (p->order == CSIM_ORDER_HOSTS) {
    if (!listed_hosts(p, c, places, error)) return FALSE;
  } else {
    for (uint32_t i = 0; i < c->n_places; i++) g_array_append_val(places, i);
    drop_busy(p, seed, places);
  }
  if (!enough(p, c, places->len, error) || !put_in_order(p, seed, c, places, error)) return FALSE;
  take(c, places, p->nodes > 0 ? p->nodes : places->len);
  return TRUE;
}
