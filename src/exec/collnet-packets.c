/*
 * exec/collnet-packets.c - operations of a reducing network at packet fidelity: an aggregation tree in the switches for each batch (models/pkt/tree.c).
 *
 * collnet.c decides when an operation begins, as at the flow level. Every member's packets enter the network then, at the earliest a PCIe way and an
 * adapter after its post; the adapters' DMA is a fluid flow over what the way has beside wires. It has left the tree when all members have sent all and their flows are
 * over; a member has its result when the last packet is down and that is so.
 */
#include "exec/collnet-private.h"
#include "exec/packets-private.h"

static CsimNicRef nic_of(const CsimExec *x, const Member *m) {
  return (CsimNicRef){exec_gpu_of(x, m->rank).node, x->nets[x->collnet->nets[m->first_net]].own_net};
}

static gboolean add_tree(CsimExec *x, Batch *b, GError **error) {
  const CsimSharpModel *sharp = &x->collnet->sharp;
  CsimPktTreeSpec spec = {.number = b->tree, .reduce = sharp->reduce, .rate = sharp->rate};
  g_autofree CsimNicRef *nics = g_new(CsimNicRef, b->n_members);
  for (uint32_t i = 0; i < b->n_members; i++) nics[i] = nic_of(x, collnet_member(x, b->first_member + i));
  b->packet_tree = csim_packet_fabric_tree(x->packets->fabric, nics, b->n_members, &spec, error);
  if (b->packet_tree == NO_INDEX) return FALSE;
  for (uint32_t i = 0; i < b->n_members; i++)
    csim_pkt_tree_watch(x->packets->net, b->packet_tree, i, x->handler, EV_PKT_REDUCED, b->first_member + i);
  return TRUE;
}

gboolean collnet_packets_begin(CsimExec *x, GError **error) {
  for (guint i = 0; i < x->collnet->batches->len; i++)
    if (!add_tree(x, collnet_batch(x, i), error)) return FALSE;
  return TRUE;
}

static CsimPktReduction kind_of(const CsimExec *x) {
  CsimColl coll = csim_plan_spec(x->plan)->coll;
  return coll == CSIM_COLL_ALL_REDUCE ? CSIM_PKT_ALL_REDUCE : coll == CSIM_COLL_ALL_GATHER ? CSIM_PKT_GATHER : CSIM_PKT_SCATTER;
}

void collnet_packets_start(CsimExec *x, Batch *b, uint32_t k) {
  const CsimSharpModel *sharp = &x->collnet->sharp;
  CsimPktReduction kind = kind_of(x);
  g_autofree CsimBytes *part = g_new(CsimBytes, b->n_members);
  g_autofree CsimTime *delay = g_new(CsimTime, b->n_members);
  g_autofree uint32_t *entity = g_new(uint32_t, b->n_members);
  CsimBytes all = 0;
  for (uint32_t i = 0; i < b->n_members; i++) {
    const Member *m = collnet_member(x, b->first_member + i);
    Volume v = collnet_volume(x, m, k);
    part[i] = kind == CSIM_PKT_SCATTER ? v.back : v.out;
    delay[i] = MAX(0, m->posted_at[k % SLOTS] + x->nets[x->collnet->nets[m->first_net]].near - csim_engine_now(x->engine));
    entity[i] = b->first_member + i;
    all = MAX(all, MAX(v.out, v.back));
  }
  gboolean streams = all > sharp->streaming_from;
  CsimPktReduce what = {.kind = kind, .bytes = all, .part = kind == CSIM_PKT_ALL_REDUCE ? NULL : part, .delay = delay, .entity = entity,
                        .mtu = streams ? csim_pkt_mtu(x->packets->net) : (int)sharp->payload, .window = streams ? 0 : sharp->outstanding};
  b->flows += b->n_members;
  csim_pkt_reduce(x->packets->net, b->packet_tree, &what, x->handler, EV_COLLNET_FLOW);
}

/* Tells the proxy of each result that is there. */
void collnet_packets_answer(CsimExec *x, uint32_t number) {
  Member *m = collnet_member(x, number);
  const Batch *b = collnet_batch(x, m->group);
  CsimTime at = csim_engine_now(x->engine) + x->nets[x->collnet->nets[m->first_net]].far;
  for (; m->done < MIN(m->landed, b->answered); m->done++) csim_engine_at(x->engine, at, x->handler, EV_COLLNET_DONE, number, 0);
}

void collnet_packets_landed(CsimExec *x, uint32_t number) {
  collnet_member(x, number)->landed++;
  collnet_packets_answer(x, number);
}
