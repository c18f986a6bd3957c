#include "topo/machine-fabric.h"

#include "topo/cluster-fabric.h"
#include "topo/node-links.h"

/* Ids: node 0's links, node 1's, ..., then the fabric's. Nodes of one kind have equally many, so that an id is found without a table
 * when the cluster has one kind of node; else by the first ids of the nodes. */
struct CsimMachine {
  const CsimCluster *cluster;
  const CsimCatalogue *catalogue;
  CsimNetModel net;
  CsimFabric fabric;
  GPtrArray *kinds; /* CsimNodeLinks*, as cluster->systems */
  guint uniform;    /* links a node if there is one kind, else 0 */
  guint *first;     /* [n_nodes + 1] first id of a node; NULL if uniform */
  guint fabric_first;
  GArray *flaps;    /* CsimMachineFlap */
};

/* --- building ---------------------------------------------------------------- */

static const CsimNodeLinks *kind_of(const CsimMachine *m, guint node) {
  return (const CsimNodeLinks *)g_ptr_array_index(m->kinds, m->cluster->node_hardware[node]);
}

static void number_links(CsimMachine *m) {
  guint nodes = m->cluster->n_nodes, id = 0;
  if (m->kinds->len == 1) {
    m->uniform = kind_of(m, 0)->links->len;
    m->fabric_first = m->uniform * nodes;
    return;
  }
  m->first = g_new(guint, nodes + 1);
  for (guint i = 0; i < nodes; i++) {
    m->first[i] = id;
    id += kind_of(m, i)->links->len;
  }
  m->first[nodes] = id;
  m->fabric_first = id;
}

static guint first_id(const CsimMachine *m, guint node) {
  return m->first != NULL ? m->first[node] : node * m->uniform;
}

static gboolean make_fabric(CsimMachine *m, const CsimMachineOptions *options, GError **error) {
  if (!csim_cluster_make_fabric(m->cluster, m->catalogue, &m->net, &m->fabric, error)) return FALSE;
  m->fabric.keep_all = options->keep_all;
  if (!csim_fabric_break(&m->fabric, m->cluster, options->seed, error)) return FALSE;
  m->flaps = g_array_new(FALSE, FALSE, sizeof(CsimMachineFlap));
  for (guint i = 0; m->fabric.flaps != NULL && i < m->fabric.flaps->len; i++) {
    const CsimFabricFlap *f = &g_array_index(m->fabric.flaps, CsimFabricFlap, i);
    CsimMachineFlap flap = {m->fabric_first + f->link, f->cable, f->lost, f->period, f->down};
    g_array_append_val(m->flaps, flap);
  }
  return TRUE;
}

const CsimMachineFlap *csim_machine_flaps(const CsimMachine *m, guint *n) {
  *n = m->flaps->len;
  return (const CsimMachineFlap *)(void *)m->flaps->data;
}

static void free_kind(gpointer kind) {
  csim_node_links_free((CsimNodeLinks *)kind);
}

CsimMachine *csim_machine_new_with(const CsimCluster *cluster, const CsimCatalogue *catalogue, const CsimMachineOptions *options,
                                   GError **error) {
  g_autoptr(CsimMachine) m = g_new0(CsimMachine, 1);
  m->cluster = cluster;
  m->catalogue = catalogue;
  m->kinds = g_ptr_array_new_with_free_func(free_kind);
  g_assert(cluster->n_nodes > 0);
  csim_net_model_init(catalogue, csim_transport_name(cluster->fabric.transport), cluster->fabric.mtu,
                      &m->net);
  for (guint i = 0; i < cluster->systems->len; i++)
    g_ptr_array_add(m->kinds, csim_node_links_new((const CsimSystem *)g_ptr_array_index(cluster->systems, i),
                                                  catalogue, &m->net));
  number_links(m);
  if (!make_fabric(m, options, error)) return NULL;
  return g_steal_pointer(&m);
}

CsimMachine *csim_machine_new(const CsimCluster *cluster, const CsimCatalogue *catalogue, GError **error) {
  return csim_machine_new_with(cluster, catalogue, &(CsimMachineOptions){.seed = 1}, error);
}

void csim_machine_free(CsimMachine *m) {
  if (m == NULL) return;
  g_ptr_array_unref(m->kinds);
  csim_fabric_clear(&m->fabric);
  if (m->flaps != NULL) g_array_unref(m->flaps);
  g_free(m->first);
  g_free(m);
}

/* --- links ------------------------------------------------------------------- */

const CsimCluster *csim_machine_cluster(const CsimMachine *m) {
  return m->cluster;
}

const CsimCatalogue *csim_machine_catalogue(const CsimMachine *m) {
  return m->catalogue;
}

const CsimNetModel *csim_machine_net(const CsimMachine *m) {
  return &m->net;
}

guint csim_machine_fabric_links(const CsimMachine *m, CsimLinkId *first) {
  *first = m->fabric_first;
  return m->fabric.n_links;
}

gboolean csim_machine_balances(const CsimMachine *m) {
  return csim_fabric_balances(&m->fabric);
}

gboolean csim_machine_spreads(const CsimMachine *m) {
  return csim_fabric_spreads(&m->fabric);
}

guint csim_machine_n_links(const CsimMachine *m) {
  return m->fabric_first + m->fabric.n_links;
}

static guint node_of_link(const CsimMachine *m, CsimLinkId id) {
  if (m->first == NULL) return id / m->uniform;
  guint low = 0, high = m->cluster->n_nodes;
  while (high - low > 1) {
    guint middle = low + (high - low) / 2;
    if (m->first[middle] <= id)
      low = middle;
    else
      high = middle;
  }
  return low;
}

CsimRes csim_machine_link(const CsimMachine *m, CsimLinkId id) {
  g_assert(id < csim_machine_n_links(m));
  if (id >= m->fabric_first)
    return (CsimRes){CSIM_RES_FABRIC, csim_fabric_link_rate(&m->fabric, id - m->fabric_first), 0};
  guint node = node_of_link(m, id);
  const CsimNodeLink *l = &g_array_index(kind_of(m, node)->links, CsimNodeLink, id - first_id(m, node));
  return (CsimRes){l->kind, l->capacity, l->softness};
}

static char *describe(const CsimNodeLinks *kind, const CsimTopoNode *node) {
  if (node->type == CSIM_NODE_NET) return g_strdup_printf("nic%d", node->index);
  if (node->type == CSIM_NODE_CPU) return g_strdup_printf("cpu%d", node->index);
  for (guint i = 0; i < kind->gpus->len; i++)
    if (g_array_index(kind->gpus, CsimNodeGpu, i).dev == node) return g_strdup_printf("gpu%u", i);
  return csim_node_name(kind->system, node);
}

static const char *what(CsimResKind kind) {
  switch (kind) {
  case CSIM_RES_NVLINK_OUT:
    return "NVLink out";
  case CSIM_RES_NVLINK_IN:
    return "NVLink in";
  case CSIM_RES_PCIE:
    return "PCIe";
  case CSIM_RES_CPU:
    return "socket link";
  case CSIM_RES_MEMORY:
    return "memory";
  case CSIM_RES_C2C:
    return "C2C";
  case CSIM_RES_NIC_OUT:
    return "out";
  case CSIM_RES_NIC_IN:
    return "in";
  case CSIM_RES_FABRIC:
    break;
  }
  return "link";
}

char *csim_machine_link_name(const CsimMachine *m, CsimLinkId id) {
  if (id >= m->fabric_first) return csim_fabric_link_name(&m->fabric, id - m->fabric_first);
  guint node = node_of_link(m, id);
  const CsimNodeLinks *kind = kind_of(m, node);
  const CsimNodeLink *l = &g_array_index(kind->links, CsimNodeLink, id - first_id(m, node));
  g_autofree char *from = describe(kind, l->from);
  if (l->to == NULL) return g_strdup_printf("%s/%s %s", csim_cluster_node_name(m->cluster, node), from, what(l->kind));
  g_autofree char *to = describe(kind, l->to);
  return g_strdup_printf("%s/%s>%s %s", csim_cluster_node_name(m->cluster, node), from, to, what(l->kind));
}

/* --- GPUs -------------------------------------------------------------------- */

static const CsimNodeGpu *gpu_at(const CsimMachine *m, CsimGpuRef gpu) {
  g_assert(gpu.node < m->cluster->n_nodes && gpu.local < kind_of(m, gpu.node)->gpus->len);
  return &g_array_index(kind_of(m, gpu.node)->gpus, CsimNodeGpu, gpu.local);
}

static const CsimNodeNet *net_at(const CsimMachine *m, CsimNicRef nic) {
  g_assert(nic.node < m->cluster->n_nodes && nic.local < kind_of(m, nic.node)->nets->len);
  return &g_array_index(kind_of(m, nic.node)->nets, CsimNodeNet, nic.local);
}

const char *csim_machine_gpu_model(const CsimMachine *m, CsimGpuRef gpu) {
  return gpu_at(m, gpu)->model;
}

double csim_machine_gpu_clock(const CsimMachine *m, CsimGpuRef gpu) {
  const CsimTopoNode *dev = gpu_at(m, gpu)->dev;
  return dev != NULL && dev->dev.clock > 0 ? dev->dev.clock : 1;
}

guint csim_machine_gpu_nvlinks(const CsimMachine *m, CsimGpuRef gpu) {
  return gpu_at(m, gpu)->nvlinks;
}

gboolean csim_machine_nvlink_ports(const CsimMachine *m, CsimGpuRef gpu, CsimLinkId *out_port,
                                   CsimLinkId *in_port) {
  const CsimNodeGpu *g = gpu_at(m, gpu);
  if (g->nvl_out == CSIM_NO_LINK) return FALSE;
  *out_port = first_id(m, gpu.node) + g->nvl_out;
  *in_port = first_id(m, gpu.node) + g->nvl_in;
  return TRUE;
}

/* A node without any is found by who wants to send through one. */
static gboolean has_nic(const CsimMachine *m, CsimNicRef nic, GError **error) {
  if (nic.local < kind_of(m, nic.node)->nets->len) return TRUE;
  csim_error_set(error, CSIM_ERROR_ROUTE, CSIM_LOC_NONE, "no way: %s has no NIC; allowed: at least one on each node of a job of several",
                 csim_cluster_node_name(m->cluster, nic.node));
  return FALSE;
}

/* --- routes ------------------------------------------------------------------ */

/* Ids of the node kind become the machine's. */
static gboolean finish(const CsimMachine *m, guint node, gboolean ok, CsimRoute *route, GError **error) {
  if (!ok) {
    csim_error_set(error, CSIM_ERROR_ROUTE, CSIM_LOC_NONE, "%s: %s", csim_cluster_node_name(m->cluster, node),
                   route->n > G_N_ELEMENTS(route->link)
                       ? "a way of more than 48 links; allowed: fewer PCIe switches in a row"
                       : "no way between two devices that must talk");
    return FALSE;
  }
  for (guint i = 0; i < route->n; i++) route->link[i].link += first_id(m, node);
  return TRUE;
}

/* Two NVLinks in a row, over the GPU between that gives the most (NCCL's NVB). */
static gboolean nvlink_relay(const CsimNodeLinks *n, const CsimTopoNode *from, const CsimTopoNode *to,
                             CsimRoute *out) {
  uint32_t best[2] = {CSIM_NO_LINK, CSIM_NO_LINK};
  CsimRate best_rate = 0;
  for (guint i = 0; i < n->gpus->len; i++) {
    const CsimTopoNode *middle = g_array_index(n->gpus, CsimNodeGpu, i).dev;
    if (middle == NULL || middle == from || middle == to) continue;
    uint32_t a = csim_node_nvlink_between(n, from, middle), b = csim_node_nvlink_between(n, middle, to);
    if (a == CSIM_NO_LINK || b == CSIM_NO_LINK) continue;
    CsimRate rate = MIN(g_array_index(n->links, CsimNodeLink, a).capacity,
                        g_array_index(n->links, CsimNodeLink, b).capacity);
    if (rate <= best_rate) continue;
    best_rate = rate;
    best[0] = a;
    best[1] = b;
  }
  if (best_rate == 0) return FALSE;
  csim_node_route_add(n, out, best[0], 1);
  csim_node_route_add(n, out, best[1], 1);
  out->latency += n->nvlink_latency;
  return TRUE;
}

/* One NVLink hop is part of the GPU's measured flag latency (models/gpu.h), so only a second one adds to the route. */
static gboolean nvlink_way(const CsimNodeLinks *n, const CsimNodeGpu *from, const CsimNodeGpu *to,
                           CsimRoute *out) {
  uint32_t direct = csim_node_nvlink_between(n, from->dev, to->dev);
  gboolean switched = from->nvl_out != CSIM_NO_LINK && to->nvl_in != CSIM_NO_LINK;
  if (direct == CSIM_NO_LINK && !switched) return nvlink_relay(n, from->dev, to->dev, out);
  csim_node_route_add(n, out, direct != CSIM_NO_LINK ? direct : from->nvl_out, 1);
  if (direct == CSIM_NO_LINK) csim_node_route_add(n, out, to->nvl_in, 1);
  return TRUE;
}

gboolean csim_machine_route_p2p(const CsimMachine *m, CsimGpuRef from, CsimGpuRef to, CsimRoute *out,
                                GError **error) {
  const CsimNodeGpu *a = gpu_at(m, from), *b = gpu_at(m, to);
  const CsimNodeLinks *n = kind_of(m, from.node);
  *out = (CsimRoute){0};
  if (from.node != to.node || a->dev == NULL || b->dev == NULL)
    return finish(m, from.node, FALSE, out, error);
  if (a->dev == b->dev) return TRUE;
  gboolean ok = nvlink_way(n, a, b, out) || csim_node_peer_way(n, a->dev, b->dev, out);
  return finish(m, from.node, ok, out, error);
}

/* Whose memory the buffers of a GPU's process are in. */
static const CsimTopoNode *home_of(const CsimNodeLinks *n, const CsimTopoNode *dev) {
  return dev->dev.bound != NULL ? dev->dev.bound : csim_node_local_cpu(n, dev);
}

static uint32_t memory_of(const CsimNodeLinks *n, const CsimTopoNode *cpu) {
  guint v = 0;
  return csim_node_vertex(n, cpu, &v) ? n->memory[v] : CSIM_NO_LINK;
}

gboolean csim_machine_route_shm(const CsimMachine *m, CsimGpuRef from, CsimGpuRef to, CsimRoute *up,
                                CsimRoute *down, GError **error) {
  const CsimNodeGpu *a = gpu_at(m, from), *b = gpu_at(m, to);
  const CsimNodeLinks *n = kind_of(m, from.node);
  *up = *down = (CsimRoute){0};
  const CsimTopoNode *cpu =
      from.node == to.node && a->dev != NULL && b->dev != NULL ? home_of(n, b->dev) : NULL;
  if (cpu == NULL) return finish(m, from.node, FALSE, up, error);
  gboolean ok = csim_node_way(n, a->dev, cpu, a->write_weight, up);
  csim_node_route_add(n, up, memory_of(n, cpu), 1);
  csim_node_route_add(n, down, memory_of(n, cpu), 1);
  ok = csim_node_way(n, cpu, b->dev, b->read_weight, down) && ok;
  return finish(m, from.node, ok, up, error) && finish(m, to.node, ok, down, error);
}

gboolean csim_machine_route_nic(const CsimMachine *m, CsimGpuRef gpu, CsimNicRef nic, gboolean gdr,
                                gboolean to_nic, CsimRoute *out, GError **error) {
  const CsimNodeLinks *n = kind_of(m, gpu.node);
  *out = (CsimRoute){0};
  if (!has_nic(m, nic, error)) return FALSE;
  const CsimTopoNode *dev = gpu_at(m, gpu)->dev, *card = net_at(m, nic)->nic;
  if (gpu.node != nic.node || dev == NULL || card == NULL) return finish(m, gpu.node, FALSE, out, error);
  const CsimTopoNode *memory = gdr ? dev : home_of(n, dev);
  if (memory == NULL) return finish(m, gpu.node, FALSE, out, error);
  if (!gdr) csim_node_route_add(n, out, memory_of(n, memory), 1);
  const CsimTopoNode *from = to_nic ? memory : card, *to = to_nic ? card : memory;
  gboolean ok = gdr ? csim_node_nic_way(n, from, to, out) : csim_node_way(n, from, to, 1, out);
  return finish(m, gpu.node, ok, out, error);
}

static CsimEndpoint endpoint(const CsimMachine *m, CsimNicRef nic) {
  const CsimNodeNet *net = net_at(m, nic);
  return (CsimEndpoint){net->rail, csim_cluster_position(m->cluster, nic.node) + net->host};
}

gboolean csim_machine_route_fabric(const CsimMachine *m, CsimNicRef from, CsimNicRef to, uint32_t flow_hash, uint32_t *loads,
                                   CsimRoute *out, GError **error) {
  CsimFabricPath path;
  *out = (CsimRoute){0};
  if (!has_nic(m, from, error) || !has_nic(m, to, error)) return FALSE;
  if (!csim_fabric_path(&m->fabric, endpoint(m, from), endpoint(m, to), flow_hash, loads, &path, error))
    return FALSE;
  out->link[out->n++] = (CsimFlowLink){first_id(m, from.node) + net_at(m, from)->out, 1};
  for (guint i = 0; i < path.n; i++) out->link[out->n++] = (CsimFlowLink){m->fabric_first + path.link[i], 1};
  out->link[out->n++] = (CsimFlowLink){first_id(m, to.node) + net_at(m, to)->in, 1};
  out->latency = path.latency;
  return TRUE;
}

/* --- for the packet network -------------------------------------------------- */

const CsimFabric *csim_machine_fabric(const CsimMachine *m) {
  return &m->fabric;
}

guint csim_machine_n_nics(const CsimMachine *m, guint node) {
  return kind_of(m, node)->nets->len;
}

CsimEndpoint csim_machine_nic_endpoint(const CsimMachine *m, CsimNicRef nic) {
  return endpoint(m, nic);
}

CsimRate csim_machine_nic_line(const CsimMachine *m, CsimNicRef nic) {
  return net_at(m, nic)->line_rate;
}

guint csim_machine_leaf(const CsimMachine *m, CsimNicRef nic) {
  return csim_fabric_leaf(&m->fabric, endpoint(m, nic));
}

gboolean csim_machine_switches(const CsimMachine *m, CsimNicRef from, CsimNicRef to, guint *n, GError **error) {
  CsimFabricPath path;
  if (!has_nic(m, from, error) || !has_nic(m, to, error)) return FALSE;
  if (!csim_fabric_path(&m->fabric, endpoint(m, from), endpoint(m, to), 0, NULL, &path, error)) return FALSE;
  *n = path.switches;
  return TRUE;
}
