#include "models/pcie.h"

/* NCCL counts 6 Gb/s for an 8 GT/s lane: 3/4. Line coding takes 128/130, on Gen1 and Gen2 8/10, of which NCCL counts 3/4 too;
 * the two agree within 2 %, and only their product with the width is known here. */
#define NCCL_SHARE 0.75
#define CODING (128.0 / 130.0)
#define GEN5_X16 64e9

void csim_pcie_model_init(const CsimCatalogue *c, CsimPcieModel *p) {
  p->tlp_header = (double)csim_catalogue_bytes(c, "pcie.tlp_header");
  p->completion_header = (double)csim_catalogue_bytes(c, "pcie.completion_header");
  p->flit_header = (double)csim_catalogue_bytes(c, "pcie.flit_header");
  p->dllp = (double)csim_catalogue_bytes(c, "pcie.dllp");
  p->mps = (double)csim_catalogue_bytes(c, "pcie.mps");
  p->kernel_payload = (double)csim_catalogue_bytes(c, "pcie.kernel_payload");
  p->intel_p2p_payload = (double)csim_catalogue_bytes(c, "pcie.intel_p2p_payload");
  p->read_request = (double)csim_catalogue_bytes(c, "pcie.read_request");
  p->share = csim_catalogue_number(c, "pcie.share");
  p->flit_share = csim_catalogue_number(c, "pcie.flit_share");
  p->root_share = csim_catalogue_number(c, "pcie.root_share");
  p->switch_latency = csim_catalogue_time(c, "pcie.switch_latency");
  p->root_latency = csim_catalogue_time(c, "pcie.root_latency");
  p->link_latency = csim_catalogue_time(c, "pcie.link_latency");
}

double csim_pcie_raw_rate(const CsimPcieModel *p, double nccl_gbps) {
  double line = nccl_gbps * 1e9 / NCCL_SHARE;
  return line > GEN5_X16 ? line * p->flit_share : line * CODING;
}

static double efficiency(const CsimPcieModel *p, double raw_rate, double payload, double header) {
  double overhead = raw_rate > GEN5_X16 ? p->flit_header : header + p->dllp;
  return p->share * payload / (payload + overhead);
}

double csim_pcie_write_efficiency(const CsimPcieModel *p, double raw_rate, double payload) {
  return efficiency(p, raw_rate, payload, p->tlp_header);
}

double csim_pcie_read_efficiency(const CsimPcieModel *p, double raw_rate, double payload) {
  return efficiency(p, raw_rate, payload, p->completion_header);
}

CsimRate csim_pcie_payload_rate(const CsimPcieModel *p, double nccl_gbps) {
  double raw = csim_pcie_raw_rate(p, nccl_gbps);
  return (CsimRate)(raw * csim_pcie_write_efficiency(p, raw, p->mps));
}
