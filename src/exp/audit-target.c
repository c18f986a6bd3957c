/* The target of an audit: what NCCL would decide on it, and the rates that its limits are made of. */
#include "exp/audit-limits.h"
#include "exp/run-private.h"

static gboolean load(CsimAuditTarget *t, const CsimAuditTargetSpec *spec, GError **error) {
  t->diag = csim_diag_new();
  t->env = csim_nccl_env_new(NULL, spec->overrides, t->diag, error);
  if (!t->env) return FALSE;
  t->catalogue = csim_catalogue_new(NULL, NULL, error);
  if (!t->catalogue) return FALSE;
  t->cluster = csim_cluster_load(spec->target, spec->n_nodes, error);
  if (!t->cluster) return FALSE;
  CsimCommSpec comm = {
      .cluster = t->cluster,
      .env = t->env,
      .n_gpus = spec->gpus_per_node,
      .mnnvl = csim_is_multi_node_nvlink(t->cluster, t->env),
      .coll_net = spec->sharp || t->cluster->fabric.sharp,
  };
  t->comm = csim_comm_new(&comm, t->diag, error);
  if (!t->comm) return FALSE;
  t->tuning = csim_tuning_new(t->comm, t->env, error);
  if (!t->tuning) return FALSE;
  t->machine = csim_machine_new(t->cluster, t->catalogue, error);
  return t->machine != NULL;
}

CsimAuditTarget *csim_audit_target_new(const CsimAuditTargetSpec *spec, GError **error) {
  CsimAuditTarget *target = g_new0(CsimAuditTarget, 1);
  if (load(target, spec, error)) return target;
  csim_audit_target_free(target);
  return NULL;
}

void csim_audit_target_free(CsimAuditTarget *t) {
  if (!t) return;
  csim_machine_free(t->machine);
  csim_tuning_free(t->tuning);
  csim_comm_free(t->comm);
  csim_cluster_free(t->cluster);
  csim_catalogue_free(t->catalogue);
  csim_nccl_env_free(t->env);
  csim_diag_free(t->diag);
  g_free(t);
}

/* Adapters that share a port (several NETs of one asic and port) are counted once. */
static double adapters_gbps(const CsimSystem *system) {
  double sum = 0;
  for (guint i = 0; i < csim_system_n(system, CSIM_NODE_NET); i++) {
    const CsimTopoNode *net = csim_system_node(system, CSIM_NODE_NET, i);
    gboolean again = FALSE;
    for (guint k = 0; k < i && !again; k++) {
      const CsimTopoNode *other = csim_system_node(system, CSIM_NODE_NET, k);
      again = net->net.asic && net->net.asic == other->net.asic && net->net.port == other->net.port;
    }
    if (!again) sum += net->net.bw;
  }
  return sum;
}

static double fastest_pcie(const CsimMachine *machine) {
  CsimRate best = 0;
  for (guint i = 0; i < csim_machine_n_links(machine); i++) {
    CsimRes link = csim_machine_link(machine, i);
    if (link.kind == CSIM_RES_PCIE) best = MAX(best, link.capacity);
    if (link.kind == CSIM_RES_FABRIC) break; /* the nodes' links come first */
  }
  return (double)best;
}

static void fill_gpu(const CsimAuditTarget *t, CsimAuditHardware *hw) {
  CsimGpuRef gpu = {0, 0};
  const char *model = csim_machine_gpu_model(t->machine, gpu);
  double links = csim_machine_gpu_nvlinks(t->machine, gpu);
  hw->hbm = (double)csim_catalogue_rate(t->catalogue, "gpu.%s.hbm", model);
  int gen = (int)csim_catalogue_number(t->catalogue, "gpu.%s.nvlink_gen", model);
  if (gen < 1 || links < 1) return;
  hw->nvlink = links * (double)csim_catalogue_rate(t->catalogue, "nvlink.%d.line", gen);
  hw->nvlink_payload = links * (double)csim_catalogue_rate(t->catalogue, "nvlink.%d.kernel", gen);
  hw->nvlink_one_way =
      MAX(hw->nvlink_payload, links * (double)csim_catalogue_rate(t->catalogue, "nvlink.%d.copy", gen));
}

CsimAuditHardware csim_audit_hardware(const CsimAuditTarget *t, gboolean sharp) {
  const CsimCommInfo *info = csim_comm_info(t->comm);
  CsimAuditHardware hw = {
      .ranks = info->n_ranks,
      .nodes = info->n_nodes,
      .gpus = info->max_local_ranks,
      .nvls = info->nvls_support != 0,
      .sharp = sharp || t->cluster->fabric.sharp,
  };
  fill_gpu(t, &hw);
  hw.pcie = fastest_pcie(t->machine);
  int parts = MAX(info->n_nodes / MAX(info->n_machines, 1),
                  1); /* hosts that an XML describes together, and NCCL splits */
  hw.nics = adapters_gbps(csim_cluster_system(t->cluster, 0)) * 1e9 / parts;
  hw.nics_payload = (double)csim_net_payload_rate(csim_machine_net(t->machine), (CsimRate)hw.nics);
  return hw;
}
