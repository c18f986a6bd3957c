/* Names with NCCL_ in front that NCCL 2.30.7 does not read: invented, removed, or somebody else's. Source: no such string in its sources;
 * the user guide's list of removed variables. */
#include "nccl/env.h"

#include <string.h>

typedef struct {
  const char *name, *truth;
} Myth;

static const Myth myths[] = {
    /* often quoted, never existed */
    {"NCCL_PCIE_WIDTH",
     "NCCL has no such variable: the lane count comes from link_width in the topology file"},
    {"NCCL_PCIE_SPEED",
     "NCCL has no such variable: the PCIe generation comes from link_speed in the topology file"},
    {"NCCL_SOCKET_TIMEOUT",
     "NCCL has no such variable: see NCCL_SOCKET_RETRY_CNT and NCCL_SOCKET_RETRY_SLEEP_MSEC"},
    {"NCCL_NCHANNELS_PER_PEER",
     "NCCL has no such variable: the real one is NCCL_NCHANNELS_PER_NET_PEER (send/recv only)"},
    {"NCCL_ASYNC_ERROR_HANDLING",
     "read by PyTorch, not by NCCL; its name today is TORCH_NCCL_ASYNC_ERROR_HANDLING"},
    {"NCCL_BLOCKING_WAIT", "read by PyTorch, not by NCCL; its name today is TORCH_NCCL_BLOCKING_WAIT"},
    {"NCCL_DESYNC_DEBUG", "read by PyTorch, not by NCCL; its name today is TORCH_NCCL_DESYNC_DEBUG"},
    {"NCCL_TIMEOUT", "NCCL has no timeout of its own for a collective; frameworks have"},
    {"NCCL_P2P_CHANNELS", "NCCL has no such variable: see NCCL_MIN_P2P_NCHANNELS and NCCL_MAX_P2P_NCHANNELS"},
    {"NCCL_IB_SPEED", "NCCL has no such variable: the rate of a NIC comes from the device, or from speed "
                      "(Mbit/s) in the topology file"},
    {"NCCL_NET_BW", "a constant in NCCL's source, not a variable: the rate of a NIC comes from the device or "
                    "the topology file"},
    {"NCCL_NVLINK_BW", "a constant in NCCL's source, not a variable: NVLink rates follow from sm and count "
                       "in the topology file"},
    /* removed */
    {"NCCL_TREE_THRESHOLD", "removed from NCCL: the cost table decides; use NCCL_ALGO"},
    {"NCCL_LL_THRESHOLD", "removed from NCCL: the cost table decides; use NCCL_PROTO"},
    {"NCCL_SINGLE_RING_THRESHOLD", "removed from NCCL: the size of a call decides how many channels it uses"},
    {"NCCL_RINGS", "removed from NCCL: NCCL_GRAPH_FILE can give rings"},
    {"NCCL_IB_CUDA_SUPPORT", "removed from NCCL: the real one is NCCL_NET_GDR_LEVEL"},
    {"NCCL_CHECKS_DISABLE", "removed from NCCL: the real one is NCCL_CHECK_POINTERS"},
    {"NCCL_SHM_USE_CUDA_MEMCPY",
     "removed from NCCL: shared memory is always read and written by the kernels"},
    {"NCCL_SHM_MEMCPY_MODE", "removed from NCCL: shared memory is always read and written by the kernels"},
    /* set in containers */
    {"NCCL_VERSION", "not read by NCCL: container images carry it as a label"},
};

/* Families of names that other programs read. */
static const Myth families[] = {
    {"NCCL_TESTS_", "read by nccl-tests, not by NCCL"},
    {"NCCL_GPUDIRECTTCPX_", "read by a network plugin of Google Cloud, not by NCCL"},
    {"NCCL_FASTRAK_", "read by a network plugin of Google Cloud, not by NCCL"},
};

const char *csim_nccl_var_myth(const char *name) {
  for (guint i = 0; i < G_N_ELEMENTS(myths); i++)
    if (strcmp(name, myths[i].name) == 0) return myths[i].truth;
  for (guint i = 0; i < G_N_ELEMENTS(families); i++)
    if (g_str_has_prefix(name, families[i].name)) return families[i].truth;
  return NULL;
}
