/* exp/conformance.c - one vector: build what it describes, get our JSON, compare field by field. */
#include "exp/conformance-private.h"
#include "base/file.h"
#include <string.h>

/* What a vector asks for. */
typedef struct {
  const cJSON *json;
  char *topology; /* path of the XML */
  guint n_nodes;
  GPtrArray *env; /* "NCCL_X=V", NULL-ended */
  GArray *gpus;   /* int, ORACLE_GPUS; empty: all */
  gboolean mnnvl, coll_net;
} Vector;

/* Which part of our JSON a top-level field belongs to; 0: not compared. */
static guint part_of(const char *key) {
  static const struct {
    const char *key;
    guint part;
  } parts[] = {
      {"system", CSIM_JSON_SYSTEM},         {"graphs", CSIM_JSON_GRAPHS},   {"channels", CSIM_JSON_CHANNELS},
      {"rings", CSIM_JSON_TREES},           {"trees", CSIM_JSON_TREES},     {"nvlsTrees", CSIM_JSON_TREES},
      {"tuning", CSIM_JSON_TUNING},         {"nRanks", CSIM_JSON_CHANNELS}, {"ncclNodes", CSIM_JSON_CHANNELS},
      {"ranksPerNode", CSIM_JSON_CHANNELS}, {"groups", CSIM_JSON_CHANNELS}};
  for (guint i = 0; i < G_N_ELEMENTS(parts); i++)
    if (strcmp(parts[i].key, key) == 0) return parts[i].part;
  return 0;
}

/* --- results ------------------------------------------------------------ */

static void difference_free(gpointer data) {
  CsimDifference *d = data;
  g_free(d->where);
  g_free(d->expected);
  g_free(d->got);
  g_free(d);
}

static CsimConformance *conformance_new(const char *file) {
  CsimConformance *c = g_new0(CsimConformance, 1);
  c->file = g_strdup(file);
  c->differences = g_ptr_array_new_with_free_func(difference_free);
  return c;
}

void csim_conformance_free(CsimConformance *c) {
  if (c == NULL) return;
  g_ptr_array_unref(c->differences);
  g_free(c->file);
  g_free(c);
}

static char *short_json(const cJSON *json) {
  if (json == NULL) return g_strdup("nothing");
  char *text = cJSON_PrintUnformatted(json);
  char *out = strlen(text) > 120 ? g_strdup_printf("%.117s...", text) : g_strdup(text);
  cJSON_free(text);
  return out;
}

void csim_conformance_add(CsimConformance *c, const char *where, const cJSON *expected, const cJSON *got) {
  CsimDifference *d = g_new0(CsimDifference, 1);
  d->where = g_strdup(where);
  d->expected = short_json(expected);
  d->got = short_json(got);
  g_ptr_array_add(c->differences, d);
}

/* Both failed after the graph was built: equal, for the stages of NCCL's start are not ours. */
static void compare_failure(CsimConformance *c, const cJSON *expected, const GError *error) {
  const cJSON *stage = cJSON_GetObjectItemCaseSensitive(expected, "stage");
  gboolean later = cJSON_IsString(stage) && strcmp(stage->valuestring, "parse") != 0 &&
                   strcmp(stage->valuestring, "topo") != 0;
  if (later && g_error_matches(error, CSIM_ERROR, CSIM_ERROR_NCCL)) return;
  cJSON *text = cJSON_CreateString(error->message);
  csim_conformance_add(c, "error", expected, text);
  cJSON_Delete(text);
}

/* --- reading a vector --------------------------------------------------- */

static void vector_clear(Vector *v) {
  g_free(v->topology);
  if (v->env != NULL) g_ptr_array_unref(v->env);
  if (v->gpus != NULL) g_array_unref(v->gpus);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Vector, vector_clear)

static void read_gpus(Vector *v, const char *text) {
  g_auto(GStrv) words = g_strsplit(text, ",", -1);
  for (guint i = 0; words[i] != NULL; i++) {
    int dev = (int)g_ascii_strtoll(words[i], NULL, 10);
    g_array_append_val(v->gpus, dev);
  }
}

static void read_env(Vector *v) {
  const cJSON *item;
  cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(v->json, "env")) {
    if (!cJSON_IsString(item)) continue;
    if (strcmp(item->string, "ORACLE_GPUS") == 0)
      read_gpus(v, item->valuestring);
    else if (strcmp(item->string, "ORACLE_MNNVL") == 0)
      v->mnnvl = strcmp(item->valuestring, "1") == 0;
    else
      g_ptr_array_add(v->env, g_strdup_printf("%s=%s", item->string, item->valuestring));
    if (strcmp(item->string, "NCCL_COLLNET_ENABLE") == 0) v->coll_net = strcmp(item->valuestring, "1") == 0;
  }
  g_ptr_array_add(v->env, NULL);
}

/* "a" of ".../a+variant-n4.json". */
static char *topology_name(const char *path) {
  char *name = g_path_get_basename(path);
  char *end = strchr(name, '+');
  if (end == NULL) end = g_strrstr(name, "-n");
  if (end != NULL) *end = '\0';
  return name;
}

static char *topology_path(const char *path, const cJSON *json, const CsimConformanceOptions *options) {
  const cJSON *given = cJSON_GetObjectItemCaseSensitive(json, "topology");
  g_autofree char *name = cJSON_IsString(given) ? g_strdup(given->valuestring) : topology_name(path);
  g_autofree char *file = g_strconcat(name, ".xml", NULL);
  if (options->topologies != NULL) return g_build_filename(options->topologies, file, NULL);
  g_autofree char *folder = g_path_get_dirname(path);
  return g_build_filename(folder, "..", "topologies-real", file, NULL);
}

static void vector_read(Vector *v, const char *path, const cJSON *json,
                        const CsimConformanceOptions *options) {
  const cJSON *nodes = cJSON_GetObjectItemCaseSensitive(json, "nNodes");
  *v = (Vector){.json = json,
                .topology = topology_path(path, json, options),
                .n_nodes = cJSON_IsNumber(nodes) && nodes->valuedouble >= 1 ? (guint)nodes->valuedouble : 1,
                .env = g_ptr_array_new_with_free_func(g_free),
                .gpus = g_array_new(FALSE, FALSE, sizeof(int))};
  read_env(v);
}

/* --- vectors that end early --------------------------------------------- */

static cJSON *early_error(const char *stage, const CsimNcclOutcome *outcome) {
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "stage", stage);
  cJSON_AddNumberToObject(json, "code", outcome->result);
  cJSON *warnings = cJSON_AddArrayToObject(json, "warnings");
  if (outcome->reason[0] != '\0') cJSON_AddItemToArray(warnings, cJSON_CreateString(outcome->reason));
  cJSON_AddArrayToObject(json, "notes");
  return json;
}

static cJSON *parse_only(const CsimNcclOutcome *outcome, guint n_elements, const CsimSystem *system) {
  cJSON *json = cJSON_CreateObject();
  cJSON_AddNumberToObject(json, "result", outcome->result);
  cJSON_AddNumberToObject(json, "xmlNodes", n_elements);
  cJSON_AddItemToObject(json, "counts", csim_conformance_counts(system));
  cJSON *warnings = cJSON_AddArrayToObject(json, "warnings");
  if (outcome->reason[0] != '\0') cJSON_AddItemToArray(warnings, cJSON_CreateString(outcome->reason));
  return json;
}

/* Takes `got`. */
static void compare_field(CsimConformance *c, const Vector *v, const char *key, cJSON *got) {
  const cJSON *expected = cJSON_GetObjectItemCaseSensitive(v->json, key);
  if (expected != NULL)
    csim_conformance_compare(c, key, expected, got);
  else
    csim_conformance_add(c, key, NULL, got);
  cJSON_Delete(got);
}

static gboolean expects(const Vector *v, const char *key) {
  return cJSON_GetObjectItemCaseSensitive(v->json, key) != NULL;
}

/* The system, or NULL when the vector is done with (compared, or failed). */
static CsimSystem *load_system(CsimConformance *c, const Vector *v, GError **error) {
  CsimNcclOutcome outcome;
  gsize length;
  g_autoptr(GError) local = NULL;
  g_autofree char *text = csim_file_read(v->topology, CSIM_FILE_LIMIT, &length, error);
  if (text == NULL) return NULL;
  g_autoptr(CsimNcclXml) xml = csim_nccl_xml_parse_outcome(v->topology, text, length, NULL, &outcome, &local);
  if (xml == NULL) {
    compare_field(c, v, "error", early_error("parse", &outcome));
    return NULL;
  }
  /* As the vectors were made: every GPU takes part, absent gdr counts as 1, absent dev is numbered in file order. */
  const CsimBuildOptions options = {.every_gpu = TRUE, .every_coll = v->coll_net};
  CsimSystem *partial, *system = csim_system_build(xml, &options, NULL, &outcome, &partial, &local);
  if (expects(v, "parseOnly")) {
    compare_field(c, v, "parseOnly",
                  parse_only(&outcome, csim_nccl_xml_n_elements(xml), system != NULL ? system : partial));
    g_clear_pointer(&system, csim_system_free);
  } else if (system == NULL) {
    compare_field(c, v, "error", early_error("topo", &outcome));
  }
  csim_system_free(partial);
  return system;
}

/* --- the communicator --------------------------------------------------- */

/* Ranks of machine 0 by the node that NCCL counts them to; NULL if it is one node. */
static cJSON *groups_of(const CsimComm *comm, int per_machine) {
  int n_groups = csim_comm_place(comm, per_machine - 1).node;
  for (int r = 0; r < per_machine; r++) n_groups = MAX(n_groups, csim_comm_place(comm, r).node);
  if (n_groups++ == 0) return NULL;
  cJSON *json = cJSON_CreateArray();
  for (int g = 0; g < n_groups; g++) {
    cJSON *group = cJSON_CreateArray();
    for (int r = 0; r < per_machine; r++)
      if (csim_comm_place(comm, r).node == g) cJSON_AddItemToArray(group, cJSON_CreateNumber(r));
    cJSON_AddItemToArray(json, group);
  }
  return json;
}

static void add_counts(cJSON *json, const CsimComm *comm) {
  const CsimCommInfo *info = csim_comm_info(comm);
  int per_machine = info->n_ranks / info->n_machines;
  static const char *const keys[] = {"ranksPerNode", "nRanks", "ncclNodes", "groups"};
  for (guint i = 0; i < G_N_ELEMENTS(keys); i++) cJSON_DeleteItemFromObjectCaseSensitive(json, keys[i]);
  cJSON_AddNumberToObject(json, "ranksPerNode", per_machine);
  cJSON_AddNumberToObject(json, "nRanks", info->n_ranks);
  cJSON_AddNumberToObject(json, "ncclNodes", info->n_nodes);
  cJSON *groups = groups_of(comm, per_machine);
  if (groups != NULL) cJSON_AddItemToObject(json, "groups", groups);
}

/* Vectors of many nodes leave the graph of the machine out, and show long lists in full or only their heads (hashes cover them whole): what
 * a vector does not show is not compared. */
static void drop_details(const Vector *v, cJSON *got) {
  static const struct {
    const char *field, *detail;
  } details[] = {{"system", "nodes"}, {"system", "paths"},  {"rings", "order"},
                 {"rings", "head"},   {"trees", "perRank"}, {"trees", "perRankHead"}};
  for (guint i = 0; i < G_N_ELEMENTS(details); i++) {
    const cJSON *expected = cJSON_GetObjectItemCaseSensitive(v->json, details[i].field);
    if (cJSON_GetObjectItemCaseSensitive(expected, details[i].detail) == NULL)
      cJSON_DeleteItemFromObjectCaseSensitive(cJSON_GetObjectItemCaseSensitive(got, details[i].field),
                                              details[i].detail);
  }
}

static void compare_all(CsimConformance *c, const Vector *v, cJSON *got, guint parts) {
  const cJSON *item;
  drop_details(v, got);
  cJSON_ArrayForEach(item, v->json) {
    if (strcmp(item->string, "error") == 0) csim_conformance_add(c, "error", item, NULL);
    if ((part_of(item->string) & parts) == 0) continue;
    csim_conformance_compare(c, item->string, item, cJSON_GetObjectItemCaseSensitive(got, item->string));
  }
  cJSON_ArrayForEach(item, got) {
    if ((part_of(item->string) & parts) != 0 && !expects(v, item->string))
      csim_conformance_add(c, item->string, NULL, item);
  }
}

static CsimComm *make_comm(const Vector *v, CsimCluster *cluster, CsimNcclEnv *env, GError **error) {
  CsimCommSpec spec = {.cluster = cluster,
                       .env = env,
                       .gpus = v->gpus->len > 0 ? (const int *)(const void *)v->gpus->data : NULL,
                       .n_gpus = v->gpus->len,
                       .mnnvl = v->mnnvl,
                       .coll_net = v->coll_net};
  return csim_comm_new(&spec, NULL, error);
}

static void run_comm(CsimConformance *c, const Vector *v, CsimSystem *system, guint parts) {
  g_autoptr(GError) error = NULL;
  g_autoptr(GPtrArray) systems = g_ptr_array_new();
  g_autofree guint *kinds = g_new0(guint, v->n_nodes);
  g_ptr_array_add(systems, system);
  CsimCluster cluster = {
      .name = system->name, .n_nodes = v->n_nodes, .systems = systems, .node_system = kinds};
  g_autoptr(CsimNcclEnv) env = csim_nccl_env_new(NULL, (const char *const *)v->env->pdata, NULL, &error);
  g_autoptr(CsimComm) comm = env == NULL ? NULL : make_comm(v, &cluster, env, &error);
  if (comm == NULL) {
    compare_failure(c, cJSON_GetObjectItemCaseSensitive(v->json, "error"), error);
    return;
  }
  cJSON *got = csim_comm_to_json(comm, parts);
  add_counts(got, comm);
  compare_all(c, v, got, parts);
  cJSON_Delete(got);
}

/* --- entry points ------------------------------------------------------- */

static gboolean run_vector(CsimConformance *c, const cJSON *json, const CsimConformanceOptions *options,
                           GError **error) {
  g_auto(Vector) v;
  GError *local = NULL;
  vector_read(&v, c->file, json, options);
  g_autoptr(CsimSystem) system = load_system(c, &v, &local);
  if (local != NULL) {
    g_propagate_error(error, local);
    return FALSE;
  }
  if (system != NULL) run_comm(c, &v, system, options->parts != 0 ? options->parts : CSIM_JSON_ALL);
  c->n_cases = 1;
  c->n_equal = c->differences->len == 0;
  return TRUE;
}

CsimConformance *csim_conformance_file(const char *path, const CsimConformanceOptions *options,
                                       GError **error) {
  gsize length;
  g_autofree char *text = csim_file_read(path, CSIM_FILE_LIMIT, &length, error);
  if (text == NULL) return NULL;
  cJSON *json = cJSON_ParseWithLength(text, length);
  g_autoptr(CsimConformance) c = conformance_new(path);
  gboolean ok = TRUE;
  if (!cJSON_IsObject(json)) {
    csim_error_set(error, CSIM_ERROR_SYNTAX, (CsimLoc){g_intern_string(path), 0, 0},
                   "no JSON object; expected an NCCL vector");
    ok = FALSE;
  } else if (cJSON_GetObjectItemCaseSensitive(json, "nNodes") == NULL) {
    csim_conformance_parser(c, json);
  } else {
    ok = run_vector(c, json, options, error);
  }
  cJSON_Delete(json);
  return ok ? g_steal_pointer(&c) : NULL;
}
