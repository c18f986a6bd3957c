/* exp/validate-set.c - a measured set and its facts. */
#include "exp/validate.h"

#include "base/stats.h"

#include <string.h>

const char *const csim_fact_names[CSIM_N_FACTS + 1] = {
    [CSIM_FACT_NAME] = "name",
    [CSIM_FACT_FILE] = "file",
    [CSIM_FACT_TAG] = "tag",
    [CSIM_FACT_HARDWARE] = "hardware",
    [CSIM_FACT_FABRIC] = "fabric",
    [CSIM_FACT_COLLECTIVE] = "collective",
    [CSIM_FACT_ALGO] = "algo",
    [CSIM_FACT_NCCL] = "nccl",
    [CSIM_FACT_ENV] = "env",
    [CSIM_FACT_NOTES] = "notes",
    [CSIM_FACT_CONFIDENCE] = "confidence",
};

CsimMeasuredSet *csim_measured_set_new(void) {
  CsimMeasuredSet *set = g_new0(CsimMeasuredSet, 1);
  set->rows = g_array_new(FALSE, FALSE, sizeof(CsimMeasuredRow));
  return set;
}

void csim_measured_set_free(gpointer data) {
  CsimMeasuredSet *set = (CsimMeasuredSet *)data;
  if (!set) return;
  for (int f = 0; f < CSIM_N_FACTS; f++) g_free(set->facts[f]);
  g_array_unref(set->rows);
  g_free(set->unusable);
  g_free(set);
}

/* Files are anybody's: what is shown later must be text. */
void csim_measured_fact(CsimMeasuredSet *set, CsimFact fact, const char *text) {
  if (!text) return;
  g_autofree char *clean = g_strstrip(g_utf8_make_valid(text, -1));
  if (*clean == '\0') return;
  g_free(set->facts[fact]);
  set->facts[fact] = g_steal_pointer(&clean);
}

/* --- rows ----------------------------------------------------------------------- */

static int by_size(gconstpointer a, gconstpointer b) {
  const CsimMeasuredRow *x = (const CsimMeasuredRow *)a, *y = (const CsimMeasuredRow *)b;
  if (x->size != y->size) return x->size < y->size ? -1 : 1;
  if (x->type != y->type) return (int)x->type - (int)y->type;
  return (int)x->loc.line - (int)y->loc.line;
}

/* Of the values above zero; 0 if there is none. */
static double median(double *values, guint n) {
  guint kept = 0;
  for (guint i = 0; i < n; i++)
    if (values[i] > 0) values[kept++] = values[i];
  return kept > 0 ? csim_median(values, kept) : 0;
}

static void merge(CsimMeasuredRow *rows, guint n, CsimMeasuredRow *out) {
  g_autofree double *time = g_new(double, n), *busbw = g_new(double, n);
  for (guint i = 0; i < n; i++) {
    time[i] = rows[i].time_us;
    busbw[i] = rows[i].busbw_gbps;
  }
  *out = rows[0];
  out->time_us = median(time, n);
  out->busbw_gbps = median(busbw, n);
}

void csim_measured_set_settle(CsimMeasuredSet *set) {
  CsimMeasuredRow *rows = (CsimMeasuredRow *)(void *)set->rows->data;
  guint n = set->rows->len, kept = 0;
  g_array_sort(set->rows, by_size);
  for (guint i = 0, next; i < n; i = next) {
    for (next = i + 1; next < n && rows[next].size == rows[i].size && rows[next].type == rows[i].type;)
      next++;
    CsimMeasuredRow one;
    merge(rows + i, next - i, &one);
    rows[kept++] = one;
  }
  g_array_set_size(set->rows, kept);
}

/* --- words ---------------------------------------------------------------------- */

static gboolean is_at_word(const char *text, gsize at, const char *word, gsize n) {
  if (g_ascii_strncasecmp(text + at, word, n)) return FALSE;
  if (at > 0 && g_ascii_isalnum(word[0]) && g_ascii_isalnum(text[at - 1])) return FALSE;
  return !(g_ascii_isdigit(word[n - 1]) && g_ascii_isdigit(text[at + n]));
}

static gboolean has_word(const char *text, const char *word) {
  gsize n = strlen(word);
  if (n == 0) return FALSE;
  for (gsize at = 0; text[at]; at++)
    if (is_at_word(text, at, word, n)) return TRUE;
  return FALSE;
}

gboolean csim_words_match(const char *text, const char *pattern) {
  gboolean negated = pattern[0] == '!';
  g_auto(GStrv) words = g_strsplit(pattern + negated, "|", -1);
  gboolean found = FALSE;
  for (char **word = words; *word && !found; word++) found = text && has_word(text, *word);
  return found != negated;
}
