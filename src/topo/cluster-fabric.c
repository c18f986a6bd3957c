#include "topo/cluster-fabric.h"

/* Rails and the widest NIC of all kinds of node. */
static void widest(const CsimCluster *c, guint *rails, CsimRate *line) {
  *rails = 0;
  *line = 0;
  for (guint k = 0; k < c->systems->len; k++) {
    const CsimSystem *s = (const CsimSystem *)g_ptr_array_index(c->systems, k);
    for (guint i = 0; i < csim_system_n(s, CSIM_NODE_NET); i++) {
      *rails = MAX(*rails, csim_net_rail(s, i) + 1);
      *line = MAX(*line, (CsimRate)((double)csim_system_node(s, CSIM_NODE_NET, i)->net.bw * 1e9));
    }
  }
}

gboolean csim_cluster_make_fabric(const CsimCluster *c, const CsimCatalogue *catalogue, const CsimNetModel *net, CsimFabric *out,
                                  GError **error) {
  guint rails;
  CsimRate line;
  widest(c, &rails, &line);
  return csim_fabric_init(c, rails, line, catalogue, net, out, error);
}

guint *csim_cluster_leaves(const CsimCluster *c, GError **error) {
  g_autoptr(CsimCatalogue) catalogue = csim_catalogue_new(NULL, NULL, error);
  CsimNetModel net;
  CsimFabric f;
  if (catalogue == NULL) return NULL;
  csim_net_model_init(catalogue, csim_transport_name(c->fabric.transport), c->fabric.mtu, &net);
  if (!csim_cluster_make_fabric(c, catalogue, &net, &f, error)) return NULL;
  guint *leaf = g_new(guint, c->n_places + 1);
  for (guint p = 0; p < c->n_places; p++) leaf[p] = csim_fabric_leaf(&f, (CsimEndpoint){0, c->place_position[p]});
  csim_fabric_clear(&f);
  return leaf;
}
