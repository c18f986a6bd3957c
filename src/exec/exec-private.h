/*
 * exec/exec-private.h - what the files of this layer share: lanes, connections, network ends.
 *
 * A *lane* runs its plan's primitives one after another. A primitive is cut into operations (Simple: slices, LL and LL128: one chunk).
 * An operation starts when its lane is free, its data are visible and it has credit on every connection it uses; all
 * three are kept as points in time, which are usually known before they come. So an operation that crosses no shared link is evaluated
 * at once, without an event; one that does is a flow: an event at its start and one at its end.
 *
 * A *connection* carries the operations of one lane to another, in order, through NCCL's slots: `visible` and `credit` are rings of times.
 * A network connection has a Net beside it: the two proxies and the wire between the kernels.
 */
#ifndef CSIM_EXEC_PRIVATE_H
#define CSIM_EXEC_PRIVATE_H

#include "algos/plan.h"
#include "exec/cost.h"
#include "exec/exec.h"

#define SLOTS 8 /* NCCL_STEPS */
#define NO_INDEX UINT32_MAX

/* An input that becomes known may wake a lane that waits for data or credit (WAIT) or for its sender's last line (DRAIN). */
typedef enum { LANE_WAIT, LANE_DRAIN, LANE_FLOWING, LANE_BARRIER, LANE_DONE } LaneState;
#define LANE_QUEUED 0x80 /* with a state: the lane is in CsimExec.work */

/* Where a lane's time goes; indices of Lane.spent. */
enum { SPENT_LAUNCH, SPENT_OVERHEAD, SPENT_COPY, SPENT_LINK, SPENT_WAIT_DATA, SPENT_WAIT_CREDIT, SPENT_N };

/* The run's working set is lanes, connections and slots; each lies on as few cache lines as it can. A connection is one. */
typedef struct {
  uint32_t tx_lane, rx_lane;
  uint32_t sent;     /* operations that the sender has begun to give away */
  uint32_t produced; /* ... whose first byte's arrival is known to the receiver */
  uint32_t finished; /* ... whose last byte's arrival is known (LL, LL128: later than produced) */
  uint32_t consumed; /* ... that the receiver has taken */
  uint32_t credits;  /* ... whose slot's return is known to the sender */
  uint32_t net;      /* index of its Net, or NO_INDEX */
  uint32_t tx_links, rx_links; /* first entry in CsimExec.links: what the sender's stores and the receiver's loads cross */
  uint8_t n_tx_links, n_rx_links;
  uint8_t kind;      /* CsimConnKind; SELF for NVLS groups too */
  uint8_t tag;       /* of the plan */
  CsimTime latency;  /* of the wire, beyond the flag latency of the GPU model */
  uint64_t reserved;
} Conn;
G_STATIC_ASSERT(sizeof(Conn) == 64);

/* When operation k of a connection is visible to the receiver, and when its slot is back at the sender: entry k % CsimExec.cap of the
 * connection's slots. `full` (LL, LL128): when its last line is visible. */
typedef struct { CsimTime visible, full, credit, reserved; } Slot;
G_STATIC_ASSERT(sizeof(Slot) == 32);

/* What an operation's bytes cross: nothing that serves others too; the path of its only sending connection; several paths. */
typedef enum { PATH_NONE, PATH_OF_CONN, PATH_SUM } PathKind;

/* In the order of use: two cache lines for the operation, one for its primitive's account, the cursor. */
typedef struct {
  CsimTime free, start;      /* when the worker is free; start of the operation at hand */
  CsimTime ready;            /* latest of the inputs looked at so far */
  CsimTime duration;         /* of the operation at hand, were it alone */
  CsimTime overhead;         /* of it, before jitter */
  CsimBytes cost_bytes;      /* that duration, overhead and sm_ps are for; -1 when the primitive has changed */
  CsimBytes bytes;           /* of the operation */
  uint32_t ops;              /* operations done in this kernel */
  uint16_t input;            /* the next one to look at; NO_OP: there is no operation at hand */
  uint8_t slices;            /* of the primitive still to do */
  uint8_t waits_credit;      /* the latest input was a credit */

  CsimBytes left, slice;     /* of the primitive: still to do, slice size */
  uint16_t flags, more;      /* of the primitive */
  uint16_t n_rx, n_tx;       /* connections of the primitive ... */
  uint32_t rx, tx;           /* ... and which, as recv and send say it */
  uint32_t recv, send;       /* the lane's: first entry in CsimExec.lane_conns; once built, of a single one the connection itself: exec_lane_conns */
  uint16_t n_recv, n_send;
  uint16_t gpu;              /* the rank's */
  uint8_t channel, role;
  uint32_t path;             /* PATH_OF_CONN: first entry in CsimExec.links */
  uint32_t flow_hint;        /* csim_fluid_start_at's */
  uint8_t path_kind, n_path; /* PathKind; PATH_OF_CONN: links. With cost_bytes, like duration */
  uint8_t first_peer;        /* the primitive sends to the lane's first peer, or to all */
  uint8_t reserved[5];

  CsimTime spent[SPENT_N];
  CsimTime flow_end;         /* LANE_DRAIN: when the operation ended but for the sender's last byte */
  CsimRate cap;              /* what the operation sends over links in its duration, as cost_bytes */
  CsimPlanCursor cursor;
  uint32_t rank, block;      /* block: index in CsimExec.blocks */
  uint32_t sm_link;          /* fluid link of a block shared with another lane, or NO_INDEX */
  float sm_ps;               /* of the operation at hand, see CsimOpCost */
  uint64_t padding[4];
} Lane;
G_STATIC_ASSERT(sizeof(Lane) % 64 == 0 &&
                G_STRUCT_OFFSET(Lane, left) == 64 && G_STRUCT_OFFSET(Lane, spent) == 128 && G_STRUCT_OFFSET(Lane, cursor) == 192);
#define NO_OP UINT16_MAX

typedef struct {
  uint32_t conn;
  uint32_t tx_rank, rx_rank;   /* whose proxies work */
  uint32_t links;              /* first entry in CsimExec.links */
  uint16_t n_links;
  uint32_t flow_hint;          /* csim_fluid_start_at's */
  gboolean flowing, loopback;  /* loopback: sockets inside a host, no wire */
  CsimRate cap;                /* of one message alone, with what its stream (queue pairs, TCP connection) reaches */
  CsimTime ack, wire_free;     /* from a message's end until the next may follow, if it has more than ack_above bytes; when that is */
  CsimBytes ack_above;
  uint32_t posted, queued, posting, sent, wire, arrived, granted; /* operations that have passed each stage */
  CsimTime latency;            /* NIC to NIC */
  CsimTime flush;              /* receiver's GDR flush, 0 if none */
  gboolean collnet;            /* a head's way into the reducing network and back (collnet.c): links is the way in; latency, in and back */
  uint32_t back_links;         /* collnet: first entry in CsimExec.links of the way back */
  uint16_t n_back_links;
  uint16_t own_net;            /* collnet: the head's NIC */
  CsimTime near, far;          /* collnet: from the post to the wire, from the wire to the proxy */
  uint16_t root_net;           /* collnet: NIC of the aggregation tree's first member, and its rank: trees with equal ones are the same */
  uint32_t root_rank;
  uint32_t first_way;          /* several queue pairs (qps.c): first entry in CsimExec.ways; links, n_links, cap are the first one's */
  uint16_t n_qps;              /* 1: links is the only way */
  uint8_t pieces[SLOTS];       /* several: of each message still on the wire or before it */
  CsimTime post[SLOTS], grant[SLOTS];
  CsimBytes bytes[SLOTS];
} Net;

/* The way of one queue pair of a connection that has several. */
typedef struct {
  uint32_t links;              /* first entry in CsimExec.links */
  uint16_t n_links;
  gboolean busy;
  uint32_t flow_hint;          /* csim_fluid_start_at's */
  uint32_t next;               /* message that it sends, or will */
  CsimTime free;               /* from when on it may */
  CsimRate cap;
} Way;

/* The lanes of one (rank, channel) or of one rank, for barriers. */
typedef struct {
  uint32_t first_lane, n_lanes, arrived;
  CsimTime time; /* when the last one so far came */
} Group;

typedef struct {
  CsimTime proxy_free;
  CsimTime kernel_start, kernel_end;
  CsimTime hand_out;           /* send/recv with peers over the network: until the proxy has handed out its buffers, see net.c */
  Group all;                   /* its lanes */
  uint32_t lanes_left;
  uint32_t weight;             /* ranks that it stands for (collapse.h); 0: another stands for it */
  uint16_t gpu;                /* index in CsimExec.gpus */
  uint16_t iteration;
} Rank;

/* Draws that were made: equivalent lanes of all ranks draw the same values at about the same time. Direct-mapped. */
#define DRAWS 8192
typedef struct { uint64_t key; double unit; } Draw; /* unit: uniform in [-1, 1) */

typedef struct Packets Packets; /* packets.c */

struct CsimExec {
  CsimExecSpec spec;
  CsimShape shape;
  uint32_t *node_first;        /* n_nodes + 1 */
  int *node_ranks;             /* ranks, node by node */
  GArray *gpus;                /* CsimGpuModel, distinct */
  uint32_t n_sockets;       /* of a connection; 1 where it has queue pairs */
  CsimBytes socket_task;    /* least piece for one of several */
  CsimNetModel net_model, loop_model; /* loop_model: sockets inside a host */
  CsimShmModel shm_model;
  uint16_t *rank_gpu;          /* n_ranks */
  CsimPart parts[CSIM_MAX_CHANNELS];
  GArray *loads;               /* CsimLinkLoad, of the last call */

  /* One call: */
  CsimEngine *engine;
  CsimFluid *fluid;
  Packets *packets;            /* the network at packet fidelity, else NULL */
  CsimPacketLog *packet_log;   /* of the last call, or NULL */
  CsimPlan *plan;
  const CsimCall *call;
  CsimChoice choice;
  CsimProtoShape proto;
  CsimCost *costs;             /* one per entry of gpus */
  uint16_t handler;
  int iterations;              /* kernels to run back to back */
  Rank *ranks;
  Lane *lanes;
  Conn *conns;
  Slot *slots;                 /* cap for each connection */
  uint32_t cap;                /* operations in flight on a connection: slots / slice steps, a power of two */
  Net *nets;
  GArray *ways;                /* Way, of connections with several queue pairs */
  uint32_t n_qps;              /* ways of a connection; 1 where the fabric does not tell queue pairs apart */
  uint32_t n_turns;            /* queue pairs that share one way and take turns; 1: one message at a time */
  gboolean qp_split;           /* every message over all of them */
  struct { uint32_t qps; int64_t adaptive, ack_above; } env; /* NCCL_IB_... as given: read once a call, used for every connection */
  uint32_t *loads_of_fabric;   /* flows on each of the fabric's links, where routes balance them; else NULL */
  uint8_t *flap_down;          /* by flap of the machine; NULL: none flaps */
  struct Pieces *pieces;       /* per connection; NULL if every message is one primitive's */
  struct Collnet *collnet;     /* aggregation trees and who has posted what; NULL without any */
  Group *blocks;               /* (rank, channel) with lanes */
  uint32_t n_ranks, n_lanes, n_conns, n_nets;
  GArray *lane_conns;          /* uint32_t */
  GArray *links;               /* CsimFlowLink */
  uint32_t *fluid_of;          /* machine link -> fluid link, NO_INDEX until used */
  GArray *machine_of;          /* fluid link -> machine link, NO_INDEX for SM links */
  GArray *link_rates;          /* fluid link -> CsimPruneLink */
  uint32_t *link_rep;          /* entry of machine_of -> fluid link that behaves like it, NO_INDEX for none; NULL: itself (collapse.h) */
  uint32_t *work;              /* lanes to look at: ring buffer, one entry a lane */
  uint32_t work_head, work_n;
  uint8_t *state;              /* per lane: LaneState, with LANE_QUEUED. All of them fit a cache, which lanes do not */
  uint32_t ranks_done;
  Draw *draws;                 /* DRAWS; key 0: none */
  uint32_t trace_names[16], trace_rate; /* by the primitive's flags */
  CsimTime *period_end;        /* [iteration]: mean end of the kernels over ranks, summed as it comes */
};

/* layout.c: what the run itself needs, once lanes, connections and links are those to simulate. */
void exec_layout(CsimExec *x);

/* The connections of a lane, once built: &lane->recv, lane->n_recv or &lane->send, lane->n_send; of its primitive: rx and tx. */
static inline const uint32_t *exec_lane_conns(const CsimExec *x, const uint32_t *entry, guint n) {
  return n == 1 ? entry : &g_array_index(x->lane_conns, uint32_t, *entry);
}

/* trace.c; nothing if x->spec.trace is NULL. */
void exec_trace_begin(CsimExec *x);
void exec_trace_op(CsimExec *x, const Lane *lane, CsimTime end);

/* build.c: lanes, connections and network ends of x->plan; x->engine and x->fluid exist. */
gboolean exec_build(CsimExec *x, GError **error);
void exec_unbuild(CsimExec *x);
CsimLinkId exec_fluid_link(CsimExec *x, CsimLinkId machine_link);

/* build.c: queue pairs or sockets of one connection, over which messages rotate (NCCL 2.30, transport/net_ib); does the window that send and receive
 * have of their own (net.c) stand for a queue pair's pace? */
uint32_t exec_streams(const CsimExec *x);
gboolean exec_is_unpaced(const CsimExec *x);

/* meet.c: x->conns and x->lane_conns from what the lanes' plans say of their peers. */
void exec_meet(CsimExec *x);

/* build.c, for collnet-build.c: appends a route's links to x->links as fluid links, and returns how many; what kernels cross to reach a NIC's
 * buffers. */
guint exec_add_route(CsimExec *x, const CsimRoute *route);
CsimGpuRef exec_gpu_of(const CsimExec *x, uint32_t rank);
gboolean exec_set_net_buffers(CsimExec *x, Conn *c, const CsimConn *how, CsimGpuRef from, CsimGpuRef to, GError **error);
gboolean exec_needs_flush(const CsimExec *x, uint32_t rx_rank, const CsimConn *how);

/* Entry of operation k of a connection in slots. */
static inline uint32_t exec_slot(const CsimExec *x, const Conn *c, uint32_t k) {
  return (uint32_t)(c - x->conns) * x->cap + (k & (x->cap - 1));
}

/* lane.c */
void exec_lane_kernel(CsimExec *x, uint32_t lane, CsimTime start); /* a kernel begins on this lane */
void exec_push_work(CsimExec *x, uint32_t lane);                   /* unless it is there */
void exec_drain_work(CsimExec *x);
void exec_lane_event(CsimExec *x, const CsimEvent *event);
double exec_jitter(CsimExec *x, const Lane *lane);
/* An input became known. */
static inline void exec_poke(CsimExec *x, uint32_t lane) {
  if (x->state[lane] <= LANE_DRAIN) exec_push_work(x, lane);
}

/* ahead.c */
void exec_look_ahead(void *owner, const CsimForeseen *events, guint n);

/* net.c */
void exec_net_post(CsimExec *x, uint32_t net, CsimTime kernel_done, CsimBytes wire_bytes);
void exec_net_consumed(CsimExec *x, uint32_t net, CsimTime kernel_done);
void exec_net_event(CsimExec *x, const CsimEvent *event);
void exec_net_hand_out(CsimExec *x); /* fills Rank.hand_out, once nets are built */

/* packets.c: NULL x->packets at other fidelities. */
gboolean exec_packets_new(CsimExec *x, GError **error);
void exec_packets_free(Packets *packets);
void exec_packets_finish(CsimExec *x); /* all ranks are done */
CsimPacketFabric *exec_packets_fabric(const CsimExec *x);
/* The next Net of x->nets. near, far: latency of the PCIe ways at its ends. */
gboolean exec_packets_connect(CsimExec *x, CsimNicRef from, CsimNicRef to, uint32_t conn, CsimTime near, CsimTime far, GError **error);
/* The next Net of x->nets has no queue pairs of its own. */
void exec_packets_skip(CsimExec *x);
/* Takes adapters' wires and the fabric out of Net.links: packets use them. */
void exec_packets_strip(CsimExec *x);
/* The proxy has just posted a message (Net.sent). FALSE: this connection has no packets. */
gboolean exec_packets_send(CsimExec *x, uint32_t net);
void exec_packets_event(CsimExec *x, const CsimEvent *event);
/* After a run: deadlock, queue pairs that failed, bytes that do not add up. */
gboolean exec_packets_check(CsimExec *x, GError **error);

CsimEnd exec_packets_run(CsimExec *x);
void exec_packets_take_log(CsimExec *x);

void exec_net_left(CsimExec *x, uint32_t net, CsimTime now); /* the first message on the wire has left it */

/* qps.c: how many queue pairs make a difference; entropy of one of them; a message that the proxy has posted; the end of a piece. */
uint32_t exec_qps_wanted(const CsimExec *x);
uint32_t exec_qps_given(const CsimExec *x); /* NCCL_IB_QPS_PER_CONNECTION */
/* What queue pair `qp` of n carries of a message that is split over all; may be nothing, and is sent all the same. */
CsimBytes exec_qp_piece(CsimBytes bytes, uint32_t n, uint32_t qp);
uint32_t exec_qp_hash(const CsimExec *x, uint32_t conn, uint32_t qp);
void exec_qps_send(CsimExec *x, uint32_t net);
void exec_qps_event(CsimExec *x, const CsimEvent *event);

/* sockets.c */
gboolean exec_has_sockets(const CsimExec *x);
void exec_sockets_init(CsimExec *x); /* n_sockets: NCCL_SOCKET_NTHREADS x NCCL_NSOCKS_PERTHREAD; what threads change of net_model */
CsimRate exec_sockets_cap(const CsimExec *x, CsimRate cap, CsimBytes bytes); /* of a message as a flow, where alone it had `cap` */
CsimBytes exec_socket_piece(const CsimExec *x, CsimBytes bytes);

/* nvls-loads.c: after a run, adds to x->loads what NVLS moved, which no flow did. */
void exec_nvls_loads(CsimExec *x);

/* flaps.c: before the first event; x->fluid_of is complete. */
void exec_flaps_start(CsimExec *x);
void exec_flaps_event(CsimExec *x, const CsimEvent *event);

/* shape.c: fills x->shape from x->spec. */
void exec_shape_init(CsimExec *x);

/* When a rank's proxy thread, a serial resource, is done with `work` that could begin at `at`. */
CsimTime exec_proxy_works(CsimExec *x, uint32_t rank, CsimTime at, CsimTime work);

/* pieces.c: messages made of several primitives' pieces (plan.h: CsimPrim.more). begin and end: of a call. */
void exec_pieces_begin(CsimExec *x);
void exec_pieces_end(CsimExec *x);
/* A sender's piece of *bytes. TRUE when it ends the message; *bytes is then the whole message's. */
gboolean exec_pieces_put(CsimExec *x, const Conn *c, gboolean more, CsimBytes *bytes);
/* Message k of a connection will have n pieces, whatever its sender gave. */
void exec_pieces_announce(CsimExec *x, const Conn *c, uint32_t k, guint n);
/* A receiver takes a piece. TRUE when it is the message's last. */
gboolean exec_pieces_take(CsimExec *x, const Conn *c);

/* collnet-build.c: a head's connection with the network; and, once lanes and connections are final, trees and groups. */
gboolean exec_collnet_conn(CsimExec *x, uint32_t conn, GArray *nets, GError **error);
gboolean exec_collnet_begin(CsimExec *x, GError **error);
void exec_collnet_end(CsimExec *x);
/* collnet.c: the proxy sees that a kernel has filled a slot of `net`. */
void exec_collnet_filled(CsimExec *x, uint32_t net, CsimTime now);
void exec_collnet_event(CsimExec *x, const CsimEvent *event);

/* Kinds of the one handler's events. */
enum { EV_LANE_FLOW, EV_NET_SEND, EV_NET_FLOW, EV_NET_WIRE, EV_NET_ARRIVE, EV_QP_DONE, EV_FLAP,
       EV_COLLNET_POSTED, EV_COLLNET_FLOW, EV_COLLNET_DONE,
       EV_PKT_LEG, EV_PKT_LANDED, EV_PKT_ACKED, EV_PKT_REDUCED, EV_PKT_STUCK };

#endif
