/* topo/nccl-dict.c - NCCL's value tables and small readers (NCCL 2.30.7, src/graph/topo.h, topo.cc, src/misc/utils.cc). */
#include "topo/nccl-xml-tree.h"
#include <stdlib.h>
#include <string.h>

typedef struct {
  const char *key; /* NULL: the fallback */
  int value;
} DictEntry;

/* Prefix match, first hit wins: "32 GT/s anything" is Gen5, "32.0 GT/s" without " PCIe" is nothing. */
static int look_up(const DictEntry *dict, const char *value, gboolean *known) {
  const DictEntry *e = dict;
  while (e->key != NULL && strncmp(value, e->key, strlen(e->key)) != 0) e++;
  if (known != NULL) *known = e->key != NULL;
  return e->value;
}

CsimNodeType csim_dict_pci_class(const char *value, gboolean *known) {
  static const DictEntry dict[] = {{"0x060400", CSIM_NODE_PCI}, {"0x080100", CSIM_NODE_PCI},
                                   {"0x068000", CSIM_NODE_NVS}, {"0x068001", CSIM_NODE_CPU},
                                   {"0x03", CSIM_NODE_GPU},     {"0x02", CSIM_NODE_NIC},
                                   {NULL, CSIM_NODE_PCI}};
  return (CsimNodeType)look_up(dict, value, known);
}

int csim_dict_pci_speed(const char *value, gboolean *known) {
  static const DictEntry dict[] = {{"2.5 GT/s", 15},
                                   {"5 GT/s", 30},
                                   {"8 GT/s", 60},
                                   {"16 GT/s", 120},
                                   {"32 GT/s", 240},
                                   {"5.0 GT/s PCIe", 30},
                                   {"8.0 GT/s PCIe", 60},
                                   {"16.0 GT/s PCIe", 120},
                                   {"32.0 GT/s PCIe", 240},
                                   {"64.0 GT/s PCIe", 480},
                                   {NULL, 60}};
  return look_up(dict, value, known);
}

int csim_dict_cpu_arch(const char *value) {
  static const DictEntry dict[] = {
      {"x86_64", CSIM_ARCH_X86}, {"arm64", CSIM_ARCH_ARM}, {"ppc64", CSIM_ARCH_POWER}, {NULL, 0}};
  return look_up(dict, value, NULL);
}

int csim_dict_cpu_vendor(const char *value) {
  static const DictEntry dict[] = {{"GenuineIntel", CSIM_VENDOR_INTEL},
                                   {"AuthenticAMD", CSIM_VENDOR_AMD},
                                   {"CentaurHauls", CSIM_VENDOR_ZHAOXIN},
                                   {"  Shanghai  ", CSIM_VENDOR_ZHAOXIN},
                                   {NULL, 0}};
  return look_up(dict, value, NULL);
}

float csim_nvlink_bw(int sm) {
  if (sm >= 100) return 40.1f;
  if (sm >= 90) return 20.6f;
  if (sm == 86) return 12.0f;
  if (sm >= 70) return 20.0f;
  if (sm >= 60) return 18.0f;
  return 20.0f;
}

uint64_t csim_busid(const char *text) {
  char hex[17];
  guint n = 0;
  for (const char *p = text; *p != '\0' && n < sizeof hex - 1; p++) {
    if (*p == '.' || *p == ':') continue;
    if (!g_ascii_isxdigit(*p)) break;
    hex[n++] = *p;
  }
  hex[n] = '\0';
  return strtoull(hex, NULL, 16);
}

/* --- attributes --------------------------------------------------------- */

const CsimNcclElement *csim_nccl_xml_root(const CsimNcclXml *xml) {
  return xml->elements->len == 0 ? NULL : g_ptr_array_index(xml->elements, 0);
}

const CsimNcclAttr *csim_nccl_xml_attr(const CsimNcclElement *node, const char *key) {
  for (guint i = 0; i < node->n_attrs; i++)
    if (strcmp(node->attrs[i].key, key) == 0) return &node->attrs[i];
  return NULL;
}

const char *csim_nccl_xml_value(const CsimNcclElement *node, const char *key) {
  const CsimNcclAttr *attr = csim_nccl_xml_attr(node, key);
  return attr == NULL ? NULL : attr->value;
}

int64_t csim_nccl_xml_int(const CsimNcclElement *node, const char *key, int64_t fallback) {
  const char *value = csim_nccl_xml_value(node, key);
  return value == NULL ? fallback : (int)strtol(value, NULL, 0);
}

uint64_t csim_nccl_xml_hex(const CsimNcclElement *node, const char *key, uint64_t fallback) {
  const char *value = csim_nccl_xml_value(node, key);
  return value == NULL ? fallback : strtoull(value, NULL, 16);
}

const CsimNcclElement *csim_nccl_xml_sub_named(const CsimNcclElement *node, const char *name) {
  for (guint i = 0; i < node->subs->len; i++)
    if (strcmp(csim_nccl_xml_sub(node, i)->name, name) == 0) return csim_nccl_xml_sub(node, i);
  return NULL;
}
