#include "topo/cluster.h"

#include "models/embedded.h"
#include "models/sharp.h"
#include "topo/cluster-build.h"
#include "topo/faults.h"
#include <string.h>

static const CsimShippedNode shipped[] = {
    {"a100-pcie-8gpu", "8 A100 PCIe on root ports of two sockets, no NVLink"},
    {"a100-pcie-pairs", "4 A100 PCIe with NVLink bridges in pairs"},
    {"aws-p4d", "8 A100, 6 NVSwitches, 4x EFA 100 Gb/s (p4d, p4de)"},
    {"aws-p5", "8 H100, 4 NVSwitches, 32x EFA 100 Gb/s grouped to 8 devices"},
    {"dgx-1v", "8 V100, NVLink 2 mesh, 4x EDR 100 Gb/s"},
    {"dgx-2", "16 V100, 12 NVSwitches, 8x EDR 100 Gb/s"},
    {"dgx-a100", "8 A100, 6 NVSwitches, 8x HDR 200 Gb/s"},
    {"dgx-b200", "8 B200, 2 NVSwitches (NVLink 5), 8x NDR 400 Gb/s"},
    {"dgx-b300", "8 B300, 2 NVSwitches, 8x 800 Gb/s"},
    {"dgx-h100", "8 H100, 4 NVSwitches, 8x NDR 400 Gb/s"},
    {"gb200-nvl72", "72 GB200 in 18 trays, one NVLink domain, 4x NDR 400 Gb/s a tray"},
    {"gb200-tray", "4 GB200, one tray of an NVL72"},
    {"gb300-nvl72", "72 GB300 in 18 trays, one NVLink domain, 4x 800 Gb/s a tray"},
    {"gb300-tray", "4 GB300, one tray of an NVL72"},
    {"gh200-4gpu", "4 GH200, NVLink 4 mesh, 4x Slingshot 200 Gb/s (Alps)"},
    {"h100-pcie-pairs", "4 H100 PCIe with NVLink bridges in pairs"},
    {"hgx-a100-4nic", "8 A100, 6 NVSwitches, 4x HDR 200 Gb/s"},
    {"hgx-a800", "8 A800 (8 NVLinks each), 6 NVSwitches, 4x HDR 200 Gb/s"},
    {"hgx-b200", "8 B200, 2 NVSwitches (NVLink 5), 8x NDR 400 Gb/s, one to a GPU"},
    {"hgx-h20", "8 H20, 4 NVSwitches, 8x NDR 400 Gb/s"},
    {"hgx-h200", "8 H200, 4 NVSwitches, 8x NDR 400 Gb/s"},
    {"hgx-h800", "8 H800 (8 NVLinks each), 4 NVSwitches, 8x NDR 400 Gb/s"},
    {"l40s-8gpu-pcie", "8 L40S on PCIe Gen4 switches, 4x 200 Gb/s"},
    {"oci-a100", "8 A100, 6 NVSwitches, 16x RoCE 100 Gb/s (BM.GPU4.8, B4.8)"},
    {"oci-h100", "8 H100, 4 NVSwitches, 16x RoCE 200 Gb/s (BM.GPU.H100.8)"},
    {"polaris", "4 A100, NVLink 3 mesh, 2x Slingshot 200 Gb/s"},
    {"rtx-pro-6000-8gpu", "8 RTX PRO 6000 on PCIe Gen5 switches, 4x NDR 400 Gb/s"},
    {"rtx-pro-6000-pcie", "8 RTX PRO 6000 on PCIe Gen5 switches, no NIC"},
    {"rtx4090-8gpu", "8 RTX 4090 on root ports of two sockets, no NIC"},
    {NULL, NULL},
};

const CsimShippedNode *csim_shipped_nodes(void) {
  return shipped;
}

const char *csim_transport_name(CsimTransport transport) {
  return csim_transport_names[transport];
}

/* --- life -------------------------------------------------------------------- */

static void free_system(gpointer system) {
  csim_system_free((CsimSystem *)system);
}

CsimCluster *csim_cluster_new(const char *name) {
  CsimCluster *cluster = g_new0(CsimCluster, 1);
  cluster->name = g_strdup(name);
  cluster->systems = g_ptr_array_new_with_free_func(free_system);
  cluster->sources = g_ptr_array_new_with_free_func(g_free);
  cluster->place_position = g_new0(guint, 1);
  cluster->faults = g_array_new(FALSE, FALSE, sizeof(CsimFault));
  cluster->diag = csim_diag_new();
  return cluster;
}

static void free_array(GArray *array) {
  if (array != NULL) g_array_unref(array);
}

void csim_cluster_free(CsimCluster *cluster) {
  if (cluster == NULL) return;
  g_ptr_array_unref(cluster->systems);
  g_ptr_array_unref(cluster->sources);
  csim_diag_free(cluster->diag);
  for (guint i = 0; i < cluster->n_places; i++) g_free(cluster->place_name[i]);
  free_array(cluster->fabric.links);
  free_array(cluster->fabric.attach);
  free_array(cluster->faults);
  gpointer owned[] = {cluster->node_system, cluster->node_hardware, cluster->node_place, cluster->place_position, cluster->place_name,
                      cluster->name, cluster};
  for (guint i = 0; i < G_N_ELEMENTS(owned); i++) g_free(owned[i]);
}

guint csim_cluster_add_system(CsimCluster *cluster, CsimSystem *system, const char *source) {
  g_ptr_array_add(cluster->systems, system);
  g_ptr_array_add(cluster->sources, g_strdup(source));
  return cluster->systems->len - 1;
}

void csim_cluster_add_nodes(CsimCluster *cluster, CsimSystem *system, const char *source, guint count, const GPtrArray *names) {
  guint first = cluster->n_places, all = first + count, hosts = (guint)MAX(system->n_hosts, 1);
  guint index = csim_cluster_add_system(cluster, system, source);
  cluster->node_system = g_renew(guint, cluster->node_system, all);
  cluster->node_hardware = g_renew(guint, cluster->node_hardware, all);
  cluster->node_place = g_renew(guint, cluster->node_place, all);
  cluster->place_position = g_renew(guint, cluster->place_position, all + 1);
  cluster->place_name = g_renew(char *, cluster->place_name, all);
  for (guint i = first; i < all; i++) {
    cluster->node_system[i] = cluster->node_hardware[i] = index;
    cluster->node_place[i] = i;
    cluster->place_position[i + 1] = cluster->place_position[i] + hosts;
    cluster->place_name[i] = names != NULL ? g_strdup((const char *)g_ptr_array_index(names, i - first)) : g_strdup_printf("node%u", i);
  }
  cluster->n_nodes = cluster->n_places = all;
}

/* --- nodes ------------------------------------------------------------------- */

static const CsimEmbedded *find_embedded(const char *name) {
  g_autofree char *file = g_strdup_printf("%s.xml", name);
  for (const CsimEmbedded *e = csim_embedded_nodes; e->name != NULL; e++)
    if (strcmp(e->name, file) == 0) return e;
  return NULL;
}

static void unknown_node(const char *name, GError **error) {
  const char *names[G_N_ELEMENTS(shipped)] = {NULL};
  for (gsize i = 0; shipped[i].name != NULL; i++) names[i] = shipped[i].name;
  g_autofree char *list = g_strjoinv(", ", (char **)names);
  const char *nearest = csim_nearest(name, names);
  csim_error_set(error, CSIM_ERROR_REFERENCE, CSIM_LOC_NONE,
                 "no shipped node is called '%.80s'%s%s%s; allowed: %s, FILE.xml or FILE.json, each with *N",
                 name, nearest != NULL ? " (did you mean '" : "", nearest != NULL ? nearest : "",
                 nearest != NULL ? "'?)" : "", list);
}

CsimNcclXml *csim_cluster_open_xml(const char *text, CsimDiag *diag, GError **error) {
  if (g_str_has_suffix(text, ".xml")) return csim_nccl_xml_load(text, diag, error);
  const CsimEmbedded *file = find_embedded(text);
  if (file != NULL) return csim_nccl_xml_parse(file->name, file->text, file->length, diag, error);
  unknown_node(text, error);
  return NULL;
}

CsimSystem *csim_cluster_open_node(CsimCluster *cluster, const char *text, GError **error) {
  if (g_str_has_suffix(text, ".xml")) return csim_system_load(text, cluster->diag, error);
  g_autoptr(CsimNcclXml) xml = csim_cluster_open_xml(text, cluster->diag, error);
  CsimSystem *system = xml != NULL ? csim_system_from_xml(xml, cluster->diag, NULL, error) : NULL;
  if (system == NULL) return NULL;
  g_free(system->name);
  system->name = g_strdup(text);
  return system;
}

/* --- the default fabric ------------------------------------------------------ */

/* NCCL hangs NICs without a PCIe place on a CPU with a link that is no wire (5000 GB/s): those are plain sockets. */
static gboolean is_virtual(const CsimTopoNode *net) {
  for (guint i = 0; i < net->links->len; i++) {
    const CsimTopoNode *nic = csim_node_link(net, i)->remote;
    if (nic->type != CSIM_NODE_NIC) continue;
    for (guint k = 0; k < nic->links->len; k++)
      if (csim_node_link(nic, k)->remote->type == CSIM_NODE_CPU && csim_node_link(nic, k)->bw >= 5000)
        return TRUE;
  }
  return FALSE;
}

static gboolean only_virtual_nics(const CsimCluster *cluster) {
  for (guint k = 0; k < cluster->systems->len; k++) {
    const CsimSystem *system = (const CsimSystem *)g_ptr_array_index(cluster->systems, k);
    for (guint i = 0; i < csim_system_n(system, CSIM_NODE_NET); i++)
      if (!is_virtual(csim_system_node(system, CSIM_NODE_NET, i))) return FALSE;
  }
  return TRUE;
}

int csim_cluster_sharp_generation(const CsimCluster *cluster) {
  float slowest = 0;
  for (guint k = 0; k < cluster->systems->len; k++) {
    const CsimSystem *system = (const CsimSystem *)g_ptr_array_index(cluster->systems, k);
    for (guint i = 0; i < csim_system_n(system, CSIM_NODE_NET); i++) {
      float bw = csim_system_node(system, CSIM_NODE_NET, i)->net.bw;
      slowest = slowest == 0 ? bw : MIN(slowest, bw);
    }
  }
  return slowest > 0 ? csim_sharp_generation((CsimRate)((double)slowest * 1e9)) : 0;
}

/* By what their drivers call adapters: HPE's Cassini cxi0, AWS's EFA rdmap16s27 or efa_0; CSIM_TRANSPORT_IB for others, also for mixtures. */
static CsimTransport transport_by_names(const CsimCluster *cluster) {
  guint n = 0, cxi = 0, efa = 0;
  for (guint k = 0; k < cluster->systems->len; k++) {
    const CsimSystem *system = (const CsimSystem *)g_ptr_array_index(cluster->systems, k);
    for (guint i = 0; i < csim_system_n(system, CSIM_NODE_NET); i++, n++) {
      const char *name = csim_system_node(system, CSIM_NODE_NET, i)->label;
      if (name == NULL) continue;
      cxi += g_str_has_prefix(name, "cxi");
      efa += g_str_has_prefix(name, "rdmap") || g_str_has_prefix(name, "efa");
    }
  }
  return n > 0 && cxi == n ? CSIM_TRANSPORT_SLINGSHOT : n > 0 && efa == n ? CSIM_TRANSPORT_EFA : CSIM_TRANSPORT_IB;
}

CsimFabricSpec csim_cluster_default_fabric(const CsimCluster *cluster) {
  CsimFabricSpec spec = {.kind = CSIM_FABRIC_RAIL, .oversubscription = 1, .routing = CSIM_ROUTING_ADAPTIVE};
  csim_packet_settings_init(&spec.packet);
  spec.transport = transport_by_names(cluster);
  if (spec.transport != CSIM_TRANSPORT_IB) spec.routing = CSIM_ROUTING_ECMP; /* as a file's fabric has it */
  if (!only_virtual_nics(cluster)) return spec;
  spec.kind = CSIM_FABRIC_SWITCH;
  spec.transport = CSIM_TRANSPORT_SOCKET;
  return spec;
}

/* --- targets ----------------------------------------------------------------- */

/* "NAME*12" -> NAME and 12; without a star 0. A star that is not followed by digits only belongs to the name. */
static gboolean split_count(const char *target, char **name, guint *count, GError **error) {
  const char *star = strrchr(target, '*');
  guint64 n = 0;
  *count = 0;
  if (target[0] == '{') star = NULL;
  if (star == NULL || star[1] == '\0' || strspn(star + 1, "0123456789") != strlen(star + 1)) {
    *name = g_strdup(target);
    if (star == NULL) return TRUE;
  } else {
    *name = g_strndup(target, star - target);
    n = g_ascii_strtoull(star + 1, NULL, 10);
    *count = (guint)MIN(n, G_MAXUINT);
  }
  if (n >= 1 && n <= CSIM_CLUSTER_MAX_NODES) return TRUE;
  csim_error_set(error, CSIM_ERROR_VALUE, CSIM_LOC_NONE,
                 "'%.80s': after * comes a number of nodes; allowed: 1 to %d", target,
                 CSIM_CLUSTER_MAX_NODES);
  return FALSE;
}

static gboolean load(CsimCluster *cluster, const char *name, guint count, const CsimClusterOptions *options, CsimPlacement *placement,
                     GError **error) {
  guint nodes = options->n_nodes > 0 ? options->n_nodes : count;
  gboolean placed = options->placement != NULL;
  if (name[0] == '{' || g_str_has_suffix(name, ".json")) return csim_cluster_read_json(cluster, name, nodes, placed, placement, error);
  CsimSystem *system = csim_cluster_open_node(cluster, name, error);
  if (system == NULL) return FALSE;
  csim_cluster_add_nodes(cluster, system, name, MAX(placed ? count : nodes, 1), NULL);
  cluster->fabric = csim_cluster_default_fabric(cluster);
  return TRUE;
}

/* The command line's placement replaces the file's; -N is then the job's nodes. */
static gboolean choose_placement(const CsimClusterOptions *options, CsimPlacement *placement, GError **error) {
  if (options->placement != NULL) {
    csim_placement_clear(placement);
    if (!csim_placement_parse(options->placement, placement, error)) return FALSE;
  }
  if (placement->given && options->n_nodes > 0) placement->nodes = options->n_nodes;
  return TRUE;
}

static gboolean finish(CsimCluster *cluster, const CsimClusterOptions *options, CsimPlacement *placement, GError **error) {
  for (guint i = 0; options->faults != NULL && options->faults[i] != NULL; i++)
    if (!csim_fault_parse(options->faults[i], cluster->faults, error)) return FALSE;
  return csim_faults_apply_nodes(cluster, options, error) && choose_placement(options, placement, error) &&
         csim_placement_apply(placement, options->seed, cluster, error);
}

CsimCluster *csim_cluster_load_with(const char *target, const CsimClusterOptions *options, GError **error) {
  g_autoptr(CsimCluster) cluster = csim_cluster_new(target);
  g_autofree char *name = NULL;
  guint count = 0;
  CsimPlacement placement = {0};
  if (!split_count(target, &name, &count, error)) return NULL;
  if (options->n_nodes > CSIM_CLUSTER_MAX_NODES) {
    csim_error_set(error, CSIM_ERROR_LIMIT, CSIM_LOC_NONE, "%u nodes; allowed: 1 to %d", options->n_nodes, CSIM_CLUSTER_MAX_NODES);
    return NULL;
  }
  gboolean ok = load(cluster, name, count, options, &placement, error) && finish(cluster, options, &placement, error);
  csim_placement_clear(&placement);
  return ok ? g_steal_pointer(&cluster) : NULL;
}

CsimCluster *csim_cluster_load(const char *target, guint n_nodes, GError **error) {
  return csim_cluster_load_with(target, &(CsimClusterOptions){.n_nodes = n_nodes, .seed = 1}, error);
}
