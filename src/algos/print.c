/*
 * algos/print.c - a plan as text, for people who want to see what a ring or a tree does.
 */
#include "algos/plan-private.h"

#include <inttypes.h>

const char *csim_role_name(CsimRole role) {
  static const char *const names[] = {
      [CSIM_ROLE_RING] = "ring",
      [CSIM_ROLE_TREE_UP] = "tree-up",
      [CSIM_ROLE_TREE_DOWN] = "tree-down",
      [CSIM_ROLE_TREE_ROOT] = "tree-root",
      [CSIM_ROLE_NVLS_SCATTER] = "nvls-scatter",
      [CSIM_ROLE_NVLS_REDUCE] = "nvls-reduce",
      [CSIM_ROLE_NVLS_BCAST] = "nvls-broadcast",
      [CSIM_ROLE_NVLS_GATHER] = "nvls-gather",
      [CSIM_ROLE_P2P_SEND] = "send",
      [CSIM_ROLE_P2P_RECV] = "recv",
      [CSIM_ROLE_P2P_COPY] = "copy",
      [CSIM_ROLE_PAT] = "pat",
      [CSIM_ROLE_CHAIN_UP] = "chain-up",
      [CSIM_ROLE_CHAIN_DOWN] = "chain-down",
      [CSIM_ROLE_DIRECT_SCATTER] = "direct-scatter",
      [CSIM_ROLE_DIRECT_REDUCE] = "direct-reduce",
      [CSIM_ROLE_DIRECT_BCAST] = "direct-broadcast",
      [CSIM_ROLE_DIRECT_GATHER] = "direct-gather",
  };
  return names[role];
}

const char *csim_prim_name(const CsimPrim *prim) {
  static const char *const names[16] = {
      [PRIM_SEND] = "send",
      [PRIM_COPY] = "copy",
      [PRIM_COPY_SEND] = "copySend",
      [PRIM_RECV] = "recv",
      [PRIM_RECV_SEND] = "recvSend",
      [PRIM_RECV_COPY_SEND] = "recvCopySend",
      [PRIM_RECV_REDUCE_SEND] = "recvReduceSend",
      [PRIM_RECV_REDUCE_COPY] = "recvReduceCopy",
      [PRIM_RECV_REDUCE_COPY_SEND] = "recvReduceCopySend",
  };
  if (prim->flags & CSIM_PRIM_BATCH_END) return "batchEnd";
  if (prim->flags & CSIM_PRIM_KERNEL_END) return "kernelEnd";
  const char *name = names[prim->flags & 15];
  return name ? name : "nothing";
}

/* " from 1,2" or " to 3": the ranks at the other ends. */
static void print_peers(const CsimPlan *plan, CsimLane lane, gboolean send, int peer, GString *out) {
  if (peer == CSIM_PEER_NONE) return;
  g_string_append(out, send ? " to " : " from ");
  int first = csim_peer_begin(peer), end = first + csim_peer_count(peer, csim_plan_n_peers(plan, lane, send));
  for (int i = first; i < end; i++) {
    CsimPeer p = csim_plan_peer(plan, lane, send, i);
    g_string_append(out, i > first ? "," : "");
    if (p.tag >= CSIM_TAG_NETWORK) g_string_append(out, "the network");
    else g_string_append_printf(out, "%d", p.rank);
  }
}

static void print_range(GString *out, const char *buffer, CsimBytes offset, CsimBytes bytes) {
  g_string_append_printf(out, " %s[%" PRId64 "..%" PRId64 ")", buffer, offset, offset + bytes);
}

static void print_prim(const CsimPlan *plan, CsimLane lane, int step, const CsimPrim *p, GString *out) {
  g_string_append_printf(out, "  %4d  %-18s", step, csim_prim_name(p));
  if (!(p->flags & (CSIM_PRIM_BATCH_END | CSIM_PRIM_KERNEL_END)))
    g_string_append_printf(out, " %8" PRId64 " B", p->bytes);
  print_peers(plan, lane, FALSE, p->recv_peer, out);
  if (p->flags & CSIM_PRIM_SRC)
    print_range(out, p->flags & CSIM_PRIM_FROM_DST ? "out" : "in", p->src_offset, p->bytes);
  if (p->flags & CSIM_PRIM_DST) print_range(out, "-> out", p->dst_offset, p->bytes);
  print_peers(plan, lane, TRUE, p->send_peer, out);
  if (p->more > 0) g_string_append_printf(out, " (to the first %d: more follows)", p->more);
  g_string_append_c(out, '\n');
}

static void print_lane(const CsimPlan *plan, CsimLane lane, GString *out) {
  CsimPlanCursor cursor;
  CsimPrim p;
  g_string_append_printf(out, "rank %d channel %d %s\n", lane.rank, lane.channel,
                         csim_role_name(csim_plan_role(plan, lane)));
  csim_plan_start(plan, lane, &cursor);
  for (int step = 0; csim_plan_next(plan, &cursor, &p); step++) print_prim(plan, lane, step, &p, out);
}

void csim_plan_print(const CsimPlan *plan, GString *out) {
  const CsimPlanSpec *s = csim_plan_spec(plan);
  g_string_append_printf(out, "%s %s: %d ranks, %d channel%s, %" PRId64 " bytes\n", csim_coll_name(s->coll),
                         plan->class->name, plan->n, s->n_channels, s->n_channels == 1 ? "" : "s",
                         s->count_bytes);
  for (int rank = 0; rank < plan->n; rank++)
    for (int c = 0; c < s->n_channels; c++)
      for (int i = 0, n = csim_plan_lanes(plan, rank, c); i < n; i++)
        print_lane(plan, (CsimLane){rank, c, i}, out);
}
