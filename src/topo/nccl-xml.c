/*
 * topo/nccl-xml.c - reads NCCL's XML dialect: what NCCL 2.30.7's own reader (src/graph/xml.cc) takes and refuses, with places.
 *
 * The reader is a recursive descent over a text in memory; a failure sets the outcome (NCCL's name for it), the error (ours, with the
 * place) and unwinds.
 */
#include "topo/nccl-xml-tree.h"
#include "base/file.h"
#include "base/xml-read.h"
#include <string.h>

typedef enum { TAG_END, TAG_OPEN, TAG_CLOSE, TAG_SINGLE } TagKind;

/* One tag as read, before it is known whether its element is kept. */
typedef struct {
  TagKind kind;
  CsimLoc loc;
  char name[CSIM_NCCL_XML_MAX_TEXT + 2];
  guint n_attrs, n_dropped;
  CsimNcclAttr attrs[CSIM_NCCL_XML_MAX_ATTRS];
} Tag;

typedef struct {
  const char *at, *end;
  CsimLoc loc;  /* of *at */
  CsimLoc last; /* of the character before */
  guint depth, n_unknown;
  GPtrArray *hosts; /* distinct host_hash texts, at most CSIM_NCCL_XML_MAX_HOSTS */
  CsimNcclXml *xml;
  CsimDiag *diag;
  CsimNcclOutcome *outcome;
  GError **error;
} Reader;

typedef struct {
  const char *name;
  const char *const *children; /* NULL-ended names */
} ElementRule;

static const char *const in_file[] = {"system", NULL};
static const char *const in_nothing[] = {NULL};
static const ElementRule rules[] = {
    {"system", (const char *const[]){"cpu", NULL}},
    {"cpu", (const char *const[]){"pci", "nic", NULL}},
    {"pci", (const char *const[]){"pci", "gpu", "nic", "pcilink", NULL}},
    {"nic", (const char *const[]){"net", NULL}},
    {"gpu", (const char *const[]){"nvlink", "c2c", NULL}},
};

static const char *const *children_of(const char *name) {
  for (guint i = 0; i < G_N_ELEMENTS(rules); i++)
    if (strcmp(rules[i].name, name) == 0) return rules[i].children;
  return in_nothing;
}

/* --- failing ------------------------------------------------------------ */

static gboolean fail(Reader *r, CsimErrorCode code, CsimLoc loc, int result, const char *reason,
                     const char *text) {
  r->outcome->result = result;
  g_strlcpy(r->outcome->reason, reason, sizeof r->outcome->reason);
  csim_error_set(r->error, code, loc, "%s", text);
  return FALSE;
}

static gboolean refuse(Reader *r, CsimLoc loc, const char *reason, const char *text) {
  return fail(r, CSIM_ERROR_SYNTAX, loc, CSIM_NCCL_INTERNAL_ERROR, reason, text);
}

static gboolean over_limit(Reader *r, CsimLoc loc, const char *reason, const char *text) {
  return fail(r, CSIM_ERROR_LIMIT, loc, CSIM_NCCL_INTERNAL_ERROR, reason, text);
}

static const char *show(char c, char *buf) {
  if (c == '\t') return "a tab";
  if (c == '\n' || c == '\r') return "the end of the line";
  if (c == ' ') return "a space";
  g_snprintf(buf, 16, g_ascii_isprint(c) ? "'%c'" : "byte 0x%02x", (unsigned char)c);
  return buf;
}

/* --- characters and words ----------------------------------------------- */

static void advance(Reader *r) {
  r->last = r->loc;
  if (*r->at++ == '\n') {
    r->loc.line++;
    r->loc.col = 1;
  } else {
    r->loc.col++;
  }
}

static gboolean next_char(Reader *r, char *c) {
  if (r->at == r->end) return refuse(r, r->loc, "unexpected-end", "the file ends inside a tag; expected '>'");
  *c = *r->at;
  advance(r);
  return TRUE;
}

static gboolean read_value(Reader *r, char *value, char *last) {
  CsimLoc start = r->loc;
  char quote, c, buf[16];
  if (!next_char(r, &quote)) return FALSE;
  if (quote != '"' && quote != '\'') {
    g_autofree char *text = g_strdup_printf(
        "expected a quote right after '=', got %s; NCCL allows no space there", show(quote, buf));
    return refuse(r, start, "expected-quote", text);
  }
  gsize n = 0;
  for (;;) {
    if (!next_char(r, &c)) return FALSE;
    if (c == quote) break;
    if (n == CSIM_NCCL_XML_MAX_TEXT)
      return refuse(r, start, "value-too-long",
                    "attribute value too long; NCCL's reader takes at most 254 bytes");
    value[n++] = c;
  }
  value[n] = '\0';
  return next_char(r, last);
}

/* A word ends at ' ', '>', '/', or a line end (which goes to *last) or at '=', after which a value follows. value NULL: none may. */
static gboolean read_word(Reader *r, char *name, char *value, char *last) {
  CsimLoc start = r->loc;
  gsize n = 0;
  char c;
  for (;;) {
    if (!next_char(r, &c)) return FALSE;
    if (c == '=') break;
    if (c == ' ' || c == '>' || c == '/' || c == '\n' || c == '\r') break;
    if (n == CSIM_NCCL_XML_MAX_TEXT)
      return refuse(r, start, "name-too-long", "name too long; NCCL's reader takes at most 254 bytes");
    name[n++] = c;
  }
  name[n] = '\0';
  *last = c;
  if (c != '=') return TRUE;
  if (value == NULL) return refuse(r, start, "unexpected-value", "'=' in the name of a tag");
  return read_value(r, value, last);
}

/* --- tags --------------------------------------------------------------- */

/* Called after "<!--..." was read as a name; `last` is the character that ended it. */
static gboolean skip_comment(Reader *r, const char *tail, char last, CsimLoc start) {
  char seen[3] = {0, 0, 0};
  gsize n = strlen(tail);
  for (gsize i = 0; i <= n; i++) {
    seen[0] = seen[1];
    seen[1] = seen[2];
    seen[2] = i < n ? tail[i] : last;
  }
  while (memcmp(seen, "-->", 3) != 0) {
    if (r->at == r->end) return refuse(r, start, "unterminated-comment", "comment without \"-->\"");
    seen[0] = seen[1];
    seen[1] = seen[2];
    seen[2] = *r->at;
    advance(r);
  }
  return TRUE;
}

static gboolean keep_attr(Reader *r, Tag *tag, const char *key, const char *value, CsimLoc loc) {
  if (tag->n_attrs < CSIM_NCCL_XML_MAX_ATTRS) {
    tag->attrs[tag->n_attrs++] = (CsimNcclAttr){g_string_chunk_insert_const(r->xml->texts, key),
                                                g_string_chunk_insert_const(r->xml->texts, value), loc};
    return TRUE;
  }
  if (++tag->n_dropped + CSIM_NCCL_XML_MAX_ATTRS > CSIM_NCCL_XML_MAX_READ_ATTRS)
    return over_limit(r, loc, "too-many-attributes",
                      "more than 1000 attributes in one element; NCCL keeps 16 of them");
  return TRUE;
}

static gboolean read_attrs(Reader *r, Tag *tag, char *last) {
  char key[CSIM_NCCL_XML_MAX_TEXT + 2], value[CSIM_NCCL_XML_MAX_TEXT + 2];
  while (*last == ' ') {
    CsimLoc loc = r->loc;
    value[0] = '\0';
    if (!read_word(r, key, value, last)) return FALSE;
    if (!keep_attr(r, tag, key, value, loc)) return FALSE;
  }
  return TRUE;
}

static gboolean expect_close(Reader *r, char last, CsimLoc loc) {
  char buf[16];
  if (last == '>') return TRUE;
  g_autofree char *text =
      g_strdup_printf("expected '>', '/>' or one space and an attribute, got %s%s", show(last, buf),
                      last == '?' ? "; NCCL takes no <?xml ...?> line" : "");
  return refuse(r, loc, "bad-character-in-tag", text);
}

static gboolean read_closing_tag(Reader *r, Tag *tag) {
  char last;
  tag->kind = TAG_CLOSE;
  if (!read_word(r, tag->name, NULL, &last)) return FALSE;
  return expect_close(r, last, r->last);
}

static gboolean read_opening_tag(Reader *r, Tag *tag, char last) {
  char rest[CSIM_NCCL_XML_MAX_TEXT + 2];
  tag->kind = TAG_OPEN;
  if (!read_attrs(r, tag, &last)) return FALSE;
  if (last == '/') {
    tag->kind = TAG_SINGLE;
    if (!read_word(r, rest, NULL, &last)) return FALSE;
  }
  return expect_close(r, last, r->last);
}

static gboolean find_tag(Reader *r, gboolean *found) {
  char buf[16];
  while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\r')) advance(r);
  *found = r->at < r->end;
  if (!*found || *r->at == '<') return TRUE;
  g_autofree char *text = g_strdup_printf(
      "expected '<', got %s; NCCL allows only spaces and line ends between elements", show(*r->at, buf));
  return refuse(r, r->loc, "text-outside-tags", text);
}

static gboolean read_tag(Reader *r, Tag *tag) {
  gboolean found, comment;
  char last;
  do {
    if (!find_tag(r, &found)) return FALSE;
    tag->kind = TAG_END;
    tag->n_attrs = tag->n_dropped = 0;
    tag->loc = r->loc;
    if (!found) return TRUE;
    advance(r);
    if (!read_word(r, tag->name, NULL, &last)) return FALSE;
    comment = g_str_has_prefix(tag->name, "!--");
    if (comment && !skip_comment(r, tag->name + 3, last, tag->loc)) return FALSE;
  } while (comment);
  if (tag->name[0] == '\0' && last == '/') return read_closing_tag(r, tag);
  return read_opening_tag(r, tag, last);
}

/* --- elements ----------------------------------------------------------- */

static void node_free(gpointer data) {
  CsimNcclElement *node = data;
  g_ptr_array_unref(node->subs);
  g_free(node->attrs);
  g_free(node);
}

static void report_dropped(const Reader *r, const Tag *tag) {
  if (tag->n_dropped == 0) return;
  csim_diag_add(r->diag, CSIM_FINDING_WARNING, CSIM_ERROR_NCCL, tag->loc,
                "<%s> has %u attributes; NCCL keeps the first 16 and drops the rest", tag->name,
                tag->n_attrs + tag->n_dropped);
}

static CsimNcclElement *keep_element(Reader *r, const Tag *tag, CsimNcclElement *parent) {
  CsimNcclElement *node = g_new0(CsimNcclElement, 1);
  node->name = g_string_chunk_insert_const(r->xml->texts, tag->name);
  node->loc = tag->loc;
  node->n_attrs = tag->n_attrs;
  node->n_dropped = tag->n_dropped;
  node->attrs = g_memdup2(tag->attrs, tag->n_attrs * sizeof *tag->attrs);
  node->parent = parent;
  node->subs = g_ptr_array_new();
  if (parent != NULL) g_ptr_array_add(parent->subs, node);
  g_ptr_array_add(r->xml->elements, node);
  report_dropped(r, tag);
  return node;
}

/* A second host in the file raises NCCL's limit of elements: only NCCL's own fusion of several hosts makes such a file. */
static void count_host(Reader *r, const CsimNcclElement *node) {
  const char *hash = csim_nccl_xml_value(node, "host_hash");
  if (hash == NULL || strcmp(node->name, "cpu") != 0 || r->hosts->len >= CSIM_NCCL_XML_MAX_HOSTS) return;
  if (!g_ptr_array_find_with_equal_func(r->hosts, hash, g_str_equal, NULL))
    g_ptr_array_add(r->hosts, (gpointer)hash);
}

static gboolean check_version(Reader *r, const CsimNcclElement *node) {
  if (strcmp(node->name, "system") != 0) return TRUE;
  if (csim_nccl_xml_attr(node, "version") == NULL)
    return refuse(r, node->loc, "missing-attribute system/version",
                  "<system> without version; NCCL takes version=\"1\" only");
  if (csim_nccl_xml_int(node, "version", 0) == 1) return TRUE;
  return fail(r, CSIM_ERROR_NCCL, csim_nccl_xml_attr(node, "version")->loc, CSIM_NCCL_INVALID_USAGE,
              "unsupported-version", "unsupported version; NCCL takes <system version=\"1\"> only");
}

static gboolean check_room(Reader *r, const CsimNcclElement *head) {
  guint limit = CSIM_NCCL_XML_MAX_ELEMENTS * MAX(r->hosts->len, 1);
  if (r->xml->elements->len >= limit) {
    g_autofree char *text = g_strdup_printf("more than %u elements; NCCL's limit is 256 a host", limit);
    return over_limit(r, r->loc, "too-many-elements", text);
  }
  if (r->depth > CSIM_NCCL_XML_MAX_DEPTH)
    return over_limit(r, r->loc, "too-deep", "elements nested more than 256 deep");
  if (head != NULL && head->subs->len > CSIM_NCCL_XML_MAX_CHILDREN)
    return over_limit(r, head->loc, "too-many-children",
                      "more than 640 elements in one element; NCCL's limit");
  return TRUE;
}

static gboolean load_children(Reader *r, CsimNcclElement *head, const Tag *opened, const char *const *known);

static gboolean skip_element(Reader *r, const Tag *tag) {
  if (tag->kind == TAG_SINGLE) return TRUE;
  return load_children(r, NULL, tag, in_nothing);
}

static void report_unknown(Reader *r, const Tag *tag) {
  if (++r->n_unknown > CSIM_NCCL_XML_MAX_NOTES) return;
  csim_diag_add(r->diag, CSIM_FINDING_NOTE, CSIM_ERROR_NCCL, tag->loc,
                "<%s> is not known here; NCCL skips it with all it holds%s", tag->name,
                r->n_unknown == CSIM_NCCL_XML_MAX_NOTES ? " (more of this kind are not listed)" : "");
}

static gboolean load_element(Reader *r, CsimNcclElement *head, const Tag *tag, const char *const *known) {
  if (!g_strv_contains(known, tag->name)) {
    if (known[0] != NULL) report_unknown(r, tag);
    return skip_element(r, tag);
  }
  CsimNcclElement *node = keep_element(r, tag, head);
  count_host(r, node);
  if (!check_version(r, node)) return FALSE;
  return tag->kind == TAG_SINGLE || load_children(r, node, tag, children_of(node->name));
}

static gboolean closes(Reader *r, const Tag *tag, const char *opened) {
  if (strcmp(tag->name, opened) == 0) return TRUE;
  g_autofree char *text = g_strdup_printf("</%s> closes <%s>", tag->name, opened);
  return refuse(r, tag->loc, "mismatched-close", text);
}

/* Children up to the closing tag of `opened` (NULL: to the end of the file). */
static gboolean load_children(Reader *r, CsimNcclElement *head, const Tag *opened, const char *const *known) {
  g_autofree Tag *tag = g_new(Tag, 1);
  gboolean ok = TRUE, done = FALSE;
  r->depth++;
  while (ok && !done) {
    ok = check_room(r, head) && read_tag(r, tag);
    if (!ok) break;
    if (tag->kind == TAG_END) {
      ok = opened == NULL || refuse(r, opened->loc, "unterminated-element", "element without a closing tag");
      done = TRUE;
    } else if (tag->kind == TAG_CLOSE && opened != NULL) {
      ok = closes(r, tag, opened->name);
      done = TRUE;
    } else {
      ok = load_element(r, head, tag, known);
    }
  }
  r->depth--;
  return ok;
}

static void report_second_system(const CsimNcclXml *xml, CsimDiag *diag) {
  for (guint i = 1; i < xml->elements->len; i++) {
    const CsimNcclElement *node = g_ptr_array_index(xml->elements, i);
    if (node->parent == NULL)
      csim_diag_add(diag, CSIM_FINDING_WARNING, CSIM_ERROR_NCCL, node->loc,
                    "second <system>; NCCL uses the first one only");
  }
}

/* --- entry points ------------------------------------------------------- */

static CsimNcclXml *xml_new(const char *file) {
  CsimNcclXml *xml = g_new0(CsimNcclXml, 1);
  xml->file = g_strdup(file);
  xml->elements = g_ptr_array_new_with_free_func(node_free);
  xml->texts = g_string_chunk_new(4096);
  return xml;
}

void csim_nccl_xml_free(CsimNcclXml *xml) {
  if (xml == NULL) return;
  g_ptr_array_unref(xml->elements);
  g_string_chunk_free(xml->texts);
  g_free(xml->file);
  g_free(xml);
}

guint csim_nccl_xml_n_elements(const CsimNcclXml *xml) {
  return xml->elements->len;
}

/* Says so when a file is good XML: its writer will not look for the fault in NCCL's reader. */
static void explain_refusal(GError **error, const char *name, const char *text, gsize length) {
  if (error == NULL || !g_error_matches(*error, CSIM_ERROR, CSIM_ERROR_SYNTAX)) return;
  g_autoptr(CsimXmlDoc) doc = csim_xml_read_text(name, text, (gssize)length, NULL);
  if (doc == NULL) return;
  char *message =
      g_strconcat((*error)->message, "; this is well-formed XML, but NCCL's own parser stops here", NULL);
  g_free((*error)->message);
  (*error)->message = message;
}

CsimNcclXml *csim_nccl_xml_parse_outcome(const char *name, const char *text, gsize length, CsimDiag *diag,
                                         CsimNcclOutcome *outcome, GError **error) {
  CsimNcclOutcome unused;
  g_autoptr(CsimNcclXml) xml = xml_new(name);
  Reader r = {.at = text,
              .end = text + length,
              .loc = {g_intern_string(name), 1, 1},
              .xml = xml,
              .diag = diag,
              .outcome = outcome != NULL ? outcome : &unused,
              .error = error};
  *r.outcome = (CsimNcclOutcome){0};
  r.hosts = g_ptr_array_new();
  gboolean ok = load_children(&r, NULL, NULL, in_file);
  g_ptr_array_unref(r.hosts);
  r.outcome->n_elements = xml->elements->len;
  if (!ok) {
    explain_refusal(error, name, text, length);
    return NULL;
  }
  report_second_system(xml, diag);
  return g_steal_pointer(&xml);
}

CsimNcclXml *csim_nccl_xml_parse(const char *name, const char *text, gsize length, CsimDiag *diag,
                                 GError **error) {
  return csim_nccl_xml_parse_outcome(name, text, length, diag, NULL, error);
}

CsimNcclXml *csim_nccl_xml_load(const char *path, CsimDiag *diag, GError **error) {
  gsize length;
  g_autofree char *text = csim_file_read(path, CSIM_FILE_LIMIT, &length, error);
  return text == NULL ? NULL : csim_nccl_xml_parse(path, text, length, diag, error);
}

/* --- writer ------------------------------------------------------------- */

static void write_node(GString *out, const CsimNcclElement *node, int depth) {
  g_string_append_printf(out, "%*s<%s", 2 * depth, "", node->name);
  for (guint i = 0; i < node->n_attrs; i++)
    g_string_append_printf(out, " %s=\"%s\"", node->attrs[i].key, node->attrs[i].value);
  if (node->subs->len == 0) {
    g_string_append(out, "/>\n");
    return;
  }
  g_string_append(out, ">\n");
  for (guint i = 0; i < node->subs->len; i++) write_node(out, csim_nccl_xml_sub(node, i), depth + 1);
  g_string_append_printf(out, "%*s</%s>\n", 2 * depth, "", node->name);
}

char *csim_nccl_xml_to_text(const CsimNcclXml *xml) {
  GString *out = g_string_new(NULL);
  if (csim_nccl_xml_root(xml) != NULL) write_node(out, csim_nccl_xml_root(xml), 0);
  return g_string_free(out, FALSE);
}
