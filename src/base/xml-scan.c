/* base/xml-scan.c - one cheap pass over XML text: where every tag and attribute starts, and no more of them than allowed. */
#include "base/xml-node.h"
#include <string.h>

typedef struct {
  CsimXmlDoc *doc;
  const char *p, *end; /* *end is NUL */
  const char *line_start;
  uint32_t line;
  int depth;
} Scan;

static CsimXmlPlace place(const Scan *s) {
  return (CsimXmlPlace){s->line, (uint32_t)(s->p - s->line_start) + 1};
}

static gboolean fail_limit(const Scan *s, CsimXmlPlace at, const char *text) {
  csim_diag_add(s->doc->diag, CSIM_FINDING_ERROR, CSIM_ERROR_LIMIT, (CsimLoc){s->doc->name, at.line, at.col},
                "%s", text);
  return FALSE;
}

static void step(Scan *s) {
  if (*s->p++ != '\n') return;
  s->line++;
  s->line_start = s->p;
}

/* Moves behind the next `mark`, or to the end. */
static void skip_behind(Scan *s, const char *mark) {
  const char *found = strstr(s->p, mark);
  const char *to = found != NULL ? found + strlen(mark) : s->end;
  while (s->p < to) step(s);
}

/* A comment and the like: as skip_behind, up to the limit. */
static gboolean skip_section(Scan *s, const char *mark) {
  CsimXmlPlace at = place(s);
  const char *start = s->p;
  skip_behind(s, mark);
  if (s->p - start <= CSIM_XML_MAX_SECTION) return TRUE;
  return fail_limit(s, at, "a comment or section is too long; allowed: 8MiB");
}

/* <!DOCTYPE ...>, with a subset in brackets that may hold quotes and comments. */
static void skip_doctype(Scan *s) {
  int open = 0;
  while (s->p < s->end) {
    char c = *s->p;
    if (strncmp(s->p, "<!--", 4) == 0) {
      skip_behind(s, "-->");
      continue;
    }
    step(s);
    if (c == '>' && open == 0) return;
    if (c == '[') open++;
    if (c == ']') open--;
    if (c == '"' || c == '\'') skip_behind(s, c == '"' ? "\"" : "'");
  }
}

static gboolean is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void skip_space(Scan *s) {
  while (is_space(*s->p)) step(s);
}

/* Behind the quotes; FALSE when they do not close before the next '<', which ends the tag for the scan. */
static gboolean skip_value(Scan *s) {
  char quote = *s->p;
  if (quote != '"' && quote != '\'') return FALSE;
  step(s);
  while (s->p < s->end && *s->p != quote && *s->p != '<') step(s);
  if (*s->p != quote) return FALSE;
  step(s);
  return TRUE;
}

static CsimXmlName scan_name(Scan *s) {
  CsimXmlName name = {.place = place(s), .name = s->p};
  while (s->p < s->end && !is_space(*s->p) && strchr("=<>/\"'", *s->p) == NULL) step(s);
  name.length = (uint32_t)(s->p - name.name);
  return name;
}

/* Behind the name: = "value"; *more is FALSE when it is none of that. FALSE with a finding for a value over the limit. */
static gboolean skip_rest(Scan *s, gboolean *more) {
  skip_space(s);
  *more = *s->p == '=';
  if (!*more) return TRUE;
  step(s);
  skip_space(s);
  CsimXmlPlace at = place(s);
  const char *start = s->p;
  *more = skip_value(s);
  if (s->p - start <= CSIM_XML_MAX_VALUE) return TRUE;
  return fail_limit(s, at, "the value of an attribute is too long; allowed: 1MiB");
}

static gboolean scan_attributes(Scan *s, CsimXmlTag *tag) {
  gboolean more = TRUE;
  for (int n = 0; more; n++) {
    skip_space(s);
    if (s->p >= s->end || strchr("<>/", *s->p) != NULL) return TRUE;
    CsimXmlName name = scan_name(s);
    if (n == CSIM_XML_MAX_ATTRIBUTES)
      return fail_limit(s, name.place,
                        "too many attributes; allowed: " G_STRINGIFY(CSIM_XML_MAX_ATTRIBUTES) " on one element");
    g_array_append_val(s->doc->names, name);
    tag->n_names++;
    if (!skip_rest(s, &more)) return FALSE;
  }
  return TRUE;
}

static gboolean scan_tag(Scan *s) {
  CsimXmlTag tag = {.place = place(s), .first_name = s->doc->names->len};
  if (s->doc->tags->len == CSIM_XML_MAX_ELEMENTS)
    return fail_limit(s, tag.place, "too many elements; allowed: 1048576");
  if (++s->depth > CSIM_XML_MAX_DEPTH)
    return fail_limit(s, tag.place, "nested too deeply; allowed: " G_STRINGIFY(CSIM_XML_MAX_DEPTH) " levels");
  step(s);
  while (s->p < s->end && !is_space(*s->p) && strchr("<>/", *s->p) == NULL) step(s);
  if (!scan_attributes(s, &tag)) return FALSE;
  if (*s->p == '/') s->depth--;
  g_array_append_val(s->doc->tags, tag);
  return TRUE;
}

static gboolean scan_markup(Scan *s) {
  if (strncmp(s->p, "<!--", 4) == 0) {
    s->p += 4; /* "<!-->" does not close itself */
    return skip_section(s, "-->");
  }
  if (strncmp(s->p, "<![CDATA[", 9) == 0) return skip_section(s, "]]>");
  if (s->p[1] == '?') return skip_section(s, "?>");
  if (s->p[1] == '!') {
    skip_doctype(s);
  } else if (s->p[1] == '/') {
    s->depth--;
    step(s);
  } else {
    return scan_tag(s);
  }
  return TRUE;
}

gboolean csim_xml_scan(CsimXmlDoc *doc, const char *text, gsize length) {
  Scan s = {.doc = doc, .p = text, .end = text + length, .line_start = text, .line = 1};
  while (s.p < s.end) {
    if (*s.p != '<')
      step(&s);
    else if (!scan_markup(&s))
      return FALSE;
  }
  return TRUE;
}
