/* topo/nccl-build-device.c - GPUs and NICs of a pci element (NCCL 2.30.7, src/graph/topo.cc). */
#include "topo/nccl-build.h"
#include <stdlib.h>
#include <string.h>

uint64_t csim_build_device_id(const CsimNcclElement *pci) {
  static const char *const parts[] = {"vendor", "device", "subsystem_vendor", "subsystem_device"};
  uint64_t id = 0;
  for (guint i = 0; i < G_N_ELEMENTS(parts); i++)
    id = id << 16 | (csim_nccl_xml_hex(pci, parts[i], 0) & 0xffff);
  return id;
}

/* --- GPUs --------------------------------------------------------------- */

static gboolean takes_part(const CsimBuild *b, const CsimNcclElement *gpu) {
  if (b->options.every_gpu || csim_nccl_xml_attr(gpu, "rank") != NULL) return TRUE;
  csim_diag_add(b->diag, CSIM_FINDING_WARNING, CSIM_ERROR_NCCL, gpu->loc,
                gpu->subs->len == 0
                    ? "GPU without rank; NCCL leaves it out without a word"
                    : "GPU without rank; it is left out (NCCL does not start, since the GPU has links)");
  return FALSE;
}

static CsimTopoNode *find_dev(const CsimBuild *b, uint64_t id) {
  return csim_system_find(b->system, CSIM_NODE_DEV, id);
}

static int sum_of_counts(const CsimNcclElement *gpu) {
  int64_t sum = 0;
  for (guint i = 0; i < gpu->subs->len; i++)
    if (strcmp(csim_nccl_xml_sub(gpu, i)->name, "nvlink") == 0)
      sum += csim_nccl_xml_int(csim_nccl_xml_sub(gpu, i), "count", 0);
  return (int)sum;
}

static CsimTopoNode *add_dev(CsimBuild *b, const CsimNcclElement *gpu, uint64_t id, uint64_t bus, int sm) {
  CsimTopoNode *dev = csim_system_add(b->system, CSIM_NODE_DEV, id, gpu->loc);
  dev->dev.sm = sm;
  dev->dev.bus = bus;
  dev->dev.device = csim_build_device_id(gpu->parent);
  dev->dev.nvlinks = sum_of_counts(gpu);
  dev->dev.partitions = 1;
  return dev;
}

/* dev and gdr: NCCL would ask the hardware for them when it completes a file. */
static gboolean read_dev(CsimBuild *b, const CsimNcclElement *gpu, int *dev) {
  int number = b->next_gpu_dev++;
  if (b->options.strict || csim_nccl_xml_attr(gpu, "dev") != NULL) return csim_build_int(b, gpu, "dev", dev);
  *dev = number;
  return TRUE;
}

static gboolean read_gdr(CsimBuild *b, const CsimNcclElement *gpu, int *gdr) {
  if (b->options.strict || csim_nccl_xml_attr(gpu, "gdr") != NULL) return csim_build_int(b, gpu, "gdr", gdr);
  *gdr = 1;
  return TRUE;
}

static int gpus_on(const CsimTopoNode *dev) {
  int n = 0;
  for (guint i = 0; i < dev->links->len; i++) n += csim_node_link(dev, i)->remote->type == CSIM_NODE_GPU;
  return n;
}

static gboolean add_gpu(CsimBuild *b, const CsimNcclElement *xml, int host, uint64_t bus,
                        CsimTopoNode **first_dev) {
  int sm, dev_number;
  int part = (int)csim_nccl_xml_int(xml, "mlopart", -1);
  if (!csim_build_int(b, xml, "sm", &sm)) return FALSE;
  uint64_t dev_id = csim_build_id(host, (uint64_t)MAX(part, 0) << 48 | bus);
  CsimTopoNode *dev = find_dev(b, dev_id);
  if (dev == NULL) {
    dev = add_dev(b, xml, dev_id, bus, sm);
    if (*first_dev == NULL) *first_dev = dev;
  }
  if (!read_dev(b, xml, &dev_number)) return FALSE;
  if (gpus_on(dev) == 0) dev->dev.dev = dev_number;
  uint64_t id = csim_build_id(host, (uint64_t)gpus_on(dev) << 40 | bus);
  CsimTopoNode *gpu = csim_system_add(b->system, CSIM_NODE_GPU, id, xml->loc);
  gpu->gpu.dev = dev_number;
  gpu->gpu.rank = (int)csim_nccl_xml_int(xml, "rank", -1);
  gpu->gpu.sm = sm;
  gpu->gpu.mlopart = part;
  if (!read_gdr(b, xml, &gpu->gpu.gdr)) return FALSE;
  csim_build_both(gpu, dev, CSIM_LINK_LOC, CSIM_BW_LOCAL, xml->loc);
  return TRUE;
}

/* Partitions of one GPU share its links and see each other at the speed of the die-to-die link. */
static void join_partitions(CsimBuild *b, const CsimTopoNode *first) {
  GPtrArray *devs = b->system->nodes[CSIM_NODE_DEV];
  int n = 0;
  for (guint i = 0; i < devs->len; i++) {
    const CsimTopoNode *d = csim_system_node(b->system, CSIM_NODE_DEV, i);
    n += d->dev.bus == first->dev.bus && csim_node_host(d) == csim_node_host(first);
  }
  for (guint i = (guint)first->index; n > 1 && i < devs->len; i++) {
    CsimTopoNode *one = csim_system_node(b->system, CSIM_NODE_DEV, i);
    one->dev.partitions = n;
    for (guint j = i + 1; j < devs->len; j++)
      csim_build_both(one, csim_system_node(b->system, CSIM_NODE_DEV, j), CSIM_LINK_LOC, CSIM_BW_MLOPART,
                      one->loc);
  }
}

/* *first_dev: the first DEV node that this element made, NULL if none (no gpu inside, or one that was there before). */
gboolean csim_build_gpus(CsimBuild *b, const CsimNcclElement *pci, int host, uint64_t bus,
                         CsimTopoNode **first_dev) {
  *first_dev = NULL;
  for (guint i = 0; i < pci->subs->len; i++) {
    const CsimNcclElement *sub = csim_nccl_xml_sub(pci, i);
    if (strcmp(sub->name, "gpu") != 0 || !takes_part(b, sub)) continue;
    if (!add_gpu(b, sub, host, bus, first_dev)) return FALSE;
  }
  if (*first_dev != NULL) join_partitions(b, *first_dev);
  return TRUE;
}

/* --- NICs --------------------------------------------------------------- */

static float float_of(const CsimNcclElement *node, const char *key) {
  const char *value = csim_nccl_xml_value(node, key);
  return value == NULL ? 0 : strtof(value, NULL);
}

typedef struct {
  uint64_t pci_id;
  int host, dev, width, speed;
} NetPlace;

static void add_net(CsimBuild *b, CsimNodeType type, const CsimNcclElement *xml, CsimTopoNode *nic,
                    const NetPlace *at) {
  CsimTopoNode *net =
      csim_system_add(b->system, type, csim_build_id(at->host, (uint64_t)(int64_t)at->dev), xml->loc);
  int64_t mbps = csim_nccl_xml_int(xml, "speed", 0);
  if (mbps <= 0) mbps = 10000;
  net->label = csim_build_label(xml, "name");
  net->net.dev = at->dev;
  net->net.bw = (float)(mbps / 8000.0);
  net->net.latency = float_of(xml, "latency");
  net->net.port = (int)csim_nccl_xml_int(xml, "port", 0);
  net->net.asic = csim_nccl_xml_hex(xml, "guid", net->id);
  net->net.maxconn = (int)csim_nccl_xml_int(xml, "maxconn", 64);
  net->net.gdr = (int)csim_nccl_xml_int(xml, "gdr", 0);
  net->net.coll = b->options.every_coll ? 1 : (int)csim_nccl_xml_int(xml, "coll", 0);
  net->net.rail = (int)csim_nccl_xml_int(xml, "rail", -1);
  net->net.plane = (int)csim_nccl_xml_int(xml, "plane", -1);
  net->net.pci_id = at->pci_id;
  net->net.pci_width = at->width;
  net->net.pci_speed = at->speed;
  net->net.local_gpu = UINT64_MAX;
  csim_build_both(nic, net, CSIM_LINK_NET, net->net.bw, xml->loc);
}

/* A net without dev does not exist for NCCL; without strictness it gets the next number, as the reference vectors have it. */
static gboolean net_dev(CsimBuild *b, const CsimNcclElement *xml, int *dev) {
  gboolean given = csim_nccl_xml_attr(xml, "dev") != NULL;
  *dev = given ? (int)csim_nccl_xml_int(xml, "dev", 0) : b->next_net_dev;
  b->next_net_dev++;
  return given || b->options.every_gpu;
}

gboolean csim_build_nic(CsimBuild *b, const CsimNcclElement *nic, CsimTopoNode *node, int host,
                        uint64_t pci_id, int width, int speed) {
  static const struct {
    CsimNodeType type;
    const char *attr;
    int fallback;
  } kinds[] = {{CSIM_NODE_NET, "net", 1}, {CSIM_NODE_GIN, "gin", 0}, {CSIM_NODE_RMA, "rma", 0}};
  for (guint i = 0; i < nic->subs->len; i++) {
    const CsimNcclElement *net = csim_nccl_xml_sub(nic, i);
    NetPlace at = {pci_id, host, 0, width, speed};
    if (!net_dev(b, net, &at.dev)) continue;
    for (guint k = 0; k < G_N_ELEMENTS(kinds); k++)
      if (csim_nccl_xml_int(net, kinds[k].attr, kinds[k].fallback) != 0)
        add_net(b, kinds[k].type, net, node, &at);
  }
  return TRUE;
}
