#include "topo/node-links.h"

#include <string.h>

/* What NCCL gives links that are no wires (LOC, virtual NICs, unknown sockets): NCCL 2.30.7 src/graph/topo.h, LOC_BW. */
#define NO_WIRE_GBPS 5000

/* --- catalogue names --------------------------------------------------------- */

static const char *cpu_class(const CsimTopoNode *cpu) {
  static const char *const intel[] = {"xeon_bdw", "xeon_bdw", "xeon_skl", "xeon_spr", "xeon_emr"};
  if (cpu->cpu.arch == CSIM_ARCH_POWER) return "power9";
  if (cpu->cpu.arch == CSIM_ARCH_ARM) return "arm";
  if (cpu->cpu.arch != CSIM_ARCH_X86) return "unknown";
  if (cpu->cpu.vendor == CSIM_VENDOR_INTEL) return intel[CLAMP(cpu->cpu.model, 0, 4)];
  if (cpu->cpu.vendor == CSIM_VENDOR_AMD) return "epyc";
  return cpu->cpu.vendor == CSIM_VENDOR_ZHAOXIN ? "zhaoxin" : "unknown";
}

static const char *gpu_model(const CsimCatalogue *c, const CsimTopoNode *dev) {
  char id[16];
  guint vendor = (guint)(dev->dev.device >> 48) & 0xffff, device = (guint)(dev->dev.device >> 32) & 0xffff;
  g_snprintf(id, sizeof id, "0x%04x", device);
  return csim_catalogue_gpu_model(c, dev->dev.sm, dev->dev.nvlinks, vendor == 0x10de ? id : NULL);
}

/* --- making links ------------------------------------------------------------ */

typedef struct {
  CsimNodeLinks *n;
  const CsimCatalogue *c;
  const CsimNetModel *net;
} Maker;

static uint32_t add(CsimNodeLinks *n, CsimNodeLink link) {
  g_array_append_val(n->links, link);
  return n->links->len - 1;
}

static CsimNodeLink *link_at(const CsimNodeLinks *n, uint32_t id) {
  return &g_array_index(n->links, CsimNodeLink, id);
}

static uint32_t add_rate(CsimNodeLinks *n, CsimResKind kind, double rate, const CsimTopoNode *from,
                         const CsimTopoNode *to) {
  return add(n, (CsimNodeLink){.kind = kind, .capacity = MAX((CsimRate)rate, 1), .from = from, .to = to});
}

/* A bundle of NVLinks; the described bandwidth is a count times NCCL's figure for a link. */
static uint32_t add_nvlink(const Maker *m, const CsimNodeGpu *gpu, CsimResKind kind, double gbps,
                           const CsimTopoNode *from, const CsimTopoNode *to) {
  int gen = (int)csim_catalogue_number(m->c, "gpu.%s.nvlink_gen", gpu->model);
  if (gen == 0) return add_rate(m->n, kind, gbps * 1e9, from, to);
  double nccl = csim_catalogue_number(m->c, "nvlink.%d.nccl_gbps", gen);
  double links = MAX(gbps / nccl, 0.0);
  CsimNodeLink link = {.kind = kind, .from = from, .to = to};
  link.capacity = MAX((CsimRate)(links * (double)csim_catalogue_rate(m->c, "nvlink.%d.kernel", gen)), 1);
  link.softness = csim_catalogue_number(m->c, "nvlink.%d.softness", gen);
  return add(m->n, link);
}

static const CsimNodeGpu *gpu_of_dev(const CsimNodeLinks *n, const CsimTopoNode *dev) {
  for (guint i = 0; i < n->gpus->len; i++)
    if (g_array_index(n->gpus, CsimNodeGpu, i).dev == dev) return &g_array_index(n->gpus, CsimNodeGpu, i);
  return NULL;
}

static uint32_t add_nvl(const Maker *m, const CsimTopoNode *from, const CsimTopoLink *l) {
  const CsimTopoNode *dev = from->type == CSIM_NODE_DEV ? from : l->remote;
  const CsimNodeGpu *gpu = gpu_of_dev(m->n, dev);
  if (gpu == NULL || l->remote->type == CSIM_NODE_NVS) return CSIM_NO_LINK; /* ports: add_ports */
  return add_nvlink(m, gpu, from->type == CSIM_NODE_DEV ? CSIM_RES_NVLINK_OUT : CSIM_RES_NVLINK_IN, l->bw,
                    from, l->remote);
}

static uint32_t add_sys(const Maker *m, const CsimTopoNode *from, const CsimTopoLink *l) {
  double share = csim_catalogue_number(m->c, "cpu.link_share");
  return add_rate(m->n, CSIM_RES_CPU,
                  share * (double)csim_catalogue_rate(m->c, "cpu.%s.link", cpu_class(from)), from, l->remote);
}

static uint32_t add_c2c(const Maker *m, const CsimTopoNode *from, const CsimTopoLink *l) {
  return add_rate(m->n, CSIM_RES_C2C, l->bw * 1e9 * csim_catalogue_number(m->c, "c2c.share"), from,
                  l->remote);
}

static uint32_t add_pci(const Maker *m, const CsimTopoNode *from, const CsimTopoLink *l) {
  if (l->bw >= NO_WIRE_GBPS) return CSIM_NO_LINK;
  return add_rate(m->n, CSIM_RES_PCIE, (double)csim_pcie_payload_rate(&m->n->pcie, l->bw), from, l->remote);
}

/* One link a direction: the system has both directions as links of the two nodes. */
static uint32_t add_arc(const Maker *m, const CsimTopoNode *from, const CsimTopoLink *l) {
  switch (l->type) {
  case CSIM_LINK_NVL:
    return add_nvl(m, from, l);
  case CSIM_LINK_PCI:
    return add_pci(m, from, l);
  case CSIM_LINK_SYS:
    return add_sys(m, from, l);
  case CSIM_LINK_C2C:
    return add_c2c(m, from, l);
  case CSIM_LINK_LOC:
  case CSIM_LINK_NET:
    break;
  }
  return CSIM_NO_LINK;
}

static void add_arcs(const Maker *m) {
  for (guint v = 0; v < m->n->n_vertices; v++) {
    const CsimTopoNode *node = m->n->vertex[v];
    m->n->arc[v] = g_new(uint32_t, MAX(node->links->len, 1));
    for (guint i = 0; i < node->links->len; i++) m->n->arc[v][i] = add_arc(m, node, csim_node_link(node, i));
  }
}

static guint cpus_of_host(const CsimSystem *s, int host) {
  guint n = 0;
  for (guint i = 0; i < csim_system_n(s, CSIM_NODE_CPU); i++)
    n += csim_node_host(csim_system_node(s, CSIM_NODE_CPU, i)) == host;
  return n;
}

/* Memory of one NUMA node: the described CPUs are NUMA nodes; more than two of them in a host share two sockets. */
static void add_memory(const Maker *m) {
  double share = csim_catalogue_number(m->c, "cpu.memory_share");
  for (guint i = 0; i < csim_system_n(m->n->system, CSIM_NODE_CPU); i++) {
    const CsimTopoNode *cpu = csim_system_node(m->n->system, CSIM_NODE_CPU, i);
    guint per_socket = MAX(cpus_of_host(m->n->system, csim_node_host(cpu)) / 2, 1);
    double rate = share * (double)csim_catalogue_rate(m->c, "cpu.%s.memory", cpu_class(cpu)) / per_socket;
    m->n->memory[m->n->offset[CSIM_NODE_CPU] + i] = add_rate(m->n, CSIM_RES_MEMORY, rate, cpu, NULL);
  }
}

/* --- GPUs and NICs ----------------------------------------------------------- */

static const CsimTopoNode *neighbour(const CsimTopoNode *node, CsimNodeType type, const CsimTopoLink **link) {
  for (guint i = 0; i < node->links->len; i++) {
    CsimTopoLink *l = csim_node_link(node, i);
    if (l->remote->type != type) continue;
    if (link != NULL) *link = l;
    return l->remote;
  }
  return NULL;
}

static void add_gpu(const Maker *m, const CsimTopoNode *node) {
  CsimNodeGpu gpu = {.nvl_out = CSIM_NO_LINK, .nvl_in = CSIM_NO_LINK, .read_weight = 1, .write_weight = 1};
  gpu.dev = neighbour(node, CSIM_NODE_DEV, NULL);
  if (gpu.dev != NULL) {
    gpu.model = g_intern_string(gpu_model(m->c, gpu.dev));
    gpu.nvlinks = (guint)MAX(gpu.dev->dev.nvlinks, 0);
    gpu.read_weight = 1 / csim_catalogue_number(m->c, "gpu.%s.host_read_share", gpu.model);
    gpu.write_weight = 1 / csim_catalogue_number(m->c, "gpu.%s.host_write_share", gpu.model);
  }
  g_array_append_val(m->n->gpus, gpu);
}

/* The port into NVSwitch is the DEV's arc towards NVS; the way back is a link of its own, since NVS is no vertex. */
static void add_ports(const Maker *m) {
  for (guint i = 0; i < m->n->gpus->len; i++) {
    CsimNodeGpu *gpu = &g_array_index(m->n->gpus, CsimNodeGpu, i);
    const CsimTopoLink *link = NULL;
    if (gpu->dev == NULL || neighbour(gpu->dev, CSIM_NODE_NVS, &link) == NULL) continue;
    const CsimNodeGpu *first = gpu_of_dev(m->n, gpu->dev);
    if (first != gpu) {
      gpu->nvl_out = first->nvl_out;
      gpu->nvl_in = first->nvl_in;
      continue;
    }
    gpu->nvl_out = add_nvlink(m, gpu, CSIM_RES_NVLINK_OUT, link->bw, gpu->dev, NULL);
    gpu->nvl_in = add_nvlink(m, gpu, CSIM_RES_NVLINK_IN, link->bw, gpu->dev, NULL);
  }
}

static void add_net(const Maker *m, guint i) {
  const CsimTopoNode *node = csim_system_node(m->n->system, CSIM_NODE_NET, i);
  CsimNodeNet net = {.nic = neighbour(node, CSIM_NODE_NIC, NULL), .host = (guint)csim_node_host(node)};
  net.rail = csim_net_rail(m->n->system, i);
  net.line_rate = (CsimRate)((double)node->net.bw * 1e9);
  double payload = (double)csim_net_payload_rate(m->net, net.line_rate);
  net.out = add_rate(m->n, CSIM_RES_NIC_OUT, payload, node, NULL);
  net.in = add_rate(m->n, CSIM_RES_NIC_IN, payload, node, NULL);
  g_array_append_val(m->n->nets, net);
}

/* --- what cannot bind -------------------------------------------------------- */

/* Most that can come into `node` from below (up) or leave it downwards: all flows over its link to the parent are among them.
 * Returns -1 for "no bound". */
static double bound_below(const CsimNodeLinks *n, const CsimTopoNode *node, const CsimTopoNode *parent,
                          gboolean up) {
  double sum = 0;
  if (node->type == CSIM_NODE_DEV) return -1;
  if (node->type == CSIM_NODE_NIC) {
    for (guint i = 0; i < n->nets->len; i++) {
      const CsimNodeNet *net = &g_array_index(n->nets, CsimNodeNet, i);
      if (net->nic == node) sum += (double)link_at(n, up ? net->in : net->out)->capacity;
    }
    return sum;
  }
  for (guint i = 0; i < node->links->len; i++) {
    const CsimTopoNode *child = csim_node_link(node, i)->remote;
    if (child == parent || csim_node_link(node, i)->type != CSIM_LINK_PCI) continue;
    if (child->type == CSIM_NODE_CPU) return -1; /* a second parent: not a tree */
    for (guint k = 0; k < n->links->len; k++) {
      const CsimNodeLink *l = link_at(n, k);
      if (l->from == (up ? child : node) && l->to == (up ? node : child) && l->kind == CSIM_RES_PCIE) {
        double below = bound_below(n, child, node, up);
        sum += below < 0 ? (double)l->capacity : MIN(below, (double)l->capacity);
      }
    }
  }
  return sum;
}

static guint depth_type(const CsimTopoNode *node) {
  return node->type == CSIM_NODE_CPU ? 0 : node->type == CSIM_NODE_PCI ? 1 : 2;
}

/* Is `upper` the parent? Trees are walked from CPUs, so a switch's parent is the neighbour on its way to a CPU. */
static gboolean is_parent(const CsimNodeLinks *n, const CsimTopoNode *lower, const CsimTopoNode *upper) {
  if (depth_type(upper) != depth_type(lower)) return depth_type(upper) < depth_type(lower);
  const CsimTopoNode *cpu = csim_node_local_cpu(n, lower);
  guint v = 0, target = 0;
  if (cpu == NULL || !csim_node_vertex(n, cpu, &target) || !csim_node_vertex(n, lower, &v)) return FALSE;
  uint16_t step = n->next[target * n->n_vertices + v];
  return step != UINT16_MAX && csim_node_link(lower, step)->remote == upper;
}

static void prune(CsimNodeLinks *n) {
  for (guint k = 0; k < n->links->len; k++) {
    CsimNodeLink *l = link_at(n, k);
    if (l->kind != CSIM_RES_PCIE) continue;
    gboolean up = is_parent(n, l->from, l->to);
    if (!up && !is_parent(n, l->to, l->from)) continue;
    double bound = bound_below(n, up ? l->from : l->to, up ? l->to : l->from, up);
    l->pruned = bound >= 0 && bound <= (double)l->capacity;
  }
}

/* --- life -------------------------------------------------------------------- */

static const CsimNodeType vertex_types[] = {CSIM_NODE_PCI, CSIM_NODE_CPU, CSIM_NODE_NIC, CSIM_NODE_DEV,
                                            CSIM_NODE_CXB};

static void make_vertices(CsimNodeLinks *n) {
  for (gsize t = 0; t < G_N_ELEMENTS(vertex_types); t++)
    n->n_vertices += csim_system_n(n->system, vertex_types[t]);
  n->vertex = g_new0(const CsimTopoNode *, n->n_vertices + 1);
  n->arc = g_new0(uint32_t *, n->n_vertices + 1);
  n->memory = g_new(uint32_t, n->n_vertices + 1);
  memset(n->memory, 0xff, (n->n_vertices + 1) * sizeof *n->memory);
  guint v = 0;
  for (gsize t = 0; t < G_N_ELEMENTS(vertex_types); t++) {
    n->offset[vertex_types[t]] = v;
    for (guint i = 0; i < csim_system_n(n->system, vertex_types[t]); i++)
      n->vertex[v++] = csim_system_node(n->system, vertex_types[t], i);
  }
}

static CsimTime nvlink_latency(const CsimNodeLinks *n, const CsimCatalogue *c) {
  const CsimNodeGpu *gpu = n->gpus->len > 0 ? &g_array_index(n->gpus, CsimNodeGpu, 0) : NULL;
  if (gpu == NULL || gpu->model == NULL) return 0;
  int gen = (int)csim_catalogue_number(c, "gpu.%s.nvlink_gen", gpu->model);
  return gen > 0 ? csim_catalogue_time(c, "nvlink.%d.latency", gen) : 0;
}

CsimNodeLinks *csim_node_links_new(const CsimSystem *system, const CsimCatalogue *c,
                                   const CsimNetModel *net) {
  CsimNodeLinks *n = g_new0(CsimNodeLinks, 1);
  Maker maker = {n, c, net};
  n->system = system;
  n->links = g_array_new(FALSE, TRUE, sizeof(CsimNodeLink));
  n->gpus = g_array_new(FALSE, TRUE, sizeof(CsimNodeGpu));
  n->nets = g_array_new(FALSE, TRUE, sizeof(CsimNodeNet));
  csim_pcie_model_init(c, &n->pcie);
  make_vertices(n);
  for (guint i = 0; i < csim_system_n(system, CSIM_NODE_GPU); i++)
    add_gpu(&maker, csim_system_node(system, CSIM_NODE_GPU, i));
  add_arcs(&maker);
  add_ports(&maker);
  add_memory(&maker);
  for (guint i = 0; i < csim_system_n(system, CSIM_NODE_NET); i++) add_net(&maker, i);
  n->nvlink_latency = nvlink_latency(n, c);
  n->cpu_latency = csim_catalogue_time(c, "cpu.link_latency");
  n->c2c_latency = csim_catalogue_time(c, "c2c.latency");
  csim_node_find_ways(n);
  prune(n);
  return n;
}

void csim_node_links_free(CsimNodeLinks *n) {
  if (n == NULL) return;
  for (guint v = 0; v < n->n_vertices; v++) g_free(n->arc[v]);
  g_array_unref(n->links);
  g_array_unref(n->gpus);
  g_array_unref(n->nets);
  g_free(n->vertex);
  g_free(n->arc);
  g_free(n->next);
  g_free(n->memory);
  g_free(n);
}
