/* Variables that mean something to NCCL, but nothing on the communicator at hand. */
#include "nccl/tune-internal.h"

typedef enum {
  ONE_NODE,
  NO_NVLS,
  NO_NVLS_HARDWARE,
  NOT_NVLINK_NODE,
  NOT_PCI_NODE,
  BELOW_HOPPER,
  ALL_NVLINK,
  N_REASONS
} Reason;

static const char *const reasons[N_REASONS] = {
    [ONE_NODE] = "the communicator has one node",
    [NO_NVLS] = "NVLS is not available here",
    [NO_NVLS_HARDWARE] = "NVLS needs a NVSwitch and compute capability 9.0",
    [NOT_NVLINK_NODE] = "it is for one node with NVLink between all GPUs",
    [NOT_PCI_NODE] = "it is for one node with GPU pairs that have no NVLink",
    [BELOW_HOPPER] = "it is for compute capability 9.0 and later",
    [ALL_NVLINK] = "every GPU pair of a node has NVLink",
};

/* clang-format off */
static const struct { const char *name; Reason reason; } idle[] = {
    {"NCCL_CROSS_NIC", ONE_NODE}, {"NCCL_PXN_DISABLE", ONE_NODE}, {"NCCL_PXN_C2C", ONE_NODE}, {"NCCL_P2P_PXN_LEVEL", ONE_NODE},
    {"NCCL_NET_OVERHEAD", ONE_NODE}, {"NCCL_NCHANNELS_PER_NET_PEER", ONE_NODE}, {"NCCL_P2P_PER_CHANNEL_NET_BW", ONE_NODE},
    {"NCCL_P2P_MAX_PEERS", ONE_NODE}, {"NCCL_P2P_SCHEDULE_GROUP_SIZE", ONE_NODE}, {"NCCL_P2P_NET_CHUNKSIZE", ONE_NODE},
    {"NCCL_COLLNET_ENABLE", ONE_NODE}, {"NCCL_COLLNET_NODE_THRESHOLD", ONE_NODE}, {"NCCL_NVLSTREE_MAX_CHUNKSIZE", ONE_NODE},
    {"NCCL_NVLS_NCHANNELS", NO_NVLS}, {"NCCL_NVLS_CHUNKSIZE", NO_NVLS}, {"NCCL_NVLS_ENABLE", NO_NVLS_HARDWARE},
    {"NCCL_P2P_NVL_CHUNKSIZE", NOT_NVLINK_NODE}, {"NCCL_P2P_PCI_CHUNKSIZE", NOT_PCI_NODE},
    {"NCCL_LL128_C2C", BELOW_HOPPER}, {"NCCL_SHM_DISABLE", ALL_NVLINK},
};
/* clang-format on */

static void find_reasons(const CsimTuneInput *in, gboolean nvls, gboolean *holds) {
  holds[ONE_NODE] = in->n_nodes == 1;
  holds[NO_NVLS] = !nvls;
  holds[NO_NVLS_HARDWARE] = !in->nvswitch || in->min_sm < 90;
  holds[NOT_NVLINK_NODE] = in->n_nodes > 1 || !in->all_nvlink;
  holds[NOT_PCI_NODE] = in->n_nodes > 1 || in->all_nvlink;
  holds[BELOW_HOPPER] = in->min_sm < 90;
  holds[ALL_NVLINK] = in->all_nvlink;
}

void csim_env_check_input(const CsimNcclEnv *env, const CsimTuneInput *in, gboolean nvls, CsimDiag *diag) {
  gboolean holds[N_REASONS];
  find_reasons(in, nvls, holds);
  for (guint i = 0; i < G_N_ELEMENTS(idle); i++)
    if (holds[idle[i].reason] && csim_nccl_env_is_set(env, idle[i].name))
      csim_diag_add(diag, CSIM_FINDING_WARNING, CSIM_ERROR_VALUE, CSIM_LOC_NONE, "%s: has no effect here: %s",
                    idle[i].name, reasons[idle[i].reason]);
}

void csim_nccl_env_check_comm(const CsimNcclEnv *env, const CsimComm *comm, CsimDiag *diag) {
  CsimTuneInput in;
  csim_tuning_input(comm, &in);
  csim_env_check_input(env, &in, csim_comm_info(comm)->nvls_support != 0, diag);
}
