/* topo/placement-read.c - placements from JSON and from the command line. */
#include "base/file.h"
#include "topo/cluster-build.h"
#include "topo/placement.h"
#include <string.h>

static const char *const orders[] = {"packed", "random", "by-leaf", "spread", "strided", "hosts", NULL};

#define HOSTS_FILE_LIMIT (INT64_C(4) << 20) /* ours: 65536 names of 60 letters */

/* One hostlist a line; '#' starts a comment. */
static char *hosts_of_file(CsimJson *value, const char *folder, const char *name) {
  g_autofree char *path = g_path_is_absolute(name) ? g_strdup(name) : g_build_filename(folder, name, NULL);
  g_autoptr(GError) wrong = NULL;
  g_autofree char *text = csim_file_read(path, HOSTS_FILE_LIMIT, NULL, &wrong);
  if (text == NULL) {
    csim_json_error(value, CSIM_ERROR_IO, "%s", wrong->message);
    return NULL;
  }
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  GString *out = g_string_new(NULL);
  for (char **line = lines; *line != NULL; line++) {
    char *comment = strchr(*line, '#');
    if (comment != NULL) *comment = '\0';
    g_strstrip(*line);
    if (**line != '\0') g_string_append_printf(out, "%s%s", out->len > 0 ? "," : "", *line);
  }
  return g_string_free(out, FALSE);
}

/* "hosts": a hostlist, or an array of them. */
static char *hosts_of(CsimJson *value) {
  const char *text = NULL;
  if (csim_json_type(value) != CSIM_JSON_ARRAY) return csim_json_as_text(value, &text) ? g_strdup(text) : NULL;
  GString *out = g_string_new(NULL);
  for (CsimJson *v = csim_json_first(value); v != NULL; v = csim_json_next(v))
    if (csim_json_as_text(v, &text)) g_string_append_printf(out, "%s%s", out->len > 0 ? "," : "", text);
  return g_string_free(out, FALSE);
}

/* TRUE if there is a list, good or bad. */
static gboolean read_hosts(CsimJson *object, const char *folder, CsimPlacement *out) {
  CsimJson *hosts = csim_json_get(object, "hosts", CSIM_JSON_OPTIONAL), *file = csim_json_get(object, "file", CSIM_JSON_OPTIONAL);
  const char *name = NULL;
  if (hosts != NULL && file != NULL)
    csim_json_error(file, CSIM_ERROR_SCHEMA, "\"hosts\" and \"file\" together; allowed: one of them");
  if (hosts != NULL) out->hosts = hosts_of(hosts);
  else if (file != NULL && csim_json_as_text(file, &name)) out->hosts = hosts_of_file(file, folder, name);
  return hosts != NULL || file != NULL;
}

static void check(CsimJson *object, gboolean order_given, gboolean listed, const CsimPlacement *p) {
  if (p->order == CSIM_ORDER_HOSTS && !listed)
    csim_json_error(object, CSIM_ERROR_SCHEMA, "order \"hosts\" without a list; allowed: with \"hosts\" or \"file\"");
  if (order_given && listed && p->order != CSIM_ORDER_HOSTS)
    csim_json_error(object, CSIM_ERROR_SCHEMA, "a list of hosts is an order of its own; allowed: \"order\": \"hosts\", or none");
  if (p->stride > 0 && p->order != CSIM_ORDER_STRIDED)
    csim_json_error(object, CSIM_ERROR_SCHEMA, "a stride without order \"strided\"; allowed: with it");
  if (p->busy > 0 && listed)
    csim_json_error(object, CSIM_ERROR_SCHEMA, "busy nodes beside a list of hosts; allowed: one of them");
}

void csim_placement_read(CsimJson *object, const char *folder, CsimPlacement *out) {
  int order = CSIM_ORDER_PACKED;
  int64_t nodes = 0, stride = 0, seed = 0;
  gboolean order_given = csim_json_choice(object, "order", CSIM_JSON_OPTIONAL, orders, &order);
  *out = (CsimPlacement){.given = TRUE, .order = (CsimOrder)order, .loc = csim_json_loc(object)};
  csim_json_int(object, "nodes", CSIM_JSON_OPTIONAL, 1, CSIM_CLUSTER_MAX_NODES, &nodes);
  csim_json_int(object, "stride", CSIM_JSON_OPTIONAL, 1, CSIM_CLUSTER_MAX_NODES, &stride);
  csim_json_double(object, "busy", CSIM_JSON_OPTIONAL, 0, 0.999, &out->busy);
  out->has_seed = csim_json_int(object, "seed", CSIM_JSON_OPTIONAL, 0, INT64_MAX, &seed);
  out->seed = (uint64_t)seed;
  out->nodes = (guint)nodes;
  out->stride = (guint)stride;
  gboolean listed = read_hosts(object, folder, out);
  check(object, order_given, listed, out);
  if (listed) out->order = CSIM_ORDER_HOSTS;
}

gboolean csim_placement_parse(const char *text, CsimPlacement *out, GError **error) {
  static const char *const numbers[] = {"nodes", "stride", "busy", "seed", NULL};
  g_autofree char *json = csim_cluster_words_to_json(text, "order", numbers);
  g_autoptr(CsimDiag) diag = csim_diag_new();
  g_autoptr(CsimJsonDoc) doc = csim_json_read_text("--placement", json, -1, diag);
  CsimJson *root = csim_json_root(doc, CSIM_JSON_OBJECT);
  *out = (CsimPlacement){0};
  if (root != NULL) {
    csim_placement_read(root, ".", out);
    csim_json_finish(doc);
  }
  out->loc = CSIM_LOC_NONE;
  return csim_cluster_check_words(diag, "placement", text, error);
}
