/*
 * nccl/topo-matrix.h - the machine as `nvidia-smi topo -m` shows it.
 *
 * Used by: `collsim topo --matrix`.
 */
#ifndef CSIM_NCCL_TOPO_MATRIX_H
#define CSIM_NCCL_TOPO_MATRIX_H

#include "nccl/paths.h"

/* GPUs and NICs against each other: X, NV<links>, or NCCL's path type (for GPU and NIC the direct path, without a relay GPU), then the cores
 * and the NUMA node that the file gives, a legend of the types that occur, and the NICs' names. Caller frees. */
char *csim_topo_matrix_text(const CsimPaths *paths);

#endif
