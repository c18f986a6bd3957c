/* The outer loop of the channel search (fact sheet 2.2, 2.3; NCCL 2.30.7, src/graph/search.cc,
 * ncclTopoCompute). */
#include "nccl/search-state.h"

#include <string.h>

/* GB/s a channel that are tried, fastest first. NCCL 2.30.7, src/graph/search.cc. */
static const float intra_old[] = {40, 30, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3};
static const float inter_old[] = {48, 30, 28, 24, 20, 18,   15,   12,    10,   9,
                                  7,  6,  5,  4,  3,  2.4f, 1.2f, 0.24f, 0.12f};
static const float intra_sm90[] = {60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3};
static const float inter_sm90[] = {48, 45, 42, 40, 30,   24,   22,    20,   17.5f,
                                   15, 12, 6,  3,  2.4f, 1.2f, 0.24f, 0.12f};
static const float intra_sm100[] = {90, 80, 70, 60, 50, 45, 40, 30, 24, 20, 19, 18};
static const float inter_sm100[] = {96, 86,    80, 48, 45.1f, 42, 40,   30,   24,    22,
                                    20, 17.5f, 15, 12, 6,     3,  2.4f, 1.2f, 0.24f, 0.12f};

#define BUDGET_ALL (1 << 19)
#define BUDGET_ATTEMPT (1 << 14)
#define BUDGET_SAME_CHANNELS (1 << 8)
#define LOCAL_BW 5000 /* NCCL's bandwidth of a GPU with itself */
#define MAX_NVLS_HEADS 32
#define MAX_DIRECT_HEADS 8

typedef struct {
  const float *step;
  int n;
} Steps;

typedef struct {
  CsimSearch *s;
  Steps steps;
  int index;     /* of the current step */
  int cross_nic; /* allowed: 0, 1, 2 */
  int min_intra, max_intra, min_inter, max_inter;
  int try_same;
  gboolean amd;
  int64_t budget;
} Outer;

static Steps steps_of(gboolean inter, int sm) {
#define STEPS(a) ((Steps){a, G_N_ELEMENTS(a)})
  if (sm >= 100) return inter ? STEPS(inter_sm100) : STEPS(intra_sm100);
  if (sm >= 90) return inter ? STEPS(inter_sm90) : STEPS(intra_sm90);
  return inter ? STEPS(inter_old) : STEPS(intra_old);
#undef STEPS
}

/* ---- What the system offers ---- */

static float best_bw(const CsimSystem *system, const CsimPaths *paths, const CsimTopoNode *gpu,
                     CsimNodeType to) {
  float best = 0;
  for (guint i = 0; i < csim_system_n(system, to); i++) {
    const CsimTopoNode *node = csim_system_node(system, to, i);
    const CsimPath *path = csim_paths_get(paths, gpu, node);
    if (node != gpu && path->n_links > 0) best = MAX(best, path->bw);
  }
  return best;
}

/* What one physical GPU can move: its NVLinks together, or its PCI link. */
static float device_bw(const CsimTopoNode *dev) {
  float nvlink = 0, pci = 0;
  for (guint i = 0; i < dev->links->len; i++) {
    const CsimTopoLink *link = &g_array_index(dev->links, CsimTopoLink, i);
    if (link->type == CSIM_LINK_NVL) nvlink += link->bw;
    if (link->type == CSIM_LINK_PCI) pci = link->bw;
  }
  return MAX(nvlink, pci);
}

static void add_sm(const CsimSystem *system, CsimSearchLimits *out) {
  for (guint g = 0; g < csim_system_n(system, CSIM_NODE_GPU); g++) {
    int sm = csim_system_node(system, CSIM_NODE_GPU, g)->gpu.sm;
    out->min_sm = g == 0 ? sm : MIN(out->min_sm, sm);
    out->max_sm = g == 0 ? sm : MAX(out->max_sm, sm);
  }
}

void csim_search_limits(const CsimSystem *system, const CsimPaths *paths, gboolean inter,
                        CsimSearchLimits *out) {
  *out = (CsimSearchLimits){.inter = inter};
  add_sm(system, out);
  if (!inter && csim_system_n(system, CSIM_NODE_GPU) == 1) {
    out->max_bw = out->total_bw = LOCAL_BW;
    return;
  }
  for (guint g = 0; g < csim_system_n(system, CSIM_NODE_GPU); g++) {
    const CsimTopoNode *gpu = csim_system_node(system, CSIM_NODE_GPU, g);
    out->max_bw = MAX(out->max_bw, best_bw(system, paths, gpu, inter ? CSIM_NODE_NET : CSIM_NODE_GPU));
  }
  for (guint d = 0; d < csim_system_n(system, CSIM_NODE_DEV); d++)
    out->total_bw = MAX(out->total_bw, device_bw(csim_system_node(system, CSIM_NODE_DEV, d)));
}

/* Nearest and farthest type in a matrix of paths (its diagonal left out if it is square over one type). */
static void type_range(const CsimSearchPath *paths, int rows, int cols, gboolean skip_self, int *nearest,
                       int *farthest) {
  *nearest = CSIM_PATH_DIS;
  *farthest = CSIM_PATH_LOC;
  for (int a = 0; a < rows; a++)
    for (int b = 0; b < cols; b++) {
      if (skip_self && a == b) continue;
      *nearest = MIN(*nearest, paths[a * cols + b].type);
      *farthest = MAX(*farthest, paths[a * cols + b].type);
    }
}

static void set_types(Outer *o) {
  CsimSearch *s = o->s;
  o->min_intra = CSIM_PATH_LOC;
  o->min_inter = CSIM_PATH_PIX;
  o->max_intra = o->max_inter = CSIM_PATH_SYS;
  if (s->n_gpus > 1) type_range(s->gpu_gpu, s->n_gpus, s->n_gpus, TRUE, &o->min_intra, &o->max_intra);
  if (!s->limits.inter || s->n_nets == 0) return;
  type_range(s->gpu_net, s->n_gpus, s->n_nets, FALSE, &o->min_inter, &o->max_inter);
  if (s->limits.min_sm < 90) o->max_inter = CSIM_PATH_SYS;
  o->max_inter = MIN(o->max_inter, CSIM_PATH_NET); /* an attempt with DIS is never made */
}

/* Exactly two NVLink islands of more than one GPU, with something slower in between (two sockets of an old PCIe
 * server). */
static gboolean is_split_nvlink(const CsimSearch *s) {
  g_autofree int *island = g_new(int, s->n_gpus + 1);
  g_autofree int *size = g_new0(int, s->n_gpus + 1);
  for (int g = 0; g < s->n_gpus; g++) {
    island[g] = g;
    for (int p = 0; p < g; p++)
      if (s->gpu_gpu[g * s->n_gpus + p].type == CSIM_PATH_NVL) island[g] = MIN(island[g], island[p]);
    size[island[g]]++;
  }
  int islands = 0;
  for (int g = 0; g < s->n_gpus; g++) islands += size[g] > 1;
  return islands == 2;
}

/* ---- The loop ---- */

static void set_speed(Outer *o, int index) {
  o->index = index;
  o->s->work.bw_intra = o->s->work.bw_inter = o->steps.step[index];
}

static void start_speed(Outer *o) {
  const CsimSearch *s = o->s;
  float total = s->limits.total_bw;
  if (s->n_gpus > 1 && s->work.pattern != CSIM_PATTERN_RING)
    total *= (float)(s->n_gpus * 1.0 / (s->n_gpus - 1));
  int i = 0;
  while (i < o->steps.n - 1 &&
         (o->steps.step[i] > s->limits.max_bw || o->steps.step[i] * s->work.min_channels > total))
    i++;
  set_speed(o, i);
}

static void attempt(Outer *o) {
  int time = o->s->work.same_channels ? BUDGET_SAME_CHANNELS : BUDGET_ATTEMPT;
  o->budget -= time;
  csim_search_attempt(o->s, time);
}

static gboolean is_perfect(const Outer *o) {
  return o->s->time == -1 || o->s->best.n_channels * o->s->best.bw_inter >= o->s->limits.total_bw;
}

/* Moves to the next easier set of parameters; FALSE when there is none. The order is the nesting of fact
 * sheet 2.3, innermost first. */
static gboolean relax(Outer *o) {
  CsimCandidate *work = &o->s->work;
  const CsimCandidate *best = &o->s->best;
  gboolean inter = o->s->limits.inter, none = best->n_channels == 0;
  if (work->same_channels && !(o->amd && work->type_intra == CSIM_PATH_SYS))
    return work->same_channels = 0, TRUE;
  work->same_channels = o->try_same;

  o->budget += o->s->time;
  if (o->budget < 0 && !none) return FALSE;

  if (o->s->limits.min_sm >= 90 && work->pattern == CSIM_PATTERN_BALANCED_TREE)
    return work->pattern = CSIM_PATTERN_TREE, TRUE;
  work->pattern = best->pattern;

  int max_intra = inter ? work->type_inter : MIN(o->max_intra, CSIM_PATH_NET);
  if (work->type_intra < max_intra && (none || work->type_intra < best->type_intra))
    return work->type_intra++, TRUE;
  work->type_intra = o->min_intra;

  if (inter && work->type_inter < o->max_inter &&
      (none || work->type_inter < best->type_inter || work->type_inter < CSIM_PATH_PXN))
    return work->type_inter++, TRUE;
  work->type_inter = o->min_inter;

  gboolean crosses = best->pattern == CSIM_PATTERN_RING || best->pattern == CSIM_PATTERN_BALANCED_TREE;
  if (o->cross_nic == 2 && work->cross_nic == 0 && crosses) return work->cross_nic = 2, TRUE;
  work->cross_nic = o->cross_nic == 1;

  if (o->index >= o->steps.n - 1) return FALSE;
  if (!none && !(o->steps.step[o->index + 1] / best->bw_inter > .49)) return FALSE;
  set_speed(o, o->index + 1);
  return TRUE;
}

static void first_pass(Outer *o) {
  do attempt(o);
  while (!is_perfect(o) && relax(o));
}

/* Fast channels are worth splitting in two (ncclTopoDupChannels). */
static void duplicate(Outer *o) {
  CsimCandidate *g = &o->s->best;
  if (g->n_channels == 0 || g->pattern == CSIM_PATTERN_NVLS || g->bw_intra < 25.0) return;
  if (o->s->limits.min_sm > 80 && g->bw_intra < 50.0 && g->n_channels > 4) return;
  int n = MIN(g->n_channels * 2, g->max_channels), added = n - g->n_channels;
  memcpy(g->intra + g->n_channels * o->s->n_gpus, g->intra, sizeof(int) * added * o->s->n_gpus);
  memcpy(g->inter + g->n_channels * 2, g->inter, sizeof(int) * added * 2);
  int factor = (n + g->n_channels - 1) / g->n_channels;
  g->bw_intra /= factor;
  g->bw_inter /= factor;
  g->n_channels = n;
}

static gboolean climb(Outer *o) {
  CsimCandidate *work = &o->s->work;
  const CsimCandidate *best = &o->s->best;
  if (o->s->time == 0 || o->index == 0) return FALSE;
  if (best->pattern == CSIM_PATTERN_RING) return set_speed(o, o->index - 1), TRUE;
  if (best->pattern == CSIM_PATTERN_NVLS && work->bw_inter == best->bw_inter &&
      work->bw_inter < work->bw_intra * 2) {
    work->min_channels = work->max_channels = best->n_channels;
    work->bw_inter = o->steps.step[--o->index];
    return TRUE;
  }
  if (work->bw_intra != best->bw_intra || work->bw_intra >= work->bw_inter * 2) return FALSE;
  work->bw_intra = o->steps.step[--o->index];
  return TRUE;
}

/* From the first pass's solution upwards, with at least as many channels. */
static void second_pass(Outer *o) {
  CsimSearch *s = o->s;
  csim_candidate_copy(&s->work, &s->best, s->n_gpus);
  int i = 0;
  while (i < o->steps.n - 1 && o->steps.step[i] > s->best.bw_inter) i++;
  set_speed(o, i);
  s->work.min_channels = s->best.n_channels;
  s->time = -1;
  while (climb(o)) attempt(o);
}

/* No way found: GPUs in index order at a nominal speed. */
static void fall_back(Outer *o) {
  CsimSearch *s = o->s;
  CsimCandidate *g = &s->best;
  if (g->n_channels > 0 || g->coll_net || g->pattern == CSIM_PATTERN_NVLS) return;
  for (int i = 0; i < s->n_gpus; i++) g->intra[i] = i;
  g->bw_intra = 0.1f;
  g->type_intra = CSIM_PATH_SYS;
  g->n_channels = 1;
  int in = s->n_nets ? s->local_net[0][0] : -1, out = s->n_nets ? s->local_net[s->n_gpus - 1][0] : -1;
  g->inter[0] = in;
  g->inter[1] = out;
  g->bw_inter = in >= 0 && out >= 0 ? 0.1f : 0;
  g->type_inter = in >= 0 && out >= 0 ? CSIM_PATH_SYS : CSIM_PATH_DIS;
}

/* ---- In and out ---- */

static gboolean is_amd(const CsimSystem *system) {
  if (csim_system_n(system, CSIM_NODE_CPU) == 0) return FALSE;
  const CsimTopoNode *cpu = csim_system_node(system, CSIM_NODE_CPU, 0);
  return cpu->cpu.arch == CSIM_ARCH_X86 && cpu->cpu.vendor == CSIM_VENDOR_AMD;
}

static void set_cross_nic(Outer *o, int pattern) {
  gboolean can = pattern == CSIM_PATTERN_RING || pattern == CSIM_PATTERN_BALANCED_TREE ||
                 pattern == CSIM_PATTERN_SPLIT_TREE;
  o->cross_nic = can && o->s->n_nets > 1 ? (int)csim_nccl_env_int(o->s->env, "NCCL_CROSS_NIC", 2) : 0;
}

static void set_start(Outer *o, const CsimGraph *graph) {
  CsimCandidate *g = &o->s->best;
  int n = o->s->n_gpus;
  csim_candidate_reset(g);
  g->pattern = graph->pattern;
  g->coll_net = graph->coll_net;
  g->min_channels = graph->min_channels;
  g->max_channels = graph->max_channels;
  g->cross_nic = o->cross_nic == 1;
  g->type_intra = o->min_intra;
  g->type_inter = o->min_inter;
  g->same_channels = o->try_same = g->pattern == CSIM_PATTERN_NVLS ? 0 : 1;
  if (g->pattern == CSIM_PATTERN_NVLS) g->max_channels = MIN(MAX_NVLS_HEADS, n);
  if (g->pattern == CSIM_PATTERN_COLLNET_DIRECT) g->max_channels = MIN(MAX_DIRECT_HEADS, n);
  if (n == 1 && g->pattern != CSIM_PATTERN_RING) g->pattern = CSIM_PATTERN_TREE;
  /* One node: all GPUs pull evenly from the switch. */
  if (!o->s->limits.inter && g->pattern == CSIM_PATTERN_NVLS) g->min_channels = g->max_channels;
  /* A tree over two sockets needs two channels, and takes the ring's number. */
  if (g->pattern == CSIM_PATTERN_RING && g->max_channels >= 2 && g->min_channels == 1 &&
      is_split_nvlink(o->s))
    g->min_channels = 2;
}

static void search(Outer *o) {
  csim_candidate_copy(&o->s->work, &o->s->best, o->s->n_gpus);
  o->budget = BUDGET_ALL;
  start_speed(o);
  first_pass(o);
  duplicate(o);
  second_pass(o);
  fall_back(o);
}

static void store(const Outer *o, CsimGraph *graph) {
  const CsimCandidate *g = &o->s->best;
  int id = graph->id;
  *graph = (CsimGraph){.id = id,
                       .pattern = g->pattern,
                       .cross_nic = g->cross_nic,
                       .coll_net = g->coll_net,
                       .min_channels = g->min_channels,
                       .max_channels = g->max_channels,
                       .n_channels = g->n_channels,
                       .bw_intra = g->bw_intra,
                       .bw_inter = g->bw_inter,
                       .latency_inter = g->latency_inter,
                       .type_intra = g->type_intra,
                       .type_inter = g->type_inter,
                       .same_channels = g->same_channels,
                       .n_hops = g->n_hops,
                       .n_gpus = o->s->n_gpus};
  graph->intra = g_new(int, (gsize)g->n_channels * o->s->n_gpus + 1);
  memcpy(graph->intra, g->intra, sizeof(int) * g->n_channels * o->s->n_gpus);
  for (int i = 0; i < CSIM_MAX_CHANNELS * 2; i++)
    graph->inter[i] = i < 2 * g->n_channels && o->s->limits.inter ? g->inter[i] : -1;
}

void csim_search_graph(CsimSearch *s, CsimGraph *graph) {
  Outer o = {.s = s, .amd = is_amd(s->system), .steps = steps_of(s->limits.inter, s->limits.min_sm)};
  set_cross_nic(&o, graph->pattern);
  set_types(&o);
  set_start(&o, graph);
  gboolean no_nvls = graph->pattern == CSIM_PATTERN_NVLS && (!s->has_nvs || s->limits.min_sm < 90);
  if (!no_nvls && s->n_gpus > 0) search(&o);
  store(&o, graph);
}
