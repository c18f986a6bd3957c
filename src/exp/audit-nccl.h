/*
 * exp/audit-nccl.h - what NCCL's lines of one run say; private to audit-nccl*.c and audit-env.c.
 *
 * Formats: NCCL 2.30.7 (src/init.cc, src/graph/, src/transport/); those of 2.18 to 2.29 differ in details that the reader allows.
 */
#ifndef CSIM_EXP_AUDIT_NCCL_H
#define CSIM_EXP_AUDIT_NCCL_H

#include "exp/audit-private.h"

#define AUDIT_MAX_PATTERNS 8

typedef struct { CsimLoc loc; int pattern, cross_nic, channels; double bw_intra, bw_inter; int type_intra, type_inter; } NcclPattern;
typedef struct { CsimLoc loc; const char *id; double pci, nvlink; int nearest_net; } NcclGpu; /* GB/s; nearest_net: path type, -1 unknown */
typedef struct { CsimLoc loc; const char *id; double bw; int nearest_gpu; } NcclNet;
typedef struct { CsimLoc loc; int channel, channels; const char *ranks; } NcclRing;        /* "0 1 2 3", may end in "..." */
typedef struct { CsimLoc loc; int channel, rank, up, down[3]; } NcclTree;
typedef struct { CsimLoc loc; int from, to; int via; gboolean gdr, sockets; int channel; const char *how; } NcclConn; /* via: CsimConnKind */
typedef struct { CsimLoc loc; const char *name, *value; } NcclVariable;
typedef struct { CsimLoc loc; CsimColl coll; CsimBytes bytes; CsimAlgo algo; CsimProto proto; } NcclChoice;
typedef struct { CsimLoc loc; CsimColl coll; CsimAlgo algo; CsimProto proto; double lat_us, bw_gbps; } NcclEntry;

typedef struct {
  int ranks, nodes, local_ranks;
  CsimLoc network_loc, devices_loc, no_device_loc, rings_loc, channels_loc, max_bw_loc;
  const char *network;      /* "IB", "Socket", a plugin's name; NULL: not said */
  const char *devices;      /* "[0]mlx5_0:1/IB [1]..." of the network in use; NULL */
  guint n_devices;
  int ring_gdr, ring_pxn;   /* "Connected all rings, use ring PXN 0 GDR 1"; -1 not said */
  int coll_channels, nvls_channels, p2p_channels; /* -1: not said */
  double max_bw;            /* 0: not said */
  const char *version;      /* NULL: not said */
  GArray *patterns, *gpus, *nets, *rings, *trees, *conns, *variables, *choices, *entries; /* of the types above */
  GPtrArray *no_width;      /* bus ids whose PCIe width could not be read */
  CsimLoc no_width_loc;
  GPtrArray *no_gdr;        /* texts "GPU 0 / HCA 1 (distance 6 > 4)" */
  CsimLoc no_gdr_loc;
  GPtrArray *warnings;      /* const CsimLogDebug*, each text once */
  gboolean env_seen;        /* a line "set by environment": NCCL tells which variables it reads */
} NcclFacts;

void audit_facts_read(NcclFacts *facts, const CsimLog *log, guint run);
void audit_facts_clear(NcclFacts *facts);

/* audit-nccl-table.c */
typedef struct { guint n; CsimAlgo algo[8]; } NcclTableHead;
gboolean audit_table_head(const CsimLogDebug *line, NcclTableHead *head); /* TRUE: the line was one; later rows are under it */
void audit_table_row(NcclFacts *facts, const CsimLogDebug *line, const NcclTableHead *head);
void audit_table_compare(CsimAudit *audit, const NcclFacts *facts, const CsimTuning *tuning);

/* audit-nccl-target.c */
void audit_nccl_target(CsimAudit *audit, const NcclFacts *facts, const CsimAuditTarget *target);
/* audit-env.c */
void audit_env(CsimAudit *audit, const NcclFacts *facts, const CsimLog *log, guint run);

#endif
