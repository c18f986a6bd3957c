/*
 * Rows of a log. A row is "size count type [redop] [root]", then one or two sides of "time algbw busbw [#wrong]". Before 2.13 redop or root
 * were missing where a collective has none, and the error column could be missing; so the header decides, and without one the number of words.
 */
#include "exp/logs-private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LOG_MAX_TAGS 6 /* words of tags before a row: "[1,0]<stdout>:", "0:", a date and time */

static gboolean is_whole(const char *word) {
  return *word && strlen(word) <= 18 && !word[strspn(word, "0123456789")];
}

static gboolean is_type(const char *word) {
  CsimType type;
  return csim_type_parse(word, &type) || g_str_has_prefix(word, "fp8") || g_str_has_prefix(word, "f8");
}

static gboolean is_number(const char *word) {
  CsimLogNumber number;
  return csim_log_number_parse(word, &number);
}

gboolean log_is_columns(const char *comment) {
  return strstr(comment, "size") && strstr(comment, "type") && strstr(comment, "time") &&
         strstr(comment, "busbw");
}

static guint count_text(const char *text, const char *what) {
  guint n = 0;
  for (const char *p = text; (p = strstr(p, what)); p += strlen(what)) n++;
  return n;
}

void log_take_columns(LogReader *r, const char *comment) {
  if (r->run && r->run->rows->len) r->closed = TRUE;
  gboolean in_place_only = r->columns.in_place_only;
  log_open_run(r);
  gboolean has_error = strstr(comment, "error") || strstr(comment, "wrong");
  r->columns = (LogColumns){
      .known = TRUE,
      .sides = CLAMP(count_text(comment, "busbw"), 1, 2),
      .per_side = has_error ? 4 : 3,
      .in_place_only = in_place_only,
  };
}

/* Index of the word at which a row starts; n if there is none. */
static guint find_start(char *const *words, guint n) {
  for (guint i = 0; i + 3 <= n && i < LOG_MAX_TAGS; i++)
    if (is_whole(words[i]) && is_whole(words[i + 1]) && is_type(words[i + 2])) return i;
  return n;
}

/* How many of the words, from the first on, are numbers. */
static guint leading_numbers(char *const *words, guint n) {
  guint count = 0;
  while (count < n && is_number(words[count])) count++;
  return count;
}

/* Without a header: what `n` numbers after type and redop can be. FALSE: (not yet) a row. */
static gboolean guess_columns(guint n, LogColumns *out) {
  guint rest = n % 2 ? n - 1 : n; /* an odd number has root in front, except a single side of three */
  if (n == 3 || n == 4)
    *out = (LogColumns){TRUE, 1, n == 4 ? 4 : 3, FALSE};
  else if (n == 5)
    *out = (LogColumns){TRUE, 1, 4, FALSE};
  else if (rest == 6 || rest == 8)
    *out = (LogColumns){TRUE, 2, rest / 2, FALSE};
  else
    return FALSE;
  return TRUE;
}

static CsimLogSide read_side(char *const *words, guint per_side) {
  CsimLogSide side = {.wrong = NAN};
  csim_log_number_parse(words[0], &side.time_us);
  csim_log_number_parse(words[1], &side.algbw);
  csim_log_number_parse(words[2], &side.busbw);
  CsimLogNumber wrong = {NAN, 0};
  if (per_side == 4) csim_log_number_parse(words[3], &wrong);
  side.wrong = wrong.value;
  return side;
}

static CsimLogRow read_row(const LogReader *r, guint left, guint n_numbers, LogColumns columns) {
  char *const *words = r->pending;
  CsimLogRow row = {.loc = r->pending_loc, .root = -1};
  row.size = g_ascii_strtoll(words[0], NULL, 10);
  row.count = g_ascii_strtoll(words[1], NULL, 10);
  g_strlcpy(row.type, words[2], sizeof row.type);
  if (left == 4) g_strlcpy(row.redop, words[3], sizeof row.redop);
  guint sides_words = columns.sides * columns.per_side, skip = n_numbers - sides_words;
  if (skip) row.root = atoi(words[left]);
  char *const *sides = words + left + skip;
  CsimLogSide first = read_side(sides, columns.per_side);
  row.has_in = columns.sides == 2 || columns.in_place_only;
  row.has_out = columns.sides == 2 || !columns.in_place_only;
  if (row.has_out) row.out = first;
  if (row.has_in) row.in = columns.sides == 2 ? read_side(sides + columns.per_side, columns.per_side) : first;
  return row;
}

/* Appends the row if the waiting words make one. */
static void try_complete(LogReader *r) {
  guint left = r->n_pending > 3 && !is_number(r->pending[3]) ? 4 : 3;
  if (r->n_pending <= left) return;
  guint n =
      leading_numbers(r->pending + left, r->n_pending - left); /* names may follow: algorithm, protocol */
  LogColumns columns = r->columns;
  if (!columns.known && !guess_columns(n, &columns)) return;
  guint needed = columns.sides * columns.per_side;
  if (n != needed && n != needed + 1) return;
  if (r->n_rows == CSIM_LOG_MAX_ROWS) return;
  CsimLogRow row = read_row(r, left, n, columns);
  g_array_append_val(log_open_run(r)->rows, row);
  r->n_rows++;
  r->n_pending = 0;
}

static void append_words(LogReader *r, char *const *words, guint n) {
  for (guint i = 0; i < n && r->n_pending < LOG_MAX_WORDS; i++) r->pending[r->n_pending++] = words[i];
}

void log_take_row(LogReader *r, char *line, char *piece) {
  char *words[LOG_MAX_WORDS];
  guint n = log_split(piece, words, LOG_MAX_WORDS);
  guint start = find_start(words, n);
  if (start < n) {
    if (r->closed) log_open_run(r);
    r->n_pending = 0;
    r->pending_loc = log_here(r, line, words[start]);
    append_words(r, words + start, n - start);
  } else if (r->n_pending && n && leading_numbers(words, n) == n) {
    append_words(r, words, n);
  } else {
    return;
  }
  try_complete(r);
}
