/* topo/check-system.c - doubtful things that only show in the graph. */
#include "topo/check.h"
#include "topo/nccl-xml-tree.h"

#define CLEARLY \
  0.9 /* a link is reported as slow if it has less than this share of what it is compared with */

typedef struct {
  const CsimSystem *system;
  CsimDiag *diag;
} Check;

static guint count(const Check *c, CsimNodeType t) {
  return csim_system_n(c->system, t);
}
static CsimTopoNode *at(const Check *c, CsimNodeType t, guint i) {
  return csim_system_node(c->system, t, i);
}

/* --- PCIe --------------------------------------------------------------- */

/* In the PCI tree the way up is a link to the parent: the last PCI link (NCCL sorts it so). */
static const CsimTopoLink *way_up(const CsimTopoNode *node) {
  for (guint i = node->links->len; i-- > 0;) {
    const CsimTopoLink *link = csim_node_link(node, i);
    if (link->type == CSIM_LINK_PCI) return link;
  }
  return NULL;
}

/* The CPU that a device hangs under. */
static const CsimTopoNode *cpu_of(const CsimTopoNode *node) {
  for (int depth = 0; node != NULL && node->type != CSIM_NODE_CPU && depth < 256; depth++) {
    const CsimTopoLink *up = way_up(node);
    node = up == NULL ? NULL : up->remote;
  }
  return node;
}

static void check_ports(const Check *c) {
  for (guint i = 0; i < count(c, CSIM_NODE_PCI); i++) {
    const CsimTopoNode *node = at(c, CSIM_NODE_PCI, i);
    const CsimTopoLink *up = way_up(node), *widest = NULL;
    for (guint l = 0; up != NULL && l < node->links->len; l++) {
      const CsimTopoLink *link = csim_node_link(node, l);
      if (link->type == CSIM_LINK_PCI && link != up && (widest == NULL || link->bw > widest->bw))
        widest = link;
    }
    if (widest == NULL || up->bw >= widest->bw * CLEARLY) continue;
    g_autofree char *name = csim_node_name(c->system, node),
                    *below = csim_node_name(c->system, widest->remote);
    csim_diag_cost(c->diag, node->loc, widest->bw - up->bw,
                   "the upstream port of %s has %g GB/s, %s below it %g; NCCL plans with the slower one",
                   name, up->bw, below, widest->bw);
  }
}

static void check_gpu_slots(const Check *c) {
  float best = 0;
  for (guint i = 0; i < count(c, CSIM_NODE_DEV); i++) {
    const CsimTopoLink *up = way_up(at(c, CSIM_NODE_DEV, i));
    if (up != NULL) best = MAX(best, up->bw);
  }
  for (guint i = 0; i < count(c, CSIM_NODE_DEV); i++) {
    const CsimTopoNode *dev = at(c, CSIM_NODE_DEV, i);
    const CsimTopoLink *up = way_up(dev);
    if (up == NULL || up->bw >= best * CLEARLY) continue;
    csim_diag_cost(c->diag, up->loc, best - up->bw, "the PCIe link of GPU %d has %g GB/s, the best GPU's %g",
                   dev->dev.dev, up->bw, best);
  }
}

/* --- NICs --------------------------------------------------------------- */

static const CsimTopoNode *nic_of(const CsimTopoNode *net) {
  return net->links->len == 0 ? NULL : csim_node_link(net, 0)->remote;
}

static gboolean has_gpu(const Check *c, const CsimTopoNode *cpu) {
  for (guint i = 0; i < count(c, CSIM_NODE_DEV); i++)
    if (cpu_of(at(c, CSIM_NODE_DEV, i)) == cpu) return TRUE;
  return FALSE;
}

static float socket_bw(const CsimTopoNode *cpu) {
  float best = 0;
  for (guint i = 0; i < cpu->links->len; i++)
    if (csim_node_link(cpu, i)->type == CSIM_LINK_SYS) best = MAX(best, csim_node_link(cpu, i)->bw);
  return best;
}

static void check_far_nic(const Check *c, const CsimTopoNode *net) {
  const CsimTopoNode *nic = nic_of(net), *cpu = nic == NULL ? NULL : cpu_of(nic);
  if (cpu == NULL || count(c, CSIM_NODE_DEV) == 0 || has_gpu(c, cpu)) return;
  float own = MIN(net->net.bw, way_up(nic)->bw), across = socket_bw(cpu);
  csim_diag_cost(c->diag, net->loc, MAX(own - across, 0),
                 "net %d is on a socket without GPUs; all its traffic crosses the socket link (%g GB/s)",
                 net->net.dev, across);
}

static void check_nic_slot(const Check *c, const CsimTopoNode *net) {
  const CsimTopoNode *nic = nic_of(net);
  const CsimTopoLink *up = nic == NULL ? NULL : way_up(nic);
  if (up == NULL || up->bw >= net->net.bw * CLEARLY) return;
  csim_diag_cost(c->diag, up->loc, net->net.bw - up->bw, "the PCIe link of net %d has %g GB/s, its wire %g",
                 net->net.dev, up->bw, net->net.bw);
}

static void check_nics(const Check *c) {
  float best = 0;
  for (guint i = 0; i < count(c, CSIM_NODE_NET); i++) best = MAX(best, at(c, CSIM_NODE_NET, i)->net.bw);
  for (guint i = 0; i < count(c, CSIM_NODE_NET); i++) {
    const CsimTopoNode *net = at(c, CSIM_NODE_NET, i);
    check_far_nic(c, net);
    check_nic_slot(c, net);
    if (net->net.bw < best)
      csim_diag_cost(c->diag, net->loc, best - net->net.bw, "net %d has %g GB/s, the fastest net %g",
                     net->net.dev, net->net.bw, best);
  }
}

/* --- NVLink ------------------------------------------------------------- */

static void check_counts(const Check *c) {
  int best = 0;
  for (guint i = 0; i < count(c, CSIM_NODE_DEV); i++) best = MAX(best, at(c, CSIM_NODE_DEV, i)->dev.nvlinks);
  for (guint i = 0; i < count(c, CSIM_NODE_DEV); i++) {
    const CsimTopoNode *dev = at(c, CSIM_NODE_DEV, i);
    int n = dev->dev.nvlinks;
    double cost = (best - n) * (double)csim_nvlink_bw(dev->dev.sm);
    if (n == 0 && best > 0)
      csim_diag_cost(c->diag, dev->loc, cost,
                     "GPU %d has no NVLink entry, others have %d links; NCCL falls back to PCIe for it",
                     dev->dev.dev, best);
    else if (n < best)
      csim_diag_cost(c->diag, dev->loc, cost, "GPU %d has %d NVLinks, others %d", dev->dev.dev, n, best);
  }
}

static float bw_back(const CsimTopoNode *from, const CsimTopoNode *to, CsimLinkType type) {
  for (guint i = 0; i < from->links->len; i++)
    if (csim_node_link(from, i)->remote == to && csim_node_link(from, i)->type == type)
      return csim_node_link(from, i)->bw;
  return -1;
}

static void check_way_back(const Check *c, const CsimTopoNode *node) {
  for (guint i = 0; i < node->links->len; i++) {
    const CsimTopoLink *link = csim_node_link(node, i);
    float back = bw_back(link->remote, node, link->type);
    if (back >= link->bw || link->type == CSIM_LINK_SYS) continue;
    g_autofree char *from = csim_node_name(c->system, node), *to = csim_node_name(c->system, link->remote);
    if (back < 0)
      csim_diag_add(c->diag, CSIM_FINDING_WARNING, CSIM_ERROR_NCCL, link->loc,
                    "the %s link %s -> %s has no way back; NCCL will not start with it",
                    csim_link_type_name(link->type), from, to);
    else
      csim_diag_cost(c->diag, link->loc, link->bw - back, "the %s link %s -> %s has %g GB/s, the way back %g",
                     csim_link_type_name(link->type), from, to, link->bw, back);
  }
}

static void check_directions(const Check *c) {
  static const CsimNodeType types[] = {CSIM_NODE_DEV, CSIM_NODE_PCI};
  for (guint t = 0; t < G_N_ELEMENTS(types); t++)
    for (guint i = 0; i < count(c, types[t]); i++) check_way_back(c, at(c, types[t], i));
}

/* --- CPUs --------------------------------------------------------------- */

static void check_cpus(const Check *c) {
  for (guint i = 0; i < count(c, CSIM_NODE_CPU); i++) {
    const CsimTopoNode *cpu = at(c, CSIM_NODE_CPU, i);
    float bw = socket_bw(cpu);
    if (bw < 1000) continue; /* NCCL's own numbers for known CPUs are 6 to 40 */
    csim_diag_add(
        c->diag, CSIM_FINDING_WARNING, CSIM_ERROR_NCCL, cpu->loc,
        "CPU of an architecture or vendor that NCCL does not know; it takes %g GB/s between sockets", bw);
  }
}

/* A file that a cloud publishes for its machines may hold the PCI tree alone; NCCL adds the devices that it finds. */
static void check_devices(const Check *c) {
  if (count(c, CSIM_NODE_CPU) == 0 || count(c, CSIM_NODE_GPU) > 0) return;
  csim_diag_add(c->diag, CSIM_FINDING_WARNING, CSIM_ERROR_NCCL, at(c, CSIM_NODE_CPU, 0)->loc,
                "no GPU with a rank in this file; it can be shown, but nothing can run on it");
}

void csim_check_system(const CsimSystem *system, CsimDiag *diag) {
  const Check c = {system, diag};
  if (diag == NULL) return;
  check_devices(&c);
  check_ports(&c);
  check_gpu_slots(&c);
  check_nics(&c);
  check_counts(&c);
  check_directions(&c);
  check_cpus(&c);
}
