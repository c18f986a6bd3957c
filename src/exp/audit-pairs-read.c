/*
 * Tables of pairs in a text. Three forms: a matrix under a line of labels (p2pBandwidthLatencyTest, nvbandwidth), lines "from to value" (with "->",
 * commas or colons), and nccl-tests logs of two ranks each (sendrecv_perf run pair by pair).
 */
#include "exp/audit-pairs.h"

#include <math.h>
#include <string.h>

typedef struct {
  char **words;
  guint n;
} Line;

static void table_free(gpointer data) {
  PairTable *t = data;
  g_free(t->title);
  g_ptr_array_unref(t->rows);
  g_ptr_array_unref(t->columns);
  g_free(t->value);
  g_free(t->line);
  g_free(t);
}

static gboolean contains(const char *text, const char *what) {
  g_autofree char *lower = g_ascii_strdown(text, -1);
  return strstr(lower, what) != NULL;
}

static PairTable *table_new(const char *file, guint line, const char *title) {
  PairTable *t = g_new0(PairTable, 1);
  t->title = g_strstrip(g_strdup(title));
  t->loc = (CsimLoc){g_intern_string(file), line, 0};
  t->rows = g_ptr_array_new();
  t->columns = g_ptr_array_new();
  t->latency = contains(title, "latency") || contains(title, "(us)");
  t->both_ways = contains(title, "bidirectional");
  t->host_path = contains(title, "p2p=disabled");
  t->copy_engine = !contains(title, "sm ") && !contains(title, "kernel");
  return t;
}

double audit_pair(const PairTable *t, guint row, guint column) {
  if (g_ptr_array_index(t->rows, row) == g_ptr_array_index(t->columns, column) && t->rows->len > 1)
    return NAN;
  return t->value[row * t->columns->len + column];
}

static gboolean is_value(const char *word) {
  CsimLogNumber n;
  return strcmp(word, "X") == 0 || strcmp(word, "-") == 0 || csim_log_number_parse(word, &n);
}

static double value_of(const char *word) {
  CsimLogNumber n = {NAN, 0};
  if (strcmp(word, "X") != 0 && strcmp(word, "-") != 0) csim_log_number_parse(word, &n);
  return n.value > 0 ? n.value : NAN;
}

/* --- matrices ---- */

/* A row of a matrix of m columns: a label and m values. */
static gboolean is_row(const Line *line, guint m) {
  if (line->n != m + 1) return FALSE;
  for (guint i = 1; i <= m; i++)
    if (!is_value(line->words[i])) return FALSE;
  return TRUE;
}

/* Labels are whole numbers or names; a decimal point makes a line of values. */
static gboolean are_labels(const Line *line, guint from) {
  for (guint i = from; i < line->n; i++)
    if (strchr(line->words[i], '.') && g_ascii_isdigit(line->words[i][0])) return FALSE;
  return TRUE;
}

/* Words before the labels of a header (a corner "D\D", or none); -1: no header. The first row must bear the first label, or be a host's row. */
static int corner_of(const Line *header, const Line *row) {
  for (int corner = 0; corner <= 1; corner++) {
    if (header->n < (guint)corner + 2) continue;
    guint m = header->n - (guint)corner;
    if (!is_row(row, m) || !are_labels(header, (guint)corner)) continue;
    if (strcmp(row->words[0], header->words[corner]) == 0) return corner;
  }
  return -1;
}

static PairTable *read_matrix(const char *file, const Line *lines, guint at, guint n, const char *title,
                              guint *next) {
  int corner = at + 1 < n ? corner_of(&lines[at], &lines[at + 1]) : -1;
  if (corner < 0 || lines[at].n > PAIRS_MAX_LABELS) return NULL;
  guint m = lines[at].n - (guint)corner, last = at + 1;
  while (last < n && is_row(&lines[last], m)) last++;
  PairTable *t = table_new(file, at + 1, title);
  for (guint i = 0; i < m; i++)
    g_ptr_array_add(t->columns, (gpointer)g_intern_string(lines[at].words[(guint)corner + i]));
  t->value = g_new(double, (gsize)m *(last - at - 1));
  t->line = g_new(guint, (gsize)m * (last - at - 1));
  for (guint row = at + 1; row < last; row++) {
    g_ptr_array_add(t->rows, (gpointer)g_intern_string(lines[row].words[0]));
    for (guint i = 0; i < m; i++) {
      t->value[(row - at - 1) * m + i] = value_of(lines[row].words[i + 1]);
      t->line[(row - at - 1) * m + i] = row + 1;
    }
  }
  *next = last;
  return t;
}

/* --- lists ---- */

typedef struct {
  const char *from, *to;
  double value;
  guint line;
} Pair;

static gboolean read_pair(const Line *line, guint number, Pair *out) {
  if (line->n < 3 || line->n > 5 || strcmp(line->words[0], "SUM") == 0) return FALSE;
  double value = is_value(line->words[2]) ? value_of(line->words[2]) : NAN;
  if (isnan(value) || strcmp(line->words[0], line->words[1]) == 0) return FALSE;
  *out = (Pair){g_intern_string(line->words[0]), g_intern_string(line->words[1]), value, number};
  return TRUE;
}

static guint label_index(GPtrArray *labels, const char *label) {
  guint index;
  if (g_ptr_array_find(labels, label, &index)) return index;
  g_ptr_array_add(labels, (gpointer)label);
  return labels->len - 1;
}

/* All pairs of a file are one table; of a pair that comes again the best counts. */
static PairTable *table_of_pairs(const char *file, const GArray *pairs, const char *title) {
  PairTable *t = table_new(file, g_array_index(pairs, Pair, 0).line, title);
  for (guint i = 0; i < pairs->len && t->rows->len + 2 <= PAIRS_MAX_LABELS; i++) {
    label_index(t->rows, g_array_index(pairs, Pair, i).from);
    label_index(t->rows, g_array_index(pairs, Pair, i).to);
  }
  guint n = t->rows->len;
  for (guint i = 0; i < n; i++) g_ptr_array_add(t->columns, g_ptr_array_index(t->rows, i));
  t->value = g_new(double, (gsize)n *n);
  t->line = g_new0(guint, (gsize)n * n);
  for (gsize i = 0; i < (gsize)n * n; i++) t->value[i] = NAN;
  for (guint i = 0; i < pairs->len; i++) {
    const Pair *p = &g_array_index(pairs, Pair, i);
    guint from, to;
    if (!g_ptr_array_find(t->rows, p->from, &from) || !g_ptr_array_find(t->rows, p->to, &to)) continue;
    gsize at = (gsize)from * n + to;
    if (!isnan(t->value[at]) && (p->value < t->value[at]) != t->latency) continue;
    t->value[at] = p->value;
    t->line[at] = p->line;
  }
  return t;
}

/* --- runs of nccl-tests on two ranks ---- */

static const char *end_label(const CsimLogRun *run, guint i) {
  const CsimLogDevice *a = &g_array_index(run->devices, CsimLogDevice, i),
                      *b = &g_array_index(run->devices, CsimLogDevice, 1 - i);
  if (strcmp(a->host, b->host) != 0) return a->host;
  g_autofree char *label = g_strdup_printf("%s/%d", a->host, a->device);
  return g_intern_string(label);
}

/* Both directions run at once in a ring of two, so the figure stands for both. */
static void add_run(GArray *pairs, const CsimLogRun *run) {
  if (run->devices->len != 2) return;
  Pair pair = {end_label(run, 0), end_label(run, 1), 0, run->loc.line};
  for (guint i = 0; i < run->rows->len; i++) {
    const CsimLogRow *row = csim_log_row(run, i);
    double busbw = row->has_out ? row->out.busbw.value : row->in.busbw.value;
    if (busbw > pair.value) {
      pair.value = busbw;
      pair.line = row->loc.line;
    }
  }
  if (pair.value <= 0) return;
  g_array_append_val(pairs, pair);
  Pair back = {pair.to, pair.from, pair.value, pair.line};
  g_array_append_val(pairs, back);
}

static void read_runs(const char *name, const char *text, GArray *pairs) {
  g_autoptr(CsimLog) log = csim_log_parse(name, text, strlen(text), NULL);
  for (guint i = 0; log && i < log->runs->len; i++) add_run(pairs, csim_log_run(log, i));
}

/* --- a file ---- */

/* Blank words are left out; commas, arrows and colons part words. */
static Line split_line(const char *text) {
  g_auto(GStrv) parts = g_strsplit_set(text, " \t,\r", -1);
  GPtrArray *words = g_ptr_array_new();
  for (char **p = parts; *p; p++) {
    char *word = *p;
    gsize n = strlen(word);
    if (n && word[n - 1] == ':') word[n - 1] = 0;
    if (*word && strcmp(word, "->") != 0 && strcmp(word, "<->") != 0) g_ptr_array_add(words, g_strdup(word));
  }
  Line line = {NULL, words->len};
  g_ptr_array_add(words, NULL);
  line.words = (char **)g_ptr_array_free(words, FALSE);
  return line;
}

static void read_tables(const char *name, char **texts, const Line *lines, guint n, GPtrArray *tables,
                        GArray *pairs) {
  const char *title = "";
  for (guint i = 0; i < n && tables->len < PAIRS_MAX_TABLES;) {
    guint next = i + 1;
    PairTable *table = read_matrix(name, lines, i, n, title, &next);
    Pair pair;
    if (table)
      g_ptr_array_add(tables, table);
    else if (read_pair(&lines[i], i + 1, &pair))
      g_array_append_val(pairs, pair);
    else if (lines[i].n)
      title = texts[i];
    i = next;
  }
}

GPtrArray *audit_pairs_read(const char *name, const char *text) {
  GPtrArray *tables = g_ptr_array_new_with_free_func(table_free);
  g_autoptr(GArray) pairs = g_array_new(FALSE, FALSE, sizeof(Pair));
  read_runs(name, text, pairs);
  if (!pairs->len) {
    g_auto(GStrv) texts = g_strsplit(text, "\n", -1);
    guint n = g_strv_length(texts);
    Line *lines = g_new(Line, n + 1);
    for (guint i = 0; i < n; i++) lines[i] = split_line(texts[i]);
    read_tables(name, texts, lines, n, tables, pairs);
    for (guint i = 0; i < n; i++) g_strfreev(lines[i].words);
    g_free(lines);
  }
  if (pairs->len) g_ptr_array_add(tables, table_of_pairs(name, pairs, "pairs"));
  return tables;
}
