/*
 * NCCL_GRAPH_FILE: a graph dump read back (fact sheet 7.3).
 *
 * Read with GLib's XML parser, which knows lines; what NCCL checks late or never (a GPU twice in a channel, a
 * NIC that is not there) is checked here, since a broken ring would stop the simulation.
 */
#include "nccl/graph-xml.h"

#include <stdlib.h>
#include <string.h>

#define MAX_FILE_BYTES (64 << 20)

typedef struct {
  const CsimSystem *system;
  CsimGraph *graph; /* filled; only id is set at first */
  gboolean cross_nic_off;
  gboolean inter;  /* channels need their two NICs */
  gboolean inside; /* a <graph> with our id */
  int channel, gpu, net;
  gboolean *seen; /* [GPU] in this channel */
} Reader;

static const char *attribute(const char **names, const char **values, const char *name) {
  for (guint i = 0; names[i]; i++)
    if (strcmp(names[i], name) == 0) return values[i];
  return NULL;
}

static int int_of(const char *text) {
  return text ? (int)strtol(text, NULL, 0) : 0;
}

static int type_of(const char *text) {
  for (int t = CSIM_PATH_LOC; t <= CSIM_PATH_DIS; t++)
    if (g_strcmp0(text, csim_path_type_name(t)) == 0) return t;
  return -1;
}

static void fail(GError **error, GMarkupParseContext *context, const char *what) {
  gint line = 0, column = 0;
  g_markup_parse_context_get_position(context, &line, &column);
  g_set_error(error, CSIM_ERROR, CSIM_ERROR_SCHEMA, "%d:%d: %s", line, column, what);
}

/* dev is hexadecimal even without 0x: system id << 56 | dev. */
static guint64 id_of(const char *dev) {
  return g_ascii_strtoull(dev, NULL, 16);
}

static int find_net(const CsimSystem *system, const char *dev) {
  const CsimTopoNode *node = dev ? csim_system_find(system, CSIM_NODE_NET, id_of(dev)) : NULL;
  return node ? node->index : -1;
}

/* By rank if that is given, else by host and NVML index. */
static int find_gpu(const CsimSystem *system, const char *rank, const char *dev) {
  for (guint g = 0; g < csim_system_n(system, CSIM_NODE_GPU); g++) {
    const CsimTopoNode *gpu = csim_system_node(system, CSIM_NODE_GPU, g);
    if (rank && gpu->gpu.rank == int_of(rank)) return (int)g;
    if (!rank && dev && id_of(dev) == ((gpu->id & ~CSIM_NODE_LOCAL_MASK) | (guint64)gpu->gpu.dev))
      return (int)g;
  }
  return -1;
}

static void start_graph(Reader *r, GMarkupParseContext *context, const char **names, const char **values,
                        GError **error) {
  CsimGraph *g = r->graph;
  if (int_of(attribute(names, values, "id")) != g->id) return;
  int cross = int_of(attribute(names, values, "crossnic"));
  if (r->cross_nic_off && cross == 1) return;
  r->inside = TRUE;
  int n = int_of(attribute(names, values, "nchannels"));
  int intra = type_of(attribute(names, values, "typeintra")),
      inter = type_of(attribute(names, values, "typeinter"));
  if (n < 0 || n > CSIM_MAX_CHANNELS)
    return fail(error, context, "nchannels out of range; 0 to 64 are possible");
  if (intra < 0 || inter < 0)
    return fail(error, context, "unknown typeintra or typeinter; LOC, NVL .. DIS are known");
  const char *pattern = attribute(names, values, "pattern"),
             *bw_intra = attribute(names, values, "speedintra");
  const char *bw_inter = attribute(names, values, "speedinter"),
             *latency = attribute(names, values, "latencyinter");
  if (!pattern || !bw_intra || !bw_inter)
    return fail(error, context, "graph without pattern, speedintra or speedinter");
  if (n > 0 && !(strtof(bw_intra, NULL) > 0 && strtof(bw_inter, NULL) > 0))
    return fail(error, context, "speedintra and speedinter must be above 0");
  csim_graph_finish(g); /* of two graphs with one id the last counts */
  r->channel = 0;
  *g = (CsimGraph){.id = g->id,
                   .pattern = int_of(pattern),
                   .coll_net = g->coll_net,
                   .min_channels = g->min_channels,
                   .max_channels = g->max_channels,
                   .n_channels = n,
                   .cross_nic = cross,
                   .type_intra = intra,
                   .type_inter = inter,
                   .bw_intra = strtof(bw_intra, NULL),
                   .bw_inter = strtof(bw_inter, NULL),
                   .latency_inter = latency ? strtof(latency, NULL) : 0,
                   .same_channels = int_of(attribute(names, values, "samechannels")),
                   .n_gpus = (int)csim_system_n(r->system, CSIM_NODE_GPU)};
  g->intra = g_new0(int, (gsize)n * g->n_gpus + 1);
  for (int i = 0; i < CSIM_MAX_CHANNELS * 2; i++) g->inter[i] = -1;
}

static void add_gpu(Reader *r, GMarkupParseContext *context, const char **names, const char **values,
                    GError **error) {
  CsimGraph *g = r->graph;
  int gpu = find_gpu(r->system, attribute(names, values, "rank"), attribute(names, values, "dev"));
  if (gpu < 0) return fail(error, context, "no such GPU in this node");
  if (r->seen[gpu] || r->gpu >= g->n_gpus) return fail(error, context, "a GPU twice in one channel");
  r->seen[gpu] = TRUE;
  g->intra[r->channel * g->n_gpus + r->gpu++] = gpu;
}

static void add_net(Reader *r, GMarkupParseContext *context, const char **names, const char **values,
                    GError **error) {
  int net = find_net(r->system, attribute(names, values, "dev"));
  if (net < 0) return fail(error, context, "no such NIC in this node");
  if (r->net > 1) return fail(error, context, "more than two NICs in one channel");
  r->graph->inter[2 * r->channel + r->net++] = net;
}

static void start(GMarkupParseContext *context, const char *name, const char **names, const char **values,
                  gpointer data, GError **error) {
  Reader *r = data;
  if (strcmp(name, "graph") == 0) return start_graph(r, context, names, values, error);
  if (!r->inside) return;
  if (strcmp(name, "gpu") == 0) return add_gpu(r, context, names, values, error);
  if (strcmp(name, "net") == 0) return add_net(r, context, names, values, error);
  if (strcmp(name, "channel") != 0) return;
  if (r->channel >= r->graph->n_channels) return fail(error, context, "more channels than nchannels says");
  r->gpu = r->net = 0;
  memset(r->seen, 0, sizeof(gboolean) * r->graph->n_gpus);
}

static void end(GMarkupParseContext *context, const char *name, gpointer data, GError **error) {
  Reader *r = data;
  if (!r->inside) return;
  if (strcmp(name, "channel") == 0) {
    int needed = r->graph->id == CSIM_GRAPH_NVLS ? 1 : r->graph->n_gpus;
    if (r->gpu < needed)
      return fail(error, context, "channel with too few GPUs; each GPU of the node must be in it");
    if (r->inter && r->net < 2) return fail(error, context, "channel without its two NICs, first and last");
    r->channel++;
  } else if (strcmp(name, "graph") == 0) {
    if (r->channel < r->graph->n_channels) fail(error, context, "fewer channels than nchannels says");
    r->inside = FALSE;
  }
}

static gboolean parse(Reader *r, const char *text, gsize length, GError **error) {
  static const GMarkupParser parser = {.start_element = start, .end_element = end};
  r->seen = g_new0(gboolean, csim_system_n(r->system, CSIM_NODE_GPU) + 1);
  GMarkupParseContext *context = g_markup_parse_context_new(&parser, 0, r, NULL);
  gboolean ok = g_markup_parse_context_parse(context, text, (gssize)length, error) &&
                g_markup_parse_context_end_parse(context, error);
  g_markup_parse_context_free(context);
  g_free(r->seen);
  return ok && r->graph->n_channels > 0;
}

static char *load(const char *path, gsize *length, GError **error) {
  g_autofree char *text = NULL;
  if (!g_file_get_contents(path, &text, length, error)) return NULL;
  if (*length <= MAX_FILE_BYTES) return g_steal_pointer(&text);
  g_set_error(error, CSIM_ERROR, CSIM_ERROR_LIMIT, "larger than 64 MiB");
  return NULL;
}

gboolean csim_graph_xml_read(const CsimSystem *system, const CsimNcclEnv *env, gboolean inter, CsimDiag *diag,
                             CsimGraph *graph) {
  const char *path = csim_nccl_env_text(env, "NCCL_GRAPH_FILE");
  if (!path || !*path) return FALSE;
  g_autoptr(GError) error = NULL;
  gsize length = 0;
  g_autofree char *text = load(path, &length, &error);
  CsimGraph before = *graph;
  Reader r = {.system = system,
              .graph = graph,
              .inter = inter,
              .cross_nic_off = csim_nccl_env_int(env, "NCCL_CROSS_NIC", 2) == 0};
  if (text && parse(&r, text, length, &error)) return TRUE;
  if (error)
    csim_diag_add(diag, CSIM_FINDING_WARNING, CSIM_ERROR_SCHEMA, CSIM_LOC_NONE,
                  "NCCL_GRAPH_FILE %s: %s; the graph is searched instead", path, error->message);
  csim_graph_finish(graph);
  *graph = before;
  return FALSE;
}
