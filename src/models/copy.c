#include "models/copy.h"

#include "base/units.h"

/* Up-link bytes of one payload byte when each direction carries a copy: the write itself, and the read requests of the other. */
static double both_rate(const CsimPcieModel *p, double raw) {
  double write = 1 / csim_pcie_write_efficiency(p, raw, p->mps);
  double requests = p->tlp_header / p->read_request / p->share;
  return raw / (write + requests);
}

static void init_pcie(const CsimCatalogue *c, const char *model, double pcie_gbps, CsimCopyModel *m) {
  CsimPcieModel p;
  csim_pcie_model_init(c, &p);
  double raw = csim_pcie_raw_rate(&p, pcie_gbps);
  m->rate[CSIM_COPY_H2D] = (CsimRate)(raw * csim_pcie_read_efficiency(&p, raw, p.mps));
  m->rate[CSIM_COPY_D2H] = (CsimRate)(raw * csim_pcie_write_efficiency(&p, raw, p.mps));
  m->rate[CSIM_COPY_BOTH] = MIN((CsimRate)both_rate(&p, raw), m->rate[CSIM_COPY_H2D]);
  m->rate[CSIM_COPY_PEER] = m->rate[CSIM_COPY_D2H];
  m->rate[CSIM_COPY_PEER_BOTH] = m->rate[CSIM_COPY_D2H];
  m->latency[CSIM_COPY_H2D] = csim_catalogue_time(c, "gpu.%s.h2d_latency", model);
  m->latency[CSIM_COPY_D2H] = csim_catalogue_time(c, "gpu.%s.d2h_latency", model);
  m->latency[CSIM_COPY_BOTH] = csim_catalogue_time(c, "gpu.%s.pair_latency", model);
  m->floor[CSIM_COPY_BOTH] = csim_catalogue_time(c, "gpu.%s.pair_floor", model);
}

void csim_copy_model_init(const CsimCatalogue *c, const char *model, double pcie_gbps, int nvlinks,
                          CsimCopyModel *m) {
  *m = (CsimCopyModel){0};
  init_pcie(c, model, pcie_gbps, m);
  m->rate[CSIM_COPY_LOCAL] = csim_catalogue_rate(c, "gpu.%s.local_copy_rate", model);
  m->latency[CSIM_COPY_LOCAL] = csim_catalogue_time(c, "gpu.%s.local_latency", model);
  m->floor[CSIM_COPY_LOCAL] = csim_catalogue_time(c, "gpu.%s.local_floor", model);
  m->latency[CSIM_COPY_PEER] = m->latency[CSIM_COPY_PEER_BOTH] =
      csim_catalogue_time(c, "gpu.%s.peer_latency", model);
  int gen = (int)csim_catalogue_number(c, "gpu.%s.nvlink_gen", model);
  if (nvlinks == 0 || gen == 0) return;
  m->rate[CSIM_COPY_PEER] = nvlinks * csim_catalogue_rate(c, "nvlink.%d.copy", gen);
  m->rate[CSIM_COPY_PEER_BOTH] = nvlinks * csim_catalogue_rate(c, "nvlink.%d.copy_both", gen);
}

CsimTime csim_copy_time(const CsimCopyModel *m, CsimCopyKind kind, CsimBytes bytes) {
  g_assert(kind < CSIM_N_COPIES && m->rate[kind] > 0);
  return MAX(m->floor[kind], csim_time_add(m->latency[kind], csim_rate_time(m->rate[kind], bytes)));
}

const char *csim_copy_kind_name(CsimCopyKind kind) {
  static const char *const names[CSIM_N_COPIES] = {"h2d", "d2h", "bidir", "d2d", "ce_write", "ce_bidir"};
  g_assert(kind < CSIM_N_COPIES);
  return names[kind];
}
