/*
 * Physical limits of a collective. The formulas are those of docs/guide/audit.md; what each kind must move, for a vector of S bytes (the size
 * column), g GPUs a node, k nodes, n ranks:
 *   HBM     all_reduce reads S and writes S; the others read or write the large buffer once, alltoall and sendrecv both
 *   NVLink  all_reduce 2(g-1)/g S in each direction, with reduction in NVSwitch as NCCL does it (own part included) (1+1/g) S
 *   NIC     all_reduce 2(k-1)/k S in and out of a node, with SHARP S
 */
#include "exp/audit-limits.h"

typedef struct {
  double n, g, k;
} Shares;

static Shares shares_of(const CsimAuditHardware *hw) {
  double n = hw->ranks, g = hw->gpus, k = hw->nodes;
  return (Shares){(n - 1) / n, (g - 1) / g, (k - 1) / k};
}

static double hbm_bytes(CsimColl coll) {
  switch (coll) {
  case CSIM_COLL_ALL_REDUCE:
  case CSIM_COLL_ALLTOALL:
  case CSIM_COLL_SENDRECV:
    return 2;
  default:
    return 1;
  }
}

/* Bytes in one direction through one GPU's port, for S = 1. */
static double port_bytes(const CsimAuditHardware *hw, CsimColl coll) {
  Shares s = shares_of(hw);
  double n = hw->ranks, g = hw->gpus;
  switch (coll) {
  case CSIM_COLL_ALL_REDUCE:
    return hw->nvls ? 1 + 1 / g : 2 * s.g;
  case CSIM_COLL_ALLTOALL:
    return (g - 1) / n;
  case CSIM_COLL_GATHER:
  case CSIM_COLL_SCATTER:
  case CSIM_COLL_ALL_GATHER:
  case CSIM_COLL_REDUCE_SCATTER:
    return s.n;
  default:
    return 1;
  }
}

/* What comes over NVLink may also come through a GPU's own adapter, when there are other nodes. */
static gboolean adapter_helps(const CsimAuditHardware *hw, CsimColl coll) {
  return hw->nodes > 1 && coll != CSIM_COLL_ALL_REDUCE && coll != CSIM_COLL_ALLTOALL;
}

/* Bytes in one direction through a node's adapters, for S = 1. */
static double node_bytes(const CsimAuditHardware *hw, CsimColl coll) {
  Shares s = shares_of(hw);
  double n = hw->ranks, g = hw->gpus;
  switch (coll) {
  case CSIM_COLL_ALL_REDUCE:
    return hw->sharp ? 1 : 2 * s.k;
  case CSIM_COLL_ALL_GATHER:
  case CSIM_COLL_REDUCE_SCATTER:
    return s.k;
  case CSIM_COLL_ALLTOALL:
    return g * (n - g) / n;
  case CSIM_COLL_GATHER:
  case CSIM_COLL_SCATTER:
    return (n - g) / n;
  default:
    return 1;
  }
}

static void add(CsimAuditLimit *out, guint *n, CsimAuditLimitKind kind, double bytes, double hard,
                double payload, char *what) {
  out[(*n)++] = (CsimAuditLimit){kind, bytes, hard, payload, what};
}

/* A GPU at the end of a chain only receives or only sends. */
static gboolean is_one_way(CsimColl coll) {
  return coll == CSIM_COLL_BROADCAST || coll == CSIM_COLL_REDUCE || coll == CSIM_COLL_GATHER ||
         coll == CSIM_COLL_SCATTER;
}

static void add_inside(const CsimAuditHardware *hw, CsimColl coll, CsimAuditLimit *out, guint *n) {
  if (hw->gpus < 2) return;
  double bytes = port_bytes(hw, coll), extra = adapter_helps(hw, coll) ? 1.0 / hw->gpus : 0;
  if (hw->nvlink > 0) {
    gboolean nvls = hw->nvls && coll == CSIM_COLL_ALL_REDUCE;
    double payload = is_one_way(coll) ? hw->nvlink_one_way : hw->nvlink_payload;
    add(out, n, CSIM_LIMIT_NVLINK, bytes, hw->nvlink + extra * hw->nics, payload + extra * hw->nics_payload,
        g_strdup_printf("NVLink of a GPU, %.0f GB/s a direction%s%s", hw->nvlink * 1e-9,
                        nvls ? ", reducing in NVSwitch" : "",
                        extra > 0 ? ", with its share of the adapters" : ""));
  } else if (hw->pcie > 0 && hw->nodes == 1) {
    add(out, n, CSIM_LIMIT_PCIE, bytes, hw->pcie, hw->pcie,
        g_strdup_printf("PCIe of a GPU, %.1f GB/s a direction", hw->pcie * 1e-9));
  }
}

guint csim_audit_limits(const CsimAuditHardware *hw, CsimColl coll, CsimAuditLimit *out) {
  guint n = 0;
  if (hw->ranks < 2 || coll == CSIM_COLL_HYPERCUBE) return 0;
  if (hw->hbm > 0)
    add(out, &n, CSIM_LIMIT_HBM, hbm_bytes(coll), hw->hbm, hw->hbm,
        g_strdup_printf("memory of a GPU, %.2f TB/s", hw->hbm * 1e-12));
  add_inside(hw, coll, out, &n);
  if (hw->nodes > 1 && hw->nics > 0) {
    gboolean sharp = hw->sharp && coll == CSIM_COLL_ALL_REDUCE;
    add(out, &n, CSIM_LIMIT_NIC, node_bytes(hw, coll), hw->nics, hw->nics_payload,
        g_strdup_printf("network adapters of a node, %.0f GB/s a direction%s", hw->nics * 1e-9,
                        sharp                          ? ", reducing in the switches (SHARP)"
                        : coll == CSIM_COLL_ALL_REDUCE ? ", without SHARP"
                                                       : ""));
  }
  return n;
}

void csim_audit_limit_clear(CsimAuditLimit *limit) {
  g_clear_pointer(&limit->what, g_free);
}

double csim_audit_limit_us(const CsimAuditLimit *limit, double size_bytes, gboolean payload) {
  return limit->bytes * size_bytes / (payload ? limit->payload : limit->hard) * 1e6;
}
