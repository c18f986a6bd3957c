/*
 * topo/check.h - doubtful values in a described machine: what NCCL makes of them, and what they cost.
 *
 * Used by: the builder (every load with a CsimDiag runs both checks, so that a run can warn), `collsim topo --check`.
 * A warning is something that costs bandwidth or that NCCL reads otherwise than it is written; a note is worth knowing.
 * Costs are in NCCL's GB/s (1e9 bytes/s, one direction).
 */
#ifndef CSIM_TOPO_CHECK_H
#define CSIM_TOPO_CHECK_H

#include "topo/nccl-xml.h"

/* Attributes: widths, speeds, NIC fields that are missing, odd or misread. */
void csim_check_elements(const CsimNcclXml *xml, CsimDiag *diag);
/* The graph: slow ports, NICs far from GPUs, missing or unequal NVLinks, unequal NICs, links without a way back. */
void csim_check_system(const CsimSystem *system, CsimDiag *diag);

#endif
