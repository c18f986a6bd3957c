/*
 * topo/nccl-xml-tree.h - the tree behind CsimNcclXml, for the reader, the writer, the builder and the checks.
 *
 * Names are interned (compare with strcmp all the same, they may come from anywhere); texts live as long as the CsimNcclXml.
 */
#ifndef CSIM_TOPO_NCCL_XML_TREE_H
#define CSIM_TOPO_NCCL_XML_TREE_H

#include "topo/nccl-xml.h"

#define CSIM_NCCL_XML_MAX_ATTRS 16 /* kept; NCCL reads and drops the rest */
#define CSIM_NCCL_XML_MAX_CHILDREN 640
#define CSIM_NCCL_XML_MAX_ELEMENTS 256    /* a host */
#define CSIM_NCCL_XML_MAX_HOSTS 72        /* NCCL_MAX_LOCAL_RANKS: ranks, so hosts, of one NVLink domain */
#define CSIM_NCCL_XML_MAX_NOTES 20        /* ours: unknown elements that are listed */
#define CSIM_NCCL_XML_MAX_NODES 640       /* NCCL_TOPO_MAX_NODES, a type */
#define CSIM_NCCL_XML_MAX_TEXT 254        /* bytes of a name or value */
#define CSIM_NCCL_XML_MAX_DEPTH 256       /* ours */
#define CSIM_NCCL_XML_MAX_READ_ATTRS 1000 /* ours */

typedef struct {
  const char *key, *value;
  CsimLoc loc;
} CsimNcclAttr;

typedef struct CsimNcclElement CsimNcclElement;
struct CsimNcclElement {
  const char *name;
  CsimLoc loc;
  guint n_attrs;
  guint n_dropped; /* attributes past the 16th */
  CsimNcclAttr *attrs;
  CsimNcclElement *parent;
  GPtrArray *subs; /* CsimNcclElement* */
};

struct CsimNcclXml {
  char *file;          /* as given */
  GPtrArray *elements; /* CsimNcclElement*, in the order of acceptance; [0] is the first <system> */
  GStringChunk *texts;
};

/* The first <system>, or NULL. */
const CsimNcclElement *csim_nccl_xml_root(const CsimNcclXml *xml);
const CsimNcclAttr *csim_nccl_xml_attr(const CsimNcclElement *node, const char *key);
/* Value or NULL. */
const char *csim_nccl_xml_value(const CsimNcclElement *node, const char *key);
/* Integer as NCCL reads it (strtol base 0), or fallback if the attribute is absent. */
int64_t csim_nccl_xml_int(const CsimNcclElement *node, const char *key, int64_t fallback);
/* Hexadecimal, 0x allowed. */
uint64_t csim_nccl_xml_hex(const CsimNcclElement *node, const char *key, uint64_t fallback);
static inline CsimNcclElement *csim_nccl_xml_sub(const CsimNcclElement *n, guint i) {
  return (CsimNcclElement *)g_ptr_array_index(n->subs, i);
}
/* First child of that name, or NULL. */
const CsimNcclElement *csim_nccl_xml_sub_named(const CsimNcclElement *node, const char *name);

/* NCCL's value tables (topo/nccl-dict.c): prefix matches in table order; a miss is the table's fallback. *known (may be NULL): a hit. */
CsimNodeType csim_dict_pci_class(const char *value, gboolean *known);
int csim_dict_pci_speed(const char *value, gboolean *known); /* 100 Mbit/s a lane */
int csim_dict_cpu_arch(const char *value);
int csim_dict_cpu_vendor(const char *value);
float csim_nvlink_bw(int sm); /* GB/s a link */
/* A bus id as a number: '.' and ':' skipped, up to 16 hex digits. */
uint64_t csim_busid(const char *text);

#endif
