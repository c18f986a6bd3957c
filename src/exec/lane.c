/*
 * exec/lane.c - the life of a lane: next operation, wait, move, hand on.
 */
#include "base/rng.h"
#include "exec/exec-private.h"

#define ELEMS_PER_PACK 16 /* slices are cut at multiples of 16 elements (NCCL 2.30, device/prims_simple.h) */
#define RNG_OVERHEAD 1 /* purpose of the draws of this file */
#define MIN_SLICE_SHARE 32 /* no slice below 1/32 of its slots (same place) */

/* The connections that the lane's primitive uses: how many, and their indices. */
static guint recvs(const CsimExec *x, const Lane *l, const uint32_t **conns) {
  *conns = exec_lane_conns(x, &l->rx, l->n_rx);
  return l->n_rx;
}
static guint sends(const CsimExec *x, const Lane *l, const uint32_t **conns) {
  *conns = exec_lane_conns(x, &l->tx, l->n_tx);
  return l->n_tx;
}

void exec_push_work(CsimExec *x, uint32_t lane) {
  if (x->state[lane] & LANE_QUEUED) return;
  x->state[lane] |= LANE_QUEUED;
  uint32_t tail = x->work_head + x->work_n++;
  x->work[tail >= x->n_lanes ? tail - x->n_lanes : tail] = lane;
}

static LaneState state_of(const CsimExec *x, const Lane *l) { return x->state[l - x->lanes] & ~LANE_QUEUED; }

static void set_state(CsimExec *x, const Lane *l, LaneState s) {
  uint8_t *state = &x->state[l - x->lanes];
  *state = (uint8_t)((*state & LANE_QUEUED) | s);
}

/* Uniform in [1 - jitter, 1 + jitter), the same for equivalent lanes of all ranks: keyed by channel, role and operation. */
double exec_jitter(CsimExec *x, const Lane *l) {
  double amplitude = x->costs[l->gpu].gpu->jitter;
  if (amplitude == 0) return 1;
  uint64_t entity = ((uint64_t)l->channel << 8) | l->role;
  uint64_t key = entity << 32 | (uint64_t)(l->ops + 1);
  Draw *d = &x->draws[(l->ops + entity * 151) % DRAWS]; /* entities are 256 apart: spread them over the table */
  if (d->key != key) {
    uint64_t draw = csim_rng_at(x->spec.seed, entity, RNG_OVERHEAD, l->ops);
    *d = (Draw){key, (double)(draw >> 11) * 0x1p-52 - 1};
  }
  return 1 + amplitude * d->unit;
}

/* --- next operation ------------------------------------------------------------------------------------------------ */

/* Of the n connections of a lane at *entry, those to `peer`: how many, and *first in entry's form. */
static uint16_t to_peer(const CsimExec *x, const uint32_t *entry, guint n, int peer, uint32_t *first) {
  uint16_t count = (uint16_t)csim_peer_count(peer, (int)n);
  *first = *entry;
  if (n > 1) *first += (uint32_t)csim_peer_begin(peer);
  if (n > 1 && count == 1) *first = g_array_index(x->lane_conns, uint32_t, *first);
  return count;
}

static void take_peers(const CsimExec *x, Lane *l, const CsimPrim *prim) {
  uint32_t rx, tx;
  uint16_t n_rx = to_peer(x, &l->recv, l->n_recv, prim->recv_peer, &rx), n_tx = to_peer(x, &l->send, l->n_send, prim->send_peer, &tx);
  if (prim->flags != l->flags || n_rx != l->n_rx || n_tx != l->n_tx || rx != l->rx || tx != l->tx) l->cost_bytes = -1;
  l->rx = rx;
  l->tx = tx;
  l->n_rx = n_rx;
  l->n_tx = n_tx;
  l->first_peer = prim->send_peer <= 0;
}

static void take_prim(const CsimExec *x, Lane *l, const CsimPrim *prim) {
  const CsimProtoShape *p = &x->proto;
  take_peers(x, l, prim);
  l->flags = prim->flags;
  l->more = prim->more;
  l->left = prim->bytes;
  if (x->choice.proto != CSIM_PROTO_SIMPLE) {
    l->slices = 1;
    l->slice = l->left;
    return;
  }
  CsimBytes elem = csim_plan_spec(x->plan)->elem_bytes;
  CsimBytes elems = (l->left + elem - 1) / elem;
  l->slices = (uint8_t)(p->chunk_steps / p->slice_steps);
  CsimBytes pack = ELEMS_PER_PACK * (CsimBytes)l->slices;
  CsimBytes even = (elems + pack - 1) / pack * ELEMS_PER_PACK * elem;
  l->slice = MAX(even, p->step * p->slice_steps / MIN_SLICE_SHARE);
}

static void begin_op(Lane *l) {
  l->bytes = MIN(l->left, l->slice);
  l->input = 0;
  l->ready = 0;
  l->waits_credit = 0;
}

/* The lane waits for the others of its block or rank; the last to come releases all. */
static void enter_barrier(CsimExec *x, Lane *l, gboolean kernel_end) {
  Group *g = kernel_end ? &x->ranks[l->rank].all : &x->blocks[l->block];
  set_state(x, l, LANE_BARRIER);
  g->time = MAX(g->time, l->free);
  if (++g->arrived < g->n_lanes) return;
  g->arrived = 0;
  for (uint32_t i = g->first_lane; i < g->first_lane + g->n_lanes; i++) {
    Lane *o = &x->lanes[i];
    CsimTime lag = kernel_end ? x->costs[o->gpu].start : 0;
    o->spent[SPENT_WAIT_DATA] += g->time - o->free;
    o->spent[SPENT_LAUNCH] += lag;
    o->free = g->time + lag;
    set_state(x, o, LANE_WAIT);
    exec_push_work(x, i);
  }
}

/* FALSE when there is none now: the kernel's work on this lane is done (LANE_DONE), or it stands at a barrier. */
static gboolean next_op(CsimExec *x, Lane *l) {
  while (l->slices == 0) {
    CsimPrim prim;
    if (!csim_plan_next(x->plan, &l->cursor, &prim)) {
      set_state(x, l, LANE_DONE);
      return FALSE;
    }
    if (prim.flags & (CSIM_PRIM_BATCH_END | CSIM_PRIM_KERNEL_END)) {
      enter_barrier(x, l, (prim.flags & CSIM_PRIM_KERNEL_END) != 0);
      return FALSE;
    }
    take_prim(x, l, &prim);
  }
  begin_op(l);
  return TRUE;
}

static void kernel_done(CsimExec *x, Lane *l) {
  Rank *r = &x->ranks[l->rank];
  r->kernel_end = MAX(r->kernel_end, l->free);
  if (--r->lanes_left > 0) return;
  x->period_end[r->iteration] += r->kernel_end * r->weight;
  if (++r->iteration == x->iterations) {
    if (++x->ranks_done == x->n_ranks && x->packets) exec_packets_finish(x);
    return;
  }
  r->kernel_start = r->kernel_end;
  r->lanes_left = r->all.n_lanes;
  for (uint32_t i = 0; i < r->all.n_lanes; i++) exec_lane_kernel(x, r->all.first_lane + i, r->kernel_start);
}

void exec_lane_kernel(CsimExec *x, uint32_t lane, CsimTime start) {
  Lane *l = &x->lanes[lane];
  const CsimCost *cost = &x->costs[l->gpu];
  CsimLane id = l->cursor.lane;
  csim_plan_start(x->plan, id, &l->cursor);
  CsimTime lag = cost->start + l->channel * cost->gpu->stagger + x->ranks[l->rank].hand_out;
  l->free = start + lag;
  l->spent[SPENT_LAUNCH] += lag;
  l->ops = 0;
  l->slices = 0;
  l->cost_bytes = -1;
  set_state(x, l, LANE_WAIT);
  l->input = NO_OP;
  exec_push_work(x, lane);
}

/* --- inputs -------------------------------------------------------------------------------------------------------- */

/* Goes on from the input that was missing last time; TRUE when all are known. */
static gboolean inputs_known(CsimExec *x, Lane *l) {
  const uint32_t *rx, *tx;
  guint n_recv = recvs(x, l, &rx), n_send = sends(x, l, &tx);
  for (; l->input < n_recv; l->input++) {
    const Conn *c = &x->conns[rx[l->input]];
    if (c->produced == c->consumed) return FALSE;
    CsimTime t = x->slots[exec_slot(x, c, c->consumed)].visible;
    if (t > l->ready) l->ready = t;
  }
  for (; l->input < n_recv + n_send; l->input++) {
    const Conn *c = &x->conns[tx[l->input - n_recv]];
    if (c->sent < x->cap) continue;
    uint32_t freed = c->sent - x->cap;
    if (c->credits <= freed) return FALSE;
    CsimTime t = x->slots[exec_slot(x, c, freed)].credit;
    if (t > l->ready) {
      l->ready = t;
      l->waits_credit = 1;
    }
  }
  return TRUE;
}

/* --- handing on ---------------------------------------------------------------------------------------------------- */

/* LL and LL128 cut through: the receiver may begin with the first line. */
static void publish_first_line(CsimExec *x, Lane *l, const CsimCost *cost) {
  const uint32_t *tx;
  guint n = sends(x, l, &tx);
  for (guint i = 0; i < n; i++) {
    Conn *c = &x->conns[tx[i]];
    if (c->net != NO_INDEX) continue;
    x->slots[exec_slot(x, c, c->produced)].visible = l->start + cost->ll->a + cost->lat + c->latency;
    c->produced++;
    c->sent++;
    exec_poke(x, c->rx_lane);
  }
}

static void give_credit(CsimExec *x, Lane *l, const CsimCost *cost, CsimTime end) {
  const uint32_t *rx;
  guint n = recvs(x, l, &rx);
  for (guint i = 0; i < n; i++) {
    Conn *c = &x->conns[rx[i]];
    if (x->pieces && !exec_pieces_take(x, c)) continue;
    c->consumed++;
    if (c->net != NO_INDEX) {
      exec_net_consumed(x, c->net, end);
      continue;
    }
    x->slots[exec_slot(x, c, c->credits)].credit = end + cost->gpu->credit + c->latency;
    c->credits++;
    exec_poke(x, c->tx_lane);
  }
}

static void give_data(CsimExec *x, Lane *l, const CsimCost *cost, CsimTime end) {
  const uint32_t *tx;
  guint n = sends(x, l, &tx);
  for (guint i = 0; i < n; i++) {
    Conn *c = &x->conns[tx[i]];
    CsimBytes bytes = l->bytes;
    if (x->pieces && !exec_pieces_put(x, c, i < l->more, &bytes)) continue;
    if (c->net != NO_INDEX) {
      c->sent++;
      exec_net_post(x, c->net, end, (CsimBytes)((double)bytes * (cost->ll ? cost->ll->wire_factor : 1)));
      continue;
    }
    if (cost->ll) {
      x->slots[exec_slot(x, c, c->finished)].full = end + cost->lat + c->latency;
    } else {
      CsimTime flag = c->kind == CSIM_CONN_SHM ? cost->gpu->host_flag : cost->gpu->flag;
      x->slots[exec_slot(x, c, c->produced)].visible = end + cost->gpu->simple.post + flag + c->latency;
      c->produced++;
      c->sent++;
    }
    c->finished++;
    exec_poke(x, c->rx_lane);
  }
}

/* --- one operation ------------------------------------------------------------------------------------------------- */

/* LL and LL128: the last line cannot be taken before the sender has written it. FALSE: not known yet. */
static gboolean last_line(CsimExec *x, const Lane *l, CsimTime *end) {
  const uint32_t *rx;
  guint n = recvs(x, l, &rx);
  for (guint i = 0; i < n; i++) {
    const Conn *c = &x->conns[rx[i]];
    if (c->net != NO_INDEX) continue; /* the proxy sends whole slots */
    if (c->finished == c->consumed) return FALSE;
    *end = MAX(*end, x->slots[exec_slot(x, c, c->consumed)].full);
  }
  return TRUE;
}

/* The data have moved by flow_end. FALSE: the lane must wait for its sender's last line. */
static gboolean finish_op(CsimExec *x, Lane *l, CsimTime flow_end) {
  const CsimCost *cost = &x->costs[l->gpu];
  CsimTime end = flow_end;
  if (cost->ll && !last_line(x, l, &end)) {
    l->flow_end = flow_end;
    set_state(x, l, LANE_DRAIN);
    return FALSE;
  }
  l->spent[SPENT_COPY] += l->duration;
  l->spent[SPENT_LINK] += flow_end - l->start - l->duration;
  l->spent[SPENT_WAIT_DATA] += end - flow_end;
  if (x->spec.trace) exec_trace_op(x, l, end);
  give_data(x, l, cost, end);
  give_credit(x, l, cost, end);
  l->free = end;
  l->left -= l->bytes;
  l->slices--;
  l->ops++;
  set_state(x, l, LANE_WAIT);
  l->input = NO_OP;
  return TRUE;
}

static gboolean shares_block(const Lane *l) { return l->sm_link != NO_INDEX && l->sm_ps > 0; }

/* What the operation crosses that serves others too. */
static PathKind path_kind(const CsimExec *x, const Lane *l) {
  const uint32_t *rx, *tx;
  guint n_recv = recvs(x, l, &rx), n_send = sends(x, l, &tx);
  gboolean sends_over = FALSE, reads_over = FALSE;
  for (guint i = 0; i < n_send; i++) sends_over |= x->conns[tx[i]].n_tx_links > 0;
  for (guint i = 0; i < n_recv; i++) reads_over |= x->conns[rx[i]].n_rx_links > 0;
  if (reads_over || shares_block(l)) return PATH_SUM;
  return !sends_over ? PATH_NONE : n_send == 1 ? PATH_OF_CONN : PATH_SUM;
}

/* Once the operation's sm_ps is known. */
static void take_path(const CsimExec *x, Lane *l) {
  const uint32_t *tx;
  sends(x, l, &tx);
  l->path_kind = (uint8_t)path_kind(x, l);
  if (l->path_kind != PATH_OF_CONN) return;
  l->path = x->conns[tx[0]].tx_links;
  l->n_path = x->conns[tx[0]].n_tx_links;
}

/* Adds n links to buf, the weights of equal ones together. */
static guint add_links(CsimFlowLink *buf, guint have, const CsimFlowLink *links, guint n) {
  for (guint i = 0; i < n; i++) {
    guint k = 0;
    while (k < have && buf[k].link != links[i].link) k++;
    if (k < have) buf[k].weight += links[i].weight;
    else buf[have++] = links[i];
  }
  g_assert(have <= CSIM_FLUID_MAX_LINKS);
  return have;
}

/* Links that the operation's bytes cross: *links points into the pool where that serves, else at buf. */
static guint op_links(const CsimExec *x, const Lane *l, CsimFlowLink *buf, const CsimFlowLink **links) {
  const CsimFlowLink *pool = (const CsimFlowLink *)(void *)x->links->data;
  const uint32_t *rx, *tx;
  guint n_recv = recvs(x, l, &rx), n_send = sends(x, l, &tx), n = 0;
  *links = pool + l->path;
  if (l->path_kind == PATH_OF_CONN) return l->n_path;
  *links = buf;
  for (guint i = 0; i < n_send; i++) {
    const Conn *c = &x->conns[tx[i]];
    n = add_links(buf, n, pool + c->tx_links, c->n_tx_links);
  }
  for (guint i = 0; i < n_recv; i++) {
    const Conn *c = &x->conns[rx[i]];
    n = add_links(buf, n, pool + c->rx_links, c->n_rx_links);
  }
  if (shares_block(l)) buf[n++] = (CsimFlowLink){l->sm_link, l->sm_ps};
  return n;
}

static void op_shape(CsimExec *x, const Lane *l, CsimOp4Cost *op) {
  const uint32_t *rx, *tx;
  guint n_recv = recvs(x, l, &rx), n_send = sends(x, l, &tx);
  gboolean src = (l->flags & CSIM_PRIM_SRC) != 0, dst = (l->flags & CSIM_PRIM_DST) != 0;
  *op = (CsimOp4Cost){.role = l->role, .n_sources = (int)n_recv + src, .n_local = dst, .reads_user = src,
                      .peers_in = (int)n_recv, .peers_out = (int)n_send,
                      .receives_only = !src && n_send == 0, .group = MAX(1, MAX(l->n_recv, l->n_send)), .first_of_group = l->first_peer,
                      .pairs = (int)x->blocks[l->block].n_lanes / 2, .part = (l->flags & CSIM_PRIM_PART) != 0, .bytes = l->bytes};
  for (guint i = 0; i < n_recv; i++) op->from_host |= x->conns[rx[i]].kind == CSIM_CONN_SHM;
  for (guint i = 0; i < n_send; i++) {
    /* A network buffer lies in the GPU's own memory unless the kernel's stores leave the GPU (host staging, PXN). */
    const Conn *c = &x->conns[tx[i]];
    if (c->net != NO_INDEX && c->n_tx_links == 0) op->n_local++;
    else op->n_remote++;
  }
}

/* Flags and data of LL and LL128 cross links together. */
static CsimBytes wire_bytes(const CsimCost *cost, CsimBytes bytes) {
  return cost->ll ? (CsimBytes)((double)bytes * cost->ll->wire_factor) : bytes;
}

static void start_flow(CsimExec *x, uint32_t lane, Lane *l) {
  CsimFlowLink buf[CSIM_FLUID_MAX_LINKS];
  const CsimFlowLink *links;
  guint n = op_links(x, l, buf, &links);
  set_state(x, l, LANE_FLOWING);
  CsimBytes bytes = wire_bytes(&x->costs[l->gpu], l->bytes);
  csim_fluid_start_at(x->fluid, l->start, &l->flow_hint, links, n, bytes, l->cap, x->handler, EV_LANE_FLOW, lane, 0);
}

/* Most operations are like the one before them. */
static void take_cost(CsimExec *x, Lane *l, const CsimCost *cost) {
  CsimOp4Cost op;
  CsimOpCost c;
  op_shape(x, l, &op);
  csim_cost_op(cost, &op, &c);
  l->cost_bytes = l->bytes;
  l->overhead = c.overhead;
  l->duration = c.duration;
  l->sm_ps = (float)c.sm_ps;
  l->cap = MAX(1, (CsimRate)((double)wire_bytes(cost, l->bytes) * 1e12 / (double)MAX(l->duration, 1)));
  take_path(x, l);
}

/* All inputs are known: fixes start and duration. TRUE when the operation is over at once (it crosses no shared link). */
static gboolean start_op(CsimExec *x, uint32_t lane, Lane *l) {
  const CsimCost *cost = &x->costs[l->gpu];
  if (l->bytes != l->cost_bytes) take_cost(x, l, cost);
  CsimTime overhead = (CsimTime)((double)l->overhead * exec_jitter(x, l));
  CsimTime earliest = l->free + overhead;
  l->start = cost->ll ? MAX(earliest, l->ready) : MAX(l->free, l->ready) + overhead;
  l->spent[SPENT_OVERHEAD] += overhead;
  l->spent[l->waits_credit ? SPENT_WAIT_CREDIT : SPENT_WAIT_DATA] += l->start - earliest;
  if (cost->ll) publish_first_line(x, l, cost);
  if (l->bytes == 0 || l->path_kind == PATH_NONE) return finish_op(x, l, l->start + l->duration);
  start_flow(x, lane, l);
  return FALSE;
}

static void run_lane(CsimExec *x, uint32_t lane) {
  Lane *l = &x->lanes[lane];
  if (state_of(x, l) == LANE_DRAIN && !finish_op(x, l, l->flow_end)) return;
  while (state_of(x, l) == LANE_WAIT) {
    if (l->input == NO_OP && !next_op(x, l)) {
      if (state_of(x, l) == LANE_DONE) kernel_done(x, l);
      return;
    }
    if (!inputs_known(x, l) || !start_op(x, lane, l)) return;
  }
}

void exec_drain_work(CsimExec *x) {
  while (x->work_n > 0) {
    uint32_t lane = x->work[x->work_head];
    if (++x->work_head == x->n_lanes) x->work_head = 0;
    x->work_n--;
    x->state[lane] &= (uint8_t)~LANE_QUEUED;
    run_lane(x, lane);
  }
}

void exec_lane_event(CsimExec *x, const CsimEvent *event) {
  Lane *l = &x->lanes[event->entity];
  /* The floor of a short operation may outlast its flow. */
  if (finish_op(x, l, MAX(event->time, l->start + l->duration))) exec_push_work(x, event->entity);
}
