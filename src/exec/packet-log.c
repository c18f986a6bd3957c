/* exec/packet-log.c - reads the packet network's counters after a call, and its ports during one. */
#include "exec/packets-private.h"

#define FIRST_STEP CSIM_US
#define MAX_WATCHED 2048 /* ports that are looked at; the log keeps the worst of them */

struct Sampler {
  guint n_ports, n, room; /* samples taken, and that fit */
  guint *port;
  CsimPacketSample *samples; /* [port][room] */
  CsimBytes *tx;             /* at the last sample */
  CsimTime *paused;
  CsimTime step;
};

/* --- during the call ----------------------------------------------------------------------------------------------- */

/* All ports, or those on the connections' ways if there are too many. */
static void choose_ports(Sampler *s, const Packets *p) {
  guint all = csim_pkt_n_ports(p->net);
  g_autofree gboolean *on = g_new0(gboolean, all);
  for (guint i = 0; i < p->strands->len; i++) {
    const guint16 *path;
    guint n = csim_pkt_qp_path(p->net, g_array_index(p->strands, Strand, i).qp, &path);
    for (guint k = 0; k < n; k++) on[path[k]] = TRUE;
  }
  s->port = g_new(guint, MIN(all, MAX_WATCHED));
  for (guint i = 0; i < all && s->n_ports < MAX_WATCHED; i++)
    if (all <= MAX_WATCHED || on[i]) s->port[s->n_ports++] = i;
}

static Sampler *sampler_new(const Packets *p) {
  Sampler *s = g_new0(Sampler, 1);
  choose_ports(s, p);
  s->room = 2 * CSIM_PACKET_MAX_SAMPLES;
  s->step = FIRST_STEP;
  s->samples = g_new(CsimPacketSample, (gsize)s->n_ports * s->room);
  s->tx = g_new0(CsimBytes, s->n_ports);
  s->paused = g_new0(CsimTime, s->n_ports);
  return s;
}

void exec_sampler_free(Sampler *s) {
  if (!s) return;
  g_free(s->port);
  g_free(s->samples);
  g_free(s->tx);
  g_free(s->paused);
  g_free(s);
}

static CsimPacketSample *row(const Sampler *s, guint i) { return s->samples + (gsize)i * s->room; }

static void take_sample(Sampler *s, CsimPktNet *net) {
  double seconds = (double)s->step * 1e-12;
  for (guint i = 0; i < s->n_ports; i++) {
    CsimPktPortStats now = csim_pkt_port_stats(net, s->port[i]);
    row(s, i)[s->n] = (CsimPacketSample){(float)now.queue, (float)((double)(now.tx_bytes - s->tx[i]) / seconds),
                                         (float)((double)(now.paused - s->paused[i]) / (double)s->step)};
    s->tx[i] = now.tx_bytes;
    s->paused[i] = now.paused;
  }
  s->n++;
}

/* Every two samples become one. */
static void halve(Sampler *s) {
  s->n /= 2;
  s->step *= 2;
  for (guint i = 0; i < s->n_ports; i++)
    for (guint k = 0; k < s->n; k++) {
      const CsimPacketSample *a = row(s, i) + 2 * k, *b = a + 1;
      row(s, i)[k] = (CsimPacketSample){MAX(a->queue, b->queue), (a->rate + b->rate) / 2, (a->paused + b->paused) / 2};
    }
}

CsimEnd exec_packets_run_sampled(CsimExec *x) {
  Sampler *s = x->packets->sampler = sampler_new(x->packets);
  CsimTime at = 0;
  for (;;) {
    CsimEnd end = csim_engine_run(x->engine, at + s->step, 0);
    if (end != CSIM_END_TIME) return end;
    take_sample(s, x->packets->net);
    at += s->step;
    if (s->n == s->room) halve(s);
  }
}

/* --- after it --------------------------------------------------------------------------------------------------------- */

static void free_port(gpointer port) { g_free(((CsimPacketPort *)port)->name); }
static void free_flow(gpointer flow) { g_free(((CsimPacketFlow *)flow)->name); }
static void free_series(gpointer series) { g_free(((CsimPacketSeries *)series)->samples); }

static GArray *array_of(guint size, GDestroyNotify clear) {
  GArray *array = g_array_new(FALSE, TRUE, size);
  g_array_set_clear_func(array, clear);
  return array;
}

CsimPacketLog *csim_packet_log_ref(CsimPacketLog *log) {
  g_atomic_int_inc(&log->refs);
  return log;
}

void csim_packet_log_unref(CsimPacketLog *log) {
  if (!log || !g_atomic_int_dec_and_test(&log->refs)) return;
  g_array_unref(log->ports);
  g_array_unref(log->flows);
  g_array_unref(log->series);
  g_free(log);
}

static void add_port(CsimPacketLog *log, CsimPktNet *net, guint i) {
  CsimPacketPort port = {.stats = csim_pkt_port_stats(net, i), .arrived_dropped = csim_pkt_port_stats(net, i ^ 1).dropped};
  if (port.stats.tx_packets == 0) return;
  port.name = csim_pkt_port_name(net, i);
  port.number = i;
  port.busy = log->duration > 0 ? (double)port.stats.tx_bytes / (double)port.stats.rate * 1e12 / (double)log->duration : 0;
  log->totals.hops += port.stats.tx_packets;
  log->totals.marked += port.stats.marked;
  log->totals.pauses += port.stats.pauses_sent;
  log->totals.dropped += port.arrived_dropped + port.stats.storm_drops;
  log->totals.storms += port.stats.storms;
  log->totals.lost += port.stats.lost;
  log->totals.paused += port.stats.paused;
  g_array_append_val(log->ports, port);
}

static void add_flow(CsimPacketLog *log, const CsimExec *x, guint i) {
  const Strand *s = &g_array_index(x->packets->strands, Strand, i);
  guint qp = s->qp;
  CsimPacketFlow flow = {.stats = csim_pkt_qp_stats(x->packets->net, qp)};
  if (flow.stats.packets == 0) return;
  const Conn *c = &x->conns[x->nets[s->end].conn];
  flow.name = csim_pkt_qp_name(x->packets->net, qp);
  flow.from = (int)x->lanes[c->tx_lane].rank;
  flow.to = (int)x->lanes[c->rx_lane].rank;
  flow.channel = x->lanes[c->tx_lane].channel;
  log->totals.packets += flow.stats.packets;
  log->totals.resent += flow.stats.resent;
  log->totals.cnps += flow.stats.cnps;
  log->totals.naks += flow.stats.naks;
  log->totals.timeouts += flow.stats.timeouts;
  log->totals.out_of_order += flow.stats.out_of_order;
  g_array_append_val(log->flows, flow);
}

/* Drops, then time paused, then queue, then bytes; equal ones in order of ports. */
static gint by_trouble(gconstpointer a, gconstpointer b) {
  const CsimPacketPort *p = a, *q = b;
#define BIGGER(x, y) \
  if ((x) != (y)) return (x) > (y) ? -1 : 1
  BIGGER(p->arrived_dropped, q->arrived_dropped);
  BIGGER(p->stats.paused, q->stats.paused);
  BIGGER(p->stats.max_queue, q->stats.max_queue);
  BIGGER(p->stats.tx_bytes, q->stats.tx_bytes);
  BIGGER(q->number, p->number);
  return 0;
}

static void add_series(CsimPacketLog *log, const Sampler *s) {
  for (guint i = 0; i < log->ports->len && log->series->len < CSIM_PACKET_MAX_SERIES; i++) {
    guint number = g_array_index(log->ports, CsimPacketPort, i).number;
    for (guint k = 0; k < s->n_ports; k++) {
      if (s->port[k] != number) continue;
      CsimPacketSeries series = {i, g_memdup2(row(s, k), s->n * sizeof(CsimPacketSample))};
      g_array_append_val(log->series, series);
      break;
    }
  }
  log->n_samples = s->n;
  log->step = s->step;
}

CsimPacketLog *exec_packets_log(CsimExec *x) {
  CsimPacketLog *log = g_new0(CsimPacketLog, 1);
  log->refs = 1;
  for (uint32_t i = 0; i < x->n_lanes; i++) log->duration = MAX(log->duration, x->lanes[i].free);
  log->ports = array_of(sizeof(CsimPacketPort), free_port);
  log->flows = array_of(sizeof(CsimPacketFlow), free_flow);
  log->series = array_of(sizeof(CsimPacketSeries), free_series);
  for (guint i = 0; i < csim_pkt_n_ports(x->packets->net); i++) add_port(log, x->packets->net, i);
  for (guint i = 0; i < x->packets->strands->len; i++) add_flow(log, x, i);
  g_array_sort(log->ports, by_trouble);
  if (x->packets->sampler) add_series(log, x->packets->sampler);
  return log;
}
