/*
 * exp/device.h - the GPUs of a run in one line, for table headers.
 *
 * Used by: run.c.
 */
#ifndef CSIM_EXP_DEVICE_H
#define CSIM_EXP_DEVICE_H

#include "models/catalogue.h"
#include "nccl/comm.h"

/* "128 nodes x 8 H100"; mixed nodes are listed with their counts: "4 nodes x 8 H100, 2 nodes x 4 A100". Caller frees. */
char *csim_device_text(const CsimCluster *cluster, const CsimComm *comm, const CsimCatalogue *catalogue);

#endif
