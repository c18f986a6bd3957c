#include "exp/device.h"

/* The physical GPU behind a GPU node: it carries NVLink count and PCI device id. NULL if the XML told none. */
static const CsimTopoNode *physical(const CsimTopoNode *gpu) {
  for (guint i = 0; i < gpu->links->len; i++) {
    const CsimTopoNode *remote = g_array_index(gpu->links, CsimTopoLink, i).remote;
    if (remote->type == CSIM_NODE_DEV) return remote;
  }
  return NULL;
}

static char *gpu_name(const CsimTopoNode *gpu, const CsimCatalogue *catalogue) {
  const CsimTopoNode *dev = physical(gpu);
  g_autofree char *pci_device = dev ? g_strdup_printf("0x%04x", (guint)(dev->dev.device >> 32 & 0xffff)) : NULL;
  const char *model = csim_catalogue_gpu_model(catalogue, gpu->gpu.sm, dev ? dev->dev.nvlinks : 0, pci_device);
  return g_ascii_strup(model, -1);
}

static void append_group(GString *out, int machines, int gpus, const char *model) {
  g_string_append_printf(out, "%s%d %s x %d %s", out->len ? ", " : "", machines, machines == 1 ? "node" : "nodes", gpus, model);
}

/* Ranks come machine by machine, so equal neighbours are counted up. */
char *csim_device_text(const CsimCluster *cluster, const CsimComm *comm, const CsimCatalogue *catalogue) {
  GString *out = g_string_new(NULL);
  int n_ranks = csim_comm_info(comm)->n_ranks;
  int machines = 0, group_gpus = 0;
  g_autofree char *group_model = NULL;
  for (int rank = 0, next; rank < n_ranks; rank = next) {
    guint machine = csim_comm_place(comm, rank).machine;
    for (next = rank + 1; next < n_ranks && csim_comm_place(comm, next).machine == machine;) next++;
    g_autofree char *model = gpu_name(csim_comm_gpu(comm, rank), catalogue);
    if (machines && (next - rank != group_gpus || g_strcmp0(model, group_model))) {
      append_group(out, machines, group_gpus, group_model);
      machines = 0;
    }
    if (!machines++) {
      group_gpus = next - rank;
      g_free(group_model);
      group_model = g_steal_pointer(&model);
    }
  }
  append_group(out, machines, group_gpus, group_model);
  return g_string_free(out, FALSE);
}
