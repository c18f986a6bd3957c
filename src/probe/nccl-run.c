/* probe/nccl-run.c - passes over NCCL's collectives: processes started and watched, rows collected, the table of them. */
#include "probe/nccl-private.h"

#include "base/units.h"
#include "probe/gpus.h"
#include <glib/gstdio.h>
#include <string.h>

void csim_nccl_options_init(CsimNcclOptions *options) {
  *options = (CsimNcclOptions){.min = 8, .max = INT64_C(128) << 20, .factor = 2, .iters = 20, .warmups = 5};
  options->launch = CSIM_LAUNCH_PROCESS;
}

/* --- checks ----------------------------------------------------------------------- */

static gboolean fail(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);
static gboolean fail(GError **error, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *text = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  g_set_error_literal(error, CSIM_ERROR, CSIM_ERROR_VALUE, text);
  return FALSE;
}

static guint count_rows(const CsimNcclOptions *o, int n_ranks) {
  guint n = 0;
  for (guint c = 0; c < o->n_colls; c++)
    for (CsimBytes size = o->min; size <= o->max; size *= o->factor)
      n += csim_nccl_counts(o->colls[c], n_ranks, size).param > 0;
  return n;
}

static gboolean check_options(const CsimNcclOptions *o, GError **error) {
  if (o->min < 4 || o->max < o->min) return fail(error, "sizes from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT " bytes: at least 4, and not falling", o->min, o->max);
  if (o->factor < 2) return fail(error, "factor %d between sizes: at least 2", o->factor);
  if (o->iters < 1 || o->warmups < 0) return fail(error, "%d iterations after %d: at least 1 after 0", o->iters, o->warmups);
  for (guint i = 0; i < o->n_colls; i++)
    if (o->colls[i] == CSIM_COLL_HYPERCUBE) return fail(error, "hypercube is not measured; allowed: the collectives of NCCL");
  return TRUE;
}

/* One process a rank is the only way in which ranks of one GPU get along. */
static gboolean lay_out(const CsimNcclOptions *o, int visible, Pass *pass, GError **error) {
  int n_gpus = o->n_gpus > 0 ? o->n_gpus : visible, n = o->n_ranks > 0 ? o->n_ranks : n_gpus;
  if (n_gpus > visible) return fail(error, "%d GPUs wanted; there are %d here", n_gpus, visible);
  if (n < 2) return fail(error, "1 rank: a collective needs at least 2; with one GPU, --ranks N puts several on it");
  if (n > CSIM_PROBE_MAX_RANKS) return fail(error, "%d ranks; allowed: up to %d", n, CSIM_PROBE_MAX_RANKS);
  if (n < n_gpus) n_gpus = n;
  if ((n > n_gpus || o->netns) && o->launch != CSIM_LAUNCH_PROCESS)
    return fail(error, "ranks that share a GPU or have a network of their own need --launch process");
  if (count_rows(o, n) > CSIM_PROBE_MAX_ROWS) return fail(error, "more than %d sizes", CSIM_PROBE_MAX_ROWS);
  *pass = (Pass){.options = o, .n_ranks = n, .n_gpus = n_gpus, .iters = o->iters, .warmups = o->warmups};
  pass->own_hosts = n > n_gpus || o->netns;
  pass->n_processes = o->launch == CSIM_LAUNCH_PROCESS ? n : 1;
  pass->n_threads = o->launch == CSIM_LAUNCH_THREAD ? n : 1;
  pass->n_each = o->launch == CSIM_LAUNCH_SINGLE ? n : 1;
  return TRUE;
}

/* --- a pass ----------------------------------------------------------------------- */

static gboolean run_pass(const Pass *pass, Shared *shared, GError **error) {
  const CsimNcclOptions *o = pass->options;
  CsimChildren children = {
      .n = (guint)pass->n_processes,
      .work = nccl_process,
      .shared = shared,
      .options = pass,
      .limit_s = o->limit_s,
      .interrupt = o->interrupt,
      .progress = pass->dump ? NULL : o->progress,
      .data = o->data,
      .of = count_rows(o, pass->n_ranks),
  };
  return csim_shared_barrier(&shared->barrier, (guint)(pass->n_ranks / pass->n_each), error) && csim_children_run(&children, error);
}

static void take_facts(const Pass *pass, const Shared *shared, CsimNcclFacts *facts) {
  *facts = shared->facts;
  facts->n_ranks = pass->n_ranks;
  facts->n_gpus = pass->n_gpus;
  facts->n_hosts = pass->options->netns ? pass->n_ranks : (pass->n_ranks + pass->n_gpus - 1) / pass->n_gpus;
}

/* The pass that NCCL writes its files in: one call a size, its rows are not kept. */
static gboolean dump_pass(Pass pass, CsimNcclFacts *facts, GError **error) {
  if (g_mkdir_with_parents(pass.options->dump, 0777) != 0) {
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_IO, "%s: cannot be made a folder", pass.options->dump);
    return FALSE;
  }
  Shared *shared = (Shared *)csim_shared_new(sizeof *shared, error);
  if (!shared) return FALSE;
  pass.dump = TRUE;
  pass.iters = 1;
  pass.warmups = 0;
  gboolean ok = run_pass(&pass, shared, error);
  take_facts(&pass, shared, facts);
  csim_shared_free(shared, sizeof *shared);
  return ok;
}

static gboolean plan(const CsimNcclOptions *options, Pass *pass, CsimNcclFacts *facts, GError **error) {
  CsimGpuFacts gpus;
  memset(facts, 0, sizeof *facts);
  return check_options(options, error) && csim_probe_gpus(&gpus, error) && lay_out(options, gpus.n, pass, error);
}

gboolean csim_probe_nccl_dump(const CsimNcclOptions *options, CsimNcclFacts *facts, GError **error) {
  Pass pass;
  return plan(options, &pass, facts, error) && dump_pass(pass, facts, error);
}

gboolean csim_probe_nccl(const CsimNcclOptions *options, GArray *rows, CsimNcclFacts *facts, GError **error) {
  Pass pass;
  if (!plan(options, &pass, facts, error)) return FALSE;
  if (options->dump && !dump_pass(pass, facts, error)) return FALSE;
  Shared *shared = (Shared *)csim_shared_new(sizeof *shared, error);
  if (!shared) return FALSE;
  gboolean ok = run_pass(&pass, shared, error);
  g_array_append_vals(rows, shared->rows, shared->n_rows);
  take_facts(&pass, shared, facts);
  csim_shared_free(shared, sizeof *shared);
  return ok;
}

/* --- table ------------------------------------------------------------------------ */

CsimProbeTable *csim_nccl_table_new(void) {
  static const char *const columns[] = {"tag",        "hosts",  "ranks",  "collective", "size_bytes", "count", "type",
                                        "redop",      "launch", "iters",  "time_us",    "min_us",     "max_us", "algbw_gbps",
                                        "busbw_gbps", "wrong",  "env",    NULL};
  CsimProbeTable *table = csim_probe_table_new(columns);
  csim_probe_table_machine(table);
  return table;
}

/* What says where output goes or who the host is changes no time; all other NCCL_* of the workers. */
static gboolean is_told(const char *variable) {
  static const char *const silent[] = {"NCCL_DEBUG", "NCCL_TOPO_DUMP_FILE", "NCCL_GRAPH_DUMP_FILE", "NCCL_HOSTID",
                                       "NCCL_VERSION" /* of NVIDIA's container images */};
  if (!g_str_has_prefix(variable, "NCCL_")) return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS(silent); i++)
    if (g_str_has_prefix(variable, silent[i])) return FALSE;
  return TRUE;
}

static int by_text(gconstpointer a, gconstpointer b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

char *csim_nccl_variables_text(const CsimNcclOptions *o) {
  g_auto(GStrv) environment = g_get_environ();
  for (int i = 0; o->variables && o->variables[i]; i++) {
    g_auto(GStrv) pair = g_strsplit(o->variables[i], "=", 2);
    environment = g_environ_setenv(environment, pair[0], pair[1], TRUE);
  }
  g_autoptr(GPtrArray) told = g_ptr_array_new();
  for (int i = 0; environment[i]; i++)
    if (is_told(environment[i])) g_ptr_array_add(told, environment[i]);
  g_ptr_array_sort(told, by_text);
  g_ptr_array_add(told, NULL);
  return g_strjoinv("; ", (char **)told->pdata);
}

static void add_row(CsimProbeTable *table, const char *tag, const CsimNcclOptions *o, const CsimNcclFacts *f, const CsimNcclRow *r,
                    const char *variables) {
  g_autofree char *hosts = g_strdup_printf("%d", f->n_hosts), *ranks = g_strdup_printf("%d", f->n_ranks);
  g_autofree char *size = g_strdup_printf("%" G_GINT64_FORMAT, r->size), *count = g_strdup_printf("%" G_GINT64_FORMAT, r->count);
  g_autofree char *iters = g_strdup_printf("%d", o->iters), *wrong = g_strdup_printf("%" G_GUINT64_FORMAT, r->wrong);
  g_autofree char *time = csim_number_text(r->time_us, "%.2f"), *min = csim_number_text(r->min_us, "%.2f");
  g_autofree char *max = csim_number_text(r->max_us, "%.2f"), *algbw = csim_number_text(r->algbw_gbps, "%.4f");
  g_autofree char *busbw = csim_number_text(r->busbw_gbps, "%.4f");
  csim_probe_table_row(table, (const char *const[]){tag, hosts, ranks, csim_coll_name(r->coll), size, count, "float", "sum",
                                                    csim_launch_name(o->launch), iters, time, min, max, algbw, busbw,
                                                    wrong, variables, NULL});
}

void csim_nccl_table_add(CsimProbeTable *table, const char *tag, const CsimNcclOptions *o, const CsimNcclFacts *f,
                         const GArray *rows) {
  g_autofree char *variables = csim_nccl_variables_text(o), *version = csim_nccl_version_text(f->nccl_version);
  csim_probe_table_fact(table, "hardware", "%d x %s", f->n_gpus, f->gpu);
  csim_probe_table_fact(table, "nccl_version", "%s", version);
  csim_probe_table_fact(table, "nccl_library", "%s", f->library);
  csim_probe_table_fact(table, "cuda", "driver interface %d.%d", f->cuda_version / 1000, f->cuda_version % 1000 / 10);
  for (guint i = 0; i < rows->len; i++) add_row(table, tag, o, f, &g_array_index(rows, CsimNcclRow, i), variables);
}
