/* topo/nccl-xml-edit.c - changes to a parsed topology: what a fault does to what NCCL would read. */
#include "topo/nccl-xml-edit.h"

#include <string.h>

CsimNcclElement *csim_nccl_xml_at(const CsimNcclXml *xml, CsimLoc loc) {
  for (guint i = 0; i < xml->elements->len; i++) {
    CsimNcclElement *e = (CsimNcclElement *)g_ptr_array_index(xml->elements, i);
    if (e->loc.line == loc.line && e->loc.col == loc.col) return e;
  }
  return NULL;
}

CsimNcclElement *csim_nccl_xml_pci(const CsimNcclXml *xml, const char *busid) {
  for (guint i = 0; i < xml->elements->len; i++) {
    CsimNcclElement *e = (CsimNcclElement *)g_ptr_array_index(xml->elements, i);
    const char *id = strcmp(e->name, "pci") == 0 ? csim_nccl_xml_value(e, "busid") : NULL;
    if (id != NULL && csim_busid(id) == csim_busid(busid)) return e;
  }
  return NULL;
}

void csim_nccl_xml_set(CsimNcclXml *xml, CsimNcclElement *e, const char *key, const char *value) {
  const char *kept = g_string_chunk_insert_const(xml->texts, value);
  for (guint i = 0; i < e->n_attrs; i++)
    if (strcmp(e->attrs[i].key, key) == 0) {
      e->attrs[i].value = kept;
      return;
    }
  e->attrs = g_renew(CsimNcclAttr, e->attrs, e->n_attrs + 1);
  e->attrs[e->n_attrs++] = (CsimNcclAttr){g_string_chunk_insert_const(xml->texts, key), kept, e->loc};
}

void csim_nccl_xml_drop(CsimNcclElement *e) {
  if (e->parent != NULL) g_ptr_array_remove(e->parent->subs, e);
}
