/* topo/nccl-build-links.c - NVLink, C2C, switch-to-switch and socket links (NCCL 2.30.7, src/graph/topo.cc). */
#include "topo/nccl-build.h"
#include <string.h>

/* Where a walk over the elements stands. */
typedef struct {
  int host;
  const char *busid; /* of the nearest pci above, NULL at first */
} Place;

typedef gboolean (*Visit)(CsimBuild *b, const CsimNcclElement *node, const Place *place);

/* All elements named `name`, in file order, with the place they stand at. */
static gboolean walk(CsimBuild *b, const CsimNcclElement *node, const char *name, Place place, Visit visit) {
  if (strcmp(node->name, name) == 0) return visit(b, node, &place);
  if (strcmp(node->name, "cpu") == 0) place.host = csim_build_host(b, node);
  const char *busid = csim_nccl_xml_value(node, "busid");
  if (busid != NULL) place.busid = busid;
  for (guint i = 0; i < node->subs->len; i++) {
    const CsimNcclElement *sub = csim_nccl_xml_sub(node, i);
    if (!walk(b, sub, name, place, visit)) return FALSE;
  }
  return TRUE;
}

/* *dev: the DEV node of the gpu element around `node`; NULL if that GPU takes no part (NCCL's builder refuses such a file), or is not the
 * first on its DEV (only that one counts). */
static gboolean dev_around(CsimBuild *b, const CsimNcclElement *node, const Place *place,
                           CsimTopoNode **dev) {
  const CsimNcclElement *gpu = node->parent;
  uint64_t part = (uint64_t)MAX(csim_nccl_xml_int(gpu, "mlopart", -1), 0);
  *dev = csim_system_find(b->system, CSIM_NODE_DEV,
                          csim_build_id(place->host, part << 48 | csim_busid(place->busid)));
  if (*dev == NULL && b->options.strict)
    return csim_build_fail(b, node->loc, CSIM_NCCL_INTERNAL_ERROR, "link-without-gpu",
                           "<%s> of a GPU that takes no part", node->name);
  if (*dev != NULL && ((*dev)->loc.line != gpu->loc.line || (*dev)->loc.col != gpu->loc.col)) *dev = NULL;
  return TRUE;
}

/* --- NVLink ------------------------------------------------------------- */

/* The CPU that a node hangs under, upwards through the PCI tree. */
static CsimTopoNode *cpu_above(const CsimTopoNode *node, const CsimTopoNode *from) {
  for (guint i = 0; i < node->links->len; i++) {
    CsimTopoNode *next = csim_node_link(node, i)->remote;
    if (next->type == CSIM_NODE_CPU) return next;
  }
  for (guint i = 0; i < node->links->len; i++) {
    const CsimTopoLink *link = csim_node_link(node, i);
    if (link->type != CSIM_LINK_PCI || link->remote->type != CSIM_NODE_PCI || link->remote == from) continue;
    CsimTopoNode *found = cpu_above(link->remote, node);
    if (found != NULL) return found;
  }
  return NULL;
}

static gboolean connect_nvswitch(CsimBuild *b, CsimTopoNode *dev, float bw, CsimLoc loc) {
  CsimTopoNode *nvs = csim_system_n(b->system, CSIM_NODE_NVS) > 0
                          ? csim_system_node(b->system, CSIM_NODE_NVS, 0)
                          : csim_system_add(b->system, CSIM_NODE_NVS, 0, loc);
  csim_build_both(dev, nvs, CSIM_LINK_NVL, bw, loc);
  return TRUE;
}

/* One direction only: the peer's own element makes the other. A GPU that is not here is skipped. */
static gboolean connect_peer(CsimBuild *b, const CsimNcclElement *xml, CsimTopoNode *dev, float bw) {
  const char *target;
  gboolean found = FALSE;
  if (!csim_build_text(b, xml, "target", &target)) return FALSE;
  uint64_t bus = csim_busid(target);
  for (guint i = 0; i < csim_system_n(b->system, CSIM_NODE_DEV); i++) {
    CsimTopoNode *peer = csim_system_node(b->system, CSIM_NODE_DEV, i);
    if (peer->dev.bus != bus || csim_node_host(peer) != csim_node_host(dev)) continue;
    csim_node_connect(dev, peer, CSIM_LINK_NVL, bw / (float)peer->dev.partitions, xml->loc);
    found = TRUE;
  }
  if (!found)
    csim_diag_cost(b->diag, xml->loc, bw,
                   "NVLink to %s, which is no GPU of this system; NCCL leaves the link out", target);
  return TRUE;
}

static gboolean connect_cpu(CsimTopoNode *dev, float bw, CsimLoc loc) {
  CsimTopoNode *cpu = cpu_above(dev, NULL);
  if (cpu != NULL) csim_build_both(dev, cpu, CSIM_LINK_NVL, bw, loc);
  return TRUE;
}

static gboolean add_nvlink(CsimBuild *b, const CsimNcclElement *xml, const Place *place) {
  CsimTopoNode *dev;
  const char *class;
  int count;
  if (!dev_around(b, xml, place, &dev)) return FALSE;
  if (dev == NULL) return TRUE;
  if (!csim_build_int(b, xml, "count", &count) || !csim_build_text(b, xml, "tclass", &class)) return FALSE;
  float bw = (float)count * csim_nvlink_bw(dev->dev.sm) / (float)dev->dev.partitions;
  switch (csim_dict_pci_class(class, NULL)) {
  case CSIM_NODE_GPU:
    return connect_peer(b, xml, dev, bw);
  case CSIM_NODE_CPU:
    return connect_cpu(dev, bw, xml->loc);
  default:
    return connect_nvswitch(b, dev, bw, xml->loc);
  }
}

/* --- C2C and switch-to-switch ------------------------------------------- */

static gboolean add_c2c(CsimBuild *b, const CsimNcclElement *xml, const Place *place) {
  CsimTopoNode *dev;
  int bw, count;
  if (!dev_around(b, xml, place, &dev)) return FALSE;
  if (dev == NULL) return TRUE;
  if (!csim_build_int(b, xml, "count", &count) || !csim_build_int(b, xml, "bw", &bw)) return FALSE;
  CsimTopoNode *cpu = cpu_above(dev, NULL);
  float gbps = (float)(bw * (double)count / 1000.0);
  if (cpu == NULL) return TRUE;
  if (dev->dev.partitions == 1) {
    csim_build_both(dev, cpu, CSIM_LINK_C2C, gbps, xml->loc);
    return TRUE;
  }
  uint64_t id = csim_build_id(place->host, dev->dev.bus);
  CsimTopoNode *bridge = csim_system_find(b->system, CSIM_NODE_CXB, id);
  if (bridge == NULL) {
    bridge = csim_system_add(b->system, CSIM_NODE_CXB, id, xml->loc);
    csim_build_both(bridge, cpu, CSIM_LINK_C2C, gbps, xml->loc);
  }
  csim_build_both(dev, bridge, CSIM_LINK_C2C, gbps, xml->loc);
  return TRUE;
}

static gboolean add_pcilink(CsimBuild *b, const CsimNcclElement *xml, const Place *place) {
  const char *target;
  CsimTopoNode *from =
      csim_system_find(b->system, CSIM_NODE_PCI, csim_build_id(place->host, csim_busid(place->busid)));
  if (from == NULL)
    return csim_build_fail(b, xml->loc, CSIM_NCCL_INTERNAL_ERROR, "pcilink-without-switch",
                           "<pcilink> in something that is no PCI switch");
  if (!csim_build_text(b, xml, "target", &target)) return FALSE;
  CsimTopoNode *to =
      csim_system_find(b->system, CSIM_NODE_PCI, csim_build_id(place->host, csim_busid(target)));
  if (to != NULL) csim_node_connect(from, to, CSIM_LINK_LOC, CSIM_BW_LOCAL, xml->loc);
  return TRUE;
}

/* --- sockets ------------------------------------------------------------ */

/* GB/s between two CPUs of one host, taken from the one that the link starts at (topo.h). */
static float socket_bw(const CsimTopoNode *cpu) {
  switch (cpu->cpu.arch) {
  case CSIM_ARCH_POWER:
    return 32;
  case CSIM_ARCH_ARM:
    return 6;
  case CSIM_ARCH_X86:
    break;
  default:
    return CSIM_BW_LOCAL;
  }
  static const float intel[] = {6, 6, 10, 22, 40};
  switch (cpu->cpu.vendor) {
  case CSIM_VENDOR_INTEL:
    return intel[CLAMP(cpu->cpu.model, 0, 4)];
  case CSIM_VENDOR_AMD:
    return 16;
  case CSIM_VENDOR_ZHAOXIN:
    return cpu->cpu.model == 1 ? 9 : 6;
  default:
    return CSIM_BW_LOCAL;
  }
}

static void connect_sockets(CsimSystem *s) {
  for (guint i = 0; i < csim_system_n(s, CSIM_NODE_CPU); i++)
    for (guint j = 0; j < csim_system_n(s, CSIM_NODE_CPU); j++) {
      CsimTopoNode *a = csim_system_node(s, CSIM_NODE_CPU, i), *c = csim_system_node(s, CSIM_NODE_CPU, j);
      if (i != j && csim_node_host(a) == csim_node_host(c))
        csim_node_connect(a, c, CSIM_LINK_SYS, socket_bw(a), a->loc);
    }
}

gboolean csim_build_links(CsimBuild *b, const CsimNcclElement *root) {
  Place start = {0, NULL};
  if (!walk(b, root, "nvlink", start, add_nvlink) || !walk(b, root, "c2c", start, add_c2c)) return FALSE;
  if (!walk(b, root, "pcilink", start, add_pcilink)) return FALSE;
  csim_build_flatten(b->system);
  connect_sockets(b->system);
  return TRUE;
}
