/*
 * topo/nccl-xml-tree.h - the tree behind CsimXml, for the reader, the writer, the builder and the checks.
 *
 * Names are interned (compare with strcmp all the same, they may come from anywhere); texts live as long as the CsimXml.
 */
#ifndef CSIM_TOPO_NCCL_XML_TREE_H
#define CSIM_TOPO_NCCL_XML_TREE_H

#include "topo/nccl-xml.h"

#define CSIM_XML_MAX_ATTRS 16     /* kept; NCCL reads and drops the rest */
#define CSIM_XML_MAX_CHILDREN 640
#define CSIM_XML_MAX_ELEMENTS 256 /* a host */
#define CSIM_XML_MAX_TEXT 254     /* bytes of a name or value */
#define CSIM_XML_MAX_DEPTH 256    /* ours */
#define CSIM_XML_MAX_READ_ATTRS 1000 /* ours */

typedef struct {
  const char *key, *value;
  CsimLoc loc;
} CsimXmlAttr;

typedef struct CsimXmlNode CsimXmlNode;
struct CsimXmlNode {
  const char *name;
  CsimLoc loc;
  guint n_attrs;
  guint n_dropped; /* attributes past the 16th */
  CsimXmlAttr *attrs;
  CsimXmlNode *parent;
  GPtrArray *subs; /* CsimXmlNode* */
};

struct CsimXml {
  char *file;          /* as given */
  GPtrArray *elements; /* CsimXmlNode*, in the order of acceptance; [0] is the first <system> */
  GStringChunk *texts;
};

/* The first <system>, or NULL. */
const CsimXmlNode *csim_xml_root(const CsimXml *xml);
const CsimXmlAttr *csim_xml_attr(const CsimXmlNode *node, const char *key);
/* Value or NULL. */
const char *csim_xml_value(const CsimXmlNode *node, const char *key);
/* Integer as NCCL reads it (strtol base 0), or fallback if the attribute is absent. */
int64_t csim_xml_int(const CsimXmlNode *node, const char *key, int64_t fallback);
/* Hexadecimal, 0x allowed. */
uint64_t csim_xml_hex(const CsimXmlNode *node, const char *key, uint64_t fallback);
static inline CsimXmlNode *csim_xml_sub(const CsimXmlNode *n, guint i) { return (CsimXmlNode *)g_ptr_array_index(n->subs, i); }
/* First child of that name, or NULL. */
const CsimXmlNode *csim_xml_sub_named(const CsimXmlNode *node, const char *name);

/* NCCL's value tables (topo/nccl-dict.c): prefix matches in table order; a miss is the table's fallback. *known (may be NULL): a hit. */
CsimNodeType csim_dict_pci_class(const char *value, gboolean *known);
int csim_dict_pci_speed(const char *value, gboolean *known); /* 100 Mbit/s a lane */
int csim_dict_cpu_arch(const char *value);
int csim_dict_cpu_vendor(const char *value);
float csim_nvlink_bw(int sm); /* GB/s a link */
/* A bus id as a number: '.' and ':' skipped, up to 16 hex digits. */
uint64_t csim_busid(const char *text);

#endif
