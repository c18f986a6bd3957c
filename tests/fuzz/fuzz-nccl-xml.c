/*
 * fuzz-nccl-xml.c - NCCL's XML dialect, graph and paths on any bytes: accepted or refused with one line; what is accepted and written
 * is accepted again and gives the same text; the graph is sound; every link of a path starts where the last one ended.
 */
#include "nccl/topo-matrix.h"
#include "topo/export.h"
#include "topo/nccl-xml.h"
#include "lines.h"
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_NODES 150 /* of graphs whose paths are computed: their number grows with the square */

/* Without single quotes in the input no value holds a double one, and what is written must be read again to the same text. (NCCL's own
 * dump writes such a value so that it cannot be read.) */
static void check_rewrite(const CsimNcclXml *xml, gboolean single_quotes) {
  g_autofree char *once = csim_nccl_xml_to_text(xml);
  g_autoptr(CsimNcclXml) again = csim_nccl_xml_parse("again", once, strlen(once), NULL, NULL);
  if (single_quotes) return;
  g_assert_nonnull(again);
  g_autofree char *twice = csim_nccl_xml_to_text(again);
  g_assert_cmpstr(once, ==, twice);
}

static guint check_graph(const CsimSystem *s) {
  guint n = 0;
  for (int t = 0; t < CSIM_N_NODE_TYPES; t++)
    for (guint i = 0; i < csim_system_n(s, t); i++, n++) {
      const CsimTopoNode *node = csim_system_node(s, t, i);
      g_assert_cmpint(node->index, ==, i);
      for (guint l = 0; l < node->links->len; l++) {
        const CsimTopoNode *remote = csim_node_link(node, l)->remote;
        g_assert_true(csim_system_node(s, remote->type, (guint)remote->index) == remote);
      }
    }
  return n;
}

static void check_path(const CsimPaths *paths, const CsimTopoNode *a, const CsimTopoNode *b) {
  const CsimPath *p = csim_paths_get(paths, a, b);
  const CsimTopoNode *at = a;
  for (int i = 0; i < p->n_links; i++) {
    gboolean own = FALSE;
    for (guint l = 0; l < at->links->len; l++) own |= csim_node_link(at, l) == p->link[i];
    g_assert_true(own);
    at = p->link[i]->remote;
  }
  if (p->type < CSIM_PATH_NET) g_assert_true(at == b);
}

static void check_paths(const CsimSystem *s) {
  g_autoptr(CsimPaths) paths = csim_paths_new(s, &(CsimPathContext){0});
  if (!csim_paths_check(paths, NULL)) return;
  for (guint i = 0; i < csim_system_n(s, CSIM_NODE_GPU); i++)
    for (guint j = 0; j < csim_system_n(s, CSIM_NODE_GPU); j++)
      check_path(paths, csim_system_node(s, CSIM_NODE_GPU, i), csim_system_node(s, CSIM_NODE_GPU, j));
  for (guint i = 0; i < csim_system_n(s, CSIM_NODE_GPU); i++)
    for (guint j = 0; j < csim_system_n(s, CSIM_NODE_NET); j++)
      check_path(paths, csim_system_node(s, CSIM_NODE_GPU, i), csim_system_node(s, CSIM_NODE_NET, j));
  g_autofree char *matrix = csim_topo_matrix_text(paths);
  g_assert_true(g_utf8_validate(matrix, -1, NULL));
}

static void check_part(const CsimSystem *s) {
  if (csim_system_n(s, CSIM_NODE_GPU) == 0) return;
  g_autoptr(CsimSystem) part = csim_system_copy(s);
  int dev = csim_system_node(part, CSIM_NODE_GPU, 0)->gpu.dev;
  g_assert_true(csim_system_keep_gpus(part, &dev, 1, NULL));
  check_graph(part);
}

static void check_build(const CsimNcclXml *xml, gboolean strict, CsimDiag *diag) {
  const CsimBuildOptions options = {.strict = strict, .every_gpu = !strict};
  g_autoptr(GError) error = NULL;
  CsimSystem *partial;
  g_autoptr(CsimSystem) system = csim_system_build(xml, &options, diag, NULL, &partial, &error);
  csim_system_free(partial);
  if (system == NULL) {
    check_line(error->message);
    return;
  }
  guint n = check_graph(system);
  g_autofree char *dot = csim_topo_dot(system);
  g_assert_true(g_utf8_validate(dot, -1, NULL));
  if (n <= MAX_NODES) check_paths(system);
  check_part(system);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  g_autoptr(CsimDiag) diag = csim_diag_new();
  g_autoptr(GError) error = NULL;
  g_autoptr(CsimNcclXml) xml = csim_nccl_xml_parse("fuzz", (const char *)data, size, diag, &error);
  if (xml == NULL) {
    check_line(error->message);
  } else {
    check_rewrite(xml, memchr(data, '\'', size) != NULL);
    check_build(xml, TRUE, diag);
    check_build(xml, FALSE, diag);
  }
  check_findings(diag);
  return 0;
}
