/*
 * exp/audit-limits.h - what no algorithm can beat on the stated hardware.
 *
 * Used by: audit.c. A limit is a lower bound on the time of one call of S bytes (nccl-tests' size column), as bytes that must pass a
 * resource over its rate. "hard" takes line rates; "payload" takes what protocol and packet overheads leave (catalogue and machine).
 */
#ifndef CSIM_EXP_AUDIT_LIMITS_H
#define CSIM_EXP_AUDIT_LIMITS_H

#include "models/catalogue.h"
#include "nccl/tune.h"
#include "topo/machine.h"

/* A loaded target; everything NCCL would decide, nothing simulated. */
typedef struct {
  CsimDiag *diag;
  CsimNcclEnv *env;
  CsimCatalogue *catalogue;
  CsimCluster *cluster;
  CsimComm *comm;
  CsimTuning *tuning;
  CsimMachine *machine;
} CsimAuditTarget;

typedef struct {
  const char *target;
  guint n_nodes, gpus_per_node;  /* 0: as the target says */
  gboolean sharp;
  const char *const *overrides;
} CsimAuditTargetSpec;

CsimAuditTarget *csim_audit_target_new(const CsimAuditTargetSpec *spec, GError **error);
void csim_audit_target_free(CsimAuditTarget *target);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CsimAuditTarget, csim_audit_target_free)

/* The numbers that the limits are made of; rates in bytes/s, one direction. */
typedef struct {
  int ranks, nodes, gpus;   /* gpus: of a node (NVLink domain) */
  double nvlink, nvlink_payload; /* a GPU's NVLink ports in all, both directions busy; 0: none */
  double nvlink_one_way;    /* payload when data goes in one direction: no responses to make room for */
  double pcie;              /* fastest PCIe link of the node, payload */
  double nics, nics_payload; /* a node's adapters in all; 0: none */
  double hbm;               /* a GPU's memory, read plus write */
  gboolean nvls, sharp;
} CsimAuditHardware;
CsimAuditHardware csim_audit_hardware(const CsimAuditTarget *target, gboolean sharp);

typedef enum { CSIM_LIMIT_HBM, CSIM_LIMIT_NVLINK, CSIM_LIMIT_PCIE, CSIM_LIMIT_NIC, CSIM_N_LIMITS } CsimAuditLimitKind;

typedef struct {
  CsimAuditLimitKind kind;
  double bytes;         /* that must pass, for S = 1 */
  double hard, payload; /* rates, bytes/s */
  char *what;           /* "8 NICs of 50 GB/s, in and out once with SHARP" */
} CsimAuditLimit;

/* Those that apply to a collective on this hardware (hbm first), into out[CSIM_N_LIMITS]; returns how many. Finish each with csim_audit_limit_clear. */
guint csim_audit_limits(const CsimAuditHardware *hw, CsimColl coll, CsimAuditLimit *out);
void csim_audit_limit_clear(CsimAuditLimit *limit);
/* Shortest time in us for S bytes; hard or payload. */
double csim_audit_limit_us(const CsimAuditLimit *limit, double size_bytes, gboolean payload);

#endif
