/* exp/validate-index.c - folders of measurements, and what an INDEX.tsv knows of their files. */
#include "exp/validate.h"

#include "base/file.h"
#include <string.h>

/* --- the index ------------------------------------------------------------------ */

/* A row is a hash of column name -> text; a table maps slugs to rows, and keeps their order. */
typedef struct {
  GPtrArray *slugs; /* in order of the file */
  GHashTable *rows; /* slug -> GHashTable */
} Index;

static void index_free(Index *index) {
  if (!index) return;
  g_ptr_array_unref(index->slugs);
  g_hash_table_unref(index->rows);
  g_free(index);
}

static void index_row(Index *index, char **columns, char *line) {
  g_auto(GStrv) cells = g_strsplit(line, "\t", 256);
  GHashTable *row = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  for (int i = 0; columns[i] && cells[i]; i++)
    g_hash_table_insert(row, g_strdup(g_strstrip(columns[i])), g_strdup(g_strstrip(cells[i])));
  const char *slug = (const char *)g_hash_table_lookup(row, "slug");
  if (!slug || !*slug || g_hash_table_contains(index->rows, slug)) {
    g_hash_table_unref(row);
    return;
  }
  g_ptr_array_add(index->slugs, g_strdup(slug));
  g_hash_table_insert(index->rows, g_strdup(slug), row);
}

static Index *index_read(const char *path, GError **error) {
  gsize length;
  g_autofree char *text = csim_file_read(path, CSIM_FILE_LIMIT, &length, error);
  if (!text) return NULL;
  g_autofree char *valid = g_utf8_make_valid(text, (gssize)length);
  g_auto(GStrv) lines = g_strsplit(valid, "\n", -1);
  g_auto(GStrv) columns = g_strsplit(lines[0] ? lines[0] : "", "\t", 256);
  if (!columns[0] || strcmp(g_strstrip(columns[0]), "slug")) {
    csim_error_set(error, CSIM_ERROR_SCHEMA, (CsimLoc){g_intern_string(path), 1, 1},
                   "no index of measurements; allowed: tab-separated, a first line of column names, the "
                   "first of them \"slug\"");
    return NULL;
  }
  Index *index = g_new0(Index, 1);
  index->slugs = g_ptr_array_new_with_free_func(g_free);
  index->rows = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_hash_table_unref);
  for (char **line = lines + 1; *line; line++)
    if (**line) index_row(index, columns, *line);
  return index;
}

static void describe(CsimMeasuredSet *set, GHashTable *row) {
  static const struct {
    const char *column;
    CsimFact fact;
  } columns[] = {
      {"hardware", CSIM_FACT_HARDWARE}, {"fabric", CSIM_FACT_FABRIC},         {"algo_proto", CSIM_FACT_ALGO},
      {"nccl_version", CSIM_FACT_NCCL}, {"confidence", CSIM_FACT_CONFIDENCE},
  };
  for (guint i = 0; i < G_N_ELEMENTS(columns); i++)
    csim_measured_fact(set, columns[i].fact, (const char *)g_hash_table_lookup(row, columns[i].column));
  const char *nodes = (const char *)g_hash_table_lookup(row, "nodes"),
             *gpus = (const char *)g_hash_table_lookup(row, "gpus");
  guint64 n;
  if (nodes && g_ascii_string_to_unsigned(nodes, 10, 1, 1000000, &n, NULL)) set->n_nodes = (guint)n;
  if (gpus && g_ascii_string_to_unsigned(gpus, 10, 1, 10000000, &n, NULL)) set->n_gpus = (guint)n;
}

static CsimMeasuredSet *missing_set(const char *slug, GHashTable *row) {
  CsimMeasuredSet *set = csim_measured_set_new();
  csim_measured_fact(set, CSIM_FACT_NAME, slug);
  csim_measured_fact(set, CSIM_FACT_COLLECTIVE, (const char *)g_hash_table_lookup(row, "collective"));
  describe(set, row);
  set->unusable = g_strdup_printf("the index names it, but there is no file %s.csv", slug);
  return set;
}

/* --- folders -------------------------------------------------------------------- */

static gboolean is_measurement(const char *name) {
  static const char *const endings[] = {".csv", ".log", ".txt", ".out", NULL};
  for (int i = 0; endings[i]; i++)
    if (g_str_has_suffix(name, endings[i])) return TRUE;
  return FALSE;
}

static int by_path(gconstpointer a, gconstpointer b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

#define MAX_DEPTH 8 /* folders below the one that was named */

static gboolean list_files(GPtrArray *files, const char *folder, int depth, GError **error) {
  g_autoptr(GError) wrong = NULL;
  g_autoptr(GDir) dir = g_dir_open(folder, 0, &wrong);
  if (!dir) {
    csim_error_set(error, CSIM_ERROR_IO, (CsimLoc){g_intern_string(folder), 0, 0}, "%s", wrong->message);
    return FALSE;
  }
  for (const char *name; (name = g_dir_read_name(dir)) != NULL;) {
    g_autofree char *path = g_build_filename(folder, name, NULL);
    gboolean is_dir = g_file_test(path, G_FILE_TEST_IS_DIR);
    if (is_dir && depth < MAX_DEPTH && !list_files(files, path, depth + 1, error)) return FALSE;
    if (!is_dir && is_measurement(name)) g_ptr_array_add(files, g_steal_pointer(&path));
  }
  return TRUE;
}

/* Logs that hold no table (a README.txt, NCCL's own output alone) are no measurements: left out of a folder without a word. */
static void drop_if_no_table(GPtrArray *sets, guint first, const char *path) {
  if (g_str_has_suffix(path, ".csv") || sets->len != first + 1) return;
  const CsimMeasuredSet *set = (const CsimMeasuredSet *)g_ptr_array_index(sets, first);
  if (set->unusable && set->rows->len == 0 && !set->has_coll) g_ptr_array_remove_index(sets, first);
}

static char *slug_of(const char *path) {
  g_autofree char *base = g_path_get_basename(path);
  char *dot = strrchr(base, '.');
  return dot ? g_strndup(base, (gsize)(dot - base)) : g_strdup(base);
}

static gboolean read_files(GPtrArray *sets, const GPtrArray *files, Index *index, GHashTable *seen,
                           GError **error) {
  for (guint i = 0; i < files->len; i++) {
    const char *path = (const char *)g_ptr_array_index(files, i);
    guint first = sets->len;
    if (!csim_measured_file(sets, path, error)) return FALSE;
    drop_if_no_table(sets, first, path);
    g_autofree char *slug = slug_of(path);
    GHashTable *row = index ? (GHashTable *)g_hash_table_lookup(index->rows, slug) : NULL;
    for (guint k = first; row && k < sets->len; k++)
      describe((CsimMeasuredSet *)g_ptr_array_index(sets, k), row);
    g_hash_table_add(seen, g_steal_pointer(&slug));
  }
  return TRUE;
}

static Index *find_index(const char *folder, const char *path, gboolean *failed, GError **error) {
  g_autofree char *beside = g_build_filename(folder, "INDEX.tsv", NULL);
  *failed = FALSE;
  if (!path && !g_file_test(beside, G_FILE_TEST_EXISTS)) return NULL;
  Index *index = index_read(path ? path : beside, error);
  *failed = index == NULL;
  return index;
}

gboolean csim_measured_folder(GPtrArray *sets, const char *folder, const char *index_path, GError **error) {
  g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(g_free);
  g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  gboolean failed;
  Index *index = find_index(folder, index_path, &failed, error);
  if (failed) return FALSE;
  gboolean done = list_files(files, folder, 0, error);
  g_ptr_array_sort(files, by_path);
  done = done && read_files(sets, files, index, seen, error);
  for (guint i = 0; done && index && i < index->slugs->len; i++) {
    const char *slug = (const char *)g_ptr_array_index(index->slugs, i);
    if (!g_hash_table_contains(seen, slug))
      g_ptr_array_add(sets, missing_set(slug, (GHashTable *)g_hash_table_lookup(index->rows, slug)));
  }
  index_free(index);
  return done;
}
