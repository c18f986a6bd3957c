#include "base/json-read.h"
#include "topo/cluster-build.h"
#include <string.h>

/* Limits of what is read; the fabric checks what they mean together. */
#define MAX_RADIX 1024
#define MAX_OVERSUBSCRIPTION 64

static void read_fabric(CsimJson *fabric, CsimFabricSpec *spec) {
  static const char *const kinds[] = {"switch", "fat-tree", "rail", "rail-only", NULL};
  static const char *const transports[] = {"ib", "roce", "socket", "slingshot", "efa", NULL};
  static const char *const routings[] = {"static", "ecmp", "adaptive", NULL};
  int kind = (int)spec->kind, transport = (int)spec->transport, routing = (int)spec->routing;
  int64_t tiers = 0, radix = 0, mtu = 0;
  gboolean routed = csim_json_choice(fabric, "routing", CSIM_JSON_OPTIONAL, routings, &routing);
  csim_json_choice(fabric, "kind", CSIM_JSON_OPTIONAL, kinds, &kind);
  csim_json_choice(fabric, "transport", CSIM_JSON_OPTIONAL, transports, &transport);
  csim_json_int(fabric, "tiers", CSIM_JSON_OPTIONAL, 1, 3, &tiers);
  csim_json_int(fabric, "radix", CSIM_JSON_OPTIONAL, 2, MAX_RADIX, &radix);
  csim_json_int(fabric, "mtu", CSIM_JSON_OPTIONAL, 256, 65536, &mtu);
  csim_json_double(fabric, "oversubscription", CSIM_JSON_OPTIONAL, 1.0 / MAX_OVERSUBSCRIPTION,
                   MAX_OVERSUBSCRIPTION, &spec->oversubscription);
  csim_json_rate(fabric, "link_rate", CSIM_JSON_OPTIONAL, &spec->link_rate);
  csim_json_time(fabric, "cable_leaf", CSIM_JSON_OPTIONAL, &spec->cable_leaf);
  csim_json_time(fabric, "cable_spine", CSIM_JSON_OPTIONAL, &spec->cable_spine);
  csim_json_bool(fabric, "sharp", CSIM_JSON_OPTIONAL, &spec->sharp);
  csim_packet_settings_read(fabric, &spec->packet);
  /* Ethernet spreads by hashing unless told otherwise. */
  if (!routed && transport != CSIM_TRANSPORT_IB) routing = CSIM_ROUTING_ECMP;
  spec->kind = (CsimFabricKind)kind;
  spec->transport = (CsimTransport)transport;
  spec->routing = (CsimRouting)routing;
  spec->tiers = (int)tiers;
  spec->radix = (int)radix;
  spec->mtu = (int)mtu;
}

/* XML paths are relative to the cluster's file. */
static char *node_path(const char *json_path, const char *xml) {
  if (!g_str_has_suffix(xml, ".xml") || g_path_is_absolute(xml)) return g_strdup(xml);
  g_autofree char *folder = g_path_get_dirname(json_path);
  return strcmp(folder, ".") == 0 ? g_strdup(xml) : g_build_filename(folder, xml, NULL);
}

static void read_group(CsimCluster *cluster, CsimJson *group, const char *path, guint override) {
  int64_t count = 1;
  const char *xml = NULL;
  if (!csim_json_is(group, CSIM_JSON_OBJECT)) return;
  csim_json_int(group, "count", CSIM_JSON_OPTIONAL, 1, CSIM_CLUSTER_MAX_NODES, &count);
  if (!csim_json_text(group, "xml", CSIM_JSON_REQUIRED, &xml)) return;
  g_autofree char *file = node_path(path, xml);
  g_autoptr(GError) error = NULL;
  if (cluster->n_nodes + count > CSIM_CLUSTER_MAX_NODES) {
    csim_json_error(group, CSIM_ERROR_LIMIT, "more than %d nodes; allowed: 1 to %d in all",
                    CSIM_CLUSTER_MAX_NODES, CSIM_CLUSTER_MAX_NODES);
    return;
  }
  CsimSystem *system = csim_cluster_open_node(cluster, file, &error);
  if (system == NULL)
    csim_json_error(csim_json_get(group, "xml", CSIM_JSON_REQUIRED), (CsimErrorCode)error->code, "%s",
                    error->message);
  else
    csim_cluster_add_nodes(cluster, system, override > 0 ? override : (guint)count);
}

static void read_nodes(CsimCluster *cluster, CsimJson *nodes, const char *path, guint override) {
  if (nodes == NULL) return;
  if (csim_json_n(nodes) == 0)
    csim_json_error(nodes, CSIM_ERROR_VALUE,
                    "no nodes; allowed: one group or more, e.g. {\"count\": 4, \"xml\": \"dgx-h100\"}");
  if (override > 0 && csim_json_n(nodes) > 1) {
    csim_json_error(
        nodes, CSIM_ERROR_VALUE,
        "a number of nodes was given for a cluster of several kinds of node; allowed: for one kind only");
    return;
  }
  for (CsimJson *group = csim_json_first(nodes); group != NULL; group = csim_json_next(group))
    read_group(cluster, group, path, override);
}

gboolean csim_cluster_read_json(CsimCluster *cluster, const char *path, guint n_nodes, GError **error) {
  g_autoptr(CsimDiag) diag = csim_diag_new();
  gboolean inlined = path[0] == '{';
  g_autoptr(CsimJsonDoc) doc =
      inlined ? csim_json_read_text("<target>", path, -1, diag) : csim_json_read_file(path, diag);
  CsimJson *root = csim_json_root(doc, CSIM_JSON_OBJECT);
  const char *description = NULL; /* for people */
  if (root != NULL) {
    csim_json_text(root, "description", CSIM_JSON_OPTIONAL, &description);
    read_nodes(cluster, csim_json_array(root, "nodes", CSIM_JSON_REQUIRED), inlined ? "." : path, n_nodes);
    cluster->fabric = csim_cluster_default_fabric(cluster);
    CsimJson *fabric = csim_json_object(root, "fabric", CSIM_JSON_OPTIONAL);
    if (fabric != NULL) read_fabric(fabric, &cluster->fabric);
    csim_json_finish(doc);
  }
  return csim_diag_check(diag, error);
}
