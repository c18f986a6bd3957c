/* base/json-read.c - questions about a JSON document, and the findings when the answers do not fit. */
#include "base/asked.h"
#include "base/file.h"
#include "base/json-node.h"
#include "base/units.h"
#include <math.h>
#include <string.h>

/* --- documents --------------------------------------------------------------- */

static CsimJsonDoc *doc_new(const char *name, char *buffer, gsize length, CsimDiag *diag) {
  CsimJsonDoc *doc = g_new0(CsimJsonDoc, 1);
  doc->name = g_intern_string(name);
  doc->buffer = buffer;
  doc->arena = csim_arena_new(0);
  doc->diag = diag;
  doc->asked = csim_asked_new();
  if (csim_json_parse(doc, length)) return doc;
  csim_json_doc_free(doc);
  return NULL;
}

void csim_json_doc_free(CsimJsonDoc *doc) {
  if (doc == NULL) return;
  g_hash_table_unref(doc->asked);
  csim_arena_free(doc->arena);
  g_free(doc->buffer);
  g_free(doc);
}

CsimJsonDoc *csim_json_read_text(const char *name, const char *text, gssize length, CsimDiag *diag) {
  gsize n = length < 0 ? strlen(text) : (gsize)length;
  if (!csim_text_check_size(name, n, diag)) return NULL;
  char *copy = g_malloc(n + 1);
  memcpy(copy, text, n);
  copy[n] = '\0';
  return doc_new(name, copy, n, diag);
}

CsimJsonDoc *csim_json_read_file(const char *path, CsimDiag *diag) {
  gsize length;
  char *text = csim_file_read_diag(path, &length, diag);
  return text != NULL ? doc_new(path, text, length, diag) : NULL;
}

/* --- words for messages -------------------------------------------------------- */

static const char *type_name(CsimJsonType type) {
  static const char *const names[] = {"null", "true or false", "a number", "a text", "an array", "an object"};
  return names[type];
}

/* "'count'", "item 3 of 'nodes'", "the document"; caller frees. Counts items, so not for errors that nobody will read. */
static char *label(const CsimJson *v) {
  if (csim_diag_full(v->doc->diag)) return g_strdup("");
  if (v->key != NULL) return g_strdup_printf("'%.40s'", v->key);
  if (v->parent == NULL) return g_strdup("the document");
  guint index = 1;
  for (const CsimJson *item = v->parent->first; item != v; item = item->next) index++;
  if (v->parent->key == NULL) return g_strdup_printf("item %u", index);
  return g_strdup_printf("item %u of '%.40s'", index, v->parent->key);
}

/* What stands there: "1.5", "a text", "null"; caller frees. */
static char *shown(const CsimJson *v) {
  if (v->type == CSIM_JSON_NUMBER) return g_strdup_printf("%.40s", v->text);
  if (v->type == CSIM_JSON_BOOL) return g_strdup(v->boolean ? "true" : "false");
  return g_strdup(type_name(v->type));
}

static gboolean wrong(const CsimJson *v, CsimErrorCode code, const char *allowed) {
  g_autofree char *name = label(v), *value = shown(v);
  csim_json_error(v, code, "%s is %s; allowed: %s", name, value, allowed);
  return FALSE;
}

void csim_json_error(const CsimJson *value, CsimErrorCode code, const char *format, ...) {
  if (value == NULL) return;
  va_list args;
  va_start(args, format);
  g_autofree char *text = g_strdup_vprintf(format, args);
  va_end(args);
  csim_diag_add(value->doc->diag, CSIM_FINDING_ERROR, code, csim_json_loc(value), "%s", text);
}

/* --- looking --------------------------------------------------------------------- */

CsimJson *csim_json_root(CsimJsonDoc *doc, CsimJsonType type) {
  if (doc == NULL || !csim_json_is(doc->root, type)) return NULL;
  return doc->root;
}

CsimJsonType csim_json_type(const CsimJson *value) {
  return (CsimJsonType)value->type;
}

CsimLoc csim_json_loc(const CsimJson *value) {
  return value == NULL ? CSIM_LOC_NONE : (CsimLoc){value->doc->name, value->line, value->col};
}

CsimLoc csim_json_key_loc(const CsimJson *value) {
  if (value == NULL || value->key == NULL) return csim_json_loc(value);
  return (CsimLoc){value->doc->name, value->key_line, value->key_col};
}

const char *csim_json_key(const CsimJson *value) {
  return value == NULL ? NULL : value->key;
}
guint csim_json_n(const CsimJson *container) {
  return container == NULL ? 0 : container->n;
}
const char *csim_json_text_of(const CsimJson *value) {
  return value == NULL ? NULL : value->text;
}

static CsimJson *met(CsimJson *value) {
  if (value != NULL) value->known = TRUE;
  return value;
}

CsimJson *csim_json_first(CsimJson *container) {
  if (container == NULL) return NULL;
  container->visited = TRUE;
  return met(container->first);
}

CsimJson *csim_json_next(CsimJson *value) {
  return value == NULL ? NULL : met(value->next);
}

gboolean csim_json_is(CsimJson *value, CsimJsonType type) {
  if (value == NULL) return FALSE;
  value->known = TRUE;
  return value->type == type || wrong(value, CSIM_ERROR_SCHEMA, type_name(type));
}

/* --- members ----------------------------------------------------------------------- */

static CsimJson *find(const CsimJson *object, const char *name) {
  guint low = 0, high = object->n;
  if (object->n < 2) return object->n == 1 && strcmp(object->first->key, name) == 0 ? object->first : NULL;
  while (low < high) {
    guint middle = (low + high) / 2;
    int order = strcmp(object->sorted[middle]->key, name);
    if (order == 0) return object->sorted[middle];
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return NULL;
}

CsimJson *csim_json_get(CsimJson *object, const char *name, CsimJsonNeed need) {
  if (!csim_json_is(object, CSIM_JSON_OBJECT)) return NULL;
  object->visited = TRUE;
  csim_asked_note(object->doc->asked, object, name);
  CsimJson *m = find(object, name);
  if (m == NULL && need == CSIM_JSON_REQUIRED) {
    g_autofree char *where = label(object);
    csim_json_error(object, CSIM_ERROR_SCHEMA, "%s has no key '%s', which is required", where, name);
  }
  return met(m);
}

static CsimJson *get_typed(CsimJson *object, const char *name, CsimJsonNeed need, CsimJsonType type) {
  CsimJson *m = csim_json_get(object, name, need);
  return csim_json_is(m, type) ? m : NULL;
}

CsimJson *csim_json_object(CsimJson *object, const char *name, CsimJsonNeed need) {
  return get_typed(object, name, need, CSIM_JSON_OBJECT);
}

CsimJson *csim_json_array(CsimJson *object, const char *name, CsimJsonNeed need) {
  return get_typed(object, name, need, CSIM_JSON_ARRAY);
}

gboolean csim_json_text(CsimJson *object, const char *name, CsimJsonNeed need, const char **out) {
  return csim_json_as_text(csim_json_get(object, name, need), out);
}

gboolean csim_json_bool(CsimJson *object, const char *name, CsimJsonNeed need, gboolean *out) {
  return csim_json_as_bool(csim_json_get(object, name, need), out);
}

gboolean csim_json_int(CsimJson *object, const char *name, CsimJsonNeed need, int64_t min, int64_t max,
                       int64_t *out) {
  return csim_json_as_int(csim_json_get(object, name, need), min, max, out);
}

gboolean csim_json_double(CsimJson *object, const char *name, CsimJsonNeed need, double min, double max,
                          double *out) {
  return csim_json_as_double(csim_json_get(object, name, need), min, max, out);
}

gboolean csim_json_time(CsimJson *object, const char *name, CsimJsonNeed need, CsimTime *out) {
  return csim_json_as_time(csim_json_get(object, name, need), out);
}

gboolean csim_json_bytes(CsimJson *object, const char *name, CsimJsonNeed need, CsimBytes *out) {
  return csim_json_as_bytes(csim_json_get(object, name, need), out);
}

gboolean csim_json_rate(CsimJson *object, const char *name, CsimJsonNeed need, CsimRate *out) {
  return csim_json_as_rate(csim_json_get(object, name, need), out);
}

gboolean csim_json_choice(CsimJson *object, const char *name, CsimJsonNeed need, const char *const *choices,
                          int *out) {
  return csim_json_as_choice(csim_json_get(object, name, need), choices, out);
}

/* --- values ---------------------------------------------------------------------------- */

gboolean csim_json_as_text(CsimJson *value, const char **out) {
  if (!csim_json_is(value, CSIM_JSON_TEXT)) return FALSE;
  *out = value->text;
  return TRUE;
}

gboolean csim_json_as_bool(CsimJson *value, gboolean *out) {
  if (!csim_json_is(value, CSIM_JSON_BOOL)) return FALSE;
  *out = value->boolean;
  return TRUE;
}

/* The whole number that a number's letters are ("12", "1e3"), exactly. */
static gboolean whole_number(const char *text, int64_t *out) {
  if (strpbrk(text, ".eE") == NULL)
    return g_ascii_string_to_signed(text, 10, INT64_MIN, INT64_MAX, out, NULL);
  double d = g_ascii_strtod(text, NULL);
  if (d != floor(d) || fabs(d) > 0x1p53) return FALSE; /* above 2^53 a double is not exact */
  *out = (int64_t)d;
  return TRUE;
}

static gboolean wrong_int(const CsimJson *v, int64_t min, int64_t max) {
  g_autofree char *allowed = csim_range_text(min, max);
  return wrong(v, v->type == CSIM_JSON_NUMBER ? CSIM_ERROR_VALUE : CSIM_ERROR_SCHEMA, allowed);
}

gboolean csim_json_as_int(CsimJson *value, int64_t min, int64_t max, int64_t *out) {
  int64_t n;
  if (met(value) == NULL) return FALSE;
  if (value->type != CSIM_JSON_NUMBER || !whole_number(value->text, &n) || n < min || n > max)
    return wrong_int(value, min, max);
  *out = n;
  return TRUE;
}

gboolean csim_json_as_double(CsimJson *value, double min, double max, double *out) {
  if (!csim_json_is(value, CSIM_JSON_NUMBER)) return FALSE;
  double d = g_ascii_strtod(value->text, NULL);
  if (d < min || d > max) {
    g_autofree char *allowed = csim_range_text_double(min, max);
    return wrong(value, CSIM_ERROR_VALUE, allowed);
  }
  *out = d;
  return TRUE;
}

typedef gboolean (*UnitParser)(const char *text, int64_t *out, GError **error);

/* Numbers go through the parser too: its message names the readings of a bare number. */
static gboolean as_unit(CsimJson *value, UnitParser parse, const char *allowed, int64_t *out) {
  g_autoptr(GError) error = NULL;
  if (met(value) == NULL) return FALSE;
  if (value->type != CSIM_JSON_TEXT && value->type != CSIM_JSON_NUMBER)
    return wrong(value, CSIM_ERROR_SCHEMA, allowed);
  if (parse(value->text, out, &error)) return TRUE;
  g_autofree char *name = label(value);
  csim_json_error(value, error->code, "%s: %s", name, error->message);
  return FALSE;
}

gboolean csim_json_as_time(CsimJson *value, CsimTime *out) {
  return as_unit(value, csim_time_parse, "a time with its unit, as \"600ns\"", out);
}

gboolean csim_json_as_bytes(CsimJson *value, CsimBytes *out) {
  return as_unit(value, csim_bytes_parse, "a size with its unit, as \"4MiB\"", out);
}

gboolean csim_json_as_rate(CsimJson *value, CsimRate *out) {
  CsimRate rate;
  if (!as_unit(value, csim_rate_parse, "a rate with its unit, as \"400Gb/s\"", &rate)) return FALSE;
  if (rate <= 0) {
    g_autofree char *name = label(value);
    csim_json_error(value, CSIM_ERROR_VALUE, "%s is %s; allowed: a rate above zero", name, value->text);
    return FALSE;
  }
  *out = rate;
  return TRUE;
}

gboolean csim_json_as_choice(CsimJson *value, const char *const *choices, int *out) {
  if (!csim_json_is(value, CSIM_JSON_TEXT)) return FALSE;
  for (int i = 0; choices[i] != NULL; i++) {
    if (strcmp(choices[i], value->text) != 0) continue;
    *out = i;
    return TRUE;
  }
  g_autofree char *name = label(value), *hint = csim_suggest(value->text, choices);
  csim_json_error(value, CSIM_ERROR_VALUE, "%s is '%.40s'%s", name, value->text, hint);
  return FALSE;
}

/* --- the end of loading ------------------------------------------------------------------- */

void csim_json_ignore(CsimJson *value) {
  if (met(value) != NULL) value->ignored = TRUE;
}

static void report_unknown(const CsimJson *member) {
  g_autofree char *hint = csim_asked_suggest(member->doc->asked, member->parent, member->key);
  csim_diag_add(member->doc->diag, CSIM_FINDING_ERROR, CSIM_ERROR_SCHEMA, csim_json_key_loc(member),
                "unknown key '%.40s'%s", member->key, hint);
}

/* An object that the loader never entered because of an earlier error would be all "unknown": not worth a word. */
static gboolean worth_checking(const CsimJson *v, gboolean had_errors) {
  return !v->ignored && (v->visited || !had_errors || v->type != CSIM_JSON_OBJECT);
}

static void check_known(const CsimJson *v, gboolean had_errors) {
  if (!worth_checking(v, had_errors)) return;
  for (const CsimJson *child = v->first; child != NULL && !csim_diag_full(v->doc->diag);
       child = child->next) {
    if (v->type == CSIM_JSON_OBJECT && !child->known)
      report_unknown(child);
    else
      check_known(child, had_errors);
  }
}

void csim_json_finish(CsimJsonDoc *doc) {
  if (doc == NULL) return;
  check_known(doc->root, csim_diag_count(doc->diag, CSIM_FINDING_ERROR) > 0);
}
