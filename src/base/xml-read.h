/*
 * base/xml-read.h - well-formed XML in, with the place of every element and attribute.
 *
 * Used by: readers of ordinary XML (NCCL_GRAPH files, other tools' formats) and
 * by checks that ask "is this file XML at all". NCCL's own topology files go
 * through src/topo, whose parser has NCCL's dialect.
 *
 * Reading is libxml2's, without network, entities or its "huge" mode; a scan
 * of ours before it enforces the limits below and knows line and column, which
 * libxml2 does not keep. Text is UTF-8 (a declared encoding is not followed).
 *
 * The manner is that of base/json-read.h: ask for what is known, go on after
 * an error, call csim_xml_finish to refuse the rest. NULL is taken everywhere
 * and means "already reported".
 */
#ifndef CSIM_BASE_XML_READ_H
#define CSIM_BASE_XML_READ_H

#include "base/diag.h"
#include "collsim/types.h"

#define CSIM_XML_MAX_DEPTH 64       /* elements inside each other */
#define CSIM_XML_MAX_ATTRIBUTES 256 /* of one element */
#define CSIM_XML_MAX_ELEMENTS (1 << 20)
#define CSIM_XML_MAX_VALUE (1 << 20)   /* bytes of one attribute's value */
#define CSIM_XML_MAX_SECTION (8 << 20) /* bytes of one comment, CDATA section or processing instruction */
/* and CSIM_FILE_LIMIT, 64 MiB of text */

typedef struct CsimXmlDoc CsimXmlDoc;
typedef struct CsimXml CsimXml; /* one element; lives as long as its document */

typedef enum { CSIM_XML_OPTIONAL, CSIM_XML_REQUIRED } CsimXmlNeed;

/* As csim_json_read_file and csim_json_read_text: NULL with a finding when the text is not XML or beyond a limit. */
CsimXmlDoc *csim_xml_read_file(const char *path, CsimDiag *diag);
CsimXmlDoc *csim_xml_read_text(const char *name, const char *text, gssize length, CsimDiag *diag);
void csim_xml_doc_free(CsimXmlDoc *doc); /* NULL allowed */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CsimXmlDoc, csim_xml_doc_free)

/* The root if it has that name (NULL: any), else a finding and NULL. */
CsimXml *csim_xml_root(CsimXmlDoc *doc, const char *name);

const char *csim_xml_name(const CsimXml *element); /* as written, with any prefix */
CsimLoc csim_xml_loc(const CsimXml *element);      /* its '<' */
const char *
csim_xml_text_of(const CsimXml *element); /* its own character data without blanks at both ends; never NULL */

/* Children in order of the file; name NULL takes all. Those returned become known. */
CsimXml *csim_xml_first(CsimXml *element, const char *name);
CsimXml *csim_xml_next(CsimXml *element, const char *name);
/* The only child of a name: a finding when there are several, or none and required. */
CsimXml *csim_xml_child(CsimXml *element, const char *name, CsimXmlNeed need);

/* Attributes by number, in order of the file. */
guint csim_xml_n_attributes(const CsimXml *element);
const char *csim_xml_attribute_name(const CsimXml *element, guint i);
CsimLoc csim_xml_attribute_loc(const CsimXml *element, const char *name); /* the element's own when absent */

/* Attributes by name: TRUE and *out, or FALSE with *out untouched (and a finding, unless it is absent and optional). */
gboolean csim_xml_text(CsimXml *element, const char *name, CsimXmlNeed need, const char **out);
gboolean csim_xml_int(CsimXml *element, const char *name, CsimXmlNeed need, int64_t min, int64_t max,
                      int64_t *out);
gboolean csim_xml_double(CsimXml *element, const char *name, CsimXmlNeed need, double min, double max,
                         double *out);
gboolean csim_xml_time(CsimXml *element, const char *name, CsimXmlNeed need, CsimTime *out);
gboolean csim_xml_bytes(CsimXml *element, const char *name, CsimXmlNeed need, CsimBytes *out);
gboolean csim_xml_rate(CsimXml *element, const char *name, CsimXmlNeed need, CsimRate *out);
gboolean csim_xml_choice(CsimXml *element, const char *name, CsimXmlNeed need, const char *const *choices,
                         int *out);

/* A finding of the loader's own: at an element, or at one of its attributes when `attribute` is not NULL. */
void csim_xml_error(const CsimXml *element, const char *attribute, CsimErrorCode code, const char *format,
                    ...) G_GNUC_PRINTF(4, 5);

/* Accepts an element with everything below it. */
void csim_xml_ignore(CsimXml *element);
/* Refuses every element and attribute that nobody asked for. Call once, at the end of loading. */
void csim_xml_finish(CsimXmlDoc *doc);

#endif
