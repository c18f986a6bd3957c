/* Which NICs and which next GPUs the search tries, in order (fact sheet 2.4; NCCL 2.30.7,
 * src/graph/search.cc). */
#include "nccl/search-state.h"

static void add_net(CsimNetList *list, int net) {
  for (int i = 0; i < list->n; i++)
    if (list->net[i] == net) return;
  list->net[list->n++] = net;
}

/* The NICs that channels 0, 1, .. of one GPU use, until they repeat. */
static void add_local_of_gpu(const CsimSearch *s, int gpu, CsimNetList *list) {
  const int *local = s->local_net[gpu];
  for (int c = 0; c < CSIM_MAX_CHANNELS && local[c] >= 0; c++) {
    if (c > 0 && local[c] == local[0]) return;
    add_net(list, local[c]);
  }
}

/* Several hosts: all GPUs' NIC of channel 0, then of channel 1 ..., so that the hosts' NICs alternate early.
 */
static void add_local_by_channel(const CsimSearch *s, int first, int end, CsimNetList *list) {
  g_autofree gboolean *done = g_new0(gboolean, s->n_gpus + 1);
  for (int c = 0; c < CSIM_MAX_CHANNELS; c++)
    for (int g = first; g < end; g++) {
      int net = s->local_net[g][c];
      if (net < 0 || (c > 0 && net == s->local_net[g][0])) done[g] = TRUE;
      if (!done[g]) add_net(list, net);
    }
}

static void add_by_type(const CsimSearch *s, int first, int end, CsimNetList *list) {
  for (int type = 0; type <= s->work.type_inter; type++)
    for (int g = first; g < end; g++)
      for (int n = 0; n < MIN(s->n_nets, CSIM_MAX_CHANNELS); n++) /* NCCL looks at MAXCHANNELS NICs only */
        if (s->gpu_net[g * s->n_nets + n].type == type) add_net(list, n);
}

const CsimNetList *csim_search_select_nets(CsimSearch *s, int gpu) {
  CsimNetList *list = &s->select[(gpu + 1) * (CSIM_PATH_DIS + 1) + s->work.type_inter];
  if (list->net) return list;
  int first = gpu < 0 ? 0 : gpu, end = gpu < 0 ? s->n_gpus : gpu + 1;
  list->net = g_new(int, s->n_nets + 1);
  if (s->scatter_nets)
    add_local_by_channel(s, first, end, list);
  else
    for (int g = first; g < end; g++) add_local_of_gpu(s, g, list);
  /* A user's limit on NICs a GPU holds for the search too: only the GPUs' own ones (seen in the
   * NCCL_NETDEVS_POLICY=MAX:1 vectors). */
  if (!s->own_nets_only) add_by_type(s, first, end, list);
  return list;
}

typedef struct {
  int gpu, distance, intra_hops, intra_bw, inter_hops, inter_pci_bw, inter_bw;
} Score;

static int compare_scores(const void *a, const void *b) {
  const Score *x = a, *y = b;
  if (x->inter_bw != y->inter_bw) return y->inter_bw - x->inter_bw;
  if (x->inter_pci_bw != y->inter_pci_bw) return y->inter_pci_bw - x->inter_pci_bw;
  if (x->inter_hops != y->inter_hops) return x->inter_hops - y->inter_hops;
  if (x->intra_bw != y->intra_bw) return y->intra_bw - x->intra_bw;
  if (x->intra_hops != y->intra_hops) return x->intra_hops - y->intra_hops;
  return x->distance - y->distance;
}

static int score_gpus(const CsimSearch *s, int gpu, gboolean returns, Score *scores) {
  uint64_t flag = UINT64_C(1) << s->work.n_channels;
  const CsimSearchPath *from_net =
      returns ? &s->net_gpu[s->work.inter[s->work.n_channels * 2] * s->n_gpus] : NULL;
  int n = 0;
  for (int i = 1; i < s->n_gpus; i++) {
    int g = (gpu + i) % s->n_gpus;
    const CsimSearchPath *path = &s->gpu_gpu[gpu * s->n_gpus + g];
    if (path->n_links == 0 || (s->used[g] & flag)) continue;
    Score *score = &scores[n++];
    *score = (Score){.gpu = g, .distance = i, .intra_hops = path->n_links, .intra_bw = (int)path->bw};
    if (!from_net) continue;
    score->inter_hops = from_net[g].n_links;
    score->inter_pci_bw = (int)s->gpu_pci_bw[g];
    score->inter_bw = (int)from_net[g].bw;
  }
  return n;
}

static gboolean all_intra_equal(const Score *scores, int n) {
  for (int i = 1; i < n; i++)
    if (scores[i].intra_bw != scores[0].intra_bw || scores[i].intra_hops != scores[0].intra_hops)
      return FALSE;
  return TRUE;
}

/* NVSwitches like few peers: only index neighbours, and those only if they are still free. */
static int neighbours(const CsimSearch *s, int gpu, int *next) {
  uint64_t flag = UINT64_C(1) << s->work.n_channels;
  int after = (gpu + 1) % s->n_gpus, before = (gpu - 1 + s->n_gpus) % s->n_gpus;
  int pattern = s->work.pattern;
  int order[2] = {after, -1};
  if (pattern == CSIM_PATTERN_RING) {
    order[0] = before;
    order[1] = after;
  } else if (pattern == CSIM_PATTERN_SPLIT_TREE || pattern == CSIM_PATTERN_BALANCED_TREE) {
    order[1] = before;
  }
  if (order[0] == order[1]) order[1] = -1;
  int n = 0;
  for (int i = 0; i < 2; i++) {
    int g = order[i];
    if (g < 0 || g == gpu || (s->used[g] & flag) || s->gpu_gpu[gpu * s->n_gpus + g].n_links == 0) continue;
    next[n++] = g;
  }
  return n;
}

int csim_search_next_gpus(CsimSearch *s, int gpu, int *next, int sort_net) {
  if (s->has_nvs) return neighbours(s, gpu, next);
  g_autofree Score *scores = g_new(Score, s->n_gpus + 1);
  int n = score_gpus(s, gpu, sort_net == 1, scores);
  qsort(scores, n, sizeof *scores, compare_scores);
  gboolean reverse = sort_net == -1 && all_intra_equal(scores, n);
  for (int i = 0; i < n; i++) next[i] = scores[reverse ? n - 1 - i : i].gpu;
  return n;
}
