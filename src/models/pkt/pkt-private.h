/*
 * models/pkt/pkt-private.h - what the files of the packet network share.
 *
 * net.c builds and owns; port.c transmits; switch.c admits, pauses, marks; sender.c and receiver.c are the
 * two halves of a NIC; credit.c is InfiniBand's flow control; check.c proves conservation and looks for
 * deadlocks; tcp.c and its neighbours are TCP (tcp-private.h).
 */
#ifndef CSIM_MODELS_PKT_PRIVATE_H
#define CSIM_MODELS_PKT_PRIVATE_H

#include "base/rng.h"
#include "collsim/error.h"
#include "base/slab.h"
#include "models/pkt/pkt.h"

#define NONE UINT32_MAX
#define CONTROL CSIM_PKT_CLASSES /* the queue of PFC frames: before all classes, never paused */
#define N_QUEUES (CSIM_PKT_CLASSES + 1)

typedef enum { PKT_DATA, PKT_ACK, PKT_NAK, PKT_CNP, PKT_GAP, PKT_PAUSE, PKT_UP, PKT_DOWN } PktType; /* the last two: tree.c */
enum { PKT_CE = 1, PKT_ACK_REQUEST = 2, PKT_LAST = 4, PKT_FOR_ONE = 8 };

/* A frame. psn: of data; the last one acknowledged (ACK); the first one missing (NAK); quanta (PAUSE). 64
 * A GAP's psn is pkt_gap's.
 * 64 bits where the wire has 24: the same as long as fewer than 2^23 packets are in flight. */
typedef struct {
  int64_t psn;
  uint32_t qp, next;
  uint32_t back;    /* packets since the message's start; of a tree: the operation's number */
  uint16_t ingress; /* port of this switch by which it came, or PKT_MADE_HERE */
  uint16_t frame;
  uint8_t type : 4, came_by : 4; /* came_by: class of the ingress account that holds it */
  uint8_t class, hop, flags;     /* hop: links started; flags: in the upper half the way (CSIM_PKT_WAYS) */
} Packet;
G_STATIC_ASSERT(sizeof(Packet) == 32); /* two a cache line */
#define PKT_MADE_HERE UINT16_MAX
#define WAY_SHIFT 4
#define WAY_UNKNOWN 15 /* a frame before its first switch */

typedef struct {
  uint32_t head, tail, packets;
  CsimBytes bytes;
} Queue;

typedef struct {
  CsimTime at;
  int blocks;
} Credit;

/* A port's class: its egress queue, the ingress account of what came by this port, pause and credit state. */
typedef struct {
  Queue queue;
  CsimBytes max_queue;
  double area; /* byte picoseconds of the queue */
  CsimTime area_at;
  CsimBytes shared, headroom, max_ingress, max_headroom; /* ingress: lossless accounts */
  CsimBytes held;                                        /* ingress: all that came in here and is queued */
  CsimTimer refresh, expiry, watchdog;
  CsimTime paused_at, paused;
  int deficit;
  int withheld; /* blocks that a stuck host has not given back */
  int unmarked; /* packets since the last FECN */
  int credits;  /* blocks that may be sent */
  Credit *ring; /* credits on their way, oldest first */
  guint ring_size, ring_head, ring_n;
  gboolean xoff; /* a PAUSE of ours is in force */
  gboolean storm; /* the watchdog drops what is for this egress */
  gboolean starved, credit_wake;
} Class;

typedef struct {
  CsimTime busy_until;
  int64_t ps_num, ps_den; /* picoseconds per byte */
  CsimTime delay;
  uint32_t node, peer, peer_node;
  uint16_t ready, paused; /* bit per queue: not empty; not allowed */
  gboolean free_pending, peer_is_host, is_host, stuck; /* stuck: a host's, takes in nothing */
  guint round; /* class at turn */
  double loss;
  CsimRate rate;
  CsimRng loss_rng, mark_rng;
  uint64_t tx_packets, rx_packets, lost, dropped, marked, pauses_sent, pauses_received, flying;
  uint64_t storms, storm_drops;
  CsimBytes tx_bytes, rx_bytes, lost_bytes, flying_bytes;
  CsimTime first_tx;
  Class class[N_QUEUES];
} Port;

typedef struct Message Message;
struct Message {
  Message *next;
  int64_t first, end; /* PSNs */
  CsimBytes bytes;
  uint64_t arg;
  uint32_t entity, number; /* number: of a tree's operation */
  int mtu;
  uint16_t handler, kind;
  CsimHandle handle;
};

typedef enum { QP_IDLE, QP_READY, QP_WAITING } QpState;

/* PSNs from first on, and how many. */
typedef struct {
  int64_t first, n;
} Gap;
#define GAP_PSN_BITS 40
static inline uint64_t pkt_gap(int64_t first, int64_t n) { return (uint64_t)first | (uint64_t)n << GAP_PSN_BITS; }

/* What has come before its turn: three bits a PSN from `expected` on, in rings. */
typedef struct {
  uint64_t *seen, *asks, *lasts;
  int64_t size; /* bits, a power of two; 0: nothing yet */
} Early;

/* Of a queue pair that takes one of several (CSIM_PKT_WAYS), or changes lanes. */
typedef struct {
  uint32_t n;
  uint16_t port[CSIM_PKT_MAX_HOPS];
  uint8_t lane[CSIM_PKT_MAX_HOPS];
} Route;

typedef struct {
  /* sender */
  int64_t next_psn, acked_psn; /* next to send; first not acknowledged */
  int64_t end_psn, max_psn;    /* end of what is posted; end of what was sent */
  Message *current;            /* that next_psn lies in */
  CsimTime next_time;
  CsimRate cap;                /* payload bytes/s; 0: none */
  int64_t window;              /* packets in flight; 0: any number */
  uint32_t tree, member;       /* tree: 1 + its number; 0: none */
  QpState state;
  uint32_t next_ready, id, src, dst;
  CsimRp rp;
  CsimCcti ccti;
  CsimTimer timer;
  int retries;
  Message *first_message, *last_message;
  Gap *gaps; /* SELECTIVE: to send again, first one first */
  guint n_gaps, gaps_size;
  /* receiver */
  gboolean any_order; /* takes frames as they come */
  uint8_t routing;
  Early early;
  int64_t highest; /* end of what has come */
  int64_t expected, message_start;
  gboolean nak_sent;
  CsimTime next_cnp;
  uint64_t delivered; /* messages complete here */
  uint16_t watch_handler, watch_kind;
  uint32_t watch_entity;
  CsimPktQpStats stats;
  gboolean laned;  /* lanes change along routes and way_back */
  uint32_t n_path, n_back, n_routes;
  Route *routes;   /* n_routes: ways of data where there are several, or lanes change; else none */
  Route *way_back; /* of ACKs, if lanes change */
  struct Tcp *tcp; /* tcp-private.h; NULL: no TCP */
  uint16_t path[CSIM_PKT_MAX_HOPS], back[CSIM_PKT_MAX_HOPS];
} Qp;

/* What a TCP ACK says, in a PSN's place: the first segment missing, and a block beyond it (ahead, segments). */
#define PKT_SACK_BITS 15
#define PKT_SACK_MOST (INT64_C(1) << PKT_SACK_BITS)

typedef struct PktTree PktTree; /* tree.c */

/* Ports of a switch that lie on shortest paths to some node. */
typedef struct {
  guint n, turn;
  uint16_t port[];
} Ways;

/* What adaptive routing looks at, side by side. */
typedef struct {
  CsimTime busy_until;
  CsimBytes queued;
} Load;

typedef struct {
  char *name;
  gboolean is_host;
  uint64_t hash_seed;
  CsimPktSwitch sw;
  CsimBytes shared_used;
  GArray *ports;                   /* guint, in order of connecting */
  Ways **ways;                     /* switch: by destination node, NULL until asked for */
  GPtrArray *all_ways;             /* the distinct ones, owned */
  CsimTime message_at; /* host: when the next message may begin */
  uint32_t ready_head, ready_tail; /* host: queue pairs that may send */
} Node;

struct CsimPktNet {
  CsimEngine *engine;
  CsimPktSpec spec;
  Node *nodes;
  Port *ports;
  Load *loads; /* of ports */
  guint n_nodes, n_ports;
  GPtrArray *qps;       /* Qp* */
  GPtrArray *trees;     /* PktTree* */
  uint64_t reducing;    /* frames in aggregation nodes */
  GPtrArray *distances; /* per node: hops to it from every node, NULL until asked for */
  Packet **chunks;
  uint32_t n_chunks, free_packet, live_packets;
  uint64_t system_allocs;
  CsimSlab *messages;
  int ack_frame, cnp_frame;
  CsimBytes fecn_above; /* bytes of a lane's queue */
  /* handlers */
  uint16_t on_arrive, on_free, on_wake, on_effect, on_control, on_pause, on_expiry, on_refresh, on_timeout,
      on_credit, on_post, on_watchdog, on_reduced, on_delayed;
  gboolean frozen; /* no more nodes or cables */
  char *deadlock;
};

#define PACKET_CHUNK 4096
static inline Packet *pkt_packet(const CsimPktNet *net, uint32_t i) {
  return &net->chunks[i / PACKET_CHUNK][i % PACKET_CHUNK];
}
static inline Qp *pkt_qp(const CsimPktNet *net, uint32_t i) { return net->qps->pdata[i]; }
static inline CsimTime pkt_wire_time(const Port *port, int64_t bytes) {
  return port->ps_den == 1 ? bytes * port->ps_num : (bytes * port->ps_num + port->ps_den - 1) / port->ps_den;
}
static inline gboolean pkt_is_lossless(const CsimPktNet *net, const Node *node, guint class) {
  return (net->spec.pfc_mask & ~(guint)node->sw.lossy_mask) >> class & 1;
}

/* net.c */
uint32_t pkt_alloc(CsimPktNet *net);
void pkt_release(CsimPktNet *net, uint32_t index);
void pkt_set_rate(Port *port, CsimRate rate);

/* port.c */
void pkt_enqueue(CsimPktNet *net, Port *port, guint queue, uint32_t index);
/* Sends if it can, or sees to it that somebody looks when the wire is free. */
void pkt_kick(CsimPktNet *net, Port *port);
void pkt_queue_area(Class *class, CsimTime now);

uint32_t pkt_dequeue(CsimPktNet *net, Port *port, guint queue);
/* Its pause is over. */
void pkt_resume(CsimPktNet *net, Port *port, guint class);

/* watchdog.c: a PAUSE for the class has come. */
void pkt_watch_pause(CsimPktNet *net, Port *port, guint class, CsimTime now);
void pkt_on_watchdog(CsimEngine *engine, void *owner, const CsimEvent *event);

/* switch.c */
/* What the frame took of the switch is free again. */
void pkt_free_room(CsimPktNet *net, Node *node, Packet *p);
/* Its transmission starts: marks, accounts, XON, credits. */
void pkt_leave(CsimPktNet *net, Port *out, Packet *p);

/* sender.c */
uint32_t pkt_next_data(CsimPktNet *net, Port *port); /* the frame that a host sends next, NONE */
gboolean pkt_host_has_data(const CsimPktNet *net, const Port *port);
uint32_t pkt_make_segment(CsimPktNet *net, Qp *qp, int64_t psn); /* next_psn's, or an earlier one again */
void pkt_complete(CsimPktNet *net, Qp *qp);                      /* messages that are acknowledged */

void pkt_post_part(CsimPktNet *net, Qp *qp, CsimTime at, CsimBytes bytes, int mtu, uint32_t number, uint16_t handler, uint16_t kind, uint32_t entity);

/* tree.c: a frame of a tree has arrived at a switch; starts its last link; a member's PSN as its frame says it. */
void pkt_tree_arrive(CsimPktNet *net, Port *in, uint32_t index);
void pkt_tree_deliver(CsimPktNet *net, const Port *rx, const Packet *p, CsimTime arrival);
int64_t pkt_tree_psn(const CsimPktNet *net, const Qp *qp, int64_t psn, int64_t in_op, uint32_t number, uint8_t *flags);
uint64_t pkt_trees_waiting(const CsimPktNet *net);
void pkt_tree_free(gpointer tree);
void pkt_on_reduced(CsimEngine *engine, void *owner, const CsimEvent *event);

/* ways.c */
const guint8 *pkt_distances_to(CsimPktNet *net, guint to);
uint32_t pkt_choose_way(CsimPktNet *net, guint node, const Qp *qp);
uint32_t pkt_first_way(CsimPktNet *net, guint node, const Qp *qp);
uint32_t pkt_choose_route(CsimPktNet *net, const Qp *qp, Packet *p);
/* The virtual lane of a frame that is at a switch, on its next link. */
guint8 pkt_next_lane(const Qp *qp, const Packet *p);
/* The egress port of a frame that is at a switch. */
static inline Port *pkt_egress(CsimPktNet *net, guint node, const Qp *qp, Packet *p) {
  if (G_LIKELY(p->type == PKT_DATA && qp->routing == CSIM_PKT_ONE_PATH)) return &net->ports[qp->path[p->hop]];
  if (p->type == PKT_DATA && qp->routing == CSIM_PKT_WAYS) return &net->ports[pkt_choose_route(net, qp, p)];
  return &net->ports[p->type == PKT_DATA ? pkt_choose_way(net, node, qp) : qp->back[p->hop]];
}
/* One that it may take: for its rate. */
static inline const Port *pkt_likely_egress(CsimPktNet *net, guint node, const Qp *qp, const Packet *p) {
  if (G_LIKELY(p->type == PKT_DATA && qp->routing == CSIM_PKT_ONE_PATH)) return &net->ports[qp->path[p->hop]];
  if (p->type == PKT_DATA && qp->routing == CSIM_PKT_WAYS) {
    guint way = p->flags >> WAY_SHIFT;
    return &net->ports[qp->routes[way == WAY_UNKNOWN ? 0 : way].port[p->hop]];
  }
  return &net->ports[p->type == PKT_DATA ? pkt_first_way(net, node, qp) : qp->back[p->hop]];
}
void pkt_free_ways(Node *node);

/* early.c: FALSE if it was there already. */
gboolean pkt_early_take(CsimPktNet *net, Qp *qp, const Packet *p);
/* Takes the frame at `expected` out, with its flags; FALSE if it has not come. */
gboolean pkt_early_next(Qp *qp, guint8 *flags);
void pkt_early_free(Early *early);

/* receiver.c: a frame for a host has started its last link. */
void pkt_deliver(CsimPktNet *net, Port *rx, uint32_t index, CsimTime arrival);
void pkt_tell_delivered(CsimPktNet *net, const Qp *qp, CsimTime arrival);

void pkt_effect_ack(CsimPktNet *net, const Qp *qp, CsimTime at, uint64_t arg);

/* tcp.c, tcp-receiver.c */
void pkt_tcp_init(CsimPktNet *net, Qp *qp);
void pkt_tcp_free(Qp *qp);
void pkt_tcp_fill(CsimPktNet *net, Qp *qp);             /* queues in the adapter what may go */
void pkt_tcp_post(CsimPktNet *net, Qp *qp, Message *message);
void pkt_tcp_left(CsimPktNet *net, Qp *qp, int frame);  /* it has begun to leave the adapter */
void pkt_tcp_acked(CsimPktNet *net, Qp *qp, uint64_t arg);
void pkt_tcp_timeout(CsimPktNet *net, Qp *qp);
void pkt_tcp_take(CsimPktNet *net, Qp *qp, const Packet *p, CsimTime arrival);
uint64_t pkt_sack(int64_t cumulative, int64_t first, int64_t n);
void pkt_sack_read(uint64_t arg, int64_t *cumulative, int64_t *first, int64_t *n);

/* credit.c */
gboolean pkt_has_credit(CsimPktNet *net, Port *port, guint class, int frame);
void pkt_take_credit(Port *port, guint class, int frame);
/* The buffer of `in` is freed at `at`. */
void pkt_give_credit(CsimPktNet *net, Port *in, guint class, int frame, CsimTime at);
/* A stuck host keeps them; all that it has kept. */
void pkt_withhold_credit(Port *in, guint class, int frame);
void pkt_give_withheld(CsimPktNet *net, Port *in);

/* check.c */
void pkt_look_for_deadlock(CsimPktNet *net);

/* Handlers. */
void pkt_on_arrive(CsimEngine *engine, void *owner, const CsimEvent *event);
void pkt_on_free(CsimEngine *engine, void *owner, const CsimEvent *event);
void pkt_on_wake(CsimEngine *engine, void *owner, const CsimEvent *event);
void pkt_on_effect(CsimEngine *engine, void *owner, const CsimEvent *event);
void pkt_on_control(CsimEngine *engine, void *owner, const CsimEvent *event);
void pkt_on_pause(CsimEngine *engine, void *owner, const CsimEvent *event);
void pkt_on_expiry(CsimEngine *engine, void *owner, const CsimEvent *event);
void pkt_on_refresh(CsimEngine *engine, void *owner, const CsimEvent *event);
void pkt_on_timeout(CsimEngine *engine, void *owner, const CsimEvent *event);
void pkt_on_credit(CsimEngine *engine, void *owner, const CsimEvent *event);
void pkt_on_delayed(CsimEngine *engine, void *owner, const CsimEvent *event);
void pkt_on_post(CsimEngine *engine, void *owner, const CsimEvent *event);

#endif
