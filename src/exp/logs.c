/* The log reader: file to lines, lines to those who know them, life of the result. */
#include "exp/logs-private.h"

#include "base/file.h"

#include <math.h>
#include <string.h>

static void run_free(gpointer data) {
  CsimLogRun *run = data;
  g_array_unref(run->devices);
  g_array_unref(run->rows);
  g_free(run);
}

void csim_log_free(CsimLog *log) {
  if (!log) return;
  g_ptr_array_unref(log->runs);
  g_array_unref(log->debug);
  g_array_unref(log->variables);
  g_free(log->buffer);
  g_free(log);
}

CsimLoc log_here(const LogReader *r, const char *line, const char *at) {
  return (CsimLoc){r->file, r->line, at ? (uint32_t)(at - line) + 1 : 0};
}

static void log_new_run(LogReader *r) {
  r->run = NULL;
  r->closed = FALSE;
  r->n_pending = 0;
  r->columns = (LogColumns){0};
}

CsimLogRun *log_open_run(LogReader *r) {
  if (r->run && !r->closed) return r->run;
  log_new_run(r);
  CsimLogRun *run = g_new0(CsimLogRun, 1);
  run->loc = (CsimLoc){r->file, r->line, 0};
  run->devices = g_array_new(FALSE, FALSE, sizeof(CsimLogDevice));
  run->rows = g_array_new(FALSE, FALSE, sizeof(CsimLogRow));
  run->avg_busbw = (CsimLogNumber){NAN, 0};
  run->out_of_bounds = NAN;
  run->type = "";
  run->nccl_version = r->nccl_version;
  if (r->has_hint) {
    run->coll_from = CSIM_LOG_COLL_COMMAND;
    run->coll = r->hint;
  }
  g_ptr_array_add(r->log->runs, run);
  return r->run = run;
}

guint log_split(char *text, char **words, guint max) {
  guint n = 0;
  for (char *p = text; n < max;) {
    while (*p == ' ' || *p == '\t') p++;
    if (!*p) break;
    words[n++] = p;
    while (*p && *p != ' ' && *p != '\t') p++;
    if (*p) *p++ = 0;
  }
  return n;
}

/* Half a unit of the last digit of "12.34", "-1", "1.2e+03". */
static double last_digit(const char *text) {
  const char *end = text + strcspn(text, "eE");
  const char *point = memchr(text, '.', (gsize)(end - text));
  int decimals = point ? (int)(end - point) - 1 : 0;
  int exponent = *end ? (int)CLAMP(strtol(end + 1, NULL, 10), -400, 400) : 0;
  return 0.5 * pow(10, exponent - decimals);
}

gboolean csim_log_number_parse(const char *text, CsimLogNumber *out) {
  *out = (CsimLogNumber){NAN, 0};
  static const char *const no_number[] = {"N/A", "nan", "-nan", "inf", NULL};
  if (g_strv_contains(no_number, text)) return TRUE;
  if (!*text || text[strspn(text, "+-.0123456789eE")]) return FALSE;
  char *end;
  double value = g_ascii_strtod(text, &end);
  if (end == text || *end || !isfinite(value)) return FALSE;
  *out = (CsimLogNumber){value, last_digit(text)};
  return TRUE;
}

/* Colours and other terminal sequences become blanks, so do control characters. */
static void clean(char *line) {
  for (char *p = line; *p; p++) {
    if (*p == '\x1b' && p[1] == '[') {
      while (*p && !g_ascii_isalpha(*p)) *p++ = ' ';
      if (!*p) return;
      *p = ' ';
    } else if ((unsigned char)*p < ' ' && *p != '\t') {
      *p = ' ';
    }
  }
}

static void take_line(LogReader *r, char *line) {
  clean(line);
  gboolean debug = log_take_debug(r, line);
  if (!debug) log_take_variables(r, line);
  char *comment = strchr(line, '#');
  if (comment && (comment[1] == ' ' || comment[1] == '\t' || !comment[1])) {
    log_take_comment(r, line, comment + 1);
    return;
  }
  if (!debug) log_take_command(r, line);
  log_take_row(r, line, line);
}

static void take_text(LogReader *r, char *text, gsize length) {
  for (char *line = text, *end = text + length; line < end;) {
    char *next = memchr(line, '\n', (gsize)(end - line));
    if (!next) next = end;
    *next = 0;
    r->line++;
    take_line(r, line);
    line = next + 1;
  }
}

static gint by_text(gconstpointer a, gconstpointer b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int count_hosts(const GArray *devices) {
  g_autoptr(GPtrArray) hosts = g_ptr_array_new();
  for (guint i = 0; i < devices->len; i++)
    g_ptr_array_add(hosts, (gpointer)g_array_index(devices, CsimLogDevice, i).host);
  g_ptr_array_sort(hosts, by_text);
  int n = 0;
  for (guint i = 0; i < hosts->len; i++)
    n += i == 0 || strcmp(g_ptr_array_index(hosts, i), g_ptr_array_index(hosts, i - 1)) != 0;
  return n;
}

/* The last "comm ... nRanks N nNodes M" before the end of a run (several communicators may be made). */
static void ranks_of_debug(const CsimLog *log, guint index, CsimLogRun *run) {
  for (guint i = 0; i < log->debug->len; i++) {
    const CsimLogDebug *line = csim_log_debug(log, i);
    const char *ranks = strstr(line->text, "nRanks ");
    if (line->run != index || !ranks || !g_str_has_prefix(line->text, "comm ")) continue;
    run->n_ranks = (int)CLAMP(strtol(ranks + 7, NULL, 10), 0, 1 << 24);
    const char *nodes = strstr(ranks, "nNodes ");
    if (nodes) run->n_hosts = (int)CLAMP(strtol(nodes + 7, NULL, 10), 0, 1 << 24);
  }
}

static void finish_run(const CsimLog *log, guint index) {
  CsimLogRun *run = g_ptr_array_index(log->runs, index);
  if (run->rows->len) run->type = csim_log_row(run, 0)->type;
  for (guint i = 0; i < run->devices->len; i++)
    run->n_ranks = MAX(run->n_ranks, g_array_index(run->devices, CsimLogDevice, i).rank + 1);
  if (run->devices->len)
    run->n_hosts = count_hosts(run->devices);
  else if (!run->n_ranks)
    ranks_of_debug(log, index, run);
}

/* NUL bytes would end a line early. */
static void fill_nuls(char *text, gsize length) {
  for (char *p = text; (p = memchr(p, 0, (gsize)(text + length - p)));) *p = ' ';
}

/* Takes buffer. */
static CsimLog *parse(const char *name, char *buffer, gsize length) {
  CsimLog *log = g_new0(CsimLog, 1);
  log->runs = g_ptr_array_new_with_free_func(run_free);
  log->debug = g_array_new(FALSE, FALSE, sizeof(CsimLogDebug));
  log->variables = g_array_new(FALSE, FALSE, sizeof(CsimLogVariable));
  log->buffer = buffer;
  fill_nuls(buffer, length);
  LogReader reader = {.log = log, .file = g_intern_string(name)};
  reader.has_hint = log_coll_of_text(name, &reader.hint);
  take_text(&reader, buffer, length);
  log->n_lines = reader.line;
  for (guint i = 0; i < log->runs->len; i++) finish_run(log, i);
  return log;
}

CsimLog *csim_log_parse(const char *name, const char *text, gsize length, GError **error) {
  if (length > CSIM_LOG_MAX_BYTES) {
    csim_error_set(error, CSIM_ERROR_LIMIT, (CsimLoc){g_intern_string(name), 0, 0},
                   "too large; allowed: at most 256MiB");
    return NULL;
  }
  char *buffer = g_malloc(length + 1);
  if (length) memcpy(buffer, text, length);
  buffer[length] = 0;
  return parse(name, buffer, length);
}

CsimLog *csim_log_read(const char *path, GError **error) {
  gsize length = 0;
  char *buffer = csim_file_read(path, CSIM_LOG_MAX_BYTES, &length, error);
  return buffer ? parse(path, buffer, length) : NULL;
}
