/* topo/links.c - a fabric as the user lists it: cables between named switches, hosts on switches. */
#include "topo/fabric-private.h"
#include "topo/hostlist.h"
#include "topo/placement.h"

typedef struct {
  const FabricPlan *plan;
  CsimMesh *graph;
  GHashTable *numbers; /* name -> switch + 1 */
} Lister;

static guint switch_of(Lister *l, const char *name) {
  guint known = GPOINTER_TO_UINT(g_hash_table_lookup(l->numbers, name));
  if (known > 0) return known - 1;
  guint sw = csim_mesh_add_switch(l->graph, name);
  g_hash_table_insert(l->numbers, (gpointer)name, GUINT_TO_POINTER(sw + 1));
  return sw;
}

static gboolean add_cables(Lister *l, const CsimCableSpec *c, const CsimNetModel *net, GError **error) {
  const CsimFabric *f = l->plan->fabric;
  CsimRate rate = c->rate > 0 ? csim_net_payload_rate(net, c->rate) : f->cable;
  guint a = switch_of(l, c->from), b = switch_of(l, c->to);
  for (int i = 0; i < c->cables; i++) csim_mesh_add_cable(l->graph, a, b, rate, c->cable > 0 ? c->cable : f->cable_spine, 1);
  if (csim_mesh_n_switches(l->graph) <= CSIM_MESH_MAX_SWITCHES) return TRUE;
  csim_error_set(error, CSIM_ERROR_LIMIT, c->loc, "more than %d switches; allowed: up to that", CSIM_MESH_MAX_SWITCHES);
  return FALSE;
}

/* All hosts of one place, the NICs that were named. */
static gboolean attach_place(Lister *l, const CsimAttachSpec *a, guint place, guint sw, GError **error) {
  const CsimCluster *c = l->plan->cluster;
  guint rails = l->plan->fabric->rails, first = a->first_nic >= 0 ? (guint)a->first_nic : 0, last = a->first_nic >= 0 ? (guint)a->last_nic : rails - 1;
  if (last >= rails) {
    csim_error_set(error, CSIM_ERROR_REFERENCE, a->loc, "no NIC %u; allowed: 0 to %u", last, rails - 1);
    return FALSE;
  }
  for (guint position = c->place_position[place]; position < c->place_position[place + 1]; position++)
    for (guint rail = first; rail <= last; rail++) {
      if (csim_mesh_switch_of(l->graph, position * rails + rail) != UINT_MAX) {
        csim_error_set(error, CSIM_ERROR_VALUE, a->loc, "NIC %u of %s hangs on a switch already; allowed: on one", rail, c->place_name[place]);
        return FALSE;
      }
      csim_mesh_attach(l->graph, position * rails + rail, sw);
    }
  return TRUE;
}

static gboolean attach(Lister *l, const CsimAttachSpec *a, GError **error) {
  const CsimCluster *c = l->plan->cluster;
  g_autoptr(GPtrArray) names = csim_hostlist_parse(a->hosts, error);
  guint sw = switch_of(l, a->at);
  if (names == NULL) {
    csim_error_prefix_loc(error, a->loc);
    return FALSE;
  }
  for (guint i = 0; i < names->len; i++) {
    const char *name = (const char *)g_ptr_array_index(names, i);
    int place = csim_cluster_find_place(c, name);
    if (place < 0) {
      csim_error_set(error, CSIM_ERROR_REFERENCE, a->loc, "no host '%.60s' in this cluster; allowed: %s to %s", name, c->place_name[0],
                     c->place_name[c->n_places - 1]);
      return FALSE;
    }
    if (!attach_place(l, a, (guint)place, sw, error)) return FALSE;
  }
  return TRUE;
}

CsimMesh *fabric_list(const FabricPlan *plan, const CsimNetModel *net, GError **error) {
  const CsimFabricSpec *spec = &plan->cluster->fabric;
  g_autoptr(GHashTable) numbers = g_hash_table_new(g_str_hash, g_str_equal);
  Lister l = {plan, csim_mesh_new(plan->fabric->positions * plan->fabric->rails), numbers};
  gboolean ok = TRUE;
  for (guint i = 0; ok && i < spec->links->len; i++) ok = add_cables(&l, &g_array_index(spec->links, CsimCableSpec, i), net, error);
  for (guint i = 0; ok && i < spec->attach->len; i++) ok = attach(&l, &g_array_index(spec->attach, CsimAttachSpec, i), error);
  if (ok) return l.graph;
  csim_mesh_free(l.graph);
  return NULL;
}
