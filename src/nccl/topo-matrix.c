/* nccl/topo-matrix.c - the table of `nvidia-smi topo -m`, from NCCL's paths. */
#include "nccl/topo-matrix.h"
#include "topo/nccl-xml-tree.h"
#include <string.h>

typedef struct {
  const CsimPaths *paths;
  GPtrArray *nodes; /* GPUs, then NETs */
  GString *out;
  gboolean used[CSIM_PATH_DIS + 1];
} Matrix;

static char *heading(const Matrix *m, const CsimTopoNode *node) {
  const CsimSystem *s = csim_paths_system(m->paths);
  gboolean gpu = node->type == CSIM_NODE_GPU;
  const char *kind = gpu ? "GPU" : "NIC";
  int number = gpu ? node->gpu.dev : node->net.dev;
  return s->n_hosts > 1 ? g_strdup_printf("%s%d-%d", kind, csim_node_host(node), number)
                        : g_strdup_printf("%s%d", kind, number);
}

/* NVLinks that a GPU pair can use: those of a direct bundle, or the ports of the one with fewer. */
static int nvlinks_between(const CsimPath *path, const CsimTopoNode *gpu) {
  return (int)(path->bw / csim_nvlink_bw(gpu->gpu.sm) + 0.5f);
}

static char *cell(Matrix *m, const CsimTopoNode *a, const CsimTopoNode *b) {
  if (a == b) return g_strdup("X");
  gboolean to_net = a->type == CSIM_NODE_GPU && b->type == CSIM_NODE_NET;
  const CsimPath *path = to_net ? csim_paths_get(m->paths, b, a) : csim_paths_get(m->paths, a, b);
  if (path->type == CSIM_PATH_NVL && a->type == CSIM_NODE_GPU) {
    m->used[CSIM_PATH_NVL] = TRUE;
    return g_strdup_printf("NV%d", nvlinks_between(path, a));
  }
  m->used[path->type] = TRUE;
  return g_strdup(csim_path_type_name(path->type));
}

/* --- cores -------------------------------------------------------------- */

/* Bits of a mask "00ff,ffffffff" (32-bit words, highest first) from the lowest. */
static GByteArray *mask_bits(const char *mask) {
  GByteArray *bits = g_byte_array_new();
  for (gsize i = strlen(mask); i-- > 0;) {
    int digit = g_ascii_xdigit_value(mask[i]);
    for (int b = 0; digit >= 0 && b < 4; b++) {
      guint8 bit = (guint8)(digit >> b & 1);
      g_byte_array_append(bits, &bit, 1);
    }
  }
  return bits;
}

/* "0-15,32-47"; "N/A" without a mask. */
static char *core_list(const char *mask) {
  g_autoptr(GByteArray) bits = mask_bits(mask != NULL ? mask : "");
  GString *out = g_string_new(NULL);
  for (guint i = 0; i < bits->len; i++) {
    if (!bits->data[i]) continue;
    guint last = i;
    while (last + 1 < bits->len && bits->data[last + 1]) last++;
    if (out->len > 0) g_string_append_c(out, ',');
    g_string_append_printf(out, last > i ? "%u-%u" : "%u", i, last);
    i = last;
  }
  if (out->len == 0) g_string_append(out, "N/A");
  return g_string_free(out, FALSE);
}

/* --- the table ---------------------------------------------------------- */

static void add_place(Matrix *m, const CsimTopoNode *node) {
  const CsimTopoNode *cpu = csim_paths_local_cpu(m->paths, node);
  g_autofree char *cores = core_list(cpu != NULL ? cpu->label : NULL);
  g_autofree char *numa =
      cpu != NULL && cpu->cpu.numa >= 0 ? g_strdup_printf("%d", cpu->cpu.numa) : g_strdup("N/A");
  g_string_append_printf(m->out, "  %-20s  %s", cores, numa);
}

static void add_row(Matrix *m, const CsimTopoNode *node, int width) {
  g_autofree char *name = heading(m, node);
  g_string_append_printf(m->out, "%-*s", width, name);
  for (guint i = 0; i < m->nodes->len; i++) {
    g_autofree char *text = cell(m, node, g_ptr_array_index(m->nodes, i));
    g_string_append_printf(m->out, " %-*s", width, text);
  }
  if (node->type == CSIM_NODE_GPU) add_place(m, node);
  while (m->out->len > 0 && m->out->str[m->out->len - 1] == ' ') g_string_truncate(m->out, m->out->len - 1);
  g_string_append_c(m->out, '\n');
}

static int add_head(Matrix *m) {
  int width = 5;
  for (guint i = 0; i < m->nodes->len; i++) {
    g_autofree char *name = heading(m, g_ptr_array_index(m->nodes, i));
    width = MAX(width, (int)strlen(name));
  }
  g_string_append_printf(m->out, "%-*s", width, "");
  for (guint i = 0; i < m->nodes->len; i++) {
    g_autofree char *name = heading(m, g_ptr_array_index(m->nodes, i));
    g_string_append_printf(m->out, " %-*s", width, name);
  }
  g_string_append_printf(m->out, "  %-20s  %s\n", "CPU Affinity", "NUMA Affinity");
  return width;
}

static void add_legend(Matrix *m) {
  static const char *const meaning[CSIM_PATH_DIS + 1] = {"the same device",
                                                         "that many NVLinks, direct or through NVSwitch",
                                                         "NVLink through one other GPU",
                                                         "a C2C link of the CPU",
                                                         "at most one PCIe switch",
                                                         "several PCIe switches",
                                                         "C2C, then PCIe at the same CPU",
                                                         "NVLink to another GPU, then its NIC",
                                                         "the host bridge of one CPU",
                                                         "the link between sockets",
                                                         "only through the network",
                                                         "no path"};
  g_string_append(m->out, "\nLegend:\n");
  for (int t = 0; t <= CSIM_PATH_DIS; t++)
    if (m->used[t])
      g_string_append_printf(m->out, "  %-4s %s\n", t == CSIM_PATH_NVL ? "NV#" : csim_path_type_name(t),
                             meaning[t]);
}

static void add_nic_names(Matrix *m) {
  if (csim_system_n(csim_paths_system(m->paths), CSIM_NODE_NET) > 0)
    g_string_append(m->out, "\nNIC Legend:\n");
  for (guint i = 0; i < m->nodes->len; i++) {
    const CsimTopoNode *node = g_ptr_array_index(m->nodes, i);
    g_autofree char *name = heading(m, node);
    if (node->type == CSIM_NODE_NET)
      g_string_append_printf(m->out, "  %s: %s, %g GB/s\n", name,
                             node->label != NULL ? node->label : "no name", node->net.bw);
  }
}

static int by_number(gconstpointer a, gconstpointer b) {
  const CsimTopoNode *x = *(const CsimTopoNode *const *)a, *y = *(const CsimTopoNode *const *)b;
  if (x->type != y->type) return (int)x->type - (int)y->type;
  if (csim_node_host(x) != csim_node_host(y)) return csim_node_host(x) - csim_node_host(y);
  int p = x->type == CSIM_NODE_GPU ? x->gpu.dev : x->net.dev,
      q = y->type == CSIM_NODE_GPU ? y->gpu.dev : y->net.dev;
  return p != q ? (p > q) - (p < q) : x->index - y->index;
}

char *csim_topo_matrix_text(const CsimPaths *paths) {
  static const CsimNodeType types[] = {CSIM_NODE_GPU, CSIM_NODE_NET};
  const CsimSystem *system = csim_paths_system(paths);
  g_autoptr(GPtrArray) nodes = g_ptr_array_new();
  Matrix m = {.paths = paths, .nodes = nodes, .out = g_string_new(NULL)};
  for (guint t = 0; t < G_N_ELEMENTS(types); t++)
    for (guint i = 0; i < csim_system_n(system, types[t]); i++)
      g_ptr_array_add(nodes, csim_system_node(system, types[t], i));
  g_ptr_array_sort(nodes, by_number);
  int width = add_head(&m);
  for (guint i = 0; i < nodes->len; i++) add_row(&m, g_ptr_array_index(nodes, i), width);
  add_legend(&m);
  add_nic_names(&m);
  return g_string_free(m.out, FALSE);
}
