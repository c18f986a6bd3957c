/* The cost table and NCCL's choice, against the reference vectors: inputs are taken from each vector's own graphs and channels, so that
 * this test does not depend on the search. */
#include "nccl/json.h"
#include "nccl/tune-internal.h"

#include <math.h>
#include <string.h>

#define TOLERANCE 1e-3 /* relative, for times and bandwidths */

static char *reference_folder(const char *name) {
  const char *given = g_getenv("COLLSIM_REFERENCE"), *root = g_getenv("COLLSIM_SOURCE_ROOT");
  return g_build_filename(given ? "" : root ? root : ".", given ? given : "../shared", name, NULL);
}

static cJSON *read_json(const char *path) {
  g_autofree char *text = NULL;
  g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
  cJSON *json = cJSON_Parse(text);
  g_assert_nonnull(json);
  return json;
}

static double number_of(const cJSON *object, const char *key) {
  const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
  g_assert_true(cJSON_IsNumber(item));
  return item->valuedouble;
}

static int path_type_of(const cJSON *graph, const char *key) {
  static const char *const names[] = {"LOC", "NVL", "NVB", "C2C", "PIX", "PXB",
                                      "P2C", "PXN", "PHB", "SYS", "NET", "DIS"};
  const char *text = cJSON_GetObjectItemCaseSensitive(graph, key)->valuestring;
  for (guint i = 0; i < G_N_ELEMENTS(names); i++)
    if (strcmp(text, names[i]) == 0) return (int)i;
  g_assert_cmpstr(text, ==, "");
  return 0;
}

static CsimTuneGraph graph_of(const cJSON *g) {
  return (CsimTuneGraph){(int)number_of(g, "nChannels"),     (int)number_of(g, "sameChannels"),
                         path_type_of(g, "typeIntra"),       path_type_of(g, "typeInter"),
                         (float)number_of(g, "bwIntra"),     (float)number_of(g, "bwInter"),
                         (float)number_of(g, "latencyInter")};
}

/* Nodes are written out for one and two machines only; for more, a CollNetDirect graph tells (it is all that asks for the switch). */
static gboolean lists_nvswitch(const cJSON *vector) {
  const cJSON *node,
      *nodes = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(vector, "system"), "nodes");
  cJSON_ArrayForEach(node,
                     nodes) if (g_str_has_prefix(cJSON_GetObjectItemCaseSensitive(node, "id")->valuestring,
                                                 "NVS")) return TRUE;
  const cJSON *direct =
      cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(vector, "graphs"), "collnetDirect");
  return !nodes && number_of(direct, "nChannels") > 0;
}

static int max_local_ranks(const cJSON *vector) {
  int most = 0;
  const cJSON *group, *groups = cJSON_GetObjectItemCaseSensitive(vector, "groups");
  cJSON_ArrayForEach(group, groups) most = MAX(most, cJSON_GetArraySize(group));
  return most ? most : (int)number_of(vector, "ranksPerNode");
}

static void input_of(const cJSON *vector, CsimTuneInput *in) {
  const cJSON *system = cJSON_GetObjectItemCaseSensitive(vector, "system"),
              *ch = cJSON_GetObjectItemCaseSensitive(vector, "channels");
  const cJSON *graphs = cJSON_GetObjectItemCaseSensitive(vector, "graphs");
  static const char *const names[CSIM_N_GRAPHS] = {"ring", "tree", "collnetChain", "nvls", "collnetDirect"};
  *in = (CsimTuneInput){.n_ranks = (int)number_of(vector, "nRanks"),
                        .n_nodes = (int)number_of(vector, "ncclNodes"),
                        .max_local_ranks = max_local_ranks(vector),
                        .n_channels = (int)number_of(ch, "coll"),
                        .n_nvls_channels = (int)number_of(ch, "nvls"),
                        .n_p2p_channels = (int)number_of(ch, "p2p"),
                        .n_p2p_per_peer = (int)number_of(ch, "p2pPerPeer"),
                        .nvls_chunk = (int)number_of(ch, "nvlsChunk"),
                        .nvls_tree_max_chunk = (int)number_of(ch, "nvlsTreeMaxChunk"),
                        .nvls_heads = (int)number_of(ch, "nvlsHeads"),
                        .collnet_heads = (int)number_of(ch, "collnetHeads"),
                        .min_sm = (int)number_of(system, "minCompCap"),
                        .max_sm = (int)number_of(system, "maxCompCap"),
                        .cpu_arch = (int)number_of(system, "cpuArch"),
                        .cpu_vendor = (int)number_of(system, "cpuVendor"),
                        .coll_net = number_of(ch, "collnet") != 0,
                        .nvswitch = lists_nvswitch(vector),
                        .all_nvlink = number_of(system, "isAllNvlink") != 0,
                        .tree_pattern =
                            (int)number_of(cJSON_GetObjectItemCaseSensitive(graphs, "tree"), "pattern")};
  for (int g = 0; g < CSIM_N_GRAPHS; g++)
    in->graph[g] = graph_of(cJSON_GetObjectItemCaseSensitive(graphs, names[g]));
}

static CsimNcclEnv *env_of(const cJSON *vector) {
  g_autoptr(GPtrArray) settings = g_ptr_array_new_with_free_func(g_free);
  const cJSON *item;
  cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(vector, "env"))
      g_ptr_array_add(settings, g_strdup_printf("%s=%s", item->string, item->valuestring));
  g_ptr_array_add(settings, NULL);
  return csim_nccl_env_new(NULL, (const char *const *)settings->pdata, NULL, NULL);
}

/* First difference between expected and found, as a path; NULL: equal. Numbers to TOLERANCE, all else exactly. */
static char *difference(const cJSON *expected, const cJSON *found, const char *path) {
  if (!expected || !found || (expected->type & 0xff) != (found->type & 0xff)) {
    g_autofree char *e = expected ? cJSON_PrintUnformatted(expected) : g_strdup("absent"),
                    *f = found ? cJSON_PrintUnformatted(found) : g_strdup("absent");
    return g_strdup_printf("%s: expected %.200s, found %.200s", path, e, f);
  }
  if (cJSON_IsNumber(expected)) {
    double e = expected->valuedouble, f = found->valuedouble;
    return fabs(e - f) <= TOLERANCE * fabs(e) ? NULL
                                              : g_strdup_printf("%s: expected %.7g, found %.7g", path, e, f);
  }
  if (cJSON_IsString(expected))
    return strcmp(expected->valuestring, found->valuestring) == 0
               ? NULL
               : g_strdup_printf("%s: expected %s, found %s", path, expected->valuestring,
                                 found->valuestring);
  if (cJSON_GetArraySize(expected) != cJSON_GetArraySize(found))
    return g_strdup_printf("%s: expected %d entries, found %d", path, cJSON_GetArraySize(expected),
                           cJSON_GetArraySize(found));
  int i = 0;
  for (const cJSON *e = expected->child; e; e = e->next, i++) {
    const cJSON *f = cJSON_IsObject(expected) ? cJSON_GetObjectItemCaseSensitive(found, e->string)
                                              : cJSON_GetArrayItem(found, i);
    g_autofree char *inner =
        e->string ? g_strdup_printf("%s.%s", path, e->string) : g_strdup_printf("%s[%d]", path, i);
    char *text = difference(e, f, inner);
    if (text) return text;
  }
  return NULL;
}

/* TRUE if the vector has a tuning part and it is equal; differences are printed. */
static gboolean check_vector(const char *folder, const char *name, int *n_checked) {
  g_autofree char *path = g_build_filename(folder, name, NULL);
  cJSON *vector = read_json(path);
  const cJSON *expected = cJSON_GetObjectItemCaseSensitive(vector, "tuning");
  gboolean equal = TRUE;
  if (expected) {
    CsimTuneInput in;
    input_of(vector, &in);
    g_autoptr(CsimNcclEnv) env = env_of(vector);
    g_autoptr(CsimTuning) tuning = csim_tuning_from_input(&in, NULL, env);
    cJSON *found = csim_json_tuning(tuning);
    g_autofree char *text = difference(expected, found, "tuning");
    cJSON_Delete(found);
    equal = text == NULL;
    if (text) g_test_message("%s: %s", name, text);
    (*n_checked)++;
  }
  cJSON_Delete(vector);
  return equal;
}

static void test_vectors(void) {
  g_autofree char *folder = reference_folder("oracle");
  g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
  if (!dir) {
    g_test_skip("the reference vectors are not there (COLLSIM_REFERENCE)");
    return;
  }
  int n = 0, n_different = 0;
  for (const char *name; (name = g_dir_read_name(dir));)
    if (g_str_has_suffix(name, ".json") && strcmp(name, "parser-cases.json") != 0 &&
        !check_vector(folder, name, &n))
      n_different++;
  g_test_message("%d vectors with a tuning part, %d different", n, n_different);
  g_assert_cmpint(n, >, 0);
  g_assert_cmpint(n_different, ==, 0);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/nccl/tune/vectors", test_vectors);
  return g_test_run();
}
