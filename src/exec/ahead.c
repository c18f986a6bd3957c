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

/* A lane at the other end of a connection may go on when the operation ends. */
static void fetch_waiting(const CsimExec *x, uint32_t lane) {
  if (x->state[lane] <= LANE_DRAIN) fetch_lane(&x->lanes[lane]);
}

static Conn *first_conn(const CsimExec *x, const uint32_t *entry, guint n) { return &x->conns[*exec_lane_conns(x, entry, n)]; }

/* An operation that ends uses its lane, the first connection of either side (most lanes have one) and the lanes beyond. */
static void ahead_of_lanes(const CsimExec *x, const uint32_t *lane, guint n) {
  for (guint i = 0; i < n; i++) fetch_lane(&x->lanes[lane[i]]);
  for (guint i = 0; i < n; i++) {
    const Lane *l = &x->lanes[lane[i]];
    if (l->n_recv) CSIM_FETCH(first_conn(x, &l->recv, l->n_recv));
    if (l->n_send) CSIM_FETCH(first_conn(x, &l->send, l->n_send));
  }
  for (guint i = 0; i < n; i++) {
    const Lane *l = &x->lanes[lane[i]];
    const Conn *rx = l->n_recv ? first_conn(x, &l->recv, l->n_recv) : NULL, *tx = l->n_send ? first_conn(x, &l->send, l->n_send) : NULL;
    if (rx) {
      CSIM_FETCH(&x->slots[exec_slot(x, rx, rx->consumed)]);
      fetch_waiting(x, rx->tx_lane);
    }
    if (tx) {
      CSIM_FETCH(&x->slots[exec_slot(x, tx, tx->sent)]);
      fetch_waiting(x, tx->rx_lane);
    }
  }
}

static void ahead_of_nets(const CsimExec *x, const uint32_t *net, guint n) {
  for (guint i = 0; i < n; i++) {
    CSIM_FETCH(&x->nets[net[i]]);
    CSIM_FETCH((const char *)&x->nets[net[i]] + 64);
  }
  for (guint i = 0; i < n; i++) {
    CSIM_FETCH(&x->conns[x->nets[net[i]].conn]);
    CSIM_FETCH(&x->ranks[x->nets[net[i]].tx_rank]);
    CSIM_FETCH(&x->ranks[x->nets[net[i]].rx_rank]);
  }
}

void exec_look_ahead(void *owner, const CsimForeseen *events, guint n) {
  const CsimExec *x = owner;
  uint32_t lanes[CSIM_AHEAD_MOST], nets[CSIM_AHEAD_MOST];
  guint n_lanes = 0, n_nets = 0;
  for (guint i = 0; i < n; i++) {
    if (events[i].kind == EV_LANE_FLOW) lanes[n_lanes++] = events[i].entity;
    else if (events[i].kind <= EV_NET_ARRIVE) nets[n_nets++] = events[i].entity;
  }
  ahead_of_lanes(x, lanes, n_lanes);
  ahead_of_nets(x, nets, n_nets);
}
