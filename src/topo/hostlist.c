#include "topo/hostlist.h"

#include <string.h>

#define MAX_DIGITS 9

static gboolean bad(GError **error, const char *text, const char *what) {
  g_set_error(error, CSIM_ERROR, CSIM_ERROR_SYNTAX, "hostlist '%.80s': %s; allowed: names like node1,node[001-004,007]", text, what);
  return FALSE;
}

static gboolean add(GPtrArray *out, char *name, GError **error) {
  if (out->len < CSIM_HOSTLIST_MAX) {
    g_ptr_array_add(out, name);
    return TRUE;
  }
  g_free(name);
  g_set_error(error, CSIM_ERROR, CSIM_ERROR_LIMIT, "a hostlist of more than %d hosts; allowed: up to that", CSIM_HOSTLIST_MAX);
  return FALSE;
}

static gboolean number(const char **at, guint *value, guint *digits) {
  *value = *digits = 0;
  for (; g_ascii_isdigit(**at) && *digits <= MAX_DIGITS; (*at)++, (*digits)++) *value = *value * 10 + (guint)(**at - '0');
  return *digits > 0 && *digits <= MAX_DIGITS;
}

static gboolean expand(GPtrArray *out, const char *whole, const char *prefix, const char *rest, GError **error);

static gboolean expand_range(GPtrArray *out, const char *whole, const char *prefix, const char **at, const char *after, GError **error) {
  guint low, high, width, digits;
  if (!number(at, &low, &width)) return bad(error, whole, "a number is missing in brackets");
  high = low;
  if (**at == '-') {
    (*at)++;
    if (!number(at, &high, &digits)) return bad(error, whole, "a range has no end");
  }
  if (high < low) return bad(error, whole, "a range runs backwards");
  for (guint i = low; i <= high; i++) {
    g_autofree char *name = g_strdup_printf("%s%0*u", prefix, (int)width, i);
    if (!expand(out, whole, name, after, error)) return FALSE;
  }
  return TRUE;
}

/* prefix: what is fixed already; rest: up to the first bracket it is literal. */
static gboolean expand(GPtrArray *out, const char *whole, const char *prefix, const char *rest, GError **error) {
  const char *open = strchr(rest, '[');
  if (open == NULL) {
    if (strchr(rest, ']') != NULL) return bad(error, whole, "a bracket closes that was not opened");
    return add(out, g_strconcat(prefix, rest, NULL), error);
  }
  const char *close = strchr(open, ']');
  if (close == NULL) return bad(error, whole, "a bracket is not closed");
  g_autofree char *literal = g_strndup(rest, (gsize)(open - rest)), *name = g_strconcat(prefix, literal, NULL);
  const char *at = open + 1;
  for (;;) {
    if (!expand_range(out, whole, name, &at, close + 1, error)) return FALSE;
    if (at == close) return TRUE;
    if (*at++ != ',') return bad(error, whole, "only numbers, '-' and ',' are possible in brackets");
  }
}

/* Length of the first name, with the commas in its brackets. */
static gsize name_length(const char *text) {
  gboolean inside = FALSE;
  gsize i = 0;
  for (; text[i] != '\0' && (inside || text[i] != ','); i++) inside = text[i] == '[' || (inside && text[i] != ']');
  return i;
}

GPtrArray *csim_hostlist_parse(const char *text, GError **error) {
  g_autoptr(GPtrArray) out = g_ptr_array_new_with_free_func(g_free);
  for (const char *at = text;;) {
    gsize n = name_length(at);
    g_autofree char *word = g_strstrip(g_strndup(at, n));
    if (word[0] == '\0') return bad(error, text, "a name is empty"), NULL;
    if (!expand(out, text, "", word, error)) return NULL;
    if (at[n] == '\0') return g_steal_pointer(&out);
    at += n + 1;
  }
}
