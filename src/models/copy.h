/*
 * models/copy.h - copies by copy engine: host and device, device-local, peer.
 *
 * Used by: `collsim probe copies` and validation of copy measurements. Closed forms, no events:
 *
 *   host to device  latency + bytes / (raw read efficiency)          the engine reads host memory
 *   device to host  latency + bytes / (raw write efficiency)         the engine writes host memory
 *   both at once    max(floor, latency + bytes / slower direction)   read requests share the link with the writes:
 *                   up-link bytes per payload byte = write TLP + one request TLP per read_request bytes
 *   device-local    max(floor, latency + bytes / local rate)
 *   peer            latency + bytes / (NVLink copy rate x links), or the PCIe write rate without NVLink
 */
#ifndef CSIM_MODELS_COPY_H
#define CSIM_MODELS_COPY_H

#include "models/pcie.h"

typedef enum {
  CSIM_COPY_H2D,
  CSIM_COPY_D2H,
  CSIM_COPY_BOTH,
  CSIM_COPY_LOCAL,
  CSIM_COPY_PEER,
  CSIM_COPY_PEER_BOTH,
  CSIM_N_COPIES
} CsimCopyKind;

typedef struct {
  CsimRate rate[CSIM_N_COPIES];    /* payload bytes/s, one direction; 0: no such path */
  CsimTime latency[CSIM_N_COPIES]; /* at zero bytes */
  CsimTime floor[CSIM_N_COPIES];   /* 0: none */
} CsimCopyModel;

/* pcie_gbps: the GPU's PCIe link as NCCL counts it (48 for Gen5 x16); nvlinks: links to the peer, 0 for none. */
void csim_copy_model_init(const CsimCatalogue *catalogue, const char *gpu_model, double pcie_gbps,
                          int nvlinks, CsimCopyModel *out);
/* Time of one copy; for the BOTH kinds `bytes` in each direction. */
CsimTime csim_copy_time(const CsimCopyModel *model, CsimCopyKind kind, CsimBytes bytes);
const char *csim_copy_kind_name(CsimCopyKind kind); /* "h2d", "d2h", "bidir", "d2d", "ce_write", "ce_bidir" */

#endif
