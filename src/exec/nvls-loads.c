/*
 * exec/nvls-loads.c - what NVLS moved through the GPUs' ports.
 *
 * An operation of NVLS has its time from a closed form (models/gpu.h) and is no flow, so the solver of shared links knows nothing of its bytes. They
 * are counted from the plan, once a call: a head that reads c bytes through the switch makes every GPU of its node send c, and takes c in; one that
 * multicasts c sends c, and every GPU takes c in. Nodes are alike: each has the same heads with the same slices.
 */
#include "exec/exec-private.h"

/* Bytes a head reads through its group and stores to it, all channels. */
typedef struct { double read, stored; } HeadBytes;

static gboolean faces_group(const CsimPlan *plan, CsimLane lane, gboolean send) {
  if (csim_plan_n_peers(plan, lane, send) == 0) return FALSE;
  return csim_plan_peer(plan, lane, send, 0).tag == (send ? CSIM_TAG_NVLS_OUT : CSIM_TAG_NVLS_IN);
}

static void count_lane(const CsimPlan *plan, CsimLane lane, HeadBytes *head) {
  gboolean reads = faces_group(plan, lane, FALSE), stores = faces_group(plan, lane, TRUE);
  if (!reads && !stores) return;
  CsimPlanCursor cursor;
  CsimPrim prim;
  csim_plan_start(plan, lane, &cursor);
  while (csim_plan_next(plan, &cursor, &prim)) {
    if (reads && (prim.flags & CSIM_PRIM_RECV)) head->read += (double)prim.bytes;
    if (stores && (prim.flags & CSIM_PRIM_SEND)) head->stored += (double)prim.bytes;
  }
}

static HeadBytes count_head(const CsimExec *x, int rank) {
  HeadBytes head = {0};
  int channels = csim_plan_spec(x->plan)->n_channels;
  for (int channel = 0; channel < channels; channel++) {
    int lanes = csim_plan_lanes(x->plan, rank, channel);
    for (int i = 0; i < lanes; i++) {
      CsimLane lane = {rank, channel, i};
      CsimRole role = csim_plan_role(x->plan, lane);
      if (role == CSIM_ROLE_NVLS_REDUCE || role == CSIM_ROLE_NVLS_BCAST) count_lane(x->plan, lane, &head);
    }
  }
  return head;
}

static void add_load(CsimExec *x, GHashTable *index, CsimLinkId link, double bytes) {
  gpointer at;
  if (bytes <= 0) return;
  if (g_hash_table_lookup_extended(index, GUINT_TO_POINTER(link), NULL, &at)) {
    g_array_index(x->loads, CsimLinkLoad, GPOINTER_TO_UINT(at)).use.bytes += bytes;
    return;
  }
  CsimLinkLoad load = {.link = link, .use = {.bytes = bytes}};
  g_array_append_val(x->loads, load);
}

static void add_rank(CsimExec *x, GHashTable *index, int rank, const HeadBytes *own, const HeadBytes *node) {
  CsimLinkId out, in;
  CsimRankPlace place = csim_comm_place(x->spec.comm, rank);
  gboolean has_ports = csim_machine_nvlink_ports(x->spec.machine, (CsimGpuRef){place.machine, place.local_gpu}, &out, &in);
  g_assert(has_ports); /* or the call would have been refused */
  add_load(x, index, out, x->iterations * (node->read + own->stored));
  add_load(x, index, in, x->iterations * (node->stored + own->read));
}

void exec_nvls_loads(CsimExec *x) {
  if (x->choice.algo != CSIM_ALGO_NVLS && x->choice.algo != CSIM_ALGO_NVLS_TREE) return;
  int heads = csim_comm_info(x->spec.comm)->nvls_heads;
  g_autofree HeadBytes *head = g_new0(HeadBytes, MAX(heads, 1));
  HeadBytes node = {0}, none = {0};
  for (int h = 0; h < heads; h++) {
    head[h] = count_head(x, x->shape.nvls_head(x->shape.data, x->node_ranks[0], h));
    node.read += head[h].read;
    node.stored += head[h].stored;
  }
  g_autoptr(GHashTable) index = g_hash_table_new(NULL, NULL);
  for (guint i = 0; i < x->loads->len; i++)
    g_hash_table_insert(index, GUINT_TO_POINTER(g_array_index(x->loads, CsimLinkLoad, i).link), GUINT_TO_POINTER(i));
  for (uint32_t r = 0; r < x->n_ranks; r++) {
    const HeadBytes *own = &none;
    for (int h = 0; h < heads; h++)
      if (x->shape.nvls_head(x->shape.data, (int)r, h) == (int)r) own = &head[h];
    add_rank(x, index, (int)r, own, &node);
  }
}
