/* base/xml-read.c - questions about an XML document, and the findings when the answers do not fit. */
#include "base/asked.h"
#include "base/file.h"
#include "base/units.h"
#include "base/xml-node.h"
#include <math.h>
#include <string.h>

/* --- documents --------------------------------------------------------------- */

static gboolean parse(CsimXmlDoc *doc, const char *text, gsize length) {
  if (!csim_text_check_utf8(doc->name, text, length, doc->diag)) return FALSE;
  gsize mark = csim_text_mark_length(text, length);
  return csim_xml_scan(doc, text + mark, length - mark) && csim_xml_parse(doc, text + mark, length - mark);
}

/* text: NUL-ended. */
static CsimXmlDoc *doc_new(const char *name, const char *text, gsize length, CsimDiag *diag) {
  CsimXmlDoc *doc = g_new0(CsimXmlDoc, 1);
  doc->name = g_intern_string(name);
  doc->diag = diag;
  doc->arena = csim_arena_new(0);
  doc->tags = g_array_new(FALSE, FALSE, sizeof(CsimXmlTag));
  doc->names = g_array_new(FALSE, FALSE, sizeof(CsimXmlName));
  doc->asked_attributes = csim_asked_new();
  doc->asked_children = csim_asked_new();
  if (parse(doc, text, length)) return doc;
  csim_xml_doc_free(doc);
  return NULL;
}

void csim_xml_doc_free(CsimXmlDoc *doc) {
  if (doc == NULL) return;
  g_hash_table_unref(doc->asked_attributes);
  g_hash_table_unref(doc->asked_children);
  g_array_unref(doc->tags);
  g_array_unref(doc->names);
  csim_arena_free(doc->arena);
  g_free(doc);
}

CsimXmlDoc *csim_xml_read_file(const char *path, CsimDiag *diag) {
  gsize length;
  g_autofree char *text = csim_file_read_diag(path, &length, diag);
  return text != NULL ? doc_new(path, text, length, diag) : NULL;
}

CsimXmlDoc *csim_xml_read_text(const char *name, const char *text, gssize length, CsimDiag *diag) {
  gsize n = length < 0 ? strlen(text) : (gsize)length;
  if (!csim_text_check_size(name, n, diag)) return NULL;
  g_autofree char *copy = g_malloc(n + 1); /* a piece of a larger text has no NUL at its end */
  memcpy(copy, text, n);
  copy[n] = '\0';
  return doc_new(name, copy, n, diag);
}

/* --- findings ------------------------------------------------------------------ */

static CsimXmlAttribute *find_attribute(const CsimXml *e, const char *name) {
  for (guint i = 0; i < e->n_attributes; i++)
    if (strcmp(e->attributes[i].name, name) == 0) return &e->attributes[i];
  return NULL;
}

static CsimLoc loc_of(const CsimXml *e, CsimXmlPlace place) {
  return (CsimLoc){e->doc->name, place.line, place.col};
}

CsimLoc csim_xml_loc(const CsimXml *element) {
  return element == NULL ? CSIM_LOC_NONE : loc_of(element, element->place);
}

CsimLoc csim_xml_attribute_loc(const CsimXml *element, const char *name) {
  const CsimXmlAttribute *a = element != NULL && name != NULL ? find_attribute(element, name) : NULL;
  return a != NULL ? loc_of(element, a->place) : csim_xml_loc(element);
}

void csim_xml_error(const CsimXml *element, const char *attribute, CsimErrorCode code, const char *format,
                    ...) {
  if (element == NULL) return;
  va_list args;
  va_start(args, format);
  g_autofree char *text = g_strdup_vprintf(format, args);
  va_end(args);
  csim_diag_add(element->doc->diag, CSIM_FINDING_ERROR, code, csim_xml_attribute_loc(element, attribute),
                "%s", text);
}

/* --- elements -------------------------------------------------------------------- */

static CsimXml *met(CsimXml *e) {
  if (e != NULL) e->known = TRUE;
  return e;
}

CsimXml *csim_xml_root(CsimXmlDoc *doc, const char *name) {
  if (doc == NULL) return NULL;
  CsimXml *root = met(doc->root);
  if (name == NULL || strcmp(root->name, name) == 0) return root;
  csim_xml_error(root, NULL, CSIM_ERROR_SCHEMA, "the root element is <%.40s>; allowed: <%s>", root->name,
                 name);
  return NULL;
}

const char *csim_xml_name(const CsimXml *element) {
  return element == NULL ? NULL : element->name;
}
const char *csim_xml_text_of(const CsimXml *element) {
  return element == NULL || element->text == NULL ? "" : element->text;
}

static CsimXml *from(CsimXml *e, const char *name) {
  while (e != NULL && name != NULL && strcmp(e->name, name) != 0) e = e->next;
  return met(e);
}

CsimXml *csim_xml_first(CsimXml *element, const char *name) {
  if (element == NULL) return NULL;
  element->visited = TRUE;
  if (name != NULL) csim_asked_note(element->doc->asked_children, element, name);
  return from(element->first, name);
}

CsimXml *csim_xml_next(CsimXml *element, const char *name) {
  return element == NULL ? NULL : from(element->next, name);
}

CsimXml *csim_xml_child(CsimXml *element, const char *name, CsimXmlNeed need) {
  if (element == NULL) return NULL;
  CsimXml *child = csim_xml_first(element, name), *second = csim_xml_next(child, name);
  if (second != NULL)
    csim_xml_error(second, NULL, CSIM_ERROR_SCHEMA, "a second <%s> in <%.40s>; the first is at %u:%u", name,
                   element->name, child->place.line, child->place.col);
  if (child == NULL && need == CSIM_XML_REQUIRED)
    csim_xml_error(element, NULL, CSIM_ERROR_SCHEMA, "<%.40s> has no <%s>, which is required", element->name,
                   name);
  return child;
}

/* --- attributes -------------------------------------------------------------------- */

guint csim_xml_n_attributes(const CsimXml *element) {
  return element == NULL ? 0 : element->n_attributes;
}

const char *csim_xml_attribute_name(const CsimXml *element, guint i) {
  g_assert(i < csim_xml_n_attributes(element));
  return element->attributes[i].name;
}

gboolean csim_xml_text(CsimXml *element, const char *name, CsimXmlNeed need, const char **out) {
  if (element == NULL) return FALSE;
  element->visited = TRUE;
  csim_asked_note(element->doc->asked_attributes, element, name);
  CsimXmlAttribute *a = find_attribute(element, name);
  if (a == NULL && need == CSIM_XML_REQUIRED)
    csim_xml_error(element, NULL, CSIM_ERROR_SCHEMA, "<%.40s> has no attribute '%s', which is required",
                   element->name, name);
  if (a == NULL) return FALSE;
  a->known = TRUE;
  *out = a->value;
  return TRUE;
}

static gboolean wrong(const CsimXml *e, const char *name, const char *value, const char *allowed) {
  csim_xml_error(e, name, CSIM_ERROR_VALUE, "%s=\"%.40s\"; allowed: %s", name, value, allowed);
  return FALSE;
}

gboolean csim_xml_int(CsimXml *element, const char *name, CsimXmlNeed need, int64_t min, int64_t max,
                      int64_t *out) {
  const char *text;
  if (!csim_xml_text(element, name, need, &text)) return FALSE;
  if (g_ascii_string_to_signed(text, 10, min, max, out, NULL)) return TRUE;
  g_autofree char *allowed = csim_range_text(min, max);
  return wrong(element, name, text, allowed);
}

gboolean csim_xml_double(CsimXml *element, const char *name, CsimXmlNeed need, double min, double max,
                         double *out) {
  const char *text;
  char *end;
  if (!csim_xml_text(element, name, need, &text)) return FALSE;
  double d = g_ascii_strtod(text, &end);
  if (end == text || *end != '\0' || !isfinite(d) || d < min || d > max) {
    g_autofree char *allowed = csim_range_text_double(min, max);
    return wrong(element, name, text, allowed);
  }
  *out = d;
  return TRUE;
}

typedef gboolean (*UnitParser)(const char *text, int64_t *out, GError **error);

static gboolean get_unit(CsimXml *element, const char *name, CsimXmlNeed need, UnitParser read,
                         int64_t *out) {
  g_autoptr(GError) error = NULL;
  const char *text;
  if (!csim_xml_text(element, name, need, &text)) return FALSE;
  if (read(text, out, &error)) return TRUE;
  csim_xml_error(element, name, error->code, "%s: %s", name, error->message);
  return FALSE;
}

gboolean csim_xml_time(CsimXml *element, const char *name, CsimXmlNeed need, CsimTime *out) {
  return get_unit(element, name, need, csim_time_parse, out);
}

gboolean csim_xml_bytes(CsimXml *element, const char *name, CsimXmlNeed need, CsimBytes *out) {
  return get_unit(element, name, need, csim_bytes_parse, out);
}

gboolean csim_xml_rate(CsimXml *element, const char *name, CsimXmlNeed need, CsimRate *out) {
  CsimRate rate;
  if (!get_unit(element, name, need, csim_rate_parse, &rate)) return FALSE;
  if (rate <= 0) return wrong(element, name, find_attribute(element, name)->value, "a rate above zero");
  *out = rate;
  return TRUE;
}

gboolean csim_xml_choice(CsimXml *element, const char *name, CsimXmlNeed need, const char *const *choices,
                         int *out) {
  const char *text;
  if (!csim_xml_text(element, name, need, &text)) return FALSE;
  for (int i = 0; choices[i] != NULL; i++) {
    if (strcmp(choices[i], text) != 0) continue;
    *out = i;
    return TRUE;
  }
  g_autofree char *hint = csim_suggest(text, choices);
  csim_xml_error(element, name, CSIM_ERROR_VALUE, "%s=\"%.40s\"%s", name, text, hint);
  return FALSE;
}

/* --- the end of loading --------------------------------------------------------------- */

void csim_xml_ignore(CsimXml *element) {
  if (met(element) != NULL) element->ignored = TRUE;
}

static void check_attributes(const CsimXml *e) {
  for (guint i = 0; i < e->n_attributes; i++) {
    const CsimXmlAttribute *a = &e->attributes[i];
    if (a->known) continue;
    g_autofree char *hint = csim_asked_suggest(e->doc->asked_attributes, e, a->name);
    csim_xml_error(e, a->name, CSIM_ERROR_SCHEMA, "unknown attribute '%.40s' of <%.40s>%s", a->name, e->name,
                   hint);
  }
}

static void report_unknown(const CsimXml *e) {
  g_autofree char *hint = csim_asked_suggest(e->doc->asked_children, e->parent, e->name);
  csim_xml_error(e, NULL, CSIM_ERROR_SCHEMA, "unknown element <%.40s> in <%.40s>%s", e->name, e->parent->name,
                 hint);
}

/* As in the JSON reader: an element that was never entered because of an earlier error is not worth a word. */
static void check_known(const CsimXml *e, gboolean had_errors) {
  if (e->ignored || (had_errors && !e->visited)) return;
  check_attributes(e);
  for (const CsimXml *child = e->first; child != NULL && !csim_diag_full(e->doc->diag); child = child->next) {
    if (child->known)
      check_known(child, had_errors);
    else
      report_unknown(child);
  }
}

void csim_xml_finish(CsimXmlDoc *doc) {
  if (doc != NULL) check_known(doc->root, csim_diag_count(doc->diag, CSIM_FINDING_ERROR) > 0);
}
