/* Lines of a log that are no rows: what follows '#', and command lines. */
#include "exp/logs-private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LOG_MAX_VARIABLES 1024

static int clamp_int(long value) {
  return (int)CLAMP(value, 0, 1 << 24);
}

/* The number after a key: "nGpus 8", "iters: 20". 0 if the key is missing. */
static int number_after(const char *text, const char *key) {
  const char *at = strstr(text, key);
  return at ? clamp_int(strtol(at + strlen(key), NULL, 10)) : 0;
}

static double double_after_colon(const char *text, CsimLogNumber *out) {
  *out = (CsimLogNumber){NAN, 0};
  const char *colon = strchr(text, ':');
  if (!colon) return NAN;
  char copy[64];
  g_strlcpy(copy, colon + 1, sizeof copy);
  char *words[1];
  if (log_split(copy, words, 1)) csim_log_number_parse(words[0], out);
  return out->value;
}

gboolean log_coll_of_text(const char *text, CsimColl *out) {
  gboolean found = FALSE;
  for (int c = 0; c < CSIM_N_COLLS; c++) {
    g_autofree char *program = g_strconcat(csim_coll_name((CsimColl)c), "_perf", NULL);
    if (!strstr(text, program)) continue;
    *out = (CsimColl)c;
    found = TRUE;
  }
  return found;
}

/* A run's first lines: a new run, unless the open one has only just begun. */
static CsimLogRun *begin_header(LogReader *r) {
  if (r->run && (r->run->rows->len || r->run->devices->len)) r->closed = TRUE;
  return log_open_run(r);
}

static void take_starting(LogReader *r, const char *name) {
  CsimLogRun *run = begin_header(r);
  char word[48];
  g_strlcpy(word, name, sizeof word);
  char *words[1];
  if (!log_split(word, words, 1)) return;
  if (g_str_has_suffix(words[0], "_perf")) words[0][strlen(words[0]) - 5] = 0;
  if (csim_coll_parse(words[0], &run->coll)) run->coll_from = CSIM_LOG_COLL_HEADER;
}

static void take_options(LogReader *r, const char *text) {
  CsimLogRun *run = begin_header(r);
  run->threads = number_after(text, "nThread ");
  run->gpus = number_after(text, "nGpus ");
  run->warmup = number_after(text, "warmup iters: ");
  run->agg_iters = number_after(text, "agg iters: ");
  run->graph = number_after(text, "graph: ") > 0;
  const char *warmup = strstr(text, "warmup iters: ");
  run->iters = number_after(warmup ? warmup + 8 + 6 : text, " iters: ");
}

/* 22803 -> "2.28.3"; older ones ("2708") keep their figures. */
static const char *version_text(const char *digits) {
  long v = strtol(digits, NULL, 10);
  if (v < 10000 || v > 999999) return NULL;
  g_autofree char *text = g_strdup_printf("%ld.%ld.%ld", v / 10000, v / 100 % 100, v % 100);
  return g_intern_string(text);
}

static void take_version(LogReader *r, char *text) {
  CsimLogRun *run = begin_header(r);
  const char *library = strstr(text, "nccl-library=");
  if (library && version_text(library + 13)) run->nccl_version = version_text(library + 13);
  char *words[1];
  char *at = strstr(text, "version ") + 8;
  if (log_split(at, words, 1)) run->tests_version = words[0];
}

/* "Rank  0 Group  0 Pid  12345 on       host device  0 [0000:0f:00] NAME". */
static void take_device(LogReader *r, char *text) {
  char *on = strstr(text, " on "), *device = strstr(text, " device ");
  if (!on || !device || device < on) return;
  if (r->run && r->run->rows->len) r->closed = TRUE;
  CsimLogDevice d = {
      .rank = number_after(text, "Rank "), .device = number_after(device, " device "), .bus = "", .name = ""};
  *device = 0;
  char *host[1];
  d.host = log_split(on + 4, host, 1) ? g_intern_string(host[0]) : "";
  char *open = strchr(device + 1, '['), *close = open ? strchr(open, ']') : NULL;
  if (close) {
    *close = 0;
    d.bus = open + 1;
    d.name = g_strstrip(close + 1);
  }
  g_array_append_val(log_open_run(r)->devices, d);
}

/* "Ranks 0-7 on dgx-h100: 1 node x 8 H100": our own tables have no line a device. */
static void take_ranks(LogReader *r, const char *text) {
  if (r->run && r->run->rows->len) r->closed = TRUE;
  const char *to = strstr(text, "Ranks 0-");
  CsimLogRun *run = log_open_run(r);
  run->n_ranks = clamp_int(strtol(to + 8, NULL, 10)) + 1;
  const char *node = strstr(to, " node");
  if (!node) return;
  while (node > to && g_ascii_isdigit(node[-1])) node--;
  run->n_hosts = clamp_int(strtol(node, NULL, 10));
}

static void take_footer(LogReader *r, char *line, char *comment) {
  if (!r->run) return;
  CsimLogNumber number;
  double value = double_after_colon(comment, &number);
  if (strstr(comment, "Out of bounds values")) {
    r->run->out_of_bounds = value;
    return;
  }
  r->run->avg_busbw = number;
  r->run->avg_loc = log_here(r, line, strstr(comment, "Avg"));
  r->closed = TRUE;
}

void log_take_comment(LogReader *r, char *line, char *comment) {
  const char *starting = strstr(comment, "Collective test starting:");
  if (starting)
    take_starting(r, starting + 25);
  else if (strstr(comment, "nccl-tests version "))
    take_version(r, comment);
  else if (strstr(comment, "nThread "))
    take_options(r, comment);
  else if (strstr(comment, "Rank ") && strstr(comment, " device "))
    take_device(r, comment);
  else if (strstr(comment, "Ranks 0-"))
    take_ranks(r, comment);
  else if (log_is_columns(comment))
    log_take_columns(r, comment);
  else if (strstr(comment, "in-place"))
    r->columns.in_place_only = !strstr(comment, "out-of-place");
  else if (strstr(comment, "Out of bounds values") || strstr(comment, "Avg bus bandwidth"))
    take_footer(r, line, comment);
  else if (!strstr(comment, "concluded"))
    log_take_command(r, line); /* "root@host:~# ./all_reduce_perf" */
}

static gboolean is_name_letter(char c) {
  return g_ascii_isupper(c) || g_ascii_isdigit(c) || c == '_';
}

static gboolean is_known(const LogReader *r, const char *name, guint run) {
  for (guint i = 0; i < r->log->variables->len; i++) {
    const CsimLogVariable *v = csim_log_variable(r->log, i);
    if (v->name == name && v->run == run) return TRUE;
  }
  return FALSE;
}

/* Value up to a blank or quote. A shell's ":" or "," belong to it. */
static void add_variable(LogReader *r, const char *line, const char *start, const char *equal) {
  g_autofree char *name = g_strndup(start, (gsize)(equal - start));
  const char *from = equal + 1;
  if (*from == '"' || *from == '\'') from++;
  g_autofree char *value = g_strndup(from, strcspn(from, " \t\"';"));
  guint run = r->run && !r->closed && !r->run->rows->len ? r->log->runs->len - 1 : r->log->runs->len;
  CsimLogVariable v = {log_here(r, line, start), run, g_intern_string(name), NULL};
  if (r->log->variables->len >= LOG_MAX_VARIABLES || is_known(r, v.name, run)) return;
  v.value = g_intern_string(value);
  g_array_append_val(r->log->variables, v);
}

void log_take_variables(LogReader *r, const char *line) {
  for (const char *p = line; (p = strstr(p, "NCCL_"));) {
    const char *start = p;
    while (is_name_letter(*p)) p++;
    gboolean whole = start == line || !is_name_letter(start[-1]);
    if (whole && *p == '=' && p - start < 64) add_variable(r, line, start, p);
  }
}

void log_take_command(LogReader *r, const char *line) {
  const char *version_at = strstr(line, "NCCL version ");
  if (version_at) {
    g_autofree char *version = g_strdup(version_at + 13);
    r->nccl_version = g_intern_string(g_strstrip(version));
    if (r->run && !r->closed && !r->run->nccl_version) r->run->nccl_version = r->nccl_version;
  }
  if (!strstr(line, "_perf") || !log_coll_of_text(line, &r->hint)) return;
  r->has_hint = TRUE;
  if (r->run && r->run->rows->len) r->closed = TRUE;
}
