/* topo/cluster-words.c - the command line's short forms, turned into the JSON that the readers of cluster files take. */
#include "topo/cluster-build.h"
#include <string.h>

static gboolean is_number(const char *value) {
  char *end = NULL;
  if (!g_ascii_isdigit(value[0])) return FALSE;
  g_ascii_strtod(value, &end);
  return *end == '\0';
}

static void append_text(GString *out, const char *text) {
  g_string_append_c(out, '"');
  for (const char *c = text; *c != '\0'; c++) {
    if (*c == '"' || *c == '\\') g_string_append_c(out, '\\');
    if ((guchar)*c >= 0x20) g_string_append_c(out, *c);
  }
  g_string_append_c(out, '"');
}

void csim_cluster_append_member(GString *out, const char *key, const char *value, const char *const *numbers) {
  gboolean bare = strcmp(value, "true") == 0 || strcmp(value, "false") == 0 || (g_strv_contains(numbers, key) && is_number(value));
  if (out->len > 1) g_string_append_c(out, ',');
  append_text(out, key);
  g_string_append_c(out, ':');
  if (bare) g_string_append(out, value);
  else append_text(out, value);
}

/* Commas in brackets belong to a hostlist. */
static gsize word_length(const char *text) {
  int depth = 0;
  gsize i = 0;
  for (; text[i] != '\0' && (depth > 0 || text[i] != ','); i++) depth += (text[i] == '[') - (text[i] == ']');
  return i;
}

void csim_cluster_append_words(GString *out, const char *text, const char *first, const char *const *numbers) {
  for (const char *at = text; *at != '\0';) {
    gsize n = word_length(at);
    g_autofree char *word = g_strstrip(g_strndup(at, n));
    char *equals = strchr(word, '=');
    if (equals != NULL) *equals = '\0';
    csim_cluster_append_member(out, equals != NULL ? word : first, equals != NULL ? equals + 1 : word, numbers);
    at += n + (at[n] != '\0');
  }
}

char *csim_cluster_words_to_json(const char *text, const char *first, const char *const *numbers) {
  if (text[0] == '{') return g_strdup(text);
  GString *out = g_string_new("{");
  csim_cluster_append_words(out, text, first, numbers);
  return g_string_free(g_string_append_c(out, '}'), FALSE);
}

gboolean csim_cluster_check_words(const CsimDiag *diag, const char *what, const char *text, GError **error) {
  for (guint i = 0; i < csim_diag_n(diag); i++) {
    const CsimFinding *f = csim_diag_get(diag, i);
    if (f->severity != CSIM_FINDING_ERROR) continue;
    csim_error_set(error, f->code, CSIM_LOC_NONE, "%s \"%.120s\": %s", what, text, f->text);
    return FALSE;
  }
  return TRUE;
}
