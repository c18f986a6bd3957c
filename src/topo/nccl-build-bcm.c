/*
 * topo/nccl-build-bcm.c - merging of two-level Broadcom PCIe switches, which present one chip as a tree of bridges (NCCL 2.30.7,
 * src/graph/topo.cc). No other switch is merged.
 */
#include "topo/nccl-build.h"

/* Generation of a Broadcom switch that may be merged at that level (0 parent, 1 child), else 0. */
static int generation(uint64_t device, int level) {
  uint64_t chip = device & ~UINT64_C(0xfff);
  if (chip == UINT64_C(0x1000c0101000a000)) return 4;
  if (chip == (UINT64_C(0x1000c03010000000) | (uint64_t)level * 0x1000)) return 5;
  return 0;
}

static GPtrArray *detach_children(CsimTopoNode *parent, int gen) {
  GPtrArray *children = g_ptr_array_new();
  for (guint i = 0; i < parent->links->len;) {
    CsimTopoNode *child = csim_node_link(parent, i)->remote;
    if (child->type != CSIM_NODE_PCI || generation(child->pci.device, 1) != gen) {
      i++;
      continue;
    }
    g_ptr_array_add(children, child);
    g_array_remove_index(parent->links, i);
  }
  return children;
}

static void point_back(CsimTopoNode *below, const CsimTopoNode *from, CsimTopoNode *to) {
  for (guint i = 0; i < below->links->len; i++)
    if (csim_node_link(below, i)->remote == from) {
      csim_node_link(below, i)->remote = to;
      return;
    }
}

/* Devices keep the bandwidth they had to the child, and come after what the parent had, unsorted. */
static void adopt(CsimTopoNode *parent, const CsimTopoNode *child) {
  for (guint i = 0; i < child->links->len; i++) {
    CsimTopoLink link = *csim_node_link(child, i);
    if (link.remote == parent) continue;
    g_array_append_val(parent->links, link);
    point_back(link.remote, child, parent);
  }
}

static gboolean merge_below(CsimSystem *system, CsimTopoNode *parent) {
  int gen = generation(parent->pci.device, 0);
  if (gen == 0) return FALSE;
  g_autoptr(GPtrArray) children = detach_children(parent, gen);
  for (guint i = 0; i < children->len; i++) {
    CsimTopoNode *child = g_ptr_array_index(children, i);
    adopt(parent, child);
    csim_system_remove(system, child);
  }
  parent->pci.device |= 0xffff; /* done: matches no pattern any more */
  return TRUE;
}

void csim_build_flatten(CsimSystem *system) {
  for (guint i = 0; i < csim_system_n(system, CSIM_NODE_PCI);) {
    gboolean merged = merge_below(system, csim_system_node(system, CSIM_NODE_PCI, i));
    i = merged ? 0 : i + 1;
  }
}
