/*
 * models/pkt/credit.c - InfiniBand's credits per virtual lane.
 *
 * A port holds the credits for the buffer at the other end, in blocks of 64 bytes. Credits that come back
 * wait in a ring with their date of arrival and are counted when somebody asks; only a lane that waits for
 * one costs an event. The flow-control packets' own link time is left out (8 bytes each).
 */
#include "models/pkt/pkt-private.h"

static int blocks_of(int frame) {
  return (frame + CSIM_PKT_IB_BLOCK - 1) / CSIM_PKT_IB_BLOCK;
}

static void take_arrived(Class *lane, CsimTime now) {
  while (lane->ring_n && lane->ring[lane->ring_head].at <= now) {
    lane->credits += lane->ring[lane->ring_head].blocks;
    lane->ring_head = (lane->ring_head + 1) & (lane->ring_size - 1);
    lane->ring_n--;
  }
}

static void wake_at(CsimPktNet *net, Port *port, guint class, CsimTime at) {
  port->class[class].credit_wake = TRUE;
  csim_engine_at(net->engine, at, net->on_credit, (uint16_t) class, (uint32_t)(port - net->ports), 0);
}

gboolean pkt_has_credit(CsimPktNet *net, Port *port, guint class, int frame) {
  Class *lane = &port->class[class];
  if (lane->credits >= blocks_of(frame)) return TRUE;
  take_arrived(lane, csim_engine_now(net->engine));
  if (lane->credits >= blocks_of(frame)) return TRUE;
  lane->starved = TRUE;
  if (lane->ring_n && !lane->credit_wake) wake_at(net, port, class, lane->ring[lane->ring_head].at);
  return FALSE;
}

void pkt_take_credit(Port *port, guint class, int frame) {
  port->class[class].credits -= blocks_of(frame);
  g_assert(port->class[class].credits >= 0);
}

/* Sizes are powers of two. */
static void grow_ring(CsimPktNet *net, Class *lane) {
  guint size = MAX(16, 2 * lane->ring_size);
  Credit *ring = g_new(Credit, size);
  for (guint i = 0; i < lane->ring_n; i++)
    ring[i] = lane->ring[(lane->ring_head + i) & (lane->ring_size - 1)];
  g_free(lane->ring);
  lane->ring = ring;
  lane->ring_size = size;
  lane->ring_head = 0;
  net->system_allocs++;
}

static void give_blocks(CsimPktNet *net, Port *in, guint class, int blocks, CsimTime at) {
  Port *port = &net->ports[in->peer];
  Class *lane = &port->class[class];
  CsimTime arrival = at + net->spec.credit_turnaround + in->delay;
  if (lane->ring_n == lane->ring_size) take_arrived(lane, csim_engine_now(net->engine));
  if (lane->ring_n == lane->ring_size) grow_ring(net, lane);
  lane->ring[(lane->ring_head + lane->ring_n++) & (lane->ring_size - 1)] =
      (Credit){arrival, blocks};
  if (lane->starved && !lane->credit_wake) wake_at(net, port, class, arrival);
}

void pkt_give_credit(CsimPktNet *net, Port *in, guint class, int frame, CsimTime at) { give_blocks(net, in, class, blocks_of(frame), at); }

void pkt_withhold_credit(Port *in, guint class, int frame) { in->class[class].withheld += blocks_of(frame); }

void pkt_give_withheld(CsimPktNet *net, Port *in) {
  for (guint c = 0; c < CSIM_PKT_CLASSES; c++) {
    if (in->class[c].withheld > 0) give_blocks(net, in, c, in->class[c].withheld, csim_engine_now(net->engine));
    in->class[c].withheld = 0;
  }
}

void pkt_on_credit(CsimEngine *engine, void *owner, const CsimEvent *event) {
  CsimPktNet *net = owner;
  Port *port = &net->ports[event->entity];
  port->class[event->kind].credit_wake = FALSE;
  port->class[event->kind].starved = FALSE;
  pkt_kick(net, port);
}
