/* NCCL's lines for themselves: what it used, and what is odd whatever the machine. */
#include "exp/audit-nccl.h"

#include <math.h>
#include <string.h>

char **audit_nccl_variables(const CsimLog *log, guint run) {
  NcclFacts facts;
  audit_facts_read(&facts, log, run);
  GPtrArray *out = g_ptr_array_new();
  for (guint i = 0; i < facts.variables->len; i++) {
    const NcclVariable *v = &g_array_index(facts.variables, NcclVariable, i);
    /* Files of the machine that ran; they are not here. */
    if (!strstr(v->name, "_FILE")) g_ptr_array_add(out, g_strdup_printf("%s=%s", v->name, v->value));
  }
  g_ptr_array_add(out, NULL);
  audit_facts_clear(&facts);
  return (char **)g_ptr_array_free(out, FALSE);
}

/* --- facts ---- */

static void tell_network(CsimAudit *audit, const NcclFacts *f) {
  if (f->network)
    csim_audit_fact(audit, "network: %s%s%s", f->network, f->devices ? ", devices " : "",
                    f->devices ? f->devices : "");
  if (f->ring_gdr >= 0)
    csim_audit_fact(audit, "rings: PXN %s, GPUDirect RDMA %s", f->ring_pxn ? "on" : "off",
                    f->ring_gdr ? "on" : "off");
}

static void tell_connections(CsimAudit *audit, const NcclFacts *f) {
  guint p2p = 0, shm = 0, net = 0, gdr = 0;
  for (guint i = 0; i < f->conns->len; i++) {
    const NcclConn *c = &g_array_index(f->conns, NcclConn, i);
    p2p += c->via == CSIM_CONN_P2P;
    shm += c->via == CSIM_CONN_SHM;
    net += c->via == CSIM_CONN_NET;
    gdr += c->gdr;
  }
  if (f->conns->len)
    csim_audit_fact(audit,
                    "connections: %u P2P, %u through host memory (SHM), %u over the network (%u of them with "
                    "GPUDirect RDMA)",
                    p2p, shm, net, gdr);
}

static void tell_all(CsimAudit *audit, const NcclFacts *f) {
  if (f->version) csim_audit_fact(audit, "NCCL %s", f->version);
  if (f->ranks) csim_audit_fact(audit, "communicator: %d ranks on %d nodes", f->ranks, f->nodes);
  tell_network(audit, f);
  if (f->max_bw > 0)
    csim_audit_fact(audit, "system: fastest GPU route %.1f GB/s, %u GPUs, %u adapters", f->max_bw,
                    f->gpus->len, f->nets->len);
  for (guint i = 0; i < f->patterns->len; i++) {
    const NcclPattern *p = &g_array_index(f->patterns, NcclPattern, i);
    csim_audit_fact(audit, "search: pattern %d, %d channels of %.4g/%.4g GB/s", p->pattern, p->channels,
                    p->bw_intra, p->bw_inter);
  }
  if (f->coll_channels >= 0)
    csim_audit_fact(audit, "channels: %d for collectives, %d for NVLS, %d for sends", f->coll_channels,
                    MAX(f->nvls_channels, 0), f->p2p_channels);
  tell_connections(audit, f);
}

/* --- network ---- */

static const char *value_of(const NcclFacts *f, const char *name) {
  for (guint i = 0; i < f->variables->len; i++) {
    const NcclVariable *v = &g_array_index(f->variables, NcclVariable, i);
    if (strcmp(v->name, name) == 0) return v->value;
  }
  return NULL;
}

/* Why sockets: what the log says. */
static char *reason_for_sockets(const NcclFacts *f) {
  const char *disable = value_of(f, "NCCL_IB_DISABLE"), *net = value_of(f, "NCCL_NET"),
             *hca = value_of(f, "NCCL_IB_HCA");
  if (disable && strcmp(disable, "0") != 0) return g_strdup_printf(" (NCCL_IB_DISABLE=%s)", disable);
  if (net && g_ascii_strcasecmp(net, "Socket") == 0) return g_strdup_printf(" (NCCL_NET=%s)", net);
  if (f->no_device_loc.file && hca)
    return g_strdup_printf(" (line %u: NET/IB found no device; NCCL_IB_HCA=%s)", f->no_device_loc.line, hca);
  if (f->no_device_loc.file)
    return g_strdup_printf(" (line %u: NET/IB found no device)", f->no_device_loc.line);
  return g_strdup("");
}

/* target may be NULL: then sockets between nodes are a finding. */
static void check_network(CsimAudit *audit, const NcclFacts *f, const CsimAuditTarget *target) {
  if (f->nodes < 2) return;
  if (f->network && strcmp(f->network, "Socket") == 0) {
    if (target && target->cluster->fabric.transport == CSIM_TRANSPORT_SOCKET) return;
    g_autofree char *why = reason_for_sockets(f);
    csim_audit_find(audit, CSIM_AUDIT_NCCL, f->network_loc,
                    "sockets instead of InfiniBand or RoCE between %d nodes%s%s%s", f->nodes, why,
                    f->devices ? "; interfaces: " : "", f->devices ? f->devices : "");
    return;
  }
  if (f->ring_gdr == 0)
    csim_audit_find(audit, CSIM_AUDIT_NCCL, f->rings_loc,
                    "GPUDirect RDMA is off: what goes to other nodes passes through host memory");
  if (f->no_gdr->len)
    csim_audit_find(audit, CSIM_AUDIT_NCCL, f->no_gdr_loc, "GPUDirect RDMA is disabled for %s%s",
                    (const char *)g_ptr_array_index(f->no_gdr, 0), f->no_gdr->len > 1 ? ", and others" : "")
        ->more = f->no_gdr->len - 1;
}

/* --- the system ---- */

/* The value that most GPUs have; the larger of two that are equally frequent. */
static double usual(const GArray *gpus, gboolean nvlink) {
  double best = 0;
  guint best_n = 0;
  for (guint i = 0; i < gpus->len && i < 1024; i++) {
    const NcclGpu *a = &g_array_index(gpus, NcclGpu, i);
    double value = nvlink ? a->nvlink : a->pci;
    guint n = 0;
    for (guint k = 0; k < gpus->len && k < 1024; k++) {
      const NcclGpu *b = &g_array_index(gpus, NcclGpu, k);
      n += (nvlink ? b->nvlink : b->pci) == value;
    }
    if (n > best_n || (n == best_n && value > best)) {
      best = value;
      best_n = n;
    }
  }
  return best;
}

static void odd_gpu(CsimAudit *audit, const NcclGpu *gpu, const char *what, double seen, double others) {
  if (seen >= others - 0.05) return;
  CsimAuditFinding *f =
      csim_audit_find(audit, CSIM_AUDIT_NCCL, gpu->loc, "%s has %s of %.1f GB/s, the other GPUs %.1f",
                      gpu->id, what, seen, others);
  f->seen = seen;
  f->expected = others;
  f->factor = seen > 0 ? others / seen : 0;
}

static void check_gpus(CsimAudit *audit, const NcclFacts *f) {
  double pci = usual(f->gpus, FALSE), nvlink = usual(f->gpus, TRUE);
  for (guint i = 0; i < f->gpus->len; i++) {
    const NcclGpu *gpu = &g_array_index(f->gpus, NcclGpu, i);
    odd_gpu(audit, gpu, "a PCIe link", gpu->pci, pci);
    odd_gpu(audit, gpu, "NVLinks", gpu->nvlink, nvlink);
  }
}

/* An adapter behind the socket link, while others are near; a GPU without one on its side. */
static void check_sockets(CsimAudit *audit, const NcclFacts *f) {
  for (guint i = 0; i < f->nets->len; i++) {
    const NcclNet *net = &g_array_index(f->nets, NcclNet, i);
    if (net->nearest_gpu == CSIM_PATH_SYS)
      csim_audit_find(audit, CSIM_AUDIT_NCCL, net->loc,
                      "%s is on the far socket of every GPU (SYS): all its traffic crosses the socket link",
                      net->id);
  }
  CsimAuditFinding *first = NULL;
  for (guint i = 0; i < f->gpus->len; i++) {
    const NcclGpu *gpu = &g_array_index(f->gpus, NcclGpu, i);
    if (gpu->nearest_net != CSIM_PATH_SYS || f->nodes < 2) continue;
    if (first)
      first->more++;
    else
      first = csim_audit_find(audit, CSIM_AUDIT_NCCL, gpu->loc,
                              "%s has no adapter on its socket: its nearest is SYS away", gpu->id);
  }
}

static void check_width(CsimAudit *audit, const NcclFacts *f) {
  if (!f->no_width->len) return;
  g_autoptr(GString) list = g_string_new(NULL);
  for (guint i = 0; i < MIN(f->no_width->len, 4); i++)
    g_string_append_printf(list, "%s%s", i ? ", " : "", (const char *)g_ptr_array_index(f->no_width, i));
  if (f->no_width->len > 4) g_string_append_printf(list, " and %u more", f->no_width->len - 4);
  csim_audit_find(
      audit, CSIM_AUDIT_NCCL, f->no_width_loc,
      "link width 0: NCCL could not read the PCIe width of %s, and takes 16 lanes whatever is there",
      list->str);
}

/* Host memory between two GPUs that have NVLinks. */
static void check_shm(CsimAudit *audit, const NcclFacts *f) {
  double nvlink = usual(f->gpus, TRUE);
  CsimAuditFinding *first = NULL;
  for (guint i = 0; i < f->conns->len && nvlink > 0; i++) {
    const NcclConn *c = &g_array_index(f->conns, NcclConn, i);
    if (c->via != CSIM_CONN_SHM) continue;
    if (first)
      first->more++;
    else
      first = csim_audit_find(audit, CSIM_AUDIT_NCCL, c->loc,
                              "ranks %d and %d talk through host memory (%s) although the GPUs have NVLink",
                              c->from, c->to, c->how);
  }
}

static void check_warnings(CsimAudit *audit, const NcclFacts *f) {
  for (guint i = 0; i < f->warnings->len; i++) {
    const CsimLogDebug *line = g_ptr_array_index(f->warnings, i);
    csim_audit_find(audit, CSIM_AUDIT_RESULT, line->loc, "NCCL warns: %s", line->text);
  }
}

void audit_nccl(CsimAudit *audit, const CsimLog *log, guint run, const CsimAuditTarget *target) {
  NcclFacts facts;
  audit_facts_read(&facts, log, run);
  tell_all(audit, &facts);
  check_network(audit, &facts, target);
  check_width(audit, &facts);
  if (!target) check_gpus(audit, &facts); /* else they are compared with the target's */
  check_sockets(audit, &facts);
  check_shm(audit, &facts);
  check_warnings(audit, &facts);
  if (target) audit_nccl_target(audit, &facts, target);
  audit_env(audit, &facts, log, run);
  audit_facts_clear(&facts);
}
