/* exp/compare.c - rows of two result files that are about the same run. */
#include "exp/compare.h"

#include "base/file.h"
#include "base/json-read.h"

#include <math.h>
#include <string.h>

/* --- reading -------------------------------------------------------------------------- */

static char *scalar(CsimJson *value) {
  gboolean yes = FALSE;
  switch (csim_json_type(value)) {
  case CSIM_JSON_NUMBER:
  case CSIM_JSON_TEXT: return g_strdup(csim_json_text_of(value));
  case CSIM_JSON_BOOL: csim_json_as_bool(value, &yes); return g_strdup(yes ? "true" : "false");
  default: return g_strdup("");
  }
}

static int column_for(CsimTable *table, const char *name) {
  int column = csim_table_column(table, name);
  if (column >= 0) return column;
  for (guint i = 0; i < table->rows->len; i++) g_ptr_array_add((GPtrArray *)g_ptr_array_index(table->rows, i), g_strdup(""));
  g_ptr_array_add(table->columns, g_strdup(name));
  return (int)table->columns->len - 1;
}

/* Members of the run's object that say what was run; its rows bring the rest. */
static void add_members(CsimTable *table, GPtrArray *row, CsimJson *object) {
  for (CsimJson *v = csim_json_first(object); v; v = csim_json_next(v)) {
    if (csim_json_type(v) == CSIM_JSON_ARRAY || csim_json_type(v) == CSIM_JSON_OBJECT) csim_json_ignore(v);
    else csim_table_set(table, row, column_for(table, csim_json_key(v)), scalar(v));
  }
}

static void add_head(CsimTable *table, GPtrArray *row, CsimJson *root) {
  static const char *const names[] = {"target", "nodes", "ranks", "fidelity", "seed", NULL};
  for (int i = 0; names[i]; i++) {
    CsimJson *v = csim_json_get(root, names[i], CSIM_JSON_OPTIONAL);
    if (v) csim_table_set(table, row, column_for(table, names[i]), scalar(v));
  }
}

static CsimTable *read_json(const char *path, GError **error) {
  g_autoptr(CsimDiag) diag = csim_diag_new();
  g_autoptr(CsimJsonDoc) doc = csim_json_read_file(path, diag);
  g_autoptr(CsimTable) table = csim_table_new();
  CsimJson *root = csim_json_root(doc, CSIM_JSON_OBJECT), *rows = root ? csim_json_array(root, "rows", CSIM_JSON_REQUIRED) : NULL;
  for (CsimJson *r = csim_json_first(rows); r; r = csim_json_next(r)) {
    if (!csim_json_is(r, CSIM_JSON_OBJECT)) break;
    GPtrArray *row = csim_table_add_row(table);
    add_head(table, row, root);
    add_members(table, row, r);
  }
  return csim_diag_check(diag, error) ? g_steal_pointer(&table) : NULL;
}

static gboolean has_needed(const CsimTable *table, const char *path, GError **error) {
  static const char *const needed[] = {"collective", "size_bytes", "time_us", NULL};
  for (int i = 0; needed[i]; i++) {
    if (csim_table_column(table, needed[i]) >= 0) continue;
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_SCHEMA, "%s: no column '%s'; allowed: what `collsim run --json` or --csv and `collsim sweep` write", path, needed[i]);
    return FALSE;
  }
  return TRUE;
}

CsimTable *csim_results_read(const char *path, GError **error) {
  g_autoptr(CsimTable) table = NULL;
  if (g_str_has_suffix(path, ".json")) {
    table = read_json(path, error);
  } else {
    g_autofree char *text = csim_file_read(path, CSIM_FILE_LIMIT, NULL, error);
    if (text) table = csim_table_from_csv(path, text, error);
  }
  return table && has_needed(table, path, error) ? g_steal_pointer(&table) : NULL;
}

/* --- matching ------------------------------------------------------------------------------ */

/* What a row is about: everything but what came out, and what the two files are compared for (target, nodes, fidelity, seed). */
static gboolean is_of_key(const char *column) {
  static const char *const not[] = {"target", "nodes", "ranks", "fidelity", "seed", "count", "algo", "proto", "channels", "threads", "time_us", "algbw_gbps",
                                    "busbw_gbps", "bottleneck", "busiest", "busiest_share", "launch", "overhead", "copy", "link", "wait", "credit", "digest", "error",
                                    NULL};
  return !g_strv_contains(not, column);
}

static const char *cell(const CsimTable *table, guint row, const char *column) { return csim_table_text(table, row, csim_table_column(table, column)); }

/* Columns of the key that both files have. */
static GPtrArray *key_columns(const CsimTable *a, const CsimTable *b) {
  GPtrArray *columns = g_ptr_array_new();
  for (guint i = 0; i < a->columns->len; i++) {
    char *name = (char *)g_ptr_array_index(a->columns, i);
    if (is_of_key(name) && csim_table_column(b, name) >= 0) g_ptr_array_add(columns, name);
  }
  return columns;
}

static char *key_of(const CsimTable *table, guint row, const GPtrArray *columns) {
  GString *key = g_string_new(NULL);
  for (guint i = 0; i < columns->len; i++) g_string_append_printf(key, "%s\n", cell(table, row, (const char *)g_ptr_array_index(columns, i)));
  return g_string_free(key, FALSE);
}

static gboolean varies(const CsimTable *table, const char *column) {
  for (guint row = 1; row < table->rows->len; row++)
    if (strcmp(cell(table, row, column), cell(table, 0, column))) return TRUE;
  return FALSE;
}

/* Columns of the key that a label has to name. */
static GPtrArray *varying_columns(const CsimTable *table, const GPtrArray *key) {
  static const char *const in_any_case[] = {"collective", "size_bytes", "size", NULL};
  GPtrArray *varying = g_ptr_array_new();
  for (guint i = 0; i < key->len; i++) {
    char *name = (char *)g_ptr_array_index(key, i);
    if (!g_strv_contains(in_any_case, name) && varies(table, name)) g_ptr_array_add(varying, name);
  }
  return varying;
}

/* "all_reduce 1048576, env.NCCL_ALGO Ring" */
static char *label_of(const CsimTable *a, guint row, const GPtrArray *varying) {
  GString *label = g_string_new(NULL);
  g_string_append_printf(label, "%s %s", cell(a, row, "collective"), cell(a, row, "size_bytes"));
  for (guint i = 0; i < varying->len; i++) {
    const char *name = (const char *)g_ptr_array_index(varying, i);
    g_string_append_printf(label, ", %s %s", name, cell(a, row, name));
  }
  return g_string_free(label, FALSE);
}

static char *choice_of(const CsimTable *table, guint row) {
  const char *algo = cell(table, row, "algo"), *proto = cell(table, row, "proto");
  return algo[0] ? g_strdup_printf("%s/%s", algo, proto) : g_strdup("-");
}

static CsimPair *pair_new(const CsimComparison *c, guint a, guint b, const GPtrArray *varying) {
  CsimPair *pair = g_new0(CsimPair, 1);
  *pair = (CsimPair){
    .label = label_of(c->a, a, varying),
    .a = a,
    .b = b,
    .time_a = csim_table_number(c->a, a, csim_table_column(c->a, "time_us")),
    .time_b = csim_table_number(c->b, b, csim_table_column(c->b, "time_us")),
    .busbw_a = csim_table_number(c->a, a, csim_table_column(c->a, "busbw_gbps")),
    .busbw_b = csim_table_number(c->b, b, csim_table_column(c->b, "busbw_gbps")),
    .choice_a = choice_of(c->a, a),
    .choice_b = choice_of(c->b, b),
    .bottleneck_a = cell(c->a, a, "bottleneck"),
    .bottleneck_b = cell(c->b, b, "bottleneck"),
  };
  return pair;
}

static void free_pair(gpointer data) {
  CsimPair *pair = (CsimPair *)data;
  g_free(pair->label);
  g_free((char *)pair->choice_a);
  g_free((char *)pair->choice_b);
  g_free(pair);
}

CsimComparison *csim_compare(CsimTable *a, CsimTable *b) {
  CsimComparison *c = g_new0(CsimComparison, 1);
  g_autoptr(GPtrArray) columns = key_columns(a, b), varying = varying_columns(a, columns);
  g_autoptr(GHashTable) rows = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  c->a = a;
  c->b = b;
  c->pairs = g_ptr_array_new_with_free_func(free_pair);
  for (guint row = b->rows->len; row-- > 0;) g_hash_table_insert(rows, key_of(b, row, columns), GUINT_TO_POINTER(row + 1)); /* of equal ones the first */
  for (guint row = 0; row < a->rows->len; row++) {
    g_autofree char *key = key_of(a, row, columns);
    guint other = GPOINTER_TO_UINT(g_hash_table_lookup(rows, key));
    if (other) g_ptr_array_add(c->pairs, pair_new(c, row, other - 1, varying));
    else c->only_a++;
    g_hash_table_remove(rows, key);
  }
  c->only_b = g_hash_table_size(rows);
  return c;
}

void csim_comparison_free(CsimComparison *c) {
  if (!c) return;
  g_ptr_array_unref(c->pairs);
  csim_table_free(c->a);
  csim_table_free(c->b);
  g_free(c);
}
