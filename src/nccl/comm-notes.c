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

void csim_comm_notes(const CsimComm *c, CsimDiag *diag) {
  for (guint i = 0; i < c->kinds->len; i++) {
    const CsimCommKind *kind = g_ptr_array_index(c->kinds, i);
    if (kind) note_split(kind, diag);
  }
  for (guint i = 0; i < c->classes->len; i++) {
    note_no_ring(csim_comm_class(c, i), diag);
    note_no_nic(csim_comm_class(c, i), diag);
  }
}
