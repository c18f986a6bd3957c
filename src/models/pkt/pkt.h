/*
 * models/pkt/pkt.h - a network of packets: hosts with one NIC port each, switches with shared buffers, links,
 * queue pairs.
 *
 * Used by: packet scenarios, and whoever moves messages at packet fidelity. Knows nothing of collectives.
 *
 * Build: csim_pkt_net_new, add hosts and switches, connect them, add queue pairs, send. Then run the engine.
 * Everything random is keyed by (seed, port). Nothing allocates once queues and pools are at their peak.
 *
 * Model, in short (docs/models/roce.md, docs/models/infiniband.md):
 *  - A frame leaves a buffer when its transmission starts; it enters the next node's when its last bit
 *    (cut-through: its header) is there.
 *  - A switch admits at arrival: ingress account (reserve, shared up to XOFF, headroom) for lossless classes,
 *    egress threshold for lossy ones. ECN is decided when transmission starts, on the egress queue with that
 *    frame.
 *  - PFC frames are frames: they wait for the one on the wire, take their time, and expire.
 *  - InfiniBand has credits per virtual lane in place of thresholds; nothing is dropped for want of room.
 */
#ifndef CSIM_MODELS_PKT_PKT_H
#define CSIM_MODELS_PKT_PKT_H

#include "models/pkt/dcqcn.h"
#include "models/pkt/ibcc.h"
#include "models/pkt/tcp.h"
#include "models/pkt/wire.h"
#include "sim/engine.h"

#define CSIM_PKT_CLASSES 8   /* priorities, or virtual lanes */
#define CSIM_PKT_MAX_HOPS 42 /* links of a path */
#define CSIM_PKT_MAX_MTU 9216 /* payload of a frame */
#define CSIM_PKT_MAX_WAYS 12 /* of a queue pair */

typedef enum {
  CSIM_PKT_GO_BACK_N, /* the receiver drops what is out of order and asks once for what is missing */
  CSIM_PKT_GO_BACK_0, /* early ConnectX: the whole message again */
  CSIM_PKT_SELECTIVE  /* the receiver keeps what is out of order and names each gap once; time-outs send again all that is not acknowledged */
} CsimPktRecovery;

/* How a queue pair's data frames find their way. ACKs take one path always. */
typedef enum {
  CSIM_PKT_ONE_PATH,  /* the queue pair's */
  CSIM_PKT_ADAPTIVE,  /* each switch: of the ports on shortest paths the one with the fewest bytes to send; equal ones in turn */
  CSIM_PKT_SPRAY,     /* each switch: those ports in turn, whatever they hold */
  CSIM_PKT_WAYS       /* the first switch, frame by frame: of given ways the one with the fewest bytes to send at its first port times its
                       * length, as UGAL with what a switch knows by itself (Kim, Dally, Scott, Abts, ISCA 2008); ties to the first */
} CsimPktRouting;

typedef struct {
  CsimPktKind kind;
  uint64_t seed;
  int mtu;                                /* payload bytes of a full packet */
  guint data_class, ack_class, cnp_class; /* classes of data, of ACK and NAK, of CNP */
  guint8 strict_mask; /* classes served before all others, highest first; the others share by bytes */
  CsimPktRecovery recovery;
  int ack_every;        /* packets per ACK; a message's last packet and one that fills the window ask too */
  CsimTime ack_timeout; /* retransmission timer; CSIM_TIME_NEVER: none */
  int retry_count;      /* time-outs without progress before the queue pair fails; verbs: 7 at most */
  gboolean stop_on_failure; /* of a queue pair: the engine stops */
  int64_t window;       /* packets in flight per queue pair; 0: no limit */
  CsimRate qp_rate;     /* payload bytes/s that a queue pair sends; 0: no limit */
  CsimTime message_gap; /* least time between the first packets of two messages of a NIC; 0: none */
  gboolean dcqcn_on;
  CsimDcqcn dcqcn;
  gboolean ibcc_on;           /* InfiniBand's congestion control */
  CsimIbCc ibcc;
  CsimTcp tcp;                /* CSIM_PKT_TCP */
  CsimTime cnp_interval;      /* least time between two CNPs of a queue pair */
  guint8 pfc_mask;            /* classes that hosts and switches pause */
  CsimTime pause_response;    /* from a PAUSE's arrival to its effect */
  int pause_quanta;           /* time asked for by a PAUSE; refreshed at half of it */
  gboolean one_hash;          /* every switch hashes alike (polarisation) instead of by its own seed */
  CsimBytes vl_buffer;        /* InfiniBand: receive buffer per port and lane */
  CsimTime credit_turnaround; /* InfiniBand: from a freed buffer to the credit's departure */
} CsimPktSpec;
/* RoCEv2 at MTU 4096, PFC on class 3 (data, ACK), CNP in strict class 6, ACK every 16 packets (assumed),
 * time-out 2^20, 7 retries (NCCL's NCCL_IB_TIMEOUT and NCCL_IB_RETRY_CNT); DCQCN off; maximum pause quanta,
 * no response time. */
CsimPktSpec csim_pkt_spec_roce(void);
/* InfiniBand at MTU 4096, data on lane 0, 128 KiB per lane (the most that can be advertised), turnaround 200
 * ns (assumed). */
CsimPktSpec csim_pkt_spec_ib(void);

typedef struct {
  CsimBytes buffer;           /* shared by all ports, without headroom */
  CsimBytes reserve;          /* of each port and lossless class, before shared */
  CsimBytes headroom;         /* of each port and lossless class, after XOFF */
  double alpha;               /* XOFF at alpha x (free shared bytes); 0: static */
  CsimBytes xoff;             /* static XOFF, bytes of the ingress account */
  CsimBytes xon_gap;          /* XON at XOFF - gap */
  CsimBytes queue;            /* an egress queue of a lossy class has so many bytes of its own, instead of the shared ones; 0: it has not */
  double lossy_alpha;         /* an egress queue of a lossy class may hold lossy_alpha x free shared bytes */
  CsimBytes ecn_min, ecn_max; /* Kmin, Kmax of an egress queue */
  double ecn_pmax;
  guint8 ecn_mask;      /* classes that mark; 0: no ECN */
  guint8 lossy_mask;    /* classes that this switch takes as lossy whatever csim_pkt_net's pfc_mask says: it neither pauses nor obeys */
  CsimTime watchdog;    /* an egress class that is paused so long, with frames to send, is taken for stuck: its frames are dropped until
                         * no PAUSE has come for as long again; 0: no watchdog */
  int max_frame;        /* longer frames are dropped; 0: none */
  CsimTime latency;     /* from arrival to the egress queue */
  gboolean cut_through; /* a frame goes on as soon as its header is in, where the next link is not faster */
} CsimPktSwitch;
/* HPCC authors' set for hosts at that rate: 16 B/50 MiB shared (B in Gb/s), alpha 1/8, gap 3 KB, headroom 3 C
 * t_prop, reserve 4 KB; no ECN yet: csim_pkt_switch_ecn gives Kmin 4B KB, Kmax 16B KB, Pmax 0.2. */
CsimPktSwitch csim_pkt_switch_hpcc(CsimRate rate, CsimTime delay);
void csim_pkt_switch_ecn(CsimPktSwitch *sw, CsimRate rate, guint8 classes);

typedef struct {
  CsimRate rate;  /* each direction */
  CsimTime delay; /* one way */
  double loss;    /* of each frame, each direction, PFC frames excepted */
} CsimPktCable;

typedef struct CsimPktNet CsimPktNet;
/* Before the engine's first event. */
CsimPktNet *csim_pkt_net_new(CsimEngine *engine, const CsimPktSpec *spec);
void csim_pkt_net_free(CsimPktNet *net); /* NULL allowed; the engine must not run any more */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CsimPktNet, csim_pkt_net_free)

/* Nodes count from 0 in order of creation. name: copied, for reports. */
guint csim_pkt_add_host(CsimPktNet *net, const char *name);
guint csim_pkt_add_switch(CsimPktNet *net, const char *name, const CsimPktSwitch *spec);
/* A cable; returns a's port, and b's is the next one. A host takes one cable. Before the first queue pair. */
guint csim_pkt_connect(CsimPktNet *net, guint a, guint b, const CsimPktCable *cable);

/* A way from host to host: egress ports from the source on; lane: the virtual lane on each (InfiniBand; elsewhere ignored), NULL: the class of
 * what is sent. The first link's is the class of data. */
typedef struct {
  guint n;
  const guint *port;
  const guint8 *lane;
} CsimPktWay;

typedef struct {
  guint16 udp_port;  /* ECMP entropy; 0: from the queue pair's numbers as Linux does */
  const guint *path; /* egress ports from the source on, instead of shortest paths with ECMP; NULL: none */
  guint n_path;
  const guint *back; /* the same for ACKs, from the destination on */
  guint n_back;
  const guint8 *lane, *back_lane; /* of path and back, as CsimPktWay's; NULL: none changes */
  const CsimPktWay *ways;         /* for CSIM_PKT_WAYS: all with the same first port, path's; copied */
  guint n_ways;                   /* at most CSIM_PKT_MAX_WAYS */
  /* Other than ONE_PATH: frames overtake each other; the receiver places them where they belong (RDMA WRITE carries addresses), keeps count,
   * and never takes a gap for a loss: what is lost waits for the time-out. path then gives the first link only. */
  CsimPktRouting routing;
} CsimPktQpSpec;
/* A connection from host src to host dst; spec NULL for defaults. G_MAXUINT32 and CSIM_ERROR_ROUTE if there
 * is no path. */
guint csim_pkt_add_qp(CsimPktNet *net, guint src, guint dst, const CsimPktQpSpec *spec, GError **error);
/* Egress ports of the data path in order, and how many. */
guint csim_pkt_qp_path(const CsimPktNet *net, guint qp, const guint16 **ports);

/*
 * Posts a message now. When the ACK of its last packet is in (TCP with a send buffer: when its rest is in there), fires (handler, kind, entity, arg);
 * never after the queue pair failed. handler CSIM_PKT_SILENT: nothing is fired.
 */
#define CSIM_PKT_SILENT UINT16_MAX
void csim_pkt_send(CsimPktNet *net, guint qp, CsimBytes bytes, uint16_t handler, uint16_t kind,
                   uint32_t entity, uint64_t arg);
/* The same later. */
void csim_pkt_send_at(CsimPktNet *net, CsimTime at, guint qp, CsimBytes bytes, uint16_t handler,
                      uint16_t kind, uint32_t entity, uint64_t arg);
/*
 * InfiniBand: an aggregation tree, which the switches on the shortest ways of its members to a root make together (models/sharp.h). Hosts count
 * as members in the order given, each once. The root is one of the switches that are nearest to the farthest member, the number-th of them;
 * `number` also shares out cables among trees. Frames of trees are never lost (CsimPktCable.loss), and come without acknowledgements.
 */
typedef struct {
  guint number;
  CsimTime reduce; /* an aggregation node's latency */
  CsimRate rate;   /* payload bytes/s at which a member sends at most */
} CsimPktTreeSpec;
/* Its number, or G_MAXUINT32 and CSIM_ERROR_ROUTE. After the last cable. */
guint csim_pkt_add_tree(CsimPktNet *net, const guint *hosts, guint n, const CsimPktTreeSpec *spec, GError **error);

typedef enum {
  CSIM_PKT_ALL_REDUCE, /* all send `bytes`, all get the sum */
  CSIM_PKT_GATHER,     /* member m sends part[m], all get all */
  CSIM_PKT_SCATTER     /* all send sum(part), member m gets its part[m] of the sum */
} CsimPktReduction;
typedef struct {
  CsimPktReduction kind;
  CsimBytes bytes;
  const CsimBytes *part;  /* by member; NULL for ALL_REDUCE */
  const CsimTime *delay;  /* by member: from now to the post; NULL: none */
  const uint32_t *entity; /* by member */
  int mtu;                /* payload of a packet */
  int64_t window;         /* packets that a member has under way; 0: any number. A SCATTER with a window goes to all, who keep their parts */
} CsimPktReduce;
/* An operation of all members, after the earlier ones, of the same kind as those. Fires (handler, kind, entity[m], 0) when member m has sent its own (with a window: when all of
 * that has come back). */
void csim_pkt_reduce(CsimPktNet *net, guint tree, const CsimPktReduce *what, uint16_t handler, uint16_t kind);
/* From now on fires (handler, kind, entity, number) whenever the result of an operation is complete at the member. */
void csim_pkt_tree_watch(CsimPktNet *net, guint tree, guint member, uint16_t handler, uint16_t kind, uint32_t entity);
/* From now on fires (handler, kind, entity, number) whenever a message is complete at the receiver: number
 * counts them from 0. */
void csim_pkt_watch(CsimPktNet *net, guint qp, uint16_t handler, uint16_t kind, uint32_t entity);
/* Nothing starts on the port's link before `until`: a cable that is down. A frame on the wire goes on. */
void csim_pkt_hold(CsimPktNet *net, guint port, CsimTime until);
/* Frames that start from now on run at that rate. */
void csim_pkt_set_rate(CsimPktNet *net, guint port, CsimRate rate);
/* The NIC of a host is stuck, or well again: it takes in no more than is under way. RoCE: pauses the lossless classes of its link for ever and drops what comes
 * in others; InfiniBand: gives no credits back. It goes on sending. */
void csim_pkt_host_stop(CsimPktNet *net, guint host, gboolean on);
/* RoCE: the NIC of a host pauses a class of its link for ever, or stops doing so: a stuck receiver. */
void csim_pkt_host_pause(CsimPktNet *net, guint host, guint class, gboolean on);

typedef struct {
  CsimBytes posted, acked; /* payload */
  CsimTime first_post, last_ack;
  uint64_t messages, packets, resent; /* sent in all; of those, sent again */
  uint64_t received, duplicates, out_of_order, marked;
  uint64_t acks, naks, cnps; /* arrived at the sender */
  uint64_t timeouts, cuts;
  double rate;     /* wire bytes/s allowed now */
  gboolean failed; /* transport retry counter exceeded */
} CsimPktQpStats;
CsimPktQpStats csim_pkt_qp_stats(CsimPktNet *net, guint qp);
char *csim_pkt_qp_name(const CsimPktNet *net, guint qp); /* "node0/nic1 -> node3/nic1"; caller frees */
/* "" or the completion error that a verbs user sees. */
const char *csim_pkt_qp_error(const CsimPktNet *net, guint qp);

typedef struct {
  uint64_t tx_packets, rx_packets;
  uint64_t lost;    /* on the link, after leaving here */
  uint64_t dropped; /* for want of room, or in a storm, on arriving here */
  uint64_t storms, storm_drops; /* times that the watchdog acted on this egress; frames that it threw out of the queue */
  CsimBytes tx_bytes, rx_bytes; /* wire */
  uint64_t marked;
  uint64_t pauses_sent, pauses_received; /* XOFF, refreshes included; XON not */
  CsimTime paused; /* longest-paused class */
  CsimBytes max_queue;    /* egress */
  CsimBytes max_ingress;  /* ingress account, headroom included */
  CsimBytes max_headroom; /* headroom alone */
  double mean_queue; /* over the time from the first frame to now */
  CsimBytes queue;   /* egress, now */
  CsimRate rate;     /* of the cable */
} CsimPktPortStats;
CsimPktPortStats csim_pkt_port_stats(CsimPktNet *net, guint port);
guint csim_pkt_n_ports(const CsimPktNet *net);
int csim_pkt_mtu(const CsimPktNet *net);
char *csim_pkt_port_name(const CsimPktNet *net, guint port); /* "leaf0 -> spine3", with "#2" for the third of several cables between the two; caller frees */
/* Frames put on links so far. */
uint64_t csim_pkt_hops(const CsimPktNet *net);
/* Memory taken from the system by pools so far, in requests: constant in a steady run. */
uint64_t csim_pkt_system_allocs(const CsimPktNet *net);

/*
 * Whether every frame and byte is accounted for: on each link sent = received + lost + under way, in each
 * switch what came in went out, was dropped or is queued, accounts equal queues. FALSE with what does not add
 * up: a bug of this model.
 */
gboolean csim_pkt_check(CsimPktNet *net, GError **error);
/*
 * Deadlock: a set of waiting queues each of which can only move after another of the set has. NULL if there
 * is none, else the cycle as "a -> b waits for b -> c waits for ..."; caller frees. Also looked for by itself
 * whenever a pause is refreshed and a retransmission timer fires; when found the engine stops and
 * csim_pkt_deadlock returns the text.
 */
char *csim_pkt_find_deadlock(CsimPktNet *net);
const char *csim_pkt_deadlock(const CsimPktNet *net);

#endif
