/* Channels of send/recv (fact sheet 3.6; NCCL 2.30.7, src/graph/paths.cc). */
#include "nccl/comm-private.h"

/* GB/s of one NVLink by compute capability. NCCL 2.30.7, src/graph/topo.h. */
static float nvlink_bw(int sm) {
  if (sm >= 100) return 40.1f;
  if (sm >= 90) return 20.6f;
  if (sm == 86) return 12;
  return sm >= 60 && sm < 70 ? 18 : 20;
}

static int pow2_up(int n) {
  int p = 1;
  while (p < n) p <<= 1;
  return p;
}

static int local_channels(const CsimCommClass *cls, int a, int b) {
  const CsimTopoNode *gpu = csim_system_node(cls->system, CSIM_NODE_GPU, a),
                     *peer = csim_system_node(cls->system, CSIM_NODE_GPU, b);
  const CsimPath *path = csim_paths_get(cls->paths, peer, gpu);
  if (path->type != CSIM_PATH_NVL && path->type != CSIM_PATH_NVB) return 2;
  return 2 * MAX(1, (int)(path->bw / nvlink_bw(gpu->gpu.sm)));
}

/* Enough channels to fill the GPU's own NICs (as many of them as its way to the CPU can feed). */
static int remote_channels(const CsimComm *c, const CsimCommClass *cls, int g) {
  if (csim_nccl_env_is_set(c->env, "NCCL_NCHANNELS_PER_NET_PEER"))
    return (int)csim_nccl_env_int(c->env, "NCCL_NCHANNELS_PER_NET_PEER", 2);
  const CsimTopoNode *gpu = csim_system_node(cls->system, CSIM_NODE_GPU, g), *first = NULL;
  if (csim_system_n(cls->system, CSIM_NODE_NET) == 0) return 2;
  const CsimTopoNode *cpu = csim_paths_local_cpu(cls->paths, gpu);
  float enough = cpu ? csim_paths_get(cls->paths, gpu, cpu)->bw : 0, sum = 0;
  int nets = 0;
  for (int channel = 0; channel < CSIM_MAX_CHANNELS && sum < enough; channel++) {
    const CsimTopoNode *net = csim_paths_local_net(cls->paths, gpu, channel);
    if (!net || net == first) break;
    if (!first) first = net;
    sum += csim_paths_get(cls->paths, gpu, net)->bw;
    nets++;
  }
  if (nets == 0) return 2;
  int per_channel = (int)csim_nccl_env_int(c->env, "NCCL_P2P_PER_CHANNEL_NET_BW", 14);
  return per_channel > 0 ? MAX(nets, ((int)sum + per_channel - 1) / per_channel) : nets;
}

static int class_channels(const CsimComm *c, const CsimCommClass *cls, int n) {
  for (int a = 0; a < cls->n_gpus; a++) {
    for (int b = 0; b < cls->n_gpus; b++)
      if (a != b) n = MIN(n, local_channels(cls, a, b));
    if (cls->n_gpus < c->info.n_ranks) n = MIN(n, remote_channels(c, cls, a));
  }
  return n;
}

/* Many peers on several nodes: fewer channels each, so that a channel serves at most about eight at a time.
 */
static int spread(const CsimComm *c, int per_peer, int n) {
  int peers = (int)csim_nccl_env_int(c->env, "NCCL_P2P_MAX_PEERS", c->info.n_ranks);
  if (c->info.n_nodes == 1 || csim_nccl_env_is_set(c->env, "NCCL_NCHANNELS_PER_NET_PEER"))
    return MIN(per_peer, n);
  while (per_peer > 1 && per_peer * ((peers + 7) / 8) > n) per_peer /= 2;
  return MIN(per_peer, n);
}

void csim_comm_p2p_setup(CsimComm *c) {
  int n =
      MIN(c->info.n_channels, (int)csim_nccl_env_int(c->env, "NCCL_MAX_P2P_NCHANNELS", CSIM_MAX_CHANNELS));
  n = MAX(n, (int)csim_nccl_env_int(c->env, "NCCL_MIN_P2P_NCHANNELS", 1));
  n = CLAMP(n, 1, CSIM_MAX_CHANNELS);
  int per_peer = n;
  for (guint i = 0; i < c->classes->len; i++) per_peer = class_channels(c, csim_comm_class(c, i), per_peer);
  c->info.n_p2p_channels = pow2_up(n);
  c->info.n_p2p_per_peer = spread(c, pow2_up(per_peer), c->info.n_p2p_channels);
}
