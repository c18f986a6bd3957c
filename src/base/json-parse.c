/* base/json-parse.c - RFC 8259 text to nodes with places; refuses what is not that, in words. */
#include "base/file.h"
#include "base/json-node.h"
#include <math.h>
#include <string.h>

typedef struct {
  CsimJsonDoc *doc;
  char *p, *end; /* next byte; *end is NUL */
  char *line_start;
  uint32_t line;
} Scanner;

static CsimJson *parse_value(Scanner *s, CsimJson *parent, int depth);

static CsimLoc place(const Scanner *s, const char *at) {
  return (CsimLoc){s->doc->name, s->line, (uint32_t)(at - s->line_start) + 1};
}

G_GNUC_PRINTF(3, 4) static gboolean fail(const Scanner *s, const char *at, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_autofree char *text = g_strdup_vprintf(format, args);
  va_end(args);
  csim_diag_add(s->doc->diag, CSIM_FINDING_ERROR, CSIM_ERROR_SYNTAX, place(s, at), "%s", text);
  return FALSE;
}

static gboolean fail_limit(const Scanner *s, const char *text) {
  csim_diag_add(s->doc->diag, CSIM_FINDING_ERROR, CSIM_ERROR_LIMIT, place(s, s->p), "%s", text);
  return FALSE;
}

static void skip_space(Scanner *s) {
  for (;; s->p++) {
    if (*s->p == '\n') {
      s->line++;
      s->line_start = s->p + 1;
    } else if (*s->p != ' ' && *s->p != '\t' && *s->p != '\r') {
      return;
    }
  }
}

/* --- texts --------------------------------------------------------------- */

/* Four hexadecimal digits at `at`, or -1. */
static int hex4(const char *at) {
  int value = 0;
  for (int i = 0; i < 4; i++) {
    int digit = g_ascii_xdigit_value(at[i]); /* NUL is no digit, so this stays in the buffer */
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

/* \uXXXX at s->p (on the u), perhaps a pair; appends UTF-8 at *out. */
static gboolean read_unicode(Scanner *s, char **out) {
  int high = hex4(s->p + 1);
  if (high < 0) return fail(s, s->p - 1, "\\u needs four hexadecimal digits");
  if (high == 0) return fail(s, s->p - 1, "\\u0000 in a text; allowed: any character but NUL");
  gunichar c = (gunichar)high;
  int length = 5;
  if (high >= 0xd800 && high <= 0xdfff) {
    int low = high < 0xdc00 && s->p[5] == '\\' && s->p[6] == 'u' ? hex4(s->p + 7) : -1;
    if (low < 0xdc00 || low > 0xdfff)
      return fail(s, s->p - 1, "half of a surrogate pair; allowed: both halves, \\ud83d\\ude00");
    c = 0x10000 + ((gunichar)(high - 0xd800) << 10) + (gunichar)(low - 0xdc00);
    length = 11;
  }
  *out += g_unichar_to_utf8(c, *out);
  s->p += length;
  return TRUE;
}

/* An escape at s->p (behind the backslash). */
static gboolean read_escape(Scanner *s, char **out) {
  static const char letters[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
  if (*s->p == 'u') return read_unicode(s, out);
  const char *found = *s->p != '\0' ? strchr(letters, *s->p) : NULL;
  if (found == NULL)
    return fail(s, s->p - 1, "not an escape; allowed: \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX");
  *(*out)++ = values[found - letters];
  s->p++;
  return TRUE;
}

static gboolean fail_in_text(const Scanner *s, const char *start) {
  guint8 c = (guint8)*s->p;
  if (s->p == s->end || c == '\n' || c == '\r')
    return fail(s, start, "the text does not end on its line; allowed: \\n for a line break");
  return fail(s, s->p, "control character 0x%02x in a text; allowed: escapes such as \\t", c);
}

/* A text at s->p (on its quote), decoded in place: the result is never longer than its source. */
static gboolean read_text(Scanner *s, const char **text) {
  char *start = s->p++, *out = s->p;
  *text = out;
  while (*s->p != '"') {
    if ((guint8)*s->p < 0x20) return fail_in_text(s, start);
    if (*s->p != '\\') {
      *out++ = *s->p++;
      continue;
    }
    s->p++;
    if (!read_escape(s, &out)) return FALSE;
  }
  *out = '\0';
  s->p++;
  return TRUE;
}

/* --- numbers and words ----------------------------------------------------- */

static const char *skip_digits(const char *p) {
  while (g_ascii_isdigit(*p)) p++;
  return p;
}

/* End of a number by the grammar of RFC 8259 section 6, or NULL with a finding. */
static const char *number_end(Scanner *s) {
  const char *p = s->p + (*s->p == '-'), *whole = p;
  const char *why = NULL;
  p = skip_digits(p);
  if (p == whole)
    why = "a minus sign needs a digit behind it";
  else if (*whole == '0' && p - whole > 1)
    why = "a number must not start with 0";
  if (why == NULL && *p == '.') {
    const char *fraction = p + 1;
    p = skip_digits(fraction);
    if (p == fraction) why = "a decimal point needs a digit behind it";
  }
  if (why == NULL && (*p == 'e' || *p == 'E')) {
    const char *exponent = p + 1 + (p[1] == '-' || p[1] == '+');
    p = skip_digits(exponent);
    if (p == exponent) why = "an exponent needs a digit";
  }
  if (why == NULL && (g_ascii_isalnum(*p) || *p == '.' || *p == '_'))
    why = "a number runs into other letters; allowed: texts with units stand in double quotes";
  if (why == NULL) return p;
  fail(s, s->p, "%s", why);
  return NULL;
}

static gboolean read_number(Scanner *s, CsimJson *value) {
  const char *end = number_end(s);
  if (end == NULL) return FALSE;
  value->type = CSIM_JSON_NUMBER;
  value->text = csim_arena_strndup(s->doc->arena, s->p, (gsize)(end - s->p));
  if (!isfinite(g_ascii_strtod(value->text, NULL)))
    return fail(s, s->p, "%.40s is beyond the range of numbers; allowed: up to 1.8e308", value->text);
  s->p += end - s->p;
  return TRUE;
}

static gboolean fail_word(Scanner *s) {
  static const char allowed[] = "a text in double quotes, a number, true, false, null, [ or {";
  int length = 0;
  while (s->p + length < s->end && length < 20 &&
         (g_ascii_isalnum(s->p[length]) || strchr("+-._", s->p[length])))
    length++;
  if (s->p == s->end) return fail(s, s->p, "the text ends where a value should be");
  if (*s->p == '/' || *s->p == '#')
    return fail(s, s->p, "comments are not part of JSON; allowed: %s", allowed);
  if (*s->p == '\'') return fail(s, s->p, "single quotes; allowed: double quotes");
  if (*s->p == ']' || *s->p == '}' || *s->p == ',')
    return fail(s, s->p, "'%c' where a value should be; allowed: commas only between values", *s->p);
  if (length == 0) return fail(s, s->p, "not a value; allowed: %s", allowed);
  return fail(s, s->p, "'%.*s' is not a value; allowed: %s", length, s->p, allowed);
}

static gboolean read_word(Scanner *s, CsimJson *value) {
  static const struct {
    const char *word;
    CsimJsonType type;
    gboolean boolean;
  } words[] = {
      {"true", CSIM_JSON_BOOL, TRUE}, {"false", CSIM_JSON_BOOL, FALSE}, {"null", CSIM_JSON_NULL, FALSE}};
  for (guint i = 0; i < G_N_ELEMENTS(words); i++) {
    size_t length = strlen(words[i].word);
    if (strncmp(s->p, words[i].word, length) != 0 || g_ascii_isalnum(s->p[length]) || s->p[length] == '_')
      continue;
    value->type = words[i].type;
    value->boolean = (uint8_t)words[i].boolean;
    s->p += length;
    return TRUE;
  }
  return fail_word(s);
}

/* --- containers ------------------------------------------------------------ */

static gboolean fail_unclosed(const Scanner *s, const CsimJson *c) {
  return fail(s, s->p, "the text ends inside the %s that starts at %u:%u",
              c->type == CSIM_JSON_ARRAY ? "array" : "object", c->line, c->col);
}

/* Behind an item: TRUE and *more, or a finding. */
static gboolean read_separator(Scanner *s, const CsimJson *c, char close, gboolean *more) {
  skip_space(s);
  *more = *s->p == ',';
  if (*s->p == ',' || *s->p == close) {
    s->p++;
    return TRUE;
  }
  if (s->p == s->end) return fail_unclosed(s, c);
  return fail(s, s->p, "',' or '%c' expected", close);
}

static gboolean read_array(Scanner *s, CsimJson *array, int depth) {
  CsimJson **link = &array->first;
  gboolean more = TRUE;
  array->type = CSIM_JSON_ARRAY;
  s->p++;
  skip_space(s);
  if (*s->p == ']') {
    s->p++;
    return TRUE;
  }
  while (more) {
    skip_space(s);
    if (s->p == s->end) return fail_unclosed(s, array);
    *link = parse_value(s, array, depth + 1);
    if (*link == NULL) return FALSE;
    link = &(*link)->next;
    array->n++;
    if (!read_separator(s, array, ']', &more)) return FALSE;
  }
  return TRUE;
}

static gboolean fail_key(const Scanner *s, const CsimJson *object) {
  if (s->p == s->end) return fail_unclosed(s, object);
  if (*s->p == '}') return fail(s, s->p, "a comma before '}'; allowed: commas only between members");
  gboolean comment = *s->p == '/' || *s->p == '#';
  return fail(s, s->p, "%s",
              comment ? "comments are not part of JSON; allowed: a key in double quotes"
                      : "a key in double quotes expected");
}

static CsimJson *read_member(Scanner *s, CsimJson *object, int depth) {
  const char *key;
  skip_space(s);
  CsimLoc key_loc = place(s, s->p);
  if (*s->p != '"') {
    fail_key(s, object);
    return NULL;
  }
  if (!read_text(s, &key)) return NULL;
  skip_space(s);
  if (*s->p != ':') {
    fail(s, s->p, "':' expected behind the key '%.40s'", key);
    return NULL;
  }
  s->p++;
  CsimJson *value = parse_value(s, object, depth + 1);
  if (value == NULL) return NULL;
  value->key = key;
  value->key_line = key_loc.line;
  value->key_col = key_loc.col;
  return value;
}

static gboolean fail_duplicate(const Scanner *s, const CsimJson *first, const CsimJson *second) {
  csim_diag_add(s->doc->diag, CSIM_FINDING_ERROR, CSIM_ERROR_SYNTAX, csim_json_key_loc(second),
                "duplicate key '%.40s'; the first is at %u:%u", second->key, first->key_line, first->key_col);
  return FALSE;
}

static int by_key(gconstpointer a, gconstpointer b, gpointer unused) {
  return strcmp((*(CsimJson *const *)a)->key, (*(CsimJson *const *)b)->key);
}

/* Sorted rather than hashed: keys chosen to collide would make a hash table crawl. */
static gboolean sort_members(const Scanner *s, CsimJson *object) {
  guint n = 0;
  if (object->n < 2) return TRUE;
  object->sorted = CSIM_ARENA_NEW(s->doc->arena, CsimJson *, object->n);
  for (CsimJson *m = object->first; m != NULL; m = m->next) object->sorted[n++] = m;
  g_qsort_with_data(object->sorted, (int)n, sizeof(CsimJson *), by_key, NULL); /* stable */
  for (guint i = 1; i < n; i++)
    if (strcmp(object->sorted[i - 1]->key, object->sorted[i]->key) == 0)
      return fail_duplicate(s, object->sorted[i - 1], object->sorted[i]);
  return TRUE;
}

static gboolean read_object(Scanner *s, CsimJson *object, int depth) {
  CsimJson **link = &object->first;
  gboolean more = TRUE;
  object->type = CSIM_JSON_OBJECT;
  s->p++;
  skip_space(s);
  if (*s->p == '}') {
    s->p++;
    return TRUE;
  }
  while (more) {
    *link = read_member(s, object, depth);
    if (*link == NULL) return FALSE;
    link = &(*link)->next;
    object->n++;
    if (!read_separator(s, object, '}', &more)) return FALSE;
  }
  return sort_members(s, object);
}

/* --- values ------------------------------------------------------------------ */

static gboolean read_by_first_letter(Scanner *s, CsimJson *value, int depth) {
  switch (*s->p) {
  case '{':
    return read_object(s, value, depth);
  case '[':
    return read_array(s, value, depth);
  case '"':
    value->type = CSIM_JSON_TEXT;
    return read_text(s, &value->text);
  default:
    return *s->p == '-' || g_ascii_isdigit(*s->p) ? read_number(s, value) : read_word(s, value);
  }
}

static CsimJson *parse_value(Scanner *s, CsimJson *parent, int depth) {
  skip_space(s);
  if (depth > CSIM_JSON_MAX_DEPTH) {
    fail_limit(s, "nested too deeply; allowed: " G_STRINGIFY(CSIM_JSON_MAX_DEPTH) " levels");
    return NULL;
  }
  if (++s->doc->n_values > CSIM_JSON_MAX_VALUES) {
    fail_limit(s, "too many values; allowed: 4194304 in a document");
    return NULL;
  }
  CsimJson *value = CSIM_ARENA_NEW(s->doc->arena, CsimJson, 1);
  value->doc = s->doc;
  value->parent = parent;
  value->line = s->line;
  value->col = place(s, s->p).col;
  return read_by_first_letter(s, value, depth) ? value : NULL;
}

gboolean csim_json_parse(CsimJsonDoc *doc, gsize length) {
  Scanner s = {.doc = doc, .p = doc->buffer, .end = doc->buffer + length, .line = 1};
  if (!csim_text_check_utf8(doc->name, doc->buffer, length, doc->diag)) return FALSE;
  s.line_start = s.p += csim_text_mark_length(doc->buffer, length);
  doc->root = parse_value(&s, NULL, 1);
  if (doc->root == NULL) return FALSE;
  skip_space(&s);
  if (s.p == s.end) return TRUE;
  return fail(&s, s.p, "something follows the end of the document; allowed: one value");
}
