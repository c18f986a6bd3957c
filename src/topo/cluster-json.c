#include "base/json-read.h"
#include "topo/cluster-build.h"
#include "topo/faults.h"
#include "topo/hostlist.h"
#include <string.h>

/* XML paths are relative to the cluster's file. */
static char *node_path(const char *json_path, const char *xml) {
  if (!g_str_has_suffix(xml, ".xml") || g_path_is_absolute(xml)) return g_strdup(xml);
  g_autofree char *folder = g_path_get_dirname(json_path);
  return strcmp(folder, ".") == 0 ? g_strdup(xml) : g_build_filename(folder, xml, NULL);
}

/* Names of a group's hosts, `count` of them, or NULL. */
static GPtrArray *read_names(CsimJson *group, guint count) {
  const char *text = NULL;
  g_autoptr(GError) error = NULL;
  if (!csim_json_text(group, "names", CSIM_JSON_OPTIONAL, &text)) return NULL;
  CsimJson *place = csim_json_get(group, "names", CSIM_JSON_OPTIONAL);
  g_autoptr(GPtrArray) names = csim_hostlist_parse(text, &error);
  if (names == NULL) {
    csim_json_error(place, (CsimErrorCode)error->code, "%s", error->message);
    return NULL;
  }
  if (names->len == count) return g_steal_pointer(&names);
  csim_json_error(place, CSIM_ERROR_VALUE, "%u names for %u nodes; allowed: one each", names->len, count);
  return NULL;
}

static void read_group(CsimCluster *cluster, CsimJson *group, const char *path, guint override) {
  int64_t count = 1;
  const char *xml = NULL;
  if (!csim_json_is(group, CSIM_JSON_OBJECT)) return;
  csim_json_int(group, "count", CSIM_JSON_OPTIONAL, 1, CSIM_CLUSTER_MAX_NODES, &count);
  if (override > 0) count = override;
  g_autoptr(GPtrArray) names = read_names(group, (guint)count);
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
    csim_cluster_add_nodes(cluster, system, file, (guint)count, names);
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

static void read_root(CsimCluster *cluster, CsimJson *root, const char *path, guint n_nodes, gboolean placed, CsimPlacement *placement) {
  const char *description = NULL; /* for people */
  g_autofree char *folder = path[0] == '{' ? g_strdup(".") : g_path_get_dirname(path);
  csim_json_text(root, "description", CSIM_JSON_OPTIONAL, &description);
  CsimJson *place = csim_json_object(root, "placement", CSIM_JSON_OPTIONAL);
  if (place != NULL) csim_placement_read(place, folder, placement);
  CsimJson *nodes = csim_json_array(root, "nodes", CSIM_JSON_REQUIRED);
  read_nodes(cluster, nodes, path[0] == '{' ? "." : path, placed || place != NULL ? 0 : n_nodes);
  cluster->fabric = csim_cluster_default_fabric(cluster);
  CsimJson *fabric = csim_json_object(root, "fabric", CSIM_JSON_OPTIONAL);
  if (fabric != NULL) csim_fabric_spec_read(fabric, &cluster->fabric);
  CsimJson *faults = csim_json_array(root, "faults", CSIM_JSON_OPTIONAL);
  if (faults != NULL) csim_faults_read(faults, cluster->faults);
}

gboolean csim_cluster_read_json(CsimCluster *cluster, const char *path, guint n_nodes, gboolean placed, CsimPlacement *placement,
                                GError **error) {
  g_autoptr(CsimDiag) diag = csim_diag_new();
  g_autoptr(CsimJsonDoc) doc =
      path[0] == '{' ? csim_json_read_text("<target>", path, -1, diag) : csim_json_read_file(path, diag);
  CsimJson *root = csim_json_root(doc, CSIM_JSON_OBJECT);
  if (root != NULL) {
    read_root(cluster, root, path, n_nodes, placed, placement);
    csim_json_finish(doc);
  }
  return csim_diag_check(diag, error);
}
