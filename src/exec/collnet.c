/*
 * exec/collnet.c - operations of a reducing network.
 *
 *   kernels of a head fill a slot on each channel of a batch -> g2p -> proxy posts one operation (serial, t_post)
 *     -> when all members have posted, and it is this operation's turn on its tree: it streams, at one rate for all members,
 *        from every head's NIC up the tree and down to every head's NIC
 *     -> latency of the tree -> proxies (serial, t_poll) -> flush -> p2g -> visible on all channels of the batch.
 *
 * At packet fidelity streams are packets (collnet-packets.c). Streams of a tree follow each other on the wire without a gap; latency is not part of a tree's time. The switches hold back members that
 * are early, so all flows of an operation begin together, and it is over for all when the slowest flow is.
 * How much goes each way: NCCL moves whole chunks in an all_reduce, also where a call's last ones are short or empty, and exact
 * windows in all_gather and reduce_scatter.
 */
#include "exec/collnet-private.h"

/* --- sizes ----------------------------------------------------------------------------------------------------------- */

static CsimBytes overlap(CsimBytes a0, CsimBytes a1, CsimBytes b0, CsimBytes b1) { return MAX(0, MIN(a1, b1) - MAX(a0, b0)); }

typedef struct { CsimBytes begin, end; } Range;

/* The window of a rail (algos/collnet-gather.c) that a slot's step k covers. */
static Range window_of(const CsimExec *x, uint32_t net, uint32_t k) {
  const CsimPlanSpec *s = csim_plan_spec(x->plan);
  CsimBytes chunk = s->parts[0].chunk, stride = chunk * s->n_channels, rail = s->shape->n_nodes * s->count_bytes;
  uint32_t loops = (uint32_t)((rail + stride - 1) / stride);
  CsimBytes begin = (k % loops) * stride + x->lanes[x->conns[x->nets[net].conn].tx_lane].channel * chunk;
  return (Range){MIN(begin, rail), MIN(begin + chunk, rail)};
}

static Volume rail_volume(const CsimExec *x, const Member *m, uint32_t k) {
  const CsimPlanSpec *s = csim_plan_spec(x->plan);
  CsimBytes own = s->shape->node_of(s->shape->data, (int)m->rank) * s->count_bytes, all = 0, mine = 0;
  for (uint32_t i = m->first_net; i < m->first_net + m->n_nets; i++) {
    Range r = window_of(x, x->collnet->nets[i], k);
    all += r.end - r.begin;
    mine += overlap(r.begin, r.end, own, own + s->count_bytes);
  }
  return s->coll == CSIM_COLL_ALL_GATHER ? (Volume){mine, all} : (Volume){all, mine};
}

Volume collnet_volume(const CsimExec *x, const Member *m, uint32_t k) {
  const CsimPlanSpec *s = csim_plan_spec(x->plan);
  if (s->coll != CSIM_COLL_ALL_REDUCE) return rail_volume(x, m, k);
  CsimBytes bytes = s->parts[0].chunk * m->n_nets;
  return (Volume){bytes, bytes};
}

/* Pieces of the answer to a slot's step k: one for each block that its window touches. */
static guint answer_pieces(const CsimExec *x, uint32_t net, uint32_t k) {
  const CsimPlanSpec *s = csim_plan_spec(x->plan);
  if (s->coll != CSIM_COLL_ALL_GATHER) return 1;
  Range r = window_of(x, net, k);
  return r.begin == r.end ? 1 : (guint)((r.end - 1) / s->count_bytes - r.begin / s->count_bytes + 1);
}

/* --- an operation on its tree ------------------------------------------------------------------------------------------ */

static gboolean all_posted(const CsimExec *x, const Batch *b, uint32_t k) {
  for (uint32_t i = b->first_member; i < b->first_member + b->n_members; i++)
    if (collnet_member(x, i)->posted <= k) return FALSE;
  return TRUE;
}

#define MAX_WAY 64
static guint join_ways(const CsimExec *x, const Net *n, CsimFlowLink *way) {
  guint have = 0;
  const CsimFlowLink *pool = (const CsimFlowLink *)(void *)x->links->data;
  g_assert(n->n_links + n->n_back_links <= MAX_WAY);
  for (guint i = 0; i < n->n_links; i++) way[have++] = pool[n->links + i];
  for (guint i = 0; i < n->n_back_links; i++) {
    const CsimFlowLink *l = &pool[n->back_links + i];
    guint k = 0;
    while (k < have && way[k].link != l->link) k++;
    if (k < have) way[k].weight += l->weight; /* host memory is crossed both ways */
    else way[have++] = *l;
  }
  return have;
}

static void start_flow(CsimExec *x, uint32_t member, const CsimFlowLink *way, guint n, uint32_t *hint, CsimBytes bytes, CsimRate cap) {
  if (bytes == 0 || (x->packets && n == 0)) return; /* packets: only what is beside the wires flows */
  collnet_batch(x, collnet_member(x, member)->group)->flows++;
  csim_fluid_start_at(x->fluid, 0, hint, way, n, bytes, cap, x->handler, EV_COLLNET_FLOW, member, 0);
}

static void start_member(CsimExec *x, uint32_t number, Batch *b, uint32_t k) {
  Member *m = collnet_member(x, number);
  const Net *n = &x->nets[x->collnet->nets[m->first_net]];
  const CsimFlowLink *pool = (const CsimFlowLink *)(void *)x->links->data;
  Volume v = collnet_volume(x, m, k);
  CsimBytes most = MAX(v.out, v.back);
  CsimRate cap = csim_sharp_rate(&x->collnet->sharp, most, b->latency);
  b->head_start = MAX(b->head_start, csim_sharp_head_start(&x->collnet->sharp, most, b->latency));
  if (v.out == v.back) {
    CsimFlowLink way[MAX_WAY];
    guint n_way = join_ways(x, n, way);
    start_flow(x, number, way, n_way, &m->both_hint, v.out, cap);
    return;
  }
  start_flow(x, number, pool + n->links, n->n_links, &m->out_hint, v.out, cap);
  start_flow(x, number, pool + n->back_links, n->n_back_links, &m->back_hint, v.back, cap);
}

static void answer(CsimExec *x, Batch *b) {
  b->answered++;
  for (uint32_t i = b->first_member; i < b->first_member + b->n_members; i++)
    if (x->packets) collnet_packets_answer(x, i);
    else csim_engine_at(x->engine, csim_engine_now(x->engine) + b->latency - b->head_start, x->handler, EV_COLLNET_DONE, i, 0);
}

/* Begins what is next on a tree; FALSE if somebody has not posted it. */
static gboolean start_next(CsimExec *x, Tree *t, Domain *d) {
  uint32_t k = t->next / t->n_batches;
  Batch *b = collnet_batch(x, t->first_batch + t->next % t->n_batches);
  if (!all_posted(x, b, k)) return FALSE;
  t->next++;
  b->head_start = 0;
  for (uint32_t i = 0; i < b->n_members; i++) start_member(x, b->first_member + i, b, k);
  if (x->packets) collnet_packets_start(x, b, k);
  d->busy = b->flows > 0;
  if (!d->busy) answer(x, b); /* nothing to move */
  return TRUE;
}

/* The trees of a domain take turns. */
static void start_any(CsimExec *x, uint32_t domain) {
  Domain *d = collnet_domain(x, domain);
  uint32_t n = x->collnet->trees->len, idle = 0;
  for (uint32_t i = (d->after + 1) % n; !d->busy && idle < n; i = (i + 1) % n) {
    Tree *t = collnet_tree(x, i);
    gboolean began = t->domain == domain && start_next(x, t, d);
    idle = began ? 0 : idle + 1;
    if (began) d->after = i;
  }
}

/* --- the proxies' side ------------------------------------------------------------------------------------------------- */

void exec_collnet_filled(CsimExec *x, uint32_t net, CsimTime now) {
  uint32_t number = x->collnet->member_of[net];
  Member *m = collnet_member(x, number);
  uint8_t *filled = &m->filled[x->nets[net].sent++ % SLOTS];
  if (++*filled < m->n_nets) return;
  *filled = 0;
  csim_engine_at(x->engine, exec_proxy_works(x, m->rank, now, x->net_model.t_post), x->handler, EV_COLLNET_POSTED, number, 0);
}

static void on_posted(CsimExec *x, uint32_t number) {
  Member *m = collnet_member(x, number);
  m->posted_at[m->posted++ % SLOTS] = csim_engine_now(x->engine);
  start_any(x, collnet_tree(x, collnet_batch(x, m->group)->tree)->domain);
}

static void on_flow_end(CsimExec *x, uint32_t number) {
  Batch *b = collnet_batch(x, collnet_member(x, number)->group);
  if (--b->flows > 0) return;
  uint32_t domain = collnet_tree(x, b->tree)->domain;
  collnet_domain(x, domain)->busy = FALSE;
  answer(x, b);
  start_any(x, domain);
}

/* The member's slots are free again on the way in, and full on the way back. */
static void on_done(CsimExec *x, uint32_t number, CsimTime now) {
  const Member *m = collnet_member(x, number);
  CsimTime polled = exec_proxy_works(x, m->rank, now, x->net_model.t_poll + x->net_model.step);
  for (uint32_t i = m->first_net; i < m->first_net + m->n_nets; i++) {
    const Net *n = &x->nets[x->collnet->nets[i]];
    Conn *c = &x->conns[n->conn];
    x->slots[exec_slot(x, c, c->credits)].credit = polled + x->net_model.p2g;
    x->slots[exec_slot(x, c, c->produced)].visible = polled + n->flush + x->net_model.p2g;
    if (x->pieces) exec_pieces_announce(x, c, c->produced, answer_pieces(x, x->collnet->nets[i], c->produced));
    c->credits++;
    c->produced++;
    c->finished++;
    exec_poke(x, c->tx_lane);
    exec_poke(x, c->rx_lane);
  }
}

void exec_collnet_event(CsimExec *x, const CsimEvent *event) {
  switch (event->kind) {
  case EV_COLLNET_POSTED: on_posted(x, event->entity); break;
  case EV_COLLNET_FLOW: on_flow_end(x, event->entity); break;
  case EV_COLLNET_DONE: on_done(x, event->entity, event->time); break;
  case EV_PKT_REDUCED: collnet_packets_landed(x, event->entity); break;
  default: g_assert_not_reached();
  }
}
