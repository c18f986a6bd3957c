#include "exp/inspect.h"

#include "exp/run-private.h"
#include "nccl/json.h"
#include "nccl/topo-matrix.h"
#include "topo/export.h"

#include <string.h>

/* One top-level key a line, as the vectors are written. Takes the object. */
static char *print_by_line(cJSON *object) {
  GString *out = g_string_new("{");
  for (const cJSON *item = object->child; item; item = item->next) {
    char *value = cJSON_PrintUnformatted(item);
    g_string_append_printf(out, "\"%s\":%s%s", item->string, value, item->next ? ",\n" : "}\n");
    cJSON_free(value);
  }
  cJSON_Delete(object);
  return g_string_free(out, FALSE);
}

/* The file's name without folder, ".xml" and count: what vectors call the topology. */
static char *topology_name(const CsimCluster *cluster) {
  return g_strdup(csim_cluster_system(cluster, 0)->name);
}

char *csim_inspect_json(const CsimRun *run, guint parts) {
  g_autofree char *topology = topology_name(run->cluster);
  cJSON *object = cJSON_CreateObject();
  cJSON_AddStringToObject(object, "topology", topology);
  cJSON *whole = csim_comm_to_json(run->comm, parts);
  for (cJSON *item; (item = cJSON_DetachItemFromArray(whole, 0));) cJSON_AddItemToObject(object, item->string, item);
  cJSON_Delete(whole);
  if (parts & CSIM_JSON_SYSTEM) {
    cJSON *details = csim_json_system(csim_comm_paths(run->comm, 0), csim_comm_limits(run->comm, 0), csim_comm_search(run->comm, 0), TRUE);
    for (cJSON *item; (item = cJSON_DetachItemFromArray(details, 0));) {
      cJSON *system = cJSON_GetObjectItem(object, "system");
      if (cJSON_HasObjectItem(system, item->string)) cJSON_Delete(item);
      else cJSON_AddItemToObject(system, item->string, item);
    }
    cJSON_Delete(details);
  }
  return print_by_line(object);
}

static void append_facts(GString *out, const CsimTopoNode *node) {
  switch (node->type) {
  case CSIM_NODE_GPU: g_string_append_printf(out, "  rank %d, compute capability %d.%d", node->gpu.rank, node->gpu.sm / 10, node->gpu.sm % 10); break;
  case CSIM_NODE_NET: g_string_append_printf(out, "  dev %d, %g GB/s, %g us", node->net.dev, (double)node->net.bw, (double)node->net.latency); break;
  case CSIM_NODE_DEV: g_string_append_printf(out, "  %d NVLinks", node->dev.nvlinks); break;
  case CSIM_NODE_CPU: g_string_append_printf(out, "  NUMA node %d", node->cpu.numa); break;
  default: break;
  }
}

static void append_node(GString *out, const CsimSystem *system, const CsimTopoNode *node) {
  g_autofree char *name = csim_node_name(system, node);
  g_string_append(out, name);
  append_facts(out, node);
  g_string_append_c(out, '\n');
  for (guint i = 0; i < node->links->len; i++) {
    const CsimTopoLink *link = &g_array_index(node->links, CsimTopoLink, i);
    g_autofree char *remote = csim_node_name(system, link->remote);
    g_string_append_printf(out, "    %-4s %7.1f GB/s  %s\n", csim_link_type_name(link->type), (double)link->bw, remote);
  }
}

static void append_nics(GString *out, const CsimSystem *system, const CsimPaths *paths, const CsimTopoNode *gpu) {
  enum { MAX_NICS = 32 };
  int nics[MAX_NICS];
  guint n = csim_paths_locals(paths, gpu, CSIM_NODE_NET, nics, MAX_NICS);
  g_autofree char *name = csim_node_name(system, gpu);
  g_string_append_printf(out, "%-8s", name);
  for (guint i = 0; i < MIN(n, MAX_NICS); i++) {
    const CsimTopoNode *net = csim_system_node(system, CSIM_NODE_NET, (guint)nics[i]);
    const CsimPath *path = csim_paths_get(paths, gpu, net);
    g_autofree char *nic = csim_node_name(system, net);
    g_string_append_printf(out, "  %s (%s, %.1f GB/s)", nic, csim_path_type_name(path->type), (double)path->bw);
  }
  g_string_append_c(out, '\n');
}

void csim_inspect_topo(GString *out, const CsimRun *run) {
  const CsimSystem *system = csim_comm_system(run->comm, 0);
  const CsimSearchLimits *limits = csim_comm_limits(run->comm, 0);
  g_string_append_printf(out, "%s: %s; first node, as NCCL sees it\n", run->spec.target, run->info.device);
  g_string_append_printf(out, "fastest GPU route %.1f GB/s, all that one GPU can move %.1f GB/s\n\n", (double)limits->max_bw, (double)limits->total_bw);
  for (int type = 0; type < CSIM_N_NODE_TYPES; type++)
    for (guint i = 0; i < csim_system_n(system, (CsimNodeType)type); i++) append_node(out, system, csim_system_node(system, (CsimNodeType)type, i));
  if (csim_system_n(system, CSIM_NODE_NET) == 0) return;
  g_string_append(out, "\nnearest NICs\n");
  for (guint i = 0; i < csim_system_n(system, CSIM_NODE_GPU); i++)
    append_nics(out, system, csim_comm_paths(run->comm, 0), csim_system_node(system, CSIM_NODE_GPU, i));
}

char *csim_inspect_matrix(const CsimRun *run) { return csim_topo_matrix_text(csim_comm_paths(run->comm, 0)); }
char *csim_inspect_dot(const CsimRun *run) { return csim_topo_dot(csim_comm_system(run->comm, 0)); }

static guint append_findings(GString *out, const CsimDiag *diag) {
  for (guint i = 0; i < csim_diag_n(diag); i++) {
    g_autofree char *text = csim_finding_format(csim_diag_get(diag, i));
    g_string_append_printf(out, "%s\n", text);
  }
  return csim_diag_count(diag, CSIM_FINDING_WARNING);
}

/* Adds to the cluster's findings what its switches' and adapters' settings do to each other. */
static gboolean check_packets(const CsimRunSpec *spec, const CsimNcclEnv *env, CsimCluster *cluster, GError **error) {
  g_autoptr(CsimCatalogue) catalogue = csim_catalogue_new(spec->catalogue_file, spec->sets, error);
  g_autoptr(CsimMachine) machine = catalogue ? csim_machine_new(cluster, catalogue, error) : NULL;
  if (!machine) return FALSE;
  CsimPacketOptions options = csim_exec_packet_options(env, spec->seed);
  return !csim_packet_settings_given(machine) || csim_packet_fabric_check(machine, &options, cluster->diag, error);
}

gboolean csim_inspect_check(GString *out, const CsimRunSpec *spec, guint *n, GError **error) {
  g_autoptr(CsimNcclEnv) env = csim_nccl_env_new(spec->environ, spec->overrides, NULL, error);
  g_autoptr(CsimCluster) cluster = env ? csim_run_load_cluster(spec, env, error) : NULL;
  if (!cluster || !check_packets(spec, env, cluster, error)) return FALSE;
  *n = append_findings(out, cluster->diag);
  g_string_append_printf(out, "%s: %u finding%s\n", spec->target, *n, *n == 1 ? "" : "s");
  return TRUE;
}
