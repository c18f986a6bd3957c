#include "base/json-write.h"

#include <math.h>

static void append_escaped(GString *out, guchar c) {
  switch (c) {
  case '"': g_string_append(out, "\\\""); break;
  case '\\': g_string_append(out, "\\\\"); break;
  case '\n': g_string_append(out, "\\n"); break;
  case '\t': g_string_append(out, "\\t"); break;
  case '\r': g_string_append(out, "\\r"); break;
  default:
    if (c < 0x20) g_string_append_printf(out, "\\u%04x", c);
    else g_string_append_c(out, (char)c);
  }
}

void csim_jsonw_string(GString *out, const char *text) {
  if (!text) {
    g_string_append(out, "null");
    return;
  }
  g_autofree char *valid = g_utf8_make_valid(text, -1);
  g_string_append_c(out, '"');
  for (const char *c = valid; *c; c++) append_escaped(out, (guchar)*c);
  g_string_append_c(out, '"');
}

void csim_jsonw_number(GString *out, double value) {
  char digits[G_ASCII_DTOSTR_BUF_SIZE];
  g_string_append(out, isfinite(value) ? g_ascii_formatd(digits, sizeof digits, "%.9g", value) : "null");
}

void csim_jsonw_key(GString *out, const char *key) {
  char last = out->len ? out->str[out->len - 1] : '{';
  if (last != '{' && last != '[') g_string_append(out, ", ");
  csim_jsonw_string(out, key);
  g_string_append(out, ": ");
}

void csim_jsonw_member_string(GString *out, const char *key, const char *text) {
  csim_jsonw_key(out, key);
  csim_jsonw_string(out, text);
}

void csim_jsonw_member_number(GString *out, const char *key, double value) {
  csim_jsonw_key(out, key);
  csim_jsonw_number(out, value);
}

void csim_jsonw_member_int(GString *out, const char *key, gint64 value) {
  csim_jsonw_key(out, key);
  g_string_append_printf(out, "%" G_GINT64_FORMAT, value);
}

void csim_jsonw_member_uint(GString *out, const char *key, guint64 value) {
  csim_jsonw_key(out, key);
  g_string_append_printf(out, "%" G_GUINT64_FORMAT, value);
}

void csim_jsonw_member_digest(GString *out, const char *key, guint64 digest) {
  csim_jsonw_key(out, key);
  g_string_append_printf(out, "\"%016" G_GINT64_MODIFIER "x\"", digest);
}
