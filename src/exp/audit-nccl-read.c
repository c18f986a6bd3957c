/* NCCL's lines to facts. Only the first communicator of each kind of line is looked at: its first rank that prints a system, and so on. */
#include "exp/audit-nccl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ITEMS 65536 /* of a kind; the rest of a huge log repeats */

static int path_type(const char *name) {
  for (int type = CSIM_PATH_LOC; type <= CSIM_PATH_DIS; type++)
    if (strcmp(name, csim_path_type_name(type)) == 0) return type;
  return -1;
}

/* The reader's state: whose system lines are read, and what they hang under. */
typedef struct {
  NcclFacts *f;
  const CsimLogDebug *line;
  const CsimLogDebug *system; /* the line "=== System" of the sender that is read; NULL: none yet */
  gboolean in_tree, in_paths;
  double pci;                /* of the last "+ PCI[bw] -" */
  int gpu;                   /* index of the GPU whose links follow; -1 */
  const CsimLogDebug *graph; /* first sender of "Pattern" */
  GHashTable *seen;          /* texts of warnings */
  NcclTableHead head;        /* of the tuning table's block */
} Reader;

static gboolean same_sender(const CsimLogDebug *a, const CsimLogDebug *b) {
  return a->host == b->host && a->pid == b->pid && a->tid == b->tid;
}

static gboolean room(const GArray *array) {
  return array->len < MAX_ITEMS;
}

/* --- network ---- */

/* Adapters in "[0]mlx5_0:1/IB [1]..."; fused ones, "[0]={[0] mlx5_0:1/RoCE, [1] mlx5_1:1/RoCE}", count each. */
static guint count_devices(const char *list) {
  guint n = 0;
  for (const char *p = list; *p && *p != ';'; p++) {
    if (*p != '[' || !g_ascii_isdigit(p[1])) continue;
    const char *after = p + 1 + strspn(p + 1, "0123456789");
    n += !g_str_has_prefix(after, "]={");
  }
  return n;
}

static void read_network(Reader *r) {
  NcclFacts *f = r->f;
  const char *text = r->line->text, *using = strstr(text, " : Using [");
  if (g_str_has_prefix(text, "Using network ") && !f->network) {
    f->network = text + 14;
    f->network_loc = r->line->loc;
  } else if (g_str_has_prefix(text, "NET/") && strstr(text, "No device found") && !f->no_device_loc.file) {
    f->no_device_loc = r->line->loc;
  } else if (g_str_has_prefix(text, "NET/") && using && count_devices(using) &&
             (!f->devices || !f->n_devices)) {
    f->devices = using + 9;
    f->n_devices = count_devices(using);
    f->devices_loc = r->line->loc;
  }
}

static void read_gdr(Reader *r) {
  NcclFacts *f = r->f;
  const char *text = strstr(r->line->text, "GPU Direct RDMA Disabled for ");
  if (text && f->no_gdr->len < 64 &&
      !g_ptr_array_find_with_equal_func(f->no_gdr, text + 29, g_str_equal, NULL)) {
    if (!f->no_gdr->len) f->no_gdr_loc = r->line->loc;
    g_ptr_array_add(f->no_gdr, (gpointer)(text + 29));
  }
  text = strstr(r->line->text, "use ring PXN ");
  if (!text || f->ring_gdr >= 0) return;
  if (sscanf(text, "use ring PXN %d GDR %d", &f->ring_pxn, &f->ring_gdr) == 2) f->rings_loc = r->line->loc;
}

/* --- the system ---- */

/* ".../0000:00:06.0/../max_link_width": the port above the device, so the device is named. */
static void read_width(Reader *r) {
  NcclFacts *f = r->f;
  const char *text = r->line->text, *end = strstr(text, "/max_link_width");
  if (!end || !strstr(text, "could not read")) return;
  if (end - text > 3 && strncmp(end - 3, "/..", 3) == 0) end -= 3;
  const char *start = end;
  while (start > text && start[-1] != '/') start--;
  g_autofree char *bus = g_strndup(start, (gsize)(end - start));
  const char *id = g_intern_string(bus);
  if (g_ptr_array_find(f->no_width, id, NULL) || f->no_width->len > 256) return;
  if (!f->no_width->len) f->no_width_loc = r->line->loc;
  g_ptr_array_add(f->no_width, (gpointer)id);
}

/* "+ PCI[48.0] - GPU/0-60 (0)" to link, bandwidth, node; FALSE for other lines. */
static gboolean split_link(const char *text, char link[8], double *bw, char node[64]) {
  return sscanf(text, "+ %7[A-Z0-9][%lf] - %63s", link, bw, node) == 3;
}

static void add_gpu(Reader *r, const char *node) {
  NcclGpu gpu = {.loc = r->line->loc, .id = g_intern_string(node), .pci = r->pci, .nearest_net = -1};
  if (!room(r->f->gpus)) return;
  r->gpu = (int)r->f->gpus->len;
  g_array_append_val(r->f->gpus, gpu);
}

/* From 2.30 a GPU hangs under a DEV, which has the NVLinks; before, under PCI. */
static void read_tree_line(Reader *r) {
  char link[8], node[64];
  double bw;
  if (!split_link(r->line->text, link, &bw, node)) {
    if (g_str_has_prefix(r->line->text, "CPU/")) r->gpu = -1;
    return;
  }
  if (strcmp(link, "PCI") == 0) {
    r->pci = bw;
    r->gpu = -1;
    if (g_str_has_prefix(node, "GPU/") || g_str_has_prefix(node, "DEV/")) add_gpu(r, node);
  } else if (strcmp(link, "NVL") == 0 && r->gpu >= 0) {
    g_array_index(r->f->gpus, NcclGpu, (guint)r->gpu).nvlink += bw;
  } else if (strcmp(link, "LOC") == 0 && r->gpu >= 0 && g_str_has_prefix(node, "GPU/")) {
    g_array_index(r->f->gpus, NcclGpu, (guint)r->gpu).id = g_intern_string(node);
  } else if (strcmp(link, "NET") == 0 && room(r->f->nets)) {
    NcclNet net = {r->line->loc, g_intern_string(node), bw, -1};
    g_array_append_val(r->f->nets, net);
  }
}

/* "GPU/0-60 :GPU/0-60 (0/5000.0/LOC) NET/0-0 (4/24.0/PHB)": the nearest of the other kind. */
static int nearest(const char *text, const char *kind) {
  int best = -1;
  for (const char *p = text; (p = strstr(p, kind)); p++) {
    char name[8] = "";
    if (sscanf(p, "%*s (%*d/%*f/%7[A-Z0-9])", name) != 1) continue;
    int type = path_type(name);
    if (type >= 0 && (best < 0 || type < best)) best = type;
  }
  return best;
}

static void read_path_line(Reader *r) {
  const char *text = r->line->text, *colon = strchr(text, ':');
  if (!colon) return;
  g_autofree char *id = g_strndup(text, (gsize)(colon - text));
  g_strstrip(id);
  for (guint i = 0; i < r->f->gpus->len; i++) {
    NcclGpu *gpu = &g_array_index(r->f->gpus, NcclGpu, i);
    if (strcmp(gpu->id, id) == 0) gpu->nearest_net = nearest(colon + 1, "NET/");
  }
  for (guint i = 0; i < r->f->nets->len; i++) {
    NcclNet *net = &g_array_index(r->f->nets, NcclNet, i);
    if (strcmp(net->id, id) == 0) net->nearest_gpu = nearest(colon + 1, "GPU/");
  }
}

static void read_system(Reader *r) {
  const char *text = r->line->text;
  if (g_str_has_prefix(text, "=== System : maxBw ")) {
    if (r->system) {
      if (same_sender(r->line, r->system)) r->in_tree = r->in_paths = FALSE;
      return;
    }
    r->system = r->line;
    r->in_tree = TRUE;
    r->f->max_bw = g_ascii_strtod(text + 19, NULL);
    r->f->max_bw_loc = r->line->loc;
    return;
  }
  if (!r->system || !same_sender(r->line, r->system)) return;
  if (g_str_has_prefix(text, "=====")) {
    r->in_paths = r->in_tree;
    r->in_tree = FALSE;
  } else if (r->in_tree) {
    read_tree_line(r);
  } else if (r->in_paths && (g_str_has_prefix(text, "GPU/") || g_str_has_prefix(text, "NET/"))) {
    read_path_line(r);
  }
}

/* --- graphs, rings, trees ---- */

static void read_pattern(Reader *r) {
  NcclPattern p = {.loc = r->line->loc};
  char intra[8] = "", inter[8] = "";
  if (sscanf(r->line->text, "Pattern %d, crossNic %d, nChannels %d, bw %lf/%lf, type %7[A-Z0-9]/%7[A-Z0-9]",
             &p.pattern, &p.cross_nic, &p.channels, &p.bw_intra, &p.bw_inter, intra, inter) != 7)
    return;
  if (!r->graph) r->graph = r->line;
  if (!same_sender(r->line, r->graph) || r->f->patterns->len >= AUDIT_MAX_PATTERNS) return;
  p.type_intra = path_type(intra);
  p.type_inter = path_type(inter);
  g_array_append_val(r->f->patterns, p);
}

static void read_ring(Reader *r) {
  NcclRing ring = {.loc = r->line->loc};
  int at = 0;
  if (sscanf(r->line->text, "Channel %d/%d : %n", &ring.channel, &ring.channels, &at) != 2 || !at ||
      strstr(r->line->text, "->"))
    return;
  ring.ranks = r->line->text + at;
  if (room(r->f->rings)) g_array_append_val(r->f->rings, ring);
}

static void read_tree(Reader *r) {
  NcclTree t = {.loc = r->line->loc};
  if (sscanf(r->line->text, "Tree %d : %d -> %d -> %d/%d/%d", &t.channel, &t.up, &t.rank, &t.down[0],
             &t.down[1], &t.down[2]) != 6)
    return;
  if (room(r->f->trees)) g_array_append_val(r->f->trees, t);
}

/* "Channel 00/0 : 7[7] -> 8[0] [send] via NET/IB/0/GDRDMA"; bus ids may stand in the brackets of old versions. */
static void read_conn(Reader *r) {
  NcclConn c = {.loc = r->line->loc};
  const char *via = strstr(r->line->text, " via "), *colon = strstr(r->line->text, " : ");
  if (!via || !colon || !g_str_has_prefix(r->line->text, "Channel ") || !room(r->f->conns)) return;
  if (sscanf(r->line->text, "Channel %d", &c.channel) != 1 ||
      sscanf(colon, " : %d[%*[^]]] -> %d", &c.from, &c.to) != 2)
    return;
  c.how = via + 5;
  if (g_str_has_prefix(c.how, "P2P"))
    c.via = CSIM_CONN_P2P;
  else if (g_str_has_prefix(c.how, "SHM"))
    c.via = CSIM_CONN_SHM;
  else if (g_str_has_prefix(c.how, "NET"))
    c.via = CSIM_CONN_NET;
  else
    return;
  c.gdr = strstr(c.how, "/GDRDMA") != NULL;
  c.sockets = g_str_has_prefix(c.how, "NET/Socket");
  g_array_append_val(r->f->conns, c);
}

static void read_channels(Reader *r) {
  NcclFacts *f = r->f;
  int coll, collnet, nvls, p2p;
  if (f->coll_channels >= 0) return;
  if (sscanf(r->line->text, "%d coll channels, %d collnet channels, %d nvls channels, %d p2p channels", &coll,
             &collnet, &nvls, &p2p) == 4) {
    f->nvls_channels = nvls;
  } else if (sscanf(r->line->text, "%d coll channels, %d nvls channels, %d p2p channels", &coll, &nvls,
                    &p2p) == 3) {
    f->nvls_channels = nvls;
  } else if (sscanf(r->line->text, "%d coll channels, %d p2p channels", &coll, &p2p) != 2) {
    return;
  }
  f->coll_channels = coll;
  f->p2p_channels = p2p;
  f->channels_loc = r->line->loc;
}

static void read_comm(Reader *r) {
  const char *text = strstr(r->line->text, " nRanks ");
  if (!text || r->f->ranks || !g_str_has_prefix(r->line->text, "comm ")) return;
  int ranks, nodes, local;
  if (sscanf(text, " nRanks %d nNodes %d localRanks %d", &ranks, &nodes, &local) != 3) return;
  r->f->ranks = ranks;
  r->f->nodes = nodes;
  r->f->local_ranks = local;
}

/* --- variables, choices, warnings ---- */

static void read_variable(Reader *r) {
  char name[96];
  const char *set = strstr(r->line->text, " set by environment to ");
  if (!set || !g_str_has_prefix(r->line->text, "NCCL_") || (gsize)(set - r->line->text) >= sizeof name)
    return;
  r->f->env_seen = TRUE;
  g_strlcpy(name, r->line->text, (gsize)(set - r->line->text) + 1);
  const char *id = g_intern_string(name);
  for (guint i = 0; i < r->f->variables->len; i++)
    if (g_array_index(r->f->variables, NcclVariable, i).name == id) return;
  g_autofree char *value = g_strdup(set + 23);
  if (g_str_has_suffix(value, ".")) value[strlen(value) - 1] = 0;
  NcclVariable variable = {r->line->loc, id, g_intern_string(value)};
  if (r->f->variables->len < 512) g_array_append_val(r->f->variables, variable);
}

/* "RING", "COLLNET_DIRECT" as NCCL prints them. */
static gboolean algo_of(const char *text, CsimAlgo *out) {
  g_autofree char *plain = g_strdup(text);
  char *to = plain;
  for (const char *from = text; *from; from++)
    if (*from != '_') *to++ = *from;
  *to = 0;
  return csim_algo_parse(plain, out);
}

static void read_choice(Reader *r) {
  const char *text = r->line->text;
  char func[32], algo[32], proto[16];
  long long bytes;
  NcclChoice c = {.loc = r->line->loc};
  if (!strstr(text, " Bytes -> Algo ")) return;
  int n = sscanf(text, "%31[A-Za-z]: %lld Bytes -> Algo %31s proto %15s", func, &bytes, algo, proto);
  if (n < 4 || bytes < 0 || !csim_coll_parse(func, &c.coll) || !algo_of(algo, &c.algo) ||
      !csim_proto_parse(proto, &c.proto))
    return;
  c.bytes = bytes;
  for (guint i = 0; i < r->f->choices->len; i++) {
    const NcclChoice *other = &g_array_index(r->f->choices, NcclChoice, i);
    if (other->coll == c.coll && other->bytes == c.bytes) return;
  }
  if (r->f->choices->len < 512) g_array_append_val(r->f->choices, c);
}

static void read_warning(Reader *r) {
  if (r->line->level != CSIM_LOG_WARN || !g_hash_table_add(r->seen, (gpointer)r->line->text)) return;
  if (r->f->warnings->len < 20) g_ptr_array_add(r->f->warnings, (gpointer)r->line);
}

static void read_line(Reader *r) {
  read_network(r);
  read_gdr(r);
  read_width(r);
  read_system(r);
  read_pattern(r);
  read_ring(r);
  read_tree(r);
  read_conn(r);
  read_channels(r);
  read_comm(r);
  read_variable(r);
  read_choice(r);
  read_warning(r);
  if (!audit_table_head(r->line, &r->head)) audit_table_row(r->f, r->line, &r->head);
  if (!r->f->version && g_str_has_prefix(r->line->text, "NCCL version ")) r->f->version = r->line->text + 13;
}

static void start(NcclFacts *f) {
  *f = (NcclFacts){
      .ring_gdr = -1, .ring_pxn = -1, .coll_channels = -1, .nvls_channels = -1, .p2p_channels = -1};
  f->patterns = g_array_new(FALSE, FALSE, sizeof(NcclPattern));
  f->gpus = g_array_new(FALSE, FALSE, sizeof(NcclGpu));
  f->nets = g_array_new(FALSE, FALSE, sizeof(NcclNet));
  f->rings = g_array_new(FALSE, FALSE, sizeof(NcclRing));
  f->trees = g_array_new(FALSE, FALSE, sizeof(NcclTree));
  f->conns = g_array_new(FALSE, FALSE, sizeof(NcclConn));
  f->variables = g_array_new(FALSE, FALSE, sizeof(NcclVariable));
  f->choices = g_array_new(FALSE, FALSE, sizeof(NcclChoice));
  f->entries = g_array_new(FALSE, FALSE, sizeof(NcclEntry));
  f->no_width = g_ptr_array_new();
  f->no_gdr = g_ptr_array_new();
  f->warnings = g_ptr_array_new();
}

void audit_facts_read(NcclFacts *facts, const CsimLog *log, guint run) {
  start(facts);
  g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
  Reader reader = {.f = facts, .gpu = -1, .seen = seen};
  for (guint i = 0; i < log->debug->len; i++) {
    reader.line = csim_log_debug(log, i);
    if (reader.line->run == run) read_line(&reader);
  }
}

void audit_facts_clear(NcclFacts *f) {
  GArray *arrays[] = {f->patterns, f->gpus,      f->nets,    f->rings,  f->trees,
                      f->conns,    f->variables, f->choices, f->entries};
  for (guint i = 0; i < G_N_ELEMENTS(arrays); i++) g_array_unref(arrays[i]);
  g_ptr_array_unref(f->no_width);
  g_ptr_array_unref(f->no_gdr);
  g_ptr_array_unref(f->warnings);
}
