/*
 * exec/ahead.c - fetches what coming events will touch into the caches (sim/engine.h, foresight).
 *
 * A run of many ranks touches tens of megabytes in the order of time, which no cache can guess. What an event needs is found step by
 * step, lane, connection, slot, so each step is made for all events shown before the next one. Nothing here changes anything.
 */
#include "exec/exec-private.h"

/* Most plans' cursors need no more. */
#define LANE_FETCHED 256
static void fetch_lane(const Lane *l) {
  for (guint i = 0; i < LANE_FETCHED; i += 64) CSIM_FETCH((const char *)l + i);
}

static void fetch_slot(const CsimExec *x, const Conn *c, uint32_t k) { CSIM_FETCH(&x->slots[exec_slot(x, c, k)]); }

static const Conn *first_conn(const CsimExec *x, const uint32_t *entry, guint n) { return &x->conns[*exec_lane_conns(x, entry, n)]; }

/* What an operation that ends, or the next one, uses of the lanes and of the first connection on either side; most have one. */
static void fetch_lanes(const CsimExec *x, const uint32_t *lane, guint n) {
  for (guint i = 0; i < n; i++) fetch_lane(&x->lanes[lane[i]]);
  for (guint i = 0; i < n; i++) {
    const Lane *l = &x->lanes[lane[i]];
    if (l->n_recv) CSIM_FETCH(first_conn(x, &l->recv, l->n_recv));
    if (l->n_send) CSIM_FETCH(first_conn(x, &l->send, l->n_send));
  }
  for (guint i = 0; i < n; i++) {
    const Lane *l = &x->lanes[lane[i]];
    const Conn *c = l->n_recv ? first_conn(x, &l->recv, l->n_recv) : NULL;
    for (uint32_t k = 0; c && k < 2; k++) fetch_slot(x, c, c->consumed + k);
    c = l->n_send ? first_conn(x, &l->send, l->n_send) : NULL;
    for (uint32_t k = 0; c && k < 2; k++) fetch_slot(x, c, c->finished + k);
  }
}

/* Appends the lane if an input would wake it. */
static guint note_waiting(const CsimExec *x, uint32_t lane, uint32_t *list, guint n) {
  if (x->state[lane] <= LANE_DRAIN) list[n++] = lane;
  return n;
}

/* The end of an operation may wake the lanes beyond its connections. */
static void ahead_of_lanes(const CsimExec *x, const uint32_t *lane, guint n) {
  uint32_t waiting[2 * CSIM_AHEAD_MOST];
  guint n_waiting = 0;
  fetch_lanes(x, lane, n);
  for (guint i = 0; i < n; i++) {
    const Lane *l = &x->lanes[lane[i]];
    if (l->n_recv) n_waiting = note_waiting(x, first_conn(x, &l->recv, l->n_recv)->tx_lane, waiting, n_waiting);
    if (l->n_send) n_waiting = note_waiting(x, first_conn(x, &l->send, l->n_send)->rx_lane, waiting, n_waiting);
  }
  fetch_lanes(x, waiting, n_waiting);
}

static void ahead_of_nets(const CsimExec *x, const CsimForeseen *event, guint n) {
  for (guint i = 0; i < n; i++) {
    const Net *net = &x->nets[event[i].entity];
    CSIM_FETCH(net);
    CSIM_FETCH(&net->latency);
    CSIM_FETCH(&net->bytes);
  }
  for (guint i = 0; i < n; i++) {
    const Net *net = &x->nets[event[i].entity];
    CSIM_FETCH(&x->conns[net->conn]);
    CSIM_FETCH(&x->ranks[event[i].kind == EV_NET_ARRIVE ? net->rx_rank : net->tx_rank]);
  }
  for (guint i = 0; i < n; i++) {
    const Conn *c = &x->conns[x->nets[event[i].entity].conn];
    if (event[i].kind == EV_NET_WIRE) fetch_slot(x, c, c->credits);
    if (event[i].kind == EV_NET_ARRIVE) fetch_slot(x, c, c->produced);
  }
}

void exec_look_ahead(void *owner, const CsimForeseen *events, guint n) {
  const CsimExec *x = owner;
  uint32_t lanes[CSIM_AHEAD_MOST];
  CsimForeseen nets[CSIM_AHEAD_MOST];
  guint n_lanes = 0, n_nets = 0;
  for (guint i = 0; i < n; i++) {
    if (events[i].kind == EV_LANE_FLOW) lanes[n_lanes++] = events[i].entity;
    else if (events[i].kind <= EV_NET_ARRIVE) nets[n_nets++] = events[i];
  }
  if (n_lanes > 0) ahead_of_lanes(x, lanes, n_lanes);
  if (n_nets > 0) ahead_of_nets(x, nets, n_nets);
}
