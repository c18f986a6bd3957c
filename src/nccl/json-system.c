/* nccl/json-system.c - a machine's graph and paths as JSON, in the field names of the NCCL vectors. */
#include "nccl/json.h"

static cJSON *add_array(cJSON *to, const char *name) {
  return cJSON_AddArrayToObject(to, name);
}

/* NCCL's floats, printed with the digits that they have. */
static double exact(float value) {
  char text[32];
  g_ascii_formatd(text, sizeof text, "%.7g", value);
  return g_ascii_strtod(text, NULL);
}

static void add_hex(cJSON *to, const char *name, uint64_t value) {
  char text[24];
  g_snprintf(text, sizeof text, "%" G_GINT64_MODIFIER "x", value);
  cJSON_AddStringToObject(to, name, text);
}

/* --- nodes -------------------------------------------------------------- */

static cJSON *link_json(const CsimSystem *system, const CsimTopoNode *node, guint i,
                        const CsimSearch *search) {
  const CsimTopoLink *link = csim_node_link(node, i);
  float bw = search != NULL ? csim_search_link_bw(search, node, i) : link->bw;
  g_autofree char *remote = csim_node_name(system, link->remote);
  cJSON *json = cJSON_CreateArray();
  cJSON_AddItemToArray(json, cJSON_CreateString(csim_link_type_name(link->type)));
  cJSON_AddItemToArray(json, cJSON_CreateNumber(exact(bw)));
  cJSON_AddItemToArray(json, cJSON_CreateString(remote));
  return json;
}

static void add_gpu_fields(cJSON *json, const CsimTopoNode *gpu) {
  cJSON_AddNumberToObject(json, "rank", gpu->gpu.rank);
  cJSON_AddNumberToObject(json, "sm", gpu->gpu.sm);
  cJSON_AddNumberToObject(json, "gdr", gpu->gpu.gdr);
  add_hex(json, "bus", gpu->id & ((UINT64_C(1) << 40) - 1));
}

static void add_cpu_fields(cJSON *json, const CsimTopoNode *cpu) {
  cJSON_AddNumberToObject(json, "arch", cpu->cpu.arch);
  cJSON_AddNumberToObject(json, "vendor", cpu->cpu.vendor);
  cJSON_AddNumberToObject(json, "model", cpu->cpu.model);
}

static void add_net_fields(cJSON *json, const CsimPaths *paths, const CsimTopoNode *net) {
  cJSON_AddNumberToObject(json, "bw", exact(net->net.bw));
  cJSON_AddNumberToObject(json, "latency", exact(net->net.latency));
  cJSON_AddNumberToObject(json, "port", net->net.port);
  cJSON_AddNumberToObject(json, "gdr", net->net.gdr);
  add_hex(json, "asic", net->net.asic);
  cJSON_AddNumberToObject(json, "maxChannels", net->net.maxconn);
  cJSON_AddNumberToObject(json, "coll", net->net.coll);
  const CsimTopoNode *gpu = csim_paths_local_gpu(paths, net);
  cJSON_AddNumberToObject(json, "localGpu", gpu == NULL ? -1 : gpu->index);
}

static cJSON *node_json(const CsimSystem *system, const CsimPaths *paths, const CsimSearch *search,
                        const CsimTopoNode *node) {
  g_autofree char *name = csim_node_name(system, node);
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "id", name);
  if (node->type == CSIM_NODE_GPU) add_gpu_fields(json, node);
  if (node->type == CSIM_NODE_CPU) add_cpu_fields(json, node);
  if (node->type == CSIM_NODE_NET) add_net_fields(json, paths, node);
  cJSON *links = add_array(json, "links");
  for (guint i = 0; i < node->links->len; i++)
    cJSON_AddItemToArray(links, link_json(system, node, i, search));
  return json;
}

static void add_nodes(cJSON *to, const CsimSystem *system, const CsimPaths *paths, const CsimSearch *search) {
  cJSON *nodes = add_array(to, "nodes");
  for (int t = 0; t < CSIM_N_NODE_TYPES; t++)
    for (guint i = 0; i < csim_system_n(system, t); i++)
      cJSON_AddItemToArray(nodes, node_json(system, paths, search, csim_system_node(system, t, i)));
}

/* --- paths -------------------------------------------------------------- */

static cJSON *path_json(const CsimPath *path) {
  cJSON *json = cJSON_CreateArray();
  cJSON_AddItemToArray(json, cJSON_CreateString(csim_path_type_name(path->type)));
  cJSON_AddItemToArray(json, cJSON_CreateNumber(exact(path->bw)));
  cJSON_AddItemToArray(json, cJSON_CreateNumber(path->n_links));
  return json;
}

static void add_matrix(cJSON *to, const char *name, const CsimPaths *paths, CsimNodeType rows,
                       CsimNodeType columns) {
  const CsimSystem *system = csim_paths_system(paths);
  cJSON *matrix = add_array(to, name);
  for (guint i = 0; i < csim_system_n(system, rows); i++) {
    cJSON *row = cJSON_CreateArray();
    for (guint j = 0; j < csim_system_n(system, columns); j++)
      cJSON_AddItemToArray(row, path_json(csim_paths_get(paths, csim_system_node(system, rows, i),
                                                         csim_system_node(system, columns, j))));
    cJSON_AddItemToArray(matrix, row);
  }
}

static void add_paths(cJSON *to, const CsimPaths *paths) {
  cJSON *json = cJSON_AddObjectToObject(to, "paths");
  add_matrix(json, "gpuGpu", paths, CSIM_NODE_GPU, CSIM_NODE_GPU);
  add_matrix(json, "gpuNet", paths, CSIM_NODE_GPU, CSIM_NODE_NET);
  add_matrix(json, "netGpu", paths, CSIM_NODE_NET, CSIM_NODE_GPU);
  add_matrix(json, "gpuCpu", paths, CSIM_NODE_GPU, CSIM_NODE_CPU);
  add_matrix(json, "netCpu", paths, CSIM_NODE_NET, CSIM_NODE_CPU);
}

/* --- summary ------------------------------------------------------------ */

static gboolean all_nvlink(const CsimPaths *paths) {
  const GPtrArray *gpus = csim_paths_system(paths)->nodes[CSIM_NODE_GPU];
  for (guint i = 0; i < gpus->len; i++)
    for (guint j = 0; j < gpus->len; j++)
      if (csim_paths_get(paths, g_ptr_array_index(gpus, i), g_ptr_array_index(gpus, j))->type > CSIM_PATH_NVB)
        return FALSE;
  return TRUE;
}

/* The GPU that reaches the network worst, over its best NIC. */
static float min_net_bw(const CsimPaths *paths) {
  const CsimSystem *s = csim_paths_system(paths);
  float worst = G_MAXFLOAT;
  for (guint g = 0; g < csim_system_n(s, CSIM_NODE_GPU); g++) {
    float best = 0;
    for (guint n = 0; n < csim_system_n(s, CSIM_NODE_NET); n++)
      best = MAX(best, csim_paths_get(paths, csim_system_node(s, CSIM_NODE_GPU, g),
                                      csim_system_node(s, CSIM_NODE_NET, n))
                           ->bw);
    worst = MIN(worst, best);
  }
  return worst == G_MAXFLOAT ? 0 : worst;
}

static void add_cpu_summary(cJSON *to, const CsimSystem *system) {
  const CsimTopoNode *cpu =
      csim_system_n(system, CSIM_NODE_CPU) > 0 ? csim_system_node(system, CSIM_NODE_CPU, 0) : NULL;
  cJSON_AddNumberToObject(to, "cpuArch", cpu == NULL ? -1 : cpu->cpu.arch);
  cJSON_AddNumberToObject(to, "cpuVendor", cpu == NULL ? -1 : cpu->cpu.vendor);
}

cJSON *csim_json_system(const CsimPaths *paths, const CsimSearchLimits *limits, const CsimSearch *search,
                        gboolean details) {
  const CsimSystem *system = csim_paths_system(paths);
  cJSON *json = cJSON_CreateObject();
  cJSON_AddNumberToObject(json, "maxBw", exact(limits->max_bw));
  cJSON_AddNumberToObject(json, "totalBw", exact(limits->total_bw));
  cJSON_AddNumberToObject(json, "inter", limits->inter ? 1 : 0);
  add_cpu_summary(json, system);
  cJSON_AddNumberToObject(json, "minCompCap", limits->min_sm);
  cJSON_AddNumberToObject(json, "maxCompCap", limits->max_sm);
  cJSON_AddNumberToObject(json, "isAllNvlink", all_nvlink(paths) ? 1 : 0);
  cJSON_AddNumberToObject(json, "minNetBw", exact(min_net_bw(paths)));
  if (!details) return json;
  add_nodes(json, system, paths, search);
  add_paths(json, paths);
  return json;
}
