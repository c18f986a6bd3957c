/*
 * NCCL_DEBUG lines: "HOST:PID:TID [DEV] NCCL INFO text", for warnings "[time] HOST:PID:TID [DEV] file:line (function) NCCL WARN text". They come in
 * the middle of a row, since nccl-tests prints a row's first half before the call that makes NCCL speak.
 */
#include "exp/logs-private.h"

#include <stdlib.h>
#include <string.h>

static const char *const levels[] = {" NCCL INFO", " NCCL WARN", " NCCL TRACE", " NCCL ABORT", " NCCL ERROR"};

/* Where " NCCL INFO" starts; NULL if the line has none. */
static char *find_level(char *line, CsimLogLevel *level, gsize *length) {
  for (guint i = 0; i < G_N_ELEMENTS(levels); i++) {
    char *at = strstr(line, levels[i]);
    if (!at) continue;
    *level = (CsimLogLevel)MIN(i, (guint)CSIM_LOG_OTHER);
    *length = strlen(levels[i]);
    return at;
  }
  return NULL;
}

static char *back_digits(char *start, char *p) {
  while (p > start && g_ascii_isdigit(p[-1])) p--;
  return p;
}

static gboolean is_host_letter(char c) {
  return g_ascii_isalnum(c) || c == '-' || c == '.' || c == '_';
}

/* The last "HOST:PID:TID" before `end`, followed by a blank; fills the line but for its text. NULL if there is none. */
static char *find_sender(char *line, char *end, CsimLogDebug *out) {
  for (char *p = end; p > line; p--) {
    char *tid = back_digits(line, p);
    if (tid == p || (*p != ' ' && *p != 0) || tid == line || tid[-1] != ':') continue;
    char *pid = back_digits(line, tid - 1);
    if (pid == tid - 1 || pid == line || pid[-1] != ':') continue;
    char *host = pid - 1;
    while (host > line && is_host_letter(host[-1])) host--;
    if (host == pid - 1) continue;
    out->pid = g_ascii_strtoll(pid, NULL, 10);
    out->tid = g_ascii_strtoll(tid, NULL, 10);
    const char *open = strchr(p, '[');
    out->dev = open && open < end && g_ascii_isdigit(open[1])
                   ? (int)CLAMP(strtol(open + 1, NULL, 10), 0, 1 << 20)
                   : -1;
    return host;
  }
  return NULL;
}

static gboolean is_blank(const char *from, const char *to) {
  for (; from < to; from++)
    if (*from != ' ' && *from != '\t') return FALSE;
  return TRUE;
}

/* The last word of a half row stands right before the host: root -1, or 0 or N/A of the error column. */
static char *skip_stuck_word(const char *line, char *host) {
  static const char *const stuck[] = {"-1", "0"};
  if (is_blank(line, host)) return host;
  if (host - line >= 2 && strncmp(host - 2, "N/A", 3) == 0) return host + 1;
  for (guint i = 0; i < G_N_ELEMENTS(stuck); i++) {
    gsize n = strlen(stuck[i]);
    if (strncmp(host, stuck[i], n) == 0 && g_ascii_isalpha(host[n])) return host + n;
  }
  return host;
}

/* TRACE and others carry no more than INFO for us. */
static void append(LogReader *r, CsimLogDebug *debug, char *host, char *text) {
  char *colon = strchr(host, ':');
  g_autofree char *name = g_strndup(host, (gsize)(colon - host));
  debug->host = g_intern_string(name);
  debug->run = r->run && !r->closed ? r->log->runs->len - 1 : r->log->runs->len;
  debug->text = g_strstrip(text);
  g_array_append_val(r->log->debug, *debug);
  if (!g_str_has_prefix(debug->text, "NCCL version ")) return;
  r->nccl_version = debug->text + 13;
  if (r->run && !r->closed && !r->run->nccl_version) r->run->nccl_version = r->nccl_version;
}

/* A row's half before the sender stays in the line; time stamps and the like do no harm there. */
gboolean log_take_debug(LogReader *r, char *line) {
  CsimLogDebug debug = {0};
  gsize length = 0;
  char *level = find_level(line, &debug.level, &length);
  if (!level) return FALSE;
  char *host = find_sender(line, level, &debug);
  if (!host) return FALSE;
  host = skip_stuck_word(line, host);
  debug.loc = log_here(r, line, host);
  append(r, &debug, host, level + length);
  *host = 0;
  return TRUE;
}
