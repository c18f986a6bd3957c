/* nccl/paths-rules.c - questions that NCCL answers from paths: P2P, GDR, local NICs and GPUs (NCCL 2.30.7, src/graph/paths.cc, topo.cc). */
#include "nccl/paths-internal.h"
#include <stdlib.h>
#include <string.h>

/* --- P2P ---------------------------------------------------------------- */

static gboolean is_small_amd(const CsimSystem *s) {
  if (csim_system_n(s, CSIM_NODE_CPU) == 0) return FALSE;
  const CsimTopoNode *cpu = csim_system_node(s, CSIM_NODE_CPU, 0);
  return cpu->cpu.arch == CSIM_ARCH_X86 && cpu->cpu.vendor == CSIM_VENDOR_AMD &&
         csim_system_n(s, CSIM_NODE_DEV) <= 2;
}

static int p2p_level(const CsimPaths *p) {
  if (csim_nccl_env_int(p->context.env, "NCCL_P2P_DISABLE", 0) == 1) return CSIM_PATH_LOC;
  return csim_nccl_env_level(p->context.env, "NCCL_P2P_LEVEL",
                             is_small_amd(p->system) ? CSIM_PATH_SYS : CSIM_PATH_PXB);
}

gboolean csim_paths_p2p_ok(const CsimPaths *paths, const CsimTopoNode *gpu_a, const CsimTopoNode *gpu_b,
                           gboolean *read) {
  int type = csim_paths_at(paths, gpu_a, gpu_b)->type;
  int by_default = type == CSIM_PATH_NVL && gpu_a->gpu.sm == 80 && gpu_b->gpu.sm == 80;
  int asked = (int)csim_nccl_env_int(paths->context.env, "NCCL_P2P_READ_ENABLE", -2);
  if (read != NULL) *read = asked == -2 ? by_default : asked != 0;
  if (paths->context.split_hosts && csim_node_host(gpu_a) != csim_node_host(gpu_b)) return FALSE;
  return type <= p2p_level(paths);
}

/* Fastest access of a GPU to the network that does not cross a CPU. */
static float near_net_bw(const CsimPaths *p, const CsimTopoNode *gpu) {
  float best = 0;
  for (guint n = 0; n < csim_paths_n(p, CSIM_NODE_NET); n++) {
    const CsimPath *path = csim_paths_at(p, gpu, csim_paths_node(p, CSIM_NODE_NET, n));
    if (path->type <= CSIM_PATH_PXB && path->bw > best) best = path->bw;
  }
  return best;
}

gboolean csim_paths_use_net(const CsimPaths *paths, const CsimTopoNode *gpu_a, const CsimTopoNode *gpu_b) {
  if (csim_nccl_env_int(paths->context.env, "NCCL_NET_DISABLE_INTRA", 0) == 1) return FALSE;
  float bw = csim_paths_at(paths, gpu_a, gpu_b)->bw;
  return near_net_bw(paths, gpu_a) > bw && near_net_bw(paths, gpu_b) > bw;
}

CsimVia csim_paths_via(const CsimPaths *paths, const CsimTopoNode *from, const CsimTopoNode *to) {
  if (from == to) return CSIM_VIA_SELF;
  return (CsimVia)paths->via[(gsize)from->index * csim_paths_n(paths, CSIM_NODE_GPU) + (gsize)to->index];
}

/* One pass over earlier GPUs, as NCCL does it: not a transitive closure. */
guint csim_paths_domains(const CsimPaths *paths, int *domain) {
  guint n = csim_paths_n(paths, CSIM_NODE_GPU), count = 0;
  for (guint g = 0; g < n; g++) {
    domain[g] = (int)g;
    for (guint q = 0; q < g; q++) {
      const CsimPath *path = csim_paths_at(paths, csim_paths_node(paths, CSIM_NODE_GPU, g),
                                           csim_paths_node(paths, CSIM_NODE_GPU, q));
      if (path->type < CSIM_PATH_NET) domain[g] = MIN(domain[g], domain[q]);
    }
    count += domain[g] == (int)g;
  }
  return count;
}

/* --- GDR ---------------------------------------------------------------- */

/* Before Ampere, reads from GPU memory by a NIC are slow: only where NVLink leaves PCIe free, or for a GPU alone. */
static gboolean may_be_read(const CsimPaths *p, const CsimTopoNode *gpu) {
  int asked = (int)csim_nccl_env_int(p->context.env, "NCCL_NET_GDR_READ", -2);
  if (asked >= 0) return asked != 0;
  if (gpu->gpu.sm >= 80 || csim_paths_n(p, CSIM_NODE_GPU) == 1) return TRUE;
  for (guint i = 0; i < csim_paths_n(p, CSIM_NODE_GPU); i++) {
    const CsimTopoNode *other = csim_paths_node(p, CSIM_NODE_GPU, i);
    if (other != gpu && csim_paths_at(p, gpu, other)->type == CSIM_PATH_NVL) return TRUE;
  }
  return FALSE;
}

static int gdr_level(const CsimPaths *p) {
  gboolean c2c = csim_nccl_env_int(p->context.env, "NCCL_NET_GDR_C2C", 1) != 0;
  return csim_nccl_env_level(p->context.env, "NCCL_NET_GDR_LEVEL", c2c ? CSIM_PATH_P2C : CSIM_PATH_PXB);
}

static gboolean gdr_ok(const CsimPaths *paths, const CsimTopoNode *gpu, const CsimTopoNode *net, gboolean send) {
  if (net->net.gdr == 0 || gpu->gpu.gdr == 0) return FALSE;
  gboolean part = gpu->gpu.mlopart >= 0;
  if (part && csim_nccl_env_int(paths->context.env, "NCCL_NET_GDR_MLOPART", 0) != 1) return FALSE;
  if (send && !may_be_read(paths, gpu)) return FALSE;
  const CsimTopoNode *relay = csim_paths_pxn_gpu(paths, gpu, net);
  return csim_paths_at(paths, relay != NULL ? relay : gpu, net)->type <= gdr_level(paths);
}

static gsize gdr_entry(const CsimPaths *p, guint gpu, guint net, gboolean send) {
  return ((gsize)gpu * csim_paths_n(p, CSIM_NODE_NET) + net) * 2 + (send ? 1 : 0);
}

gboolean csim_paths_gdr_ok(const CsimPaths *paths, const CsimTopoNode *gpu, const CsimTopoNode *net,
                           gboolean send) {
  if (paths->gdr == NULL) return gdr_ok(paths, gpu, net, send);
  return paths->gdr[gdr_entry(paths, (guint)gpu->index, (guint)net->index, send)];
}

const CsimTopoNode *csim_paths_pxn_gpu(const CsimPaths *paths, const CsimTopoNode *gpu,
                                       const CsimTopoNode *net) {
  int relay = paths->relay[(gsize)gpu->index * csim_paths_n(paths, CSIM_NODE_NET) + (gsize)net->index];
  return relay < 0 ? NULL : csim_paths_node(paths, CSIM_NODE_GPU, (guint)relay);
}

/* --- nearest ------------------------------------------------------------ */

guint csim_paths_locals(const CsimPaths *paths, const CsimTopoNode *node, CsimNodeType of, int *out,
                        guint max) {
  int type = CSIM_PATH_DIS;
  float bw = 0;
  guint n = 0;
  for (guint i = 0; i < csim_paths_n(paths, of); i++) {
    const CsimPath *path = csim_paths_at(paths, node, csim_paths_node(paths, of, i));
    if (path->bw > bw || (path->bw == bw && path->type < type)) {
      bw = path->bw;
      type = path->type;
      n = 0;
    }
    if (path->bw != bw || path->type != type) continue;
    if (n < max) out[n] = (int)i;
    n++;
  }
  return n;
}

const CsimTopoNode *csim_paths_local_cpu(const CsimPaths *paths, const CsimTopoNode *gpu) {
  const CsimTopoNode *best = NULL;
  int hops = 0;
  for (guint i = 0; i < csim_paths_n(paths, CSIM_NODE_CPU); i++) {
    const CsimTopoNode *cpu = csim_paths_node(paths, CSIM_NODE_CPU, i);
    int n = csim_paths_at(paths, gpu, cpu)->n_links;
    if (n == 0 || (best != NULL && n >= hops)) continue;
    best = cpu;
    hops = n;
  }
  return best;
}

/* NCCL_NETDEVS_POLICY: how many of its local NICs a GPU uses. */
static guint nets_a_gpu(const CsimPaths *p, guint n_nets, guint n_gpus) {
  const char *policy = csim_nccl_env_text(p->context.env, "NCCL_NETDEVS_POLICY");
  if (policy != NULL && g_ascii_strcasecmp(policy, "ALL") == 0) return n_nets;
  if (policy != NULL && g_ascii_strncasecmp(policy, "MAX:", 4) == 0) {
    int most = atoi(policy + 4);
    if (most > 0) return MIN((guint)most, n_nets);
  }
  return (n_nets + n_gpus - 1) / n_gpus;
}

static guint reverse_bits(guint value, guint power_of_two) {
  guint out = 0;
  for (guint low = 1, high = power_of_two >> 1; low < power_of_two; low <<= 1, high >>= 1)
    if (value & low) out |= high;
  return out;
}

typedef struct {
  guint n, start, per_gpu;
  int *nets;
} NetChoice;

/* How a GPU maps channels to its local NICs: spread over the GPUs that share them. */
static gboolean choose_nets(const CsimPaths *p, const CsimTopoNode *gpu, NetChoice *out) {
  guint n_all = csim_paths_n(p, CSIM_NODE_NET), n_gpus = csim_paths_n(p, CSIM_NODE_GPU);
  if (n_all == 0) return FALSE;
  out->nets = g_new(int, n_all);
  out->n = csim_paths_locals(p, gpu, CSIM_NODE_NET, out->nets, n_all);
  g_autofree int *gpus = g_new(int, n_gpus);
  guint sharing = csim_paths_locals(p, csim_paths_node(p, CSIM_NODE_NET, (guint)out->nets[0]), CSIM_NODE_GPU,
                                    gpus, n_gpus);
  out->per_gpu = nets_a_gpu(p, out->n, sharing);
  out->start = (guint)gpu->gpu.dev % sharing;
  if ((out->n & (out->n - 1)) == 0) out->start = reverse_bits(out->start, out->n);
  return TRUE;
}

static int chosen_net(const NetChoice *c, guint channel) {
  return c->nets[(c->start + channel % c->per_gpu) % c->n];
}

const CsimTopoNode *csim_paths_local_net(const CsimPaths *paths, const CsimTopoNode *gpu, int channel) {
  if (paths->local_net == NULL || csim_paths_n(paths, CSIM_NODE_NET) == 0) return NULL;
  int net = paths->local_net[gpu->index * CSIM_PATHS_CHANNELS + channel % CSIM_PATHS_CHANNELS];
  return net < 0 ? NULL : csim_paths_node(paths, CSIM_NODE_NET, (guint)net);
}

/* Channel by channel, since an early channel of a later GPU counts before a late channel of an earlier one. */
static const CsimTopoNode *local_gpu(const CsimPaths *paths, const CsimTopoNode *net) {
  guint n_gpus = csim_paths_n(paths, CSIM_NODE_GPU);
  g_autofree int *gpus = g_new(int, n_gpus + 1);
  guint n = csim_paths_locals(paths, net, CSIM_NODE_GPU, gpus, n_gpus);
  g_autofree NetChoice *choices = g_new0(NetChoice, n + 1);
  const CsimTopoNode *found = NULL;
  for (guint i = 0; i < n; i++)
    choose_nets(paths, csim_paths_node(paths, CSIM_NODE_GPU, (guint)gpus[i]), &choices[i]);
  for (guint channel = 0; channel < CSIM_PATHS_CHANNELS && found == NULL; channel++)
    for (guint i = 0; i < n && found == NULL; i++)
      if (chosen_net(&choices[i], channel) == net->index)
        found = csim_paths_node(paths, CSIM_NODE_GPU, (guint)gpus[i]);
  for (guint i = 0; i < n; i++) g_free(choices[i].nets);
  return found;
}

const CsimTopoNode *csim_paths_local_gpu(const CsimPaths *paths, const CsimTopoNode *net) {
  if (paths->local_gpu == NULL) return local_gpu(paths, net);
  int gpu = paths->local_gpu[net->index];
  return gpu < 0 ? NULL : csim_paths_node(paths, CSIM_NODE_GPU, (guint)gpu);
}

static void remember_gpu(CsimPaths *p, guint g) {
  const CsimTopoNode *gpu = csim_paths_node(p, CSIM_NODE_GPU, g);
  NetChoice choice;
  if (!choose_nets(p, gpu, &choice)) return;
  for (guint c = 0; c < CSIM_PATHS_CHANNELS; c++) p->local_net[g * CSIM_PATHS_CHANNELS + c] = chosen_net(&choice, c);
  g_free(choice.nets);
}

void csim_paths_remember(CsimPaths *p) {
  guint n_gpus = csim_paths_n(p, CSIM_NODE_GPU), n_nets = csim_paths_n(p, CSIM_NODE_NET);
  guint8 *gdr = g_new0(guint8, (gsize)n_gpus * n_nets * 2 + 1);
  int *near = g_new(int, n_nets + 1);
  p->local_net = g_new0(int, n_gpus * CSIM_PATHS_CHANNELS + 1);
  for (guint g = 0; g < n_gpus; g++) remember_gpu(p, g);
  for (guint n = 0; n < n_nets; n++) {
    const CsimTopoNode *net = csim_paths_node(p, CSIM_NODE_NET, n), *gpu = local_gpu(p, net);
    near[n] = gpu ? gpu->index : -1;
    for (guint i = 0; i < 2 * n_gpus; i++)
      gdr[gdr_entry(p, i / 2, n, i % 2)] = (guint8)gdr_ok(p, csim_paths_node(p, CSIM_NODE_GPU, i / 2), net, i % 2);
  }
  p->local_gpu = near;
  p->gdr = gdr;
}
