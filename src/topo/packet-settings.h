/*
 * topo/packet-settings.h - switches' and adapters' settings as their users know them, and what they come to for a machine.
 *
 * Used by: cluster JSON ("fabric": {"switch", "adapter", "roce", "ib", "tcp"}; docs/guide/cluster.md), topo/packet-fabric.c, checks.
 * Read in packet-json.c, worked out in packet-settings.c, checked in packet-check.c.
 *
 * A level may be bytes or a percentage of a port's share of the switch's buffer: (buffer - all headroom) / ports.
 */
#ifndef CSIM_TOPO_PACKET_SETTINGS_H
#define CSIM_TOPO_PACKET_SETTINGS_H

#include "base/diag.h"
#include "base/json-read.h"
#include "models/catalogue.h"
#include "models/pkt/pkt.h"

typedef struct {
  gboolean given;
  double share;    /* of a port's share of the buffer; below 0: bytes count */
  CsimBytes bytes;
  CsimLoc loc;
} CsimPacketLevel;

typedef enum { CSIM_TIER_LEAF, CSIM_TIER_SPINE, CSIM_TIER_CORE, CSIM_N_TIERS } CsimPacketTier;
const char *csim_packet_tier_name(CsimPacketTier tier); /* "leaf", "spine", "core" */

/* What the switches of one tier have different. */
typedef struct {
  int mtu;                  /* Ethernet MTU; 0: enough */
  gboolean no_pfc;
  gint8 priority_of[64];    /* by DSCP; below 0: as everywhere */
  CsimLoc mtu_loc, pfc_loc, priority_loc;
} CsimPacketTierSettings;

typedef enum { CSIM_PACKET_DCQCN_CONNECTX, CSIM_PACKET_DCQCN_PAPER, CSIM_PACKET_DCQCN_HPCC, CSIM_PACKET_DCQCN_OFF } CsimPacketDcqcn;

/* One of NVIDIA's DCQCN parameters, laid over its profile. */
typedef enum {
  CSIM_RP_G, CSIM_RP_INITIAL_ALPHA, CSIM_RP_ALPHA_PERIOD, CSIM_RP_CUT_PERIOD, CSIM_RP_TIMER, CSIM_RP_BYTES, CSIM_RP_THRESHOLD, CSIM_RP_AI,
  CSIM_RP_HAI, CSIM_RP_MIN_RATE, CSIM_RP_MIN_FACTOR, CSIM_RP_CLAMP, CSIM_RP_CNP_INTERVAL, CSIM_N_RP
} CsimPacketRp;

/* Plain values; texts are interned. */
typedef struct {
  gboolean given;                 /* the cluster says something of all this */
  const char *asic, *adapter;     /* catalogue groups "asic.*", "adapter.*"; NULL: none named */
  CsimLoc asic_loc, adapter_loc, roce_loc;
  /* RoCE */
  gboolean no_pfc, no_ecn;
  int dscp;                       /* of data, as adapters write it */
  gint8 priority_of[64];          /* by DSCP */
  guint8 pfc_priorities;          /* mask */
  CsimPacketLevel xoff, xon, ecn_min, ecn_max, headroom;
  double alpha;                   /* dynamic XOFF; used where xoff is not given */
  double ecn_pmax;
  CsimBytes reserve;              /* of each port and lossless priority */
  CsimTime response;              /* from a PAUSE to its effect; below 0: the limit of IEEE 802.3 */
  CsimTime watchdog;              /* a port paused that long is stuck; 0: no watchdog */
  CsimPacketDcqcn profile;
  guint rp_given;                 /* mask of CsimPacketRp */
  double rp[CSIM_N_RP];           /* in the parameter's own unit: ps, bytes, bytes/s, or none */
  CsimPktRecovery recovery;
  CsimPacketTierSettings tier[CSIM_N_TIERS];
  /* InfiniBand */
  CsimBytes vl_buffer;            /* 0: the most that can be advertised */
  CsimTime turnaround;            /* below 0: the model's */
  CsimLoc vl_loc;
  gboolean ibcc_on;
  CsimIbCc ibcc;
  CsimLoc ibcc_loc;
  /* TCP */
  CsimTcp tcp;
  CsimBytes send_buffer, receive_buffer;
  CsimBytes queue;                /* of a switch's port, its own; 0: a share of the buffer */
  CsimLoc tcp_loc;
  /* All */
  double message_rate;            /* messages that an adapter begins in a second; 0: as the catalogue has it */
  double loss;                    /* of each frame on each cable and direction */
} CsimPacketSettings;

/* PFC on priority 3 with dynamic thresholds (alpha 1/8), ECN 1 MiB to 2 MiB at 5 % (SONiC's lossless profile), ConnectX's DCQCN, DSCP 26 to
 * priority 3 and 48 (CNP) to 6. */
void csim_packet_settings_init(CsimPacketSettings *settings);
/* Reads the members of "fabric" that are named above; findings with their place go to the document's diag. */
void csim_packet_settings_read(CsimJson *fabric, CsimPacketSettings *settings);

/* What a run says beside the cluster: from NCCL_IB_TIMEOUT, NCCL_IB_RETRY_CNT, NCCL_IB_TC. */
typedef struct {
  uint64_t seed;
  int timeout, retry_count;
  gboolean unpaced;  /* queue pairs go at the adapter's rate: send and receive, which have a window of their own */
  int traffic_class; /* 0: the adapters' own DSCP, else DSCP = traffic class / 4 */
} CsimPacketOptions;

typedef struct {
  CsimRate nic, link;          /* fastest adapter; cables between switches */
  CsimTime delay[CSIM_N_TIERS]; /* longest cable at a switch of that tier */
  CsimTime latency;            /* of a switch */
  guint ports;                 /* of a switch */
  guint tiers;
  CsimTime endpoint;           /* of the transport: an adapter with its driver */
  CsimPktKind kind;
  int mtu;                     /* as the cluster gives it; 0: the transport's */
} CsimPacketMachine;

/* Everything worked out. */
typedef struct {
  CsimPktSpec spec;
  CsimPktSwitch tier[CSIM_N_TIERS];
  CsimBytes share;             /* of the buffer, a port's */
  CsimBytes needed_headroom[CSIM_N_TIERS];
} CsimPacketPlan;

/* FALSE with the place in the cluster: an unknown preset (CSIM_ERROR_REFERENCE), an MTU that does not exist or levels that contradict each other
 * (CSIM_ERROR_VALUE). */
gboolean csim_packet_plan(const CsimPacketSettings *settings, const CsimPacketMachine *machine, const CsimPacketOptions *options,
                          const CsimCatalogue *catalogue, CsimPacketPlan *out, GError **error);
/* A constant of the named switch or `fallback`. */
CsimTime csim_packet_switch_latency(const CsimPacketSettings *settings, const CsimCatalogue *catalogue, CsimTime fallback);
/* The priority that a DSCP has on a tier, and whether it is lossless there. */
guint csim_packet_priority(const CsimPacketSettings *settings, CsimPacketTier tier, int dscp);
gboolean csim_packet_is_lossless(const CsimPacketSettings *settings, CsimPacketTier tier, int dscp);

/* Settings that work against each other, as warnings (packet-check.c). tiers: of the fabric. */
void csim_packet_settings_check(const CsimPacketSettings *settings, const CsimPacketMachine *machine, const CsimPacketPlan *plan, guint tiers,
                                const CsimPacketOptions *options, const CsimCatalogue *catalogue, CsimDiag *diag);

#endif
