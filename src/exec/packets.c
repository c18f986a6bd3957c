/*
 * exec/packets.c - the network of a call at packet fidelity.
 *
 * A network connection has NCCL_IB_QPS_PER_CONNECTION queue pairs beside its Net; message k goes over number k mod n of them, or with
 * NCCL_IB_SPLIT_DATA_ON_QPS is cut over all (NCCL 2.30, src/transport/net_ib). Where routing uses several planes at once each queue pair has a
 * strand on every plane, and what goes over it is cut over them. A message that the proxy has posted (net.c) does two things at once:
 *  - its packets go through the packet network, in order behind the earlier ones of their queue pair;
 *  - the adapters' DMA moves its bytes inside the two nodes: a fluid flow over what Net.links has left, no faster than the adapter,
 *    one message of a connection at a time. No links left: no flow.
 * Where a queue pair waits for acknowledgements (build.c: ack_time), its next packets follow a round trip after the last ones.
 * It has arrived when both are done, and what was posted before it has arrived. The sender's slot is free when the last packet's acknowledgement is back.
 * Sockets (sockets.c) are queue pairs that take pieces in turn.
 * An adapter whose two ends are one (loopback) stays with the fluid flow.
 */
#include "base/units.h"
#include "exec/packets-private.h"

CsimPacketOptions csim_exec_packet_options(const CsimNcclEnv *env, uint64_t seed) {
  return (CsimPacketOptions){.seed = seed,
                             .timeout = (int)csim_nccl_env_int(env, "NCCL_IB_TIMEOUT", 20),
                             .retry_count = (int)csim_nccl_env_int(env, "NCCL_IB_RETRY_CNT", 7),
                             .traffic_class = (int)csim_nccl_env_int(env, "NCCL_IB_TC", -1)};
}

gboolean exec_packets_new(CsimExec *x, GError **error) {
  CsimPacketOptions options = csim_exec_packet_options(x->spec.env, x->spec.seed);
  options.unpaced = exec_is_unpaced(x);
  CsimPacketFabric *fabric = csim_packet_fabric_new(x->spec.machine, x->engine, &options, error);
  if (!fabric) return FALSE;
  x->packets = g_new0(Packets, 1);
  x->packets->fabric = fabric;
  x->packets->net = csim_packet_fabric_net(fabric);
  x->packets->ends = g_array_new(FALSE, TRUE, sizeof(End));
  x->packets->strands = g_array_new(FALSE, TRUE, sizeof(Strand));
  return TRUE;
}

CsimPacketFabric *exec_packets_fabric(const CsimExec *x) { return x->packets->fabric; }

void exec_packets_free(Packets *packets) {
  if (!packets) return;
  exec_sampler_free(packets->sampler);
  g_clear_pointer(&packets->stuck, g_array_unref);
  csim_packet_fabric_free(packets->fabric);
  g_array_unref(packets->ends);
  g_array_unref(packets->strands);
  g_free(packets);
}

static void stick(CsimExec *x) {
  Packets *p = x->packets;
  p->stuck = csim_packet_fabric_stuck(p->fabric);
  for (guint i = 0; i < p->stuck->len; i++) {
    const CsimPacketStuck *s = &g_array_index(p->stuck, CsimPacketStuck, i);
    csim_engine_at(x->engine, s->from, x->handler, EV_PKT_STUCK, i, TRUE);
    if (s->until != CSIM_TIME_NEVER) csim_engine_at(x->engine, s->until, x->handler, EV_PKT_STUCK, i, FALSE);
  }
}

/* Nothing is left to run: who is stuck for ever must not keep the network going. */
void exec_packets_finish(CsimExec *x) {
  for (guint i = 0; i < x->packets->stuck->len; i++)
    csim_pkt_host_stop(x->packets->net, g_array_index(x->packets->stuck, CsimPacketStuck, i).host, FALSE);
}

static void on_stuck(CsimExec *x, uint32_t i, gboolean on) {
  if (x->ranks_done < x->n_ranks) csim_pkt_host_stop(x->packets->net, g_array_index(x->packets->stuck, CsimPacketStuck, i).host, on);
}

CsimEnd exec_packets_run(CsimExec *x) {
  stick(x);
  return x->spec.packet_series ? exec_packets_run_sampled(x) : csim_engine_run(x->engine, CSIM_TIME_NEVER, 0);
}

void exec_packets_take_log(CsimExec *x) {
  g_clear_pointer(&x->packet_log, csim_packet_log_unref);
  if (x->packets) x->packet_log = exec_packets_log(x);
}

CsimPacketLog *csim_exec_packets(const CsimExec *exec) { return exec->packet_log; }

static Strand *strand_at(const CsimExec *x, uint32_t i) { return &g_array_index(x->packets->strands, Strand, i); }

static gboolean add_strands(CsimExec *x, End *end, CsimNicRef from, CsimNicRef to, uint32_t hash, GError **error) {
  Packets *p = x->packets;
  guint qps[CSIM_PACKET_MAX_PLANES], n = csim_packet_fabric_qps(p->fabric, from, to, hash, qps, error);
  for (guint i = 0; i < n; i++) {
    Strand strand = {.end = p->ends->len, .qp = qps[i]};
    csim_pkt_watch(p->net, qps[i], x->handler, EV_PKT_LANDED, p->strands->len);
    g_array_append_val(p->strands, strand);
  }
  end->planes = (uint16_t)n;
  end->n_qps++;
  return n > 0;
}

gboolean exec_packets_connect(CsimExec *x, CsimNicRef from, CsimNicRef to, uint32_t conn, CsimTime near, CsimTime far, GError **error) {
  CsimTime endpoint = x->net_model.endpoint;
  End end = {.first_strand = x->packets->strands->len, .line = csim_machine_nic_line(x->spec.machine, from), .near = near + endpoint, .far = far + endpoint};
  uint32_t n = from.node == to.node && from.local == to.local ? 0 : exec_streams(x);
  for (uint32_t qp = 0; qp < n; qp++)
    if (!add_strands(x, &end, from, to, exec_qp_hash(x, conn, qp), error)) return FALSE;
  g_array_append_val(x->packets->ends, end);
  return TRUE;
}

void exec_packets_skip(CsimExec *x) {
  End none = {0};
  g_array_append_val(x->packets->ends, none);
}

static gboolean is_network(const CsimExec *x, const CsimFlowLink *link) {
  uint32_t id = g_array_index(x->machine_of, uint32_t, link->link);
  CsimResKind kind = csim_machine_link(x->spec.machine, id).kind;
  return kind == CSIM_RES_NIC_OUT || kind == CSIM_RES_NIC_IN || kind == CSIM_RES_FABRIC;
}

static uint16_t strip(CsimExec *x, uint32_t first, uint16_t n) {
  CsimFlowLink *links = (CsimFlowLink *)(void *)x->links->data + first;
  uint16_t kept = 0;
  for (uint16_t k = 0; k < n; k++)
    if (!is_network(x, &links[k])) links[kept++] = links[k];
  return kept;
}

void exec_packets_strip(CsimExec *x) {
  for (uint32_t i = 0; i < x->n_nets; i++) {
    Net *n = &x->nets[i];
    if (!n->collnet && g_array_index(x->packets->ends, End, i).n_qps == 0) continue;
    n->n_links = strip(x, n->links, n->n_links);
    n->n_back_links = strip(x, n->back_links, n->n_back_links);
  }
}

/* The receiver's proxy may look for a message when its bytes are through the network and through both nodes. */
static void take_arrivals(CsimExec *x, uint32_t index, End *e) {
  const Net *n = &x->nets[index];
  for (; e->arrived < MIN(e->legs, e->delivered); e->arrived++) {
    CsimTime legs = e->leg_end[e->arrived % SLOTS] + n->latency, packets = e->landed[e->arrived % SLOTS] + e->far;
    csim_engine_at(x->engine, MAX(MAX(legs, packets), csim_engine_now(x->engine)), x->handler, EV_NET_ARRIVE, index, 0);
  }
}

/* Sockets: the message has been taken when the rest of it is in the send buffer, and no acknowledgement is waited for. */
static void free_slots(CsimExec *x, uint32_t index, End *e) {
  Conn *c = &x->conns[x->nets[index].conn];
  for (; e->freed < MIN(e->legs, e->acked); e->freed++) {
    CsimTime seen = MAX(e->leg_end[e->freed % SLOTS], e->ack[e->freed % SLOTS]) + (exec_has_sockets(x) ? 0 : x->net_model.endpoint);
    x->slots[exec_slot(x, c, c->credits)].credit = seen + x->net_model.p2g;
    c->credits++;
    exec_poke(x, c->tx_lane);
  }
}

static void next_leg(CsimExec *x, uint32_t index, End *e);

static void leg_done(CsimExec *x, uint32_t index, End *e, CsimTime now) {
  Net *n = &x->nets[index];
  e->leg_end[e->legs++ % SLOTS] = now;
  n->wire++;
  n->flowing = FALSE;
  take_arrivals(x, index, e);
  free_slots(x, index, e);
  next_leg(x, index, e);
}

static void next_leg(CsimExec *x, uint32_t index, End *e) {
  Net *n = &x->nets[index];
  if (n->flowing || n->wire == n->sent) return;
  if (n->n_links == 0) {
    leg_done(x, index, e, csim_engine_now(x->engine));
    return;
  }
  n->flowing = TRUE;
  const CsimFlowLink *links = &g_array_index(x->links, CsimFlowLink, n->links);
  CsimBytes bytes = n->bytes[n->wire % SLOTS];
  csim_fluid_start_at(x->fluid, 0, &n->flow_hint, links, n->n_links, bytes, n->cap, x->handler, EV_PKT_LEG, index, 0);
}

/* Does the queue pair wait for the acknowledgement of its part k (build.c: ack_time)? */
static gboolean waits_after(const CsimExec *x, const Strand *s, uint32_t k) {
  const Net *n = &x->nets[s->end];
  return n->ack > 0 && s->bytes[k % SLOTS] > n->ack_above;
}

/* From a part's start until the next may follow, with nobody in the way: as for a flow, at the queue pair's rate and a round trip. */
static CsimTime alone(const CsimExec *x, const Strand *s, CsimBytes bytes) {
  return csim_rate_time(x->net_model.stream_rate, bytes) + 2 * x->nets[s->end].latency;
}

/* What has been given to the queue pair and need not wait. */
static void send_given(CsimExec *x, const End *e, uint32_t strand) {
  Strand *s = strand_at(x, strand);
  while (s->sent < s->given && (s->sent == s->acked || !waits_after(x, s, s->sent - 1))) {
    CsimTime at = MAX(csim_engine_now(x->engine) + e->near, s->free);
    CsimBytes bytes = s->bytes[s->sent % SLOTS];
    if (waits_after(x, s, s->sent++)) s->free = at + alone(x, s, bytes);
    csim_pkt_send_at(x->packets->net, at, s->qp, bytes, x->handler, EV_PKT_ACKED, strand, 0);
  }
}

static void send_piece(CsimExec *x, End *e, uint32_t strand, CsimBytes bytes) {
  Strand *s = strand_at(x, strand);
  s->message[s->given % SLOTS] = e->posted;
  s->bytes[s->given++ % SLOTS] = bytes;
  e->to_land[e->posted % SLOTS]++;
  e->to_ack[e->posted % SLOTS]++;
  send_given(x, e, strand);
}

/* Whole packets go to every plane in turn, beginning with another one for each message. */
static void send_on_qp(CsimExec *x, End *e, uint32_t qp, CsimBytes bytes) {
  uint32_t first = e->first_strand + qp * e->planes;
  int mtu = csim_pkt_mtu(x->packets->net);
  CsimBytes packets = csim_pkt_message_packets(bytes, mtu), sent = 0;
  for (uint32_t i = 0; i < e->planes; i++) {
    CsimBytes share = packets / e->planes + (i < packets % e->planes);
    if (share == 0) return;
    CsimBytes part = MIN(share * mtu, bytes - sent);
    send_piece(x, e, first + (e->posted + i) % e->planes, part);
    sent += part;
  }
}

/* Pieces go to the sockets in turn, beginning where the message before left off. */
static void send_on_sockets(CsimExec *x, End *e, CsimBytes bytes) {
  CsimBytes piece = exec_socket_piece(x, bytes), sent = 0;
  do {
    CsimBytes part = MIN(piece, bytes - sent);
    send_piece(x, e, e->first_strand + e->turn, part);
    e->turn = (e->turn + 1) % e->n_qps;
    sent += part;
  } while (sent < bytes);
}

gboolean exec_packets_send(CsimExec *x, uint32_t index) {
  End *e = &g_array_index(x->packets->ends, End, index);
  const Net *n = &x->nets[index];
  if (e->n_qps == 0) return FALSE;
  CsimBytes bytes = n->bytes[(n->sent - 1) % SLOTS];
  if (exec_has_sockets(x)) send_on_sockets(x, e, bytes);
  else if (!x->qp_split) send_on_qp(x, e, e->posted % e->n_qps, bytes);
  else
    for (uint32_t qp = 0; qp < e->n_qps; qp++) send_on_qp(x, e, qp, exec_qp_piece(bytes, e->n_qps, qp));
  e->posted++;
  next_leg(x, index, e);
  return TRUE;
}

/* A queue pair's own pace stretches its last packet as well, which the packet network sends at the adapter's rate. */
static CsimTime last_packet(const CsimExec *x, const End *e, CsimBytes bytes) {
  CsimRate rate = x->net_model.stream_rate;
  int mtu = csim_pkt_mtu(x->packets->net);
  CsimBytes last = bytes - (csim_pkt_message_packets(bytes, mtu) - 1) * mtu;
  if (exec_is_unpaced(x) || rate <= 0 || rate >= e->line) return 0;
  return csim_rate_time(rate, last) - csim_rate_time(e->line, last);
}

static void on_landed(CsimExec *x, uint32_t strand, CsimTime now) {
  Strand *s = strand_at(x, strand);
  End *e = &g_array_index(x->packets->ends, End, s->end);
  uint32_t part = s->landed++ % SLOTS, slot = s->message[part] % SLOTS;
  e->landed[slot] = MAX(e->landed[slot], now + last_packet(x, e, s->bytes[part]));
  e->to_land[slot]--;
  while (e->delivered < e->posted && e->to_land[e->delivered % SLOTS] == 0) e->delivered++;
  take_arrivals(x, s->end, e);
}

static void on_acked(CsimExec *x, uint32_t strand, CsimTime now) {
  Strand *s = strand_at(x, strand);
  End *e = &g_array_index(x->packets->ends, End, s->end);
  /* The round trip begins and ends in the two memories, the packets' at the adapters. */
  if (waits_after(x, s, s->acked)) s->free = MAX(s->free, now + 2 * (e->near + e->far));
  uint32_t slot = s->message[s->acked++ % SLOTS] % SLOTS;
  e->ack[slot] = now;
  e->to_ack[slot]--;
  while (e->acked < e->posted && e->to_ack[e->acked % SLOTS] == 0) e->acked++;
  send_given(x, e, strand);
  free_slots(x, s->end, e);
}

void exec_packets_event(CsimExec *x, const CsimEvent *event) {
  switch (event->kind) {
  case EV_PKT_LEG: leg_done(x, event->entity, &g_array_index(x->packets->ends, End, event->entity), event->time); break;
  case EV_PKT_LANDED: on_landed(x, event->entity, event->time); break;
  case EV_PKT_STUCK: on_stuck(x, event->entity, event->arg != 0); break;
  case EV_PKT_ACKED: on_acked(x, event->entity, event->time); break;
  default: g_assert_not_reached();
  }
}

/* "; leaf0 dropped 12 frames that came from node1/nic0", or "". */
static char *worst_drops(CsimPktNet *net) {
  guint worst = 0;
  uint64_t most = 0;
  for (guint i = 0; i < csim_pkt_n_ports(net); i++) {
    uint64_t dropped = csim_pkt_port_stats(net, i).dropped;
    if (dropped <= most) continue;
    most = dropped;
    worst = i;
  }
  if (most == 0) return g_strdup("");
  g_autofree char *name = csim_pkt_port_name(net, worst);
  return g_strdup_printf("; most frames, %" G_GUINT64_FORMAT ", were dropped on arriving at the end of %s", most, name);
}

/* "; longest paused: leaf1 -> node3/nic0", or "". */
static char *worst_pause(CsimPktNet *net) {
  guint worst = 0;
  CsimTime most = 0;
  for (guint i = 0; i < csim_pkt_n_ports(net); i++) {
    CsimTime paused = csim_pkt_port_stats(net, i).paused;
    if (paused > most) worst = i;
    most = MAX(most, paused);
  }
  g_autofree char *name = csim_pkt_port_name(net, worst);
  return most == 0 ? g_strdup("") : g_strdup_printf("; longest paused: %s", name);
}

gboolean exec_packets_check(CsimExec *x, GError **error) {
  CsimPktNet *net = x->packets->net;
  if (csim_pkt_deadlock(net)) {
    csim_error_set(error, CSIM_ERROR_ROUTE, CSIM_LOC_NONE, "the network is in a deadlock: %s", csim_pkt_deadlock(net));
    return FALSE;
  }
  for (guint i = 0; i < x->packets->strands->len; i++) {
    guint qp = strand_at(x, i)->qp;
    if (!*csim_pkt_qp_error(net, qp)) continue;
    CsimPktQpStats stats = csim_pkt_qp_stats(net, qp);
    g_autofree char *name = csim_pkt_qp_name(net, qp);
    g_autofree char *where = worst_drops(net), *paused = worst_pause(net);
    csim_error_set(error, CSIM_ERROR_ROUTE, CSIM_LOC_NONE, "%s, %s %u: %s after %" G_GUINT64_FORMAT " time-outs%s%s", name, csim_net_has_queue_pairs(&x->net_model) ? "queue pair" : "connection", qp,
                   csim_pkt_qp_error(net, qp), stats.timeouts, where, paused);
    return FALSE;
  }
  return csim_pkt_check(net, error);
}
