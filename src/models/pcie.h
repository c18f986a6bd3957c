/*
 * models/pcie.h - what a PCIe link carries: raw rate less TLP headers.
 *
 * Used by: topo/machine (link capacities), models/copy (copy engines). Equations: docs/models/hardware.md.
 *
 *   write payload = raw * share * P / (P + tlp_header + dllp)          P: payload of a TLP
 *   read payload  = raw * share * P / (P + completion_header + dllp)   and one request TLP per `read_request` bytes the other way
 *   flit mode (Gen6): raw * flit_share already taken; P / (P + flit_header)
 */
#ifndef CSIM_MODELS_PCIE_H
#define CSIM_MODELS_PCIE_H

#include "models/catalogue.h"

typedef struct {
  double tlp_header, completion_header, flit_header, dllp; /* bytes */
  double mps, kernel_payload, intel_p2p_payload, read_request;
  double share; /* of the arithmetic that healthy links reach */
  double flit_share;
  double root_share; /* of the rate that a NIC and a GPU keep when they meet at a host bridge */
  CsimTime switch_latency, root_latency, link_latency;
} CsimPcieModel;

void csim_pcie_model_init(const CsimCatalogue *catalogue, CsimPcieModel *out);

/* Raw bytes/s after line coding of the link that NCCL counts with nccl_gbps (width x 15/30/60/120/240/480 / 80, see
 * NCCL 2.30.7 src/graph/topo.cc): 48 -> 63.0 GB/s. Above 64 GB/s only Gen6 is possible, so flit coding is taken. */
double csim_pcie_raw_rate(const CsimPcieModel *pcie, double nccl_gbps);
/* Share of the raw rate that is payload, for writes / read completions of `payload` bytes a TLP. */
double csim_pcie_write_efficiency(const CsimPcieModel *pcie, double raw_rate, double payload);
double csim_pcie_read_efficiency(const CsimPcieModel *pcie, double raw_rate, double payload);
/* Payload capacity of one direction for full TLPs: the capacity of a machine link. */
CsimRate csim_pcie_payload_rate(const CsimPcieModel *pcie, double nccl_gbps);

#endif
