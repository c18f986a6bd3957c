/*
 * base/xml-node.h - what the parts of the XML reader share; private to them.
 *
 * xml-scan.c finds places and limits, xml-parse.c builds the elements with
 * libxml2, xml-read.c answers questions about them.
 */
#ifndef CSIM_BASE_XML_NODE_H
#define CSIM_BASE_XML_NODE_H

#include "base/arena.h"
#include "base/xml-read.h"

typedef struct {
  uint32_t line, col;
} CsimXmlPlace;

typedef struct {
  const char *name, *value;
  CsimXmlPlace place;
  gboolean known;
} CsimXmlAttribute;

struct CsimXml {
  CsimXmlDoc *doc;
  CsimXml *parent, *next, *first, *last;
  const char *name;
  const char *text;
  CsimXmlAttribute *attributes;
  guint n_attributes;
  CsimXmlPlace place;
  gboolean known, visited, ignored;
};

/* A name in front of '=' as the scan met it: an attribute, or a declaration of a namespace. */
typedef struct {
  CsimXmlPlace place;
  const char *name; /* in the text, not ended */
  uint32_t length;
} CsimXmlName;

/* One start tag as the scan met it; its names are those of doc->names from first_name on. */
typedef struct {
  CsimXmlPlace place;
  uint32_t first_name, n_names;
} CsimXmlTag;

struct CsimXmlDoc {
  const char *name; /* interned */
  CsimArena *arena;
  CsimDiag *diag; /* borrowed, may be NULL */
  CsimXml *root;
  GArray *tags;                                  /* of CsimXmlTag, order of the file */
  GArray *names;                                 /* of CsimXmlName; valid until the text is freed */
  GHashTable *asked_attributes, *asked_children; /* base/asked.h */
};

/* Fills doc->tags and doc->names; FALSE with a finding when a limit is passed. Text that is not well formed is left
 * to csim_xml_parse to refuse. text: NUL-ended. */
gboolean csim_xml_scan(CsimXmlDoc *doc, const char *text, gsize length);
/* Builds doc->root from the text that was scanned; FALSE with a finding. */
gboolean csim_xml_parse(CsimXmlDoc *doc, const char *text, gsize length);

#endif
