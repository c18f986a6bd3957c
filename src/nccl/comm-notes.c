/* What a user should hear about a communicator: where NCCL silently makes the best of a bad description. */
#include "nccl/comm-private.h"

#define NO_RING_BW 0.1f /* GB/s: what NCCL takes when it finds no ring at all */

static CsimLoc place_of(const CsimCommClass *cls) {
  return csim_system_node(cls->system, CSIM_NODE_GPU, 0)->loc;
}

static void note_split(const CsimCommKind *kind, CsimDiag *diag) {
  if (kind->parts->len < 2) return;
  csim_diag_add(diag, CSIM_FINDING_NOTE, CSIM_ERROR_NCCL, place_of(g_ptr_array_index(kind->parts, 0)),
                "the GPUs of one machine fall into %u groups that reach each other only through the network; "
                "NCCL counts each as a node",
                kind->parts->len);
}

static void note_no_ring(const CsimCommClass *cls, CsimDiag *diag) {
  const CsimGraph *ring = &cls->graph[CSIM_GRAPH_RING];
  if (ring->n_channels != 1 || ring->bw_intra > NO_RING_BW) return;
  csim_diag_add(diag, CSIM_FINDING_WARNING, CSIM_ERROR_NCCL, place_of(cls),
                "NCCL finds no ring through these %d GPUs and falls back to one channel that it takes for "
                "%.1f GB/s; a missing nvlink entry or "
                "NIC path is the usual cause",
                cls->n_gpus, (double)NO_RING_BW);
}

static void note_no_nic(const CsimCommClass *cls, CsimDiag *diag) {
  if (!cls->limits.inter || csim_system_n(cls->system, CSIM_NODE_NET) > 0) return;
  csim_diag_add(
      diag, CSIM_FINDING_WARNING, CSIM_ERROR_NCCL, place_of(cls),
      "the job has several nodes, but this one has no NIC (net element); its GPUs cannot reach the others");
}

/* The fabric is said to reduce, and NCCL does not use that. */
static void note_sharp(const CsimComm *c, CsimDiag *diag) {
  const char *why = NULL;
  if (c->info.n_nodes < 2 || c->info.n_collnet_channels > 0) return;
  if (c->cluster->fabric.transport != CSIM_TRANSPORT_IB) why = "SHARP is a feature of InfiniBand switches, and this transport is another";
  else if (csim_nccl_env_int(c->env, "NCCL_COLLNET_ENABLE", 0) == 0) why = "NCCL uses it only with NCCL_COLLNET_ENABLE=1";
  else why = "NCCL's search finds no chain for it, or there are fewer nodes than NCCL_COLLNET_NODE_THRESHOLD";
  csim_diag_add(diag, CSIM_FINDING_WARNING, CSIM_ERROR_NCCL, place_of(csim_comm_class(c, 0)),
                "the fabric is said to reduce (SHARP), and nothing does: %s", why);
}

void csim_comm_notes(const CsimComm *c, gboolean sharp, CsimDiag *diag) {
  if (sharp) note_sharp(c, diag);
  for (guint i = 0; i < c->kinds->len; i++) {
    const CsimCommKind *kind = g_ptr_array_index(c->kinds, i);
    if (kind) note_split(kind, diag);
  }
  for (guint i = 0; i < c->classes->len; i++) {
    note_no_ring(csim_comm_class(c, i), diag);
    note_no_nic(csim_comm_class(c, i), diag);
  }
}
