/* base/xml-parse.c - libxml2's SAX events to elements with places; its error codes to our words. */
#include "base/xml-node.h"
#include <libxml/parser.h>
#include <string.h>

typedef struct {
  CsimXmlDoc *doc;
  xmlParserCtxt *context;
  CsimXml *open;    /* innermost open element */
  guint n_tags;     /* start tags so far: index into doc->tags */
  GPtrArray *texts; /* of GString, one an open element */
  gboolean failed;  /* the first error is reported, later ones are its consequences */
} Parser;

static void fail(Parser *p, CsimErrorCode code, uint32_t line, uint32_t col, const char *text) {
  if (p->failed) return;
  p->failed = TRUE;
  csim_diag_add(p->doc->diag, CSIM_FINDING_ERROR, code, (CsimLoc){p->doc->name, line, col}, "%s", text);
}

static void fail_here(Parser *p, CsimErrorCode code, const char *text) {
  int line = xmlSAX2GetLineNumber(p->context), col = xmlSAX2GetColumnNumber(p->context);
  fail(p, code, (uint32_t)MAX(line, 0), (uint32_t)MAX(col, 0), text);
  xmlStopParser(p->context);
}

/* --- elements ---------------------------------------------------------------- */

static void append_child(CsimXml *parent, CsimXml *e) {
  if (parent == NULL) return;
  if (parent->last != NULL)
    parent->last->next = e;
  else
    parent->first = e;
  parent->last = e;
}

/* "prefix:name" as written, in the document's memory. */
static const char *qualified(CsimXmlDoc *doc, const xmlChar *prefix, const xmlChar *local) {
  if (prefix == NULL) return csim_arena_strdup(doc->arena, (const char *)local);
  g_autofree char *joined = g_strdup_printf("%s:%s", (const char *)prefix, (const char *)local);
  return csim_arena_strdup(doc->arena, joined);
}

/* Unless it expands entities, libxml2 hands out an ampersand in a value as "&#38;", and no other '&' is left in one. */
static const char *value_of(CsimXmlDoc *doc, const xmlChar *from, const xmlChar *to) {
  GString *s = g_string_new_len((const char *)from, to - from);
  g_string_replace(s, "&#38;", "&", 0);
  const char *value = csim_arena_strndup(doc->arena, s->str, s->len);
  g_string_free(s, TRUE);
  return value;
}

/* Where `name` stands among the tag's names from *next on: libxml2 keeps the order and leaves some out (declarations of
 * namespaces). */
static CsimXmlPlace place_of(const CsimXmlDoc *doc, const CsimXmlTag *tag, guint *next, const char *name) {
  gsize length = strlen(name);
  while (*next < tag->n_names) {
    const CsimXmlName *n = &g_array_index(doc->names, CsimXmlName, tag->first_name + (*next)++);
    if (n->length == length && memcmp(n->name, name, length) == 0) return n->place;
  }
  return tag->place;
}

/* rows: libxml2's five pointers an attribute: name, prefix, URI, first byte of the value, end of the value. */
static void copy_attributes(CsimXmlDoc *doc, CsimXml *e, const CsimXmlTag *tag, guint n,
                            const xmlChar **rows) {
  e->n_attributes = n;
  e->attributes = CSIM_ARENA_NEW(doc->arena, CsimXmlAttribute, n);
  for (guint i = 0, next = 0; i < n; i++) {
    const xmlChar **row = rows + 5 * i;
    CsimXmlAttribute *a = &e->attributes[i];
    a->name = qualified(doc, row[1], row[0]);
    a->value = value_of(doc, row[3], row[4]);
    a->place = place_of(doc, tag, &next, a->name);
  }
}

static void on_start(void *data, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri,
                     int n_namespaces, const xmlChar **namespaces, int n_attributes, int n_defaulted,
                     const xmlChar **attributes) {
  Parser *p = data;
  if (p->failed) return;
  if (p->n_tags >= p->doc->tags->len) {
    fail_here(p, CSIM_ERROR_SYNTAX, "markup that cannot be followed; allowed: plain elements");
    return;
  }
  const CsimXmlTag *tag = &g_array_index(p->doc->tags, CsimXmlTag, p->n_tags++);
  CsimXml *e = CSIM_ARENA_NEW(p->doc->arena, CsimXml, 1);
  e->doc = p->doc;
  e->parent = p->open;
  e->name = qualified(p->doc, prefix, name);
  e->place = tag->place;
  copy_attributes(p->doc, e, tag, (guint)n_attributes, attributes);
  append_child(p->open, e);
  if (p->open == NULL) p->doc->root = e;
  p->open = e;
  g_ptr_array_add(p->texts, g_string_new(NULL));
}

static void on_end(void *data, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri) {
  Parser *p = data;
  if (p->failed || p->open == NULL) return;
  GString *text = g_ptr_array_index(p->texts, p->texts->len - 1);
  p->open->text = csim_arena_strdup(p->doc->arena, g_strstrip(text->str));
  g_ptr_array_remove_index(p->texts, p->texts->len - 1);
  p->open = p->open->parent;
}

static void on_characters(void *data, const xmlChar *text, int length) {
  Parser *p = data;
  if (p->failed || p->texts->len == 0) return;
  g_string_append_len(g_ptr_array_index(p->texts, p->texts->len - 1), (const char *)text, length);
}

/* --- what is refused though it is XML -------------------------------------------- */

static void refuse_declaration(Parser *p) {
  fail_here(p, CSIM_ERROR_UNSUPPORTED,
            "a declaration inside DOCTYPE; allowed: a document without entities and the like");
}

static void on_entity(void *data, const xmlChar *name, int type, const xmlChar *public_id,
                      const xmlChar *system_id, xmlChar *content) {
  refuse_declaration(data);
}

static void on_attribute_declaration(void *data, const xmlChar *element, const xmlChar *name, int type,
                                     int def, const xmlChar *value, xmlEnumerationPtr tree) {
  xmlFreeEnumeration(tree); /* ours by the SAX contract */
  refuse_declaration(data);
}

static void on_unparsed_entity(void *data, const xmlChar *name, const xmlChar *public_id,
                               const xmlChar *system_id, const xmlChar *notation) {
  refuse_declaration(data);
}

/* --- errors ------------------------------------------------------------------------ */

/* libxml2's codes in the words of the person who wrote the file. %1: the error's first string, %2: its second. */
static const struct {
  int code;
  const char *text;
} messages[] = {
    {XML_ERR_DOCUMENT_EMPTY, "no element; allowed: one root element"},
    {XML_ERR_DOCUMENT_START, "no element; allowed: one root element"},
    {XML_ERR_DOCUMENT_END, "something follows the root element; allowed: comments"},
    {XML_ERR_TAG_NAME_MISMATCH, "</%2> where <%1> is still open"},
    {XML_ERR_TAG_NOT_FINISHED, "the text ends inside <%1>"},
    {XML_ERR_GT_REQUIRED, "a tag is not closed; '>' or '/>' expected"},
    {XML_ERR_LTSLASH_REQUIRED, "an element is not closed"},
    {XML_ERR_LT_REQUIRED, "'<' expected"},
    {XML_ERR_EQUAL_REQUIRED, "'=' expected"},
    {XML_ERR_NAME_REQUIRED, "a name expected; a bare '&' is written &amp;, a bare '<' &lt;"},
    {XML_ERR_SPACE_REQUIRED, "a blank expected"},
    {XML_ERR_ATTRIBUTE_NOT_STARTED, "the value of an attribute must stand in quotes"},
    {XML_ERR_ATTRIBUTE_NOT_FINISHED, "the value of an attribute is not closed"},
    {XML_ERR_ATTRIBUTE_WITHOUT_VALUE, "attribute '%1' has no value; allowed: name=\"value\""},
    {XML_ERR_ATTRIBUTE_REDEFINED, "attribute '%1' appears twice"},
    {XML_ERR_LT_IN_ATTRIBUTE, "'<' in the value of an attribute; allowed: &lt;"},
    {XML_ERR_UNDECLARED_ENTITY, "unknown entity '&%1;'; allowed: &amp; &lt; &gt; &apos; &quot;"},
    {XML_WAR_UNDECLARED_ENTITY, "unknown entity '&%1;'; allowed: &amp; &lt; &gt; &apos; &quot;"},
    {XML_ERR_ENTITYREF_NO_NAME, "a bare '&'; allowed: &amp;"},
    {XML_ERR_ENTITYREF_SEMICOL_MISSING, "';' is missing behind an entity; a bare '&' is written &amp;"},
    {XML_ERR_INVALID_CHARREF, "not a character reference; allowed: &#65; or &#x41;"},
    {XML_ERR_INVALID_HEX_CHARREF, "not a character reference; allowed: &#65; or &#x41;"},
    {XML_ERR_INVALID_DEC_CHARREF, "not a character reference; allowed: &#65; or &#x41;"},
    {XML_ERR_INVALID_CHAR, "a character that XML does not have"},
    {XML_ERR_COMMENT_NOT_FINISHED, "a comment is not closed; allowed: <!-- text -->"},
    {XML_ERR_HYPHEN_IN_COMMENT, "'--' inside a comment"},
    {XML_ERR_CDATA_NOT_FINISHED, "a CDATA section is not closed"},
    {XML_ERR_MISPLACED_CDATA_END, "']]>' outside a CDATA section"},
    {XML_ERR_PI_NOT_STARTED, "a processing instruction without a name"},
    {XML_ERR_PI_NOT_FINISHED, "a processing instruction is not closed; '?>' expected"},
    {XML_ERR_RESERVED_XML_NAME, "not an XML declaration; allowed: <?xml version=\"1.0\"?> at the very start"},
    {XML_ERR_XMLDECL_NOT_FINISHED, "the XML declaration is not closed; '?>' expected"},
    {XML_ERR_VERSION_MISSING, "the XML declaration has no version; allowed: version=\"1.0\""},
    {XML_ERR_UNKNOWN_VERSION, "not a version of XML; allowed: 1.0"},
    {XML_ERR_STRING_NOT_STARTED, "a value must stand in quotes"},
    {XML_ERR_STRING_NOT_CLOSED, "a value is not closed"},
    {XML_ERR_STANDALONE_VALUE, "standalone must be yes or no"},
    {XML_ERR_ENCODING_NAME, "not the name of an encoding; allowed: UTF-8"},
    {XML_ERR_DOCTYPE_NOT_FINISHED, "DOCTYPE is not closed; '>' expected"},
    {XML_ERR_NAME_TOO_LONG, "a name is too long; allowed: 50000 bytes"},
};

static char *fill(const char *text, const xmlError *e) {
  GString *s = g_string_new(text);
  g_string_replace(s, "%1", e->str1 != NULL ? e->str1 : "?", 1);
  g_string_replace(s, "%2", e->str2 != NULL ? e->str2 : "?", 1);
  return g_string_free(s, FALSE);
}

static char *describe(const xmlError *e) {
  for (guint i = 0; i < G_N_ELEMENTS(messages); i++)
    if (messages[i].code == e->code) return fill(messages[i].text, e);
  g_autofree char *text = g_strdup(e->message != NULL ? e->message : "no reason given");
  return g_strdup_printf("not well-formed XML: %s", g_strstrip(text));
}

#if LIBXML_VERSION >= 21200
typedef const xmlError *ErrorPointer;
#else
typedef xmlError *ErrorPointer;
#endif

static void on_error(void *data, ErrorPointer e) {
  Parser *p = data;
  if (e->domain == XML_FROM_NAMESPACE) return; /* names are taken as written, declared prefix or not */
  if (e->level < XML_ERR_ERROR && e->code != XML_WAR_UNDECLARED_ENTITY) return;
  g_autofree char *text = describe(e);
  CsimErrorCode code = e->code == XML_ERR_NAME_TOO_LONG ? CSIM_ERROR_LIMIT : CSIM_ERROR_SYNTAX;
  fail(p, code, (uint32_t)MAX(e->line, 0), (uint32_t)MAX(e->int2, 0), text);
}

/* --- the whole document ----------------------------------------------------------------- */

static void string_free(gpointer s) {
  g_string_free(s, TRUE);
}

static const xmlSAXHandler handlers = {
    .initialized = XML_SAX2_MAGIC, /* without it, serror is not used */
    .startElementNs = on_start,
    .endElementNs = on_end,
    .characters = on_characters,
    .ignorableWhitespace = on_characters,
    .cdataBlock = on_characters,
    .entityDecl = on_entity,
    .attributeDecl = on_attribute_declaration,
    .unparsedEntityDecl = on_unparsed_entity,
    .serror = on_error,
};

static xmlParserCtxt *context_new(Parser *p) {
#if LIBXML_VERSION >= 21100
  xmlParserCtxt *c = xmlNewSAXParserCtxt(&handlers, p);
#else
  xmlParserCtxt *c = xmlNewParserCtxt();
  if (c == NULL) return NULL;
  *c->sax = handlers;
  c->userData = p;
#endif
  return c;
}

static void run(Parser *p, const char *text, gsize length) {
  /* The encoding is given, so that a declared one is not followed; the text has been checked to be UTF-8. */
  xmlDoc *doc =
      xmlCtxtReadMemory(p->context, text, (int)length, NULL, "UTF-8", XML_PARSE_NONET | XML_PARSE_COMPACT);
  xmlFreeDoc(doc); /* made by libxml2 for some declarations, although nobody asked */
  if (!p->context->wellFormed || p->doc->root == NULL)
    fail(p, CSIM_ERROR_SYNTAX, 0, 0, "not well-formed XML");
}

gboolean csim_xml_parse(CsimXmlDoc *doc, const char *text, gsize length) {
  Parser p = {.doc = doc, .texts = g_ptr_array_new_with_free_func(string_free)};
  p.context = context_new(&p);
  g_assert(p.context != NULL && length <= G_MAXINT);
  run(&p, text, length);
  g_ptr_array_unref(p.texts);
  xmlFreeParserCtxt(p.context);
  return !p.failed;
}
