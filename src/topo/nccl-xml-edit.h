/*
 * topo/nccl-xml-edit.h - changes to a parsed topology file.
 *
 * Used by: faults-node.c. Places (line and column) of elements stay what they were, so that devices of the whole and of the broken machine
 * can be told to be the same.
 */
#ifndef CSIM_TOPO_NCCL_XML_EDIT_H
#define CSIM_TOPO_NCCL_XML_EDIT_H

#include "topo/nccl-xml-tree.h"

/* The element that starts there, also one that was dropped; NULL if none does. */
CsimNcclElement *csim_nccl_xml_at(const CsimNcclXml *xml, CsimLoc loc);
/* The first pci element of that bus id, compared as a number; NULL if there is none. */
CsimNcclElement *csim_nccl_xml_pci(const CsimNcclXml *xml, const char *busid);
/* Replaces an attribute or adds it. */
void csim_nccl_xml_set(CsimNcclXml *xml, CsimNcclElement *element, const char *key, const char *value);
/* Takes an element and what is inside out of its parent. It stays owned by the xml. */
void csim_nccl_xml_drop(CsimNcclElement *element);

#endif
