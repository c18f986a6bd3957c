/* Kinds of machines and their parts: trimming, paths, searches. */
#include "nccl/comm-private.h"

#include "nccl/graph-xml.h"

/* ---- The GPUs that take part, in rank order ---- */

/* Several hosts in one file: the first n GPUs of the file, since dev numbers repeat from host to host. */
static void keep_first(CsimSystem *system, guint n) {
  while (csim_system_n(system, CSIM_NODE_GPU) > n) {
    CsimTopoNode *gpu = csim_system_node(system, CSIM_NODE_GPU, csim_system_n(system, CSIM_NODE_GPU) - 1);
    CsimTopoNode *dev = csim_node_link(gpu, 0)->remote;
    csim_system_remove(system, gpu);
    if (dev->type == CSIM_NODE_DEV) csim_system_remove(system, dev);
  }
}

static int compare_devs(const void *a, const void *b) {
  return *(const int *)a - *(const int *)b;
}

static gboolean keep_chosen(CsimSystem *system, const CsimCommSpec *spec, GError **error) {
  guint n = csim_system_n(system, CSIM_NODE_GPU);
  if (spec->gpus) return csim_system_keep_gpus(system, spec->gpus, spec->n_gpus, error);
  if (spec->n_gpus == 0 || spec->n_gpus == n) return TRUE;
  if (spec->n_gpus > n) {
    csim_error_set(error, CSIM_ERROR_VALUE, CSIM_LOC_NONE, "%s: %u GPUs a node asked for; it has %u",
                   system->name ? system->name : "node", spec->n_gpus, n);
    return FALSE;
  }
  if (system->n_hosts > 1) return keep_first(system, spec->n_gpus), TRUE;
  g_autofree int *devs = g_new(int, n);
  for (guint i = 0; i < n; i++) devs[i] = csim_system_node(system, CSIM_NODE_GPU, i)->gpu.dev;
  qsort(devs, n, sizeof *devs, compare_devs);
  return csim_system_keep_gpus(system, devs, spec->n_gpus, error);
}

/* Stable by (host, dev); inside an NVLink domain of several hosts the order of the file. */
static gboolean comes_before(const CsimTopoNode *a, const CsimTopoNode *b, gboolean file_order) {
  if (file_order) return a->index < b->index;
  if (csim_node_host(a) != csim_node_host(b)) return csim_node_host(a) < csim_node_host(b);
  if (a->gpu.dev != b->gpu.dev) return a->gpu.dev < b->gpu.dev;
  return a->index < b->index;
}

static void number_ranks(CsimCommKind *kind, gboolean file_order) {
  guint n = csim_system_n(kind->work, CSIM_NODE_GPU);
  kind->n_ranks = (int)n;
  kind->gpu_full = g_new(int, n);
  for (guint i = 0; i < n; i++) {
    CsimTopoNode *gpu = csim_system_node(kind->work, CSIM_NODE_GPU, i);
    int place = 0;
    for (guint j = 0; j < n; j++)
      if (i != j) place += comes_before(csim_system_node(kind->work, CSIM_NODE_GPU, j), gpu, file_order);
    gpu->gpu.rank = place;
    kind->gpu_full[place] = csim_system_find(kind->full, CSIM_NODE_GPU, gpu->id)->index;
  }
}

/* Whether a NIC can reduce in the network is its plugin's word, not the description's: a file is mostly written without one. */
static void offer_coll_net(CsimSystem *system) {
  for (guint i = 0; i < csim_system_n(system, CSIM_NODE_NET); i++)
    csim_system_node(system, CSIM_NODE_NET, i)->net.coll = 1;
}

CsimCommKind *csim_comm_kind_new(const CsimCommSpec *spec, const CsimSystem *system, GError **error) {
  CsimCommKind *kind = g_new0(CsimCommKind, 1);
  kind->full = system;
  kind->work = csim_system_copy(system);
  kind->parts = g_ptr_array_new();
  if (spec->coll_net) offer_coll_net(kind->work);
  if (!keep_chosen(kind->work, spec, error)) return csim_comm_kind_free(kind), NULL;
  if (csim_system_n(kind->work, CSIM_NODE_GPU) == 0) {
    csim_error_set(error, CSIM_ERROR_NCCL, CSIM_LOC_NONE, "%s: no GPU with a rank; a communicator needs one",
                   system->name ? system->name : "node");
    return csim_comm_kind_free(kind), NULL;
  }
  number_ranks(kind, spec->mnnvl && system->n_hosts > 1);
  return kind;
}

/* ---- Parts ---- */

/* Without an NVLink domain over hosts a process sees its own host only. */
static void drop_other_hosts(CsimSystem *system, int host) {
  for (int t = 0; t < CSIM_N_NODE_TYPES; t++)
    for (guint i = csim_system_n(system, t); i-- > 0;) {
      CsimTopoNode *node = csim_system_node(system, t, i);
      if (t != CSIM_NODE_NVS && csim_node_host(node) != host) csim_system_remove(system, node);
    }
}

static CsimSystem *trimmed(const CsimSystem *system, const int *domain, int keep, gboolean mnnvl) {
  CsimSystem *copy = csim_system_copy(system);
  for (guint g = csim_system_n(system, CSIM_NODE_GPU); g-- > 0;)
    if (domain[g] != keep) csim_system_remove(copy, csim_system_node(copy, CSIM_NODE_GPU, g));
  if (!mnnvl && system->n_hosts > 1) {
    drop_other_hosts(copy, csim_node_host(csim_system_node(copy, CSIM_NODE_GPU, 0)));
    copy->n_hosts = 1;
  }
  return copy;
}

/* ---- One part ---- */

static void search_one(CsimCommClass *cls, const CsimCommBuild *build, int id, int pattern, int coll_net,
                       int min, int max) {
  CsimGraph *graph = &cls->graph[id];
  *graph = (CsimGraph){
      .id = id, .pattern = pattern, .coll_net = coll_net, .min_channels = min, .max_channels = max};
  if (!csim_graph_xml_read(cls->system, build->spec->env, cls->limits.inter, build->diag, graph))
    csim_search_graph(cls->search, graph);
}

static gboolean can_nvls(const CsimCommClass *cls, const CsimNcclEnv *env) {
  return csim_nccl_env_int(env, "NCCL_NVLS_ENABLE", 2) != 0 &&
         csim_system_n(cls->system, CSIM_NODE_NVS) > 0 && cls->limits.min_sm >= 90 && cls->n_gpus >= 2;
}

static void search_graphs(CsimCommClass *cls, const CsimCommBuild *build) {
  for (int g = 0; g < CSIM_N_GRAPHS; g++) cls->graph[g] = (CsimGraph){.id = g, .n_gpus = cls->n_gpus};
  cls->graph[CSIM_GRAPH_COLLNET_CHAIN].pattern = CSIM_PATTERN_TREE;
  cls->graph[CSIM_GRAPH_COLLNET_DIRECT].pattern = CSIM_PATTERN_COLLNET_DIRECT;
  cls->graph[CSIM_GRAPH_NVLS].pattern = CSIM_PATTERN_NVLS;
  search_one(cls, build, CSIM_GRAPH_RING, CSIM_PATTERN_RING, 0, 1, CSIM_MAX_CHANNELS / 2);
  int n = cls->graph[CSIM_GRAPH_RING].n_channels;
  search_one(cls, build, CSIM_GRAPH_TREE, CSIM_PATTERN_BALANCED_TREE, 0, n, n);
  if (build->coll_net) {
    search_one(cls, build, CSIM_GRAPH_COLLNET_CHAIN, CSIM_PATTERN_TREE, 1, n, n);
    search_one(cls, build, CSIM_GRAPH_COLLNET_DIRECT, CSIM_PATTERN_COLLNET_DIRECT, 1, 1, CSIM_MAX_CHANNELS);
  }
  if (can_nvls(cls, build->spec->env))
    search_one(cls, build, CSIM_GRAPH_NVLS, CSIM_PATTERN_NVLS, 0, 1, CSIM_MAX_CHANNELS);
}

static int *invert(const CsimGraph *graph, int n_gpus) {
  int *pos = g_new(int, (gsize)graph->n_channels *n_gpus + 1);
  for (int c = 0; c < graph->n_channels; c++)
    for (int i = 0; i < n_gpus; i++) pos[c * n_gpus + graph->intra[c * n_gpus + i]] = i;
  return pos;
}

static int distinct_heads(const CsimGraph *graph, int n_gpus, int *head) {
  int n = 0;
  for (int c = 0; c < graph->n_channels; c++) {
    int gpu = graph->intra[c * n_gpus], i = 0;
    while (i < n && head[i] != gpu) i++;
    if (i == n) head[n++] = gpu;
  }
  return n;
}

static void index_class(CsimCommClass *cls, const CsimCommKind *kind) {
  cls->place = g_new(int, cls->n_gpus);
  for (int g = 0; g < cls->n_gpus; g++)
    cls->place[g] = csim_system_node(cls->system, CSIM_NODE_GPU, g)->gpu.rank;
  guint n_nets = csim_system_n(cls->system, CSIM_NODE_NET);
  cls->net_full = g_new(int, n_nets + 1);
  for (guint n = 0; n < n_nets; n++)
    cls->net_full[n] =
        csim_system_find(kind->full, CSIM_NODE_NET, csim_system_node(cls->system, CSIM_NODE_NET, n)->id)
            ->index;
  cls->ring_pos = invert(&cls->graph[CSIM_GRAPH_RING], cls->n_gpus);
  cls->tree_pos = invert(&cls->graph[CSIM_GRAPH_TREE], cls->n_gpus);
  cls->n_nvls_heads = distinct_heads(&cls->graph[CSIM_GRAPH_NVLS], cls->n_gpus, cls->nvls_head);
  cls->n_direct_heads = distinct_heads(&cls->graph[CSIM_GRAPH_COLLNET_DIRECT], cls->n_gpus, cls->direct_head);
}

static void class_free(CsimCommClass *cls) {
  for (int g = 0; g < CSIM_N_GRAPHS; g++) csim_graph_finish(&cls->graph[g]);
  csim_search_free(cls->search);
  csim_paths_free(cls->paths);
  csim_system_free(cls->system);
  gpointer owned[] = {cls->place, cls->net_full, cls->ring_pos, cls->tree_pos, cls};
  for (guint i = 0; i < G_N_ELEMENTS(owned); i++) g_free(owned[i]);
}

/* Takes the system. */
static CsimCommClass *class_new(const CsimCommKind *kind, CsimSystem *system, const CsimCommBuild *build,
                                GError **error) {
  const CsimNcclEnv *env = build->spec->env;
  CsimCommClass *cls = g_new0(CsimCommClass, 1);
  cls->system = system;
  cls->n_gpus = (int)csim_system_n(system, CSIM_NODE_GPU);
  gboolean inter = cls->n_gpus != build->n_ranks;
  cls->paths = csim_paths_new(system, &(CsimPathContext){env, inter, !build->spec->mnnvl});
  if (!csim_paths_check(cls->paths, error)) return class_free(cls), NULL;
  csim_search_limits(system, cls->paths, inter, &cls->limits);
  cls->search = csim_search_new(system, cls->paths, &cls->limits, env);
  search_graphs(cls, build);
  index_class(cls, kind);
  return cls;
}

/* ---- The kind ---- */

static int domain_of_place(const CsimCommKind *kind, const int *domain, int place) {
  for (int g = 0; g < kind->n_ranks; g++)
    if (csim_system_node(kind->work, CSIM_NODE_GPU, g)->gpu.rank == place) return domain[g];
  g_assert_not_reached();
}

static void add_part(CsimCommKind *kind, CsimCommClass *cls) {
  for (int g = 0; g < cls->n_gpus; g++) {
    kind->part[cls->place[g]] = (int)kind->parts->len;
    kind->gpu[cls->place[g]] = g;
  }
  g_ptr_array_add(kind->parts, cls);
}

gboolean csim_comm_kind_search(CsimCommKind *kind, const CsimCommBuild *build, GError **error) {
  gboolean mnnvl = build->spec->mnnvl;
  CsimPathContext context = {build->spec->env, kind->n_ranks != build->n_ranks, !mnnvl};
  g_autoptr(CsimPaths) paths = csim_paths_new(kind->work, &context);
  if (!csim_paths_check(paths, error)) return FALSE;
  g_autofree int *domain = g_new(int, kind->n_ranks);
  csim_paths_domains(paths, domain);
  kind->part = g_new(int, kind->n_ranks);
  kind->gpu = g_new(int, kind->n_ranks);
  for (int place = 0; place < kind->n_ranks; place++) kind->part[place] = -1;
  for (int place = 0; place < kind->n_ranks; place++) {
    if (kind->part[place] >= 0) continue;
    CsimSystem *system = trimmed(kind->work, domain, domain_of_place(kind, domain, place), mnnvl);
    CsimCommClass *cls = class_new(kind, system, build, error);
    if (!cls) return FALSE;
    add_part(kind, cls);
  }
  return TRUE;
}

void csim_comm_kind_free(CsimCommKind *kind) {
  if (!kind) return;
  for (guint i = 0; i < kind->parts->len; i++) class_free(g_ptr_array_index(kind->parts, i));
  g_ptr_array_free(kind->parts, TRUE);
  csim_system_free(kind->work);
  gpointer owned[] = {kind->gpu_full, kind->part, kind->gpu, kind};
  for (guint i = 0; i < G_N_ELEMENTS(owned); i++) g_free(owned[i]);
}
