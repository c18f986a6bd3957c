/* exp/validate-csv.c - CSV tables of measured collectives: comments with the description, a header line, rows; several series a file. */
#include "exp/validate.h"

#include "base/csv.h"
#include "base/file.h"
#include <math.h>
#include <string.h>

enum {
  COL_COLLECTIVE,
  COL_SIZE,
  COL_COUNT,
  COL_TYPE,
  COL_OP,
  COL_TIME,
  COL_ALGBW,
  COL_BUSBW,
  COL_PLACE,
  COL_TAG,
  COL_RANKS,
  COL_ENV,
  COL_NODES,
  COL_LAUNCH,
  COL_ITERS,
  N_COLS
};

/* What the columns are called in the tables that we know. */
static const char *const col_names[N_COLS][5] = {
    [COL_COLLECTIVE] = {"collective", "coll"},
    [COL_SIZE] = {"size_bytes", "size", "bytes"},
    [COL_COUNT] = {"count"},
    [COL_TYPE] = {"dtype", "type"},
    [COL_OP] = {"op", "redop"},
    [COL_TIME] = {"time_us", "median_us", "time"},
    [COL_ALGBW] = {"algbw_gbps", "algbw"},
    [COL_BUSBW] = {"busbw_gbps", "busbw"},
    [COL_PLACE] = {"in_place(0/1)", "in_place"},
    [COL_TAG] = {"tag"},
    [COL_RANKS] = {"gpus", "ranks"},
    [COL_ENV] = {"env"},
    [COL_NODES] = {"hosts"},
    [COL_LAUNCH] = {"launch"},
    [COL_ITERS] = {"iters"},
};

/* "key: value" comments and the fact that each fills. */
static const struct {
  const char *key;
  CsimFact fact;
} comment_facts[] = {
    {"hardware", CSIM_FACT_HARDWARE}, {"fabric", CSIM_FACT_FABRIC},   {"nccl_version", CSIM_FACT_NCCL},
    {"env", CSIM_FACT_ENV},           {"algo_proto", CSIM_FACT_ALGO}, {"odd", CSIM_FACT_NOTES},
};

enum { PLACE_OUT, PLACE_IN }; /* not told counts as out of place */
typedef struct {
  CsimMeasuredRow row;
  int place;
} Line;

typedef struct {
  CsimMeasuredSet *set;
  GArray *lines; /* Line */
} Series;

typedef struct {
  const char *name;
  CsimMeasuredSet *about; /* facts for every series */
  int columns[N_COLS];    /* -1: not there */
  gboolean has_header;
  GPtrArray *series;  /* Series* */
  GHashTable *by_key; /* tag/ranks/collective/env -> Series*, borrowed */
  uint32_t line;
  guint junk;
} Reader;

static void free_series(gpointer data) {
  Series *s = (Series *)data;
  csim_measured_set_free(s->set);
  g_array_unref(s->lines);
  g_free(s);
}

/* --- comments ------------------------------------------------------------------- */

/* "# nodes: 2  gpus_total: 16  fabric: InfiniBand NDR": three facts in a line. */
static void take_counts(Reader *r, const char *text) {
  const char *gpus = strstr(text, "gpus_total:"), *fabric = strstr(text, "fabric:");
  r->about->n_nodes = (guint)g_ascii_strtoull(text + strlen("nodes:"), NULL, 10);
  if (gpus) r->about->n_gpus = (guint)g_ascii_strtoull(gpus + strlen("gpus_total:"), NULL, 10);
  if (fabric) csim_measured_fact(r->about, CSIM_FACT_FABRIC, fabric + strlen("fabric:"));
}

static void take_comment(Reader *r, const char *text) {
  while (*text == '#' || *text == ' ') text++;
  if (g_str_has_prefix(text, "nodes:")) {
    take_counts(r, text);
    return;
  }
  if (g_str_has_prefix(text, "machine: virtual")) r->about->virtual_machine = TRUE;
  for (guint i = 0; i < G_N_ELEMENTS(comment_facts); i++) {
    gsize n = strlen(comment_facts[i].key);
    if (g_str_has_prefix(text, comment_facts[i].key) && text[n] == ':')
      csim_measured_fact(r->about, comment_facts[i].fact, text + n + 1);
  }
}

/* --- header --------------------------------------------------------------------- */

static int column_of(const char *word) {
  for (int c = 0; c < N_COLS; c++)
    for (int k = 0; k < 5 && col_names[c][k]; k++)
      if (!g_ascii_strcasecmp(word, col_names[c][k])) return c;
  return -1;
}

/* A header has a size column; anything else before the rows is not for us ("test,size_bytes,bw_GBps" has no time of a collective). */
static gboolean take_header(Reader *r, char **words) {
  int columns[N_COLS];
  memset(columns, -1, sizeof columns);
  for (int i = 0; words[i]; i++) {
    int c = column_of(words[i]);
    if (c >= 0 && columns[c] < 0) columns[c] = i;
  }
  if (columns[COL_SIZE] < 0 || columns[COL_COLLECTIVE] < 0) return FALSE;
  memcpy(r->columns, columns, sizeof columns);
  return r->has_header = TRUE;
}

/* --- rows ----------------------------------------------------------------------- */

static const char *cell(const Reader *r, char **words, int column) {
  int i = r->columns[column];
  return i >= 0 && i < (int)g_strv_length(words) ? words[i] : "";
}

/* A positive number, or 0 where there is none. */
static double number(const Reader *r, char **words, int column) {
  const char *text = cell(r, words, column);
  char *end;
  double value = g_ascii_strtod(text, &end);
  return end != text && *end == '\0' && isfinite(value) && value > 0 ? value : 0;
}

/* What `collsim probe nccl` says of the series in columns of its own. */
static void take_run(const Reader *r, char **words, CsimMeasuredSet *set) {
  const char *nodes = cell(r, words, COL_NODES);
  set->has_launch = csim_launch_parse(cell(r, words, COL_LAUNCH), &set->launch);
  set->iters = (int)CLAMP(number(r, words, COL_ITERS), 0, 100000);
  if (*nodes) set->n_nodes = (guint)g_ascii_strtoull(nodes, NULL, 10);
}

static Series *series_of(Reader *r, char **words, CsimColl coll) {
  const char *tag = cell(r, words, COL_TAG), *ranks = cell(r, words, COL_RANKS),
             *env = cell(r, words, COL_ENV);
  g_autofree char *key = g_strdup_printf("%s\t%s\t%d\t%s", tag, ranks, coll, env);
  Series *s = (Series *)g_hash_table_lookup(r->by_key, key);
  if (s) return s;
  s = g_new0(Series, 1);
  s->set = csim_measured_set_new();
  s->lines = g_array_new(FALSE, FALSE, sizeof(Line));
  for (int f = 0; f < CSIM_N_FACTS; f++) csim_measured_fact(s->set, (CsimFact)f, r->about->facts[f]);
  csim_measured_fact(s->set, CSIM_FACT_TAG, tag);
  csim_measured_fact(s->set, CSIM_FACT_ENV, env);
  csim_measured_fact(s->set, CSIM_FACT_COLLECTIVE, csim_coll_name(coll));
  s->set->coll = coll;
  s->set->has_coll = TRUE;
  s->set->n_nodes = r->about->n_nodes;
  s->set->virtual_machine = r->about->virtual_machine;
  s->set->n_gpus = *ranks ? (guint)g_ascii_strtoull(ranks, NULL, 10) : r->about->n_gpus;
  take_run(r, words, s->set);
  g_ptr_array_add(r->series, s);
  g_hash_table_insert(r->by_key, g_steal_pointer(&key), s);
  return s;
}

/* busbw where the table has it; algbw alone gives the time. */
static gboolean take_numbers(Reader *r, char **words, CsimMeasuredRow *row) {
  double algbw = number(r, words, COL_ALGBW);
  row->time_us = number(r, words, COL_TIME);
  row->busbw_gbps = number(r, words, COL_BUSBW);
  if (row->time_us == 0 && row->busbw_gbps == 0 && algbw > 0) row->time_us = (double)row->size / algbw * 1e-3;
  return row->time_us > 0 || row->busbw_gbps > 0;
}

static gboolean take_row(Reader *r, char **words) {
  CsimColl coll;
  Line line = {.row = {.type = CSIM_TYPE_FLOAT, .op = CSIM_OP_SUM, .loc = {r->name, r->line, 1}}};
  if (!r->has_header || !csim_coll_parse(cell(r, words, COL_COLLECTIVE), &coll)) return FALSE;
  gint64 size;
  if (!g_ascii_string_to_signed(cell(r, words, COL_SIZE), 10, 1, INT64_C(1) << 50, &size, NULL)) return FALSE;
  line.row.size = size;
  csim_type_parse(cell(r, words, COL_TYPE), &line.row.type);
  csim_op_parse(cell(r, words, COL_OP), &line.row.op);
  line.place = !strcmp(cell(r, words, COL_PLACE), "1") ? PLACE_IN : PLACE_OUT;
  if (!take_numbers(r, words, &line.row)) return FALSE;
  g_array_append_val(series_of(r, words, coll)->lines, line);
  return TRUE;
}

static void take_line(Reader *r, char *text) {
  g_strstrip(text);
  if (*text == '\0') return;
  if (*text == '#') {
    take_comment(r, text);
    return;
  }
  g_auto(GStrv) words = csim_csv_split(text);
  for (char **word = words; word && *word; word++) g_strstrip(*word);
  if (words && !r->has_header && take_header(r, words)) return;
  if (!words || !take_row(r, words)) r->junk++;
}

/* --- series to sets ------------------------------------------------------------- */

static void finish_series(Reader *r, Series *s, GPtrArray *sets) {
  gboolean any_out = FALSE;
  for (guint i = 0; i < s->lines->len; i++) any_out |= g_array_index(s->lines, Line, i).place == PLACE_OUT;
  for (guint i = 0; i < s->lines->len; i++) {
    const Line *line = &g_array_index(s->lines, Line, i);
    if (!any_out || line->place == PLACE_OUT) g_array_append_val(s->set->rows, line->row);
  }
  csim_measured_set_settle(s->set);
  if (r->series->len > 1) {
    const char *tag = s->set->facts[CSIM_FACT_TAG], *env = s->set->facts[CSIM_FACT_ENV];
    g_autofree char *name =
        g_strdup_printf("%s:%s%s%u:%s", s->set->facts[CSIM_FACT_NAME],
                        tag   ? tag
                        : env ? env
                              : "",
                        tag || env ? ":" : "", s->set->n_gpus, s->set->facts[CSIM_FACT_COLLECTIVE]);
    csim_measured_fact(s->set, CSIM_FACT_NAME, name);
  }
  g_ptr_array_add(sets, g_steal_pointer(&s->set));
}

static void finish(Reader *r, GPtrArray *sets) {
  for (guint i = 0; i < r->series->len; i++)
    finish_series(r, (Series *)g_ptr_array_index(r->series, i), sets);
  if (r->series->len > 0) return;
  r->about->unusable = g_strdup("no row with a collective, a size and a time or busbw");
  g_ptr_array_add(sets, g_steal_pointer(&r->about));
}

static char *base_name(const char *path) {
  g_autofree char *base = g_path_get_basename(path);
  char *dot = strrchr(base, '.');
  return dot && dot != base ? g_strndup(base, dot - base) : g_strdup(base);
}

gboolean csim_measured_csv(GPtrArray *sets, const char *name, const char *text, gsize length,
                           GError **error) {
  if (length > (gsize)CSIM_FILE_LIMIT) {
    csim_error_set(error, CSIM_ERROR_LIMIT, (CsimLoc){g_intern_string(name), 0, 0},
                   "more than %d MiB; allowed: up to that", (int)(CSIM_FILE_LIMIT >> 20));
    return FALSE;
  }
  g_autofree char *slug = base_name(name);
  Reader r = {.name = g_intern_string(name), .about = csim_measured_set_new()};
  memset(r.columns, -1, sizeof r.columns);
  r.series = g_ptr_array_new_with_free_func(free_series);
  r.by_key = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  csim_measured_fact(r.about, CSIM_FACT_NAME, slug);
  csim_measured_fact(r.about, CSIM_FACT_FILE, name);
  for (const char *at = text, *end = text + length; at < end;) {
    const char *eol = (const char *)memchr(at, '\n', (gsize)(end - at));
    gsize n = (gsize)((eol ? eol : end) - at);
    g_autofree char *line = g_strndup(at, n);
    r.line++;
    take_line(&r, line);
    at = eol ? eol + 1 : end;
  }
  finish(&r, sets);
  csim_measured_set_free(r.about);
  g_ptr_array_unref(r.series);
  g_hash_table_unref(r.by_key);
  return TRUE;
}
