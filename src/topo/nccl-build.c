/*
 * topo/nccl-build.c - from the tree of elements to NCCL's node graph: hosts, CPUs and the PCI tree (NCCL 2.30.7, src/graph/topo.cc).
 *
 * Order of creation is part of the result: searches break ties by it.
 */
#include "topo/nccl-build.h"
#include "topo/check.h"
#include <string.h>

gboolean csim_build_fail(CsimBuild *b, CsimLoc loc, int result, const char *reason, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_autofree char *text = g_strdup_vprintf(format, args);
  va_end(args);
  b->outcome->result = result;
  g_strlcpy(b->outcome->reason, reason, sizeof b->outcome->reason);
  csim_error_set(b->error, CSIM_ERROR_NCCL, loc, "%s", text);
  return FALSE;
}

gboolean csim_build_text(CsimBuild *b, const CsimNcclElement *node, const char *key, const char **out) {
  *out = csim_nccl_xml_value(node, key);
  if (*out != NULL) return TRUE;
  g_autofree char *reason = g_strdup_printf("missing-attribute %s/%s", node->name, key);
  return csim_build_fail(b, node->loc, CSIM_NCCL_INTERNAL_ERROR, reason,
                         "<%s> without %s; NCCL needs this attribute", node->name, key);
}

gboolean csim_build_int(CsimBuild *b, const CsimNcclElement *node, const char *key, int *out) {
  const char *text;
  if (!csim_build_text(b, node, key, &text)) return FALSE;
  *out = (int)csim_nccl_xml_int(node, key, 0);
  return TRUE;
}

char *csim_build_label(const CsimNcclElement *node, const char *key) {
  char *text = g_strdup(csim_nccl_xml_value(node, key));
  for (char *p = text; p != NULL && *p != '\0'; p++)
    if (!g_ascii_isprint(*p)) *p = '?';
  return text;
}

/* --- hosts and CPUs ----------------------------------------------------- */

int csim_build_host(CsimBuild *b, const CsimNcclElement *cpu) {
  uint64_t hash = csim_nccl_xml_hex(cpu, "host_hash", 0);
  guint i = 0;
  while (i < b->hosts->len && g_array_index(b->hosts, uint64_t, i) != hash) i++;
  if (i == b->hosts->len) g_array_append_val(b->hosts, hash);
  return (int)i;
}

static gboolean own_host_is_here(CsimBuild *b, const CsimNcclElement *root) {
  if (!b->options.own_host) return TRUE;
  for (guint i = 0; i < b->hosts->len; i++)
    if (g_array_index(b->hosts, uint64_t, i) == b->options.host_hash) return TRUE;
  return csim_build_fail(b, root->loc, CSIM_NCCL_INVALID_ARGUMENT, "own-host-not-in-file",
                         "no <cpu> has the host_hash of the host that reads this file");
}

/* Generation classes of topo.h: Broadwell and older 1, Skylake 2, Sapphire Rapids 3, Emerald Rapids 4. */
static int intel_model(int family, int model) {
  if (family == 6 && model >= 0xcf) return 4;
  if (family == 6 && model >= 0x8f) return 3;
  if (family == 6 && model >= 0x55) return 2;
  return 1;
}

static gboolean read_x86(CsimBuild *b, const CsimNcclElement *xml, CsimTopoNode *cpu) {
  const char *vendor;
  int family, model;
  if (!csim_build_text(b, xml, "vendor", &vendor)) return FALSE;
  cpu->cpu.vendor = csim_dict_cpu_vendor(vendor);
  if (cpu->cpu.vendor != CSIM_VENDOR_INTEL && cpu->cpu.vendor != CSIM_VENDOR_ZHAOXIN) return TRUE;
  if (!csim_build_int(b, xml, "familyid", &family) || !csim_build_int(b, xml, "modelid", &model))
    return FALSE;
  gboolean intel = cpu->cpu.vendor == CSIM_VENDOR_INTEL;
  if (intel)
    cpu->cpu.model = intel_model(family, model);
  else if (family == 7 && model == 0x5b)
    cpu->cpu.model = 1; /* Yongfeng */
  return TRUE;
}

static gboolean add_pci(CsimBuild *b, const CsimNcclElement *xml, CsimTopoNode *parent, int host);

static gboolean has_room(CsimBuild *b, const CsimNcclElement *xml) {
  for (int t = 0; t < CSIM_N_NODE_TYPES; t++) {
    if (csim_system_n(b->system, t) < CSIM_NCCL_XML_MAX_NODES) continue;
    return csim_build_fail(b, xml->loc, CSIM_NCCL_INTERNAL_ERROR, "too-many-nodes",
                           "more than %d %s nodes; NCCL's limit", CSIM_NCCL_XML_MAX_NODES,
                           csim_node_type_name(t));
  }
  return TRUE;
}

/* NICs straight under a cpu are virtual; all of a host share one NIC node, on the first such cpu. */
static gboolean add_virtual_nic(CsimBuild *b, const CsimNcclElement *xml, CsimTopoNode *cpu, int host) {
  uint64_t id = csim_build_id(host, 0);
  CsimTopoNode *nic = csim_system_find(b->system, CSIM_NODE_NIC, id);
  if (nic == NULL) {
    nic = csim_system_add(b->system, CSIM_NODE_NIC, id, xml->loc);
    csim_build_both(cpu, nic, CSIM_LINK_PCI, CSIM_BW_LOCAL, xml->loc);
  }
  return csim_build_nic(b, xml, nic, host, id, 0, 0);
}

static gboolean add_cpu(CsimBuild *b, const CsimNcclElement *xml) {
  int numa, host = csim_build_host(b, xml);
  const char *arch;
  if (!has_room(b, xml) || !csim_build_int(b, xml, "numaid", &numa)) return FALSE;
  CsimTopoNode *cpu =
      csim_system_add(b->system, CSIM_NODE_CPU, csim_build_id(host, (uint64_t)(int64_t)numa), xml->loc);
  cpu->cpu.vendor = cpu->cpu.model = -1;
  cpu->cpu.numa = numa;
  cpu->label = csim_build_label(xml, "affinity");
  if (!csim_build_text(b, xml, "arch", &arch)) return FALSE;
  cpu->cpu.arch = csim_dict_cpu_arch(arch);
  if (cpu->cpu.arch == CSIM_ARCH_X86 && !read_x86(b, xml, cpu)) return FALSE;
  for (guint i = 0; i < xml->subs->len; i++) {
    const CsimNcclElement *sub = csim_nccl_xml_sub(xml, i);
    gboolean is_pci = strcmp(sub->name, "pci") == 0;
    if (!(is_pci ? add_pci(b, sub, cpu, host) : add_virtual_nic(b, sub, cpu, host))) return FALSE;
  }
  return TRUE;
}

/* --- the PCI tree ------------------------------------------------------- */

typedef struct {
  CsimNodeType type;
  uint64_t bus;
  int width, speed; /* lanes, 100 Mbit/s a lane */
} PciAttrs;

static gboolean read_pci(CsimBuild *b, const CsimNcclElement *xml, PciAttrs *out) {
  const char *class, *busid, *speed;
  if (!csim_build_text(b, xml, "class", &class) || !csim_build_text(b, xml, "busid", &busid)) return FALSE;
  if (!csim_build_int(b, xml, "link_width", &out->width) || !csim_build_text(b, xml, "link_speed", &speed))
    return FALSE;
  out->type = csim_dict_pci_class(class, NULL);
  out->bus = csim_busid(busid);
  if (out->width == 0) out->width = 16;
  out->speed = csim_dict_pci_speed(speed, NULL);
  return TRUE;
}

static gboolean add_nic(CsimBuild *b, const CsimNcclElement *xml, const PciAttrs *pci, int host,
                        CsimTopoNode **to_connect) {
  uint64_t id = csim_build_id(host, pci->bus);
  CsimTopoNode *nic = csim_system_find(b->system, CSIM_NODE_NIC, id);
  if (nic == NULL) *to_connect = nic = csim_system_add(b->system, CSIM_NODE_NIC, id, xml->loc);
  return csim_build_nic(b, xml, nic, host, id, pci->width, pci->speed);
}

static gboolean add_switch(CsimBuild *b, const CsimNcclElement *xml, const PciAttrs *pci, int host,
                           CsimTopoNode **to_connect) {
  CsimTopoNode *node = csim_system_add(b->system, CSIM_NODE_PCI, csim_build_id(host, pci->bus), xml->loc);
  node->pci.device = csim_build_device_id(xml);
  *to_connect = node;
  for (guint i = 0; i < xml->subs->len; i++) {
    const CsimNcclElement *sub = csim_nccl_xml_sub(xml, i);
    if (strcmp(sub->name, "pcilink") != 0 && !add_pci(b, sub, node, host)) return FALSE;
  }
  return TRUE;
}

/* Partitions of one GPU are several DEV nodes of one pci element; each has its own link up. */
static void connect_partitions(CsimBuild *b, CsimTopoNode *first, CsimTopoNode *parent, float bw,
                               CsimLoc loc) {
  for (guint i = (guint)first->index + 1; i < csim_system_n(b->system, CSIM_NODE_DEV); i++) {
    CsimTopoNode *dev = csim_system_node(b->system, CSIM_NODE_DEV, i);
    if (dev->dev.bus == first->dev.bus && csim_node_host(dev) == csim_node_host(first))
      csim_build_both(dev, parent, CSIM_LINK_PCI, bw, loc);
  }
}

static gboolean add_pci(CsimBuild *b, const CsimNcclElement *xml, CsimTopoNode *parent, int host) {
  PciAttrs pci;
  CsimTopoNode *node = NULL, *dev = NULL;
  if (!has_room(b, xml)) return FALSE;
  if (!read_pci(b, xml, &pci) || !csim_build_gpus(b, xml, host, pci.bus, &dev)) return FALSE;
  const CsimNcclElement *nic = csim_nccl_xml_sub_named(xml, "nic");
  if (nic != NULL) {
    if (!add_nic(b, nic, &pci, host, &node)) return FALSE;
  } else if (pci.type == CSIM_NODE_PCI) {
    if (!add_switch(b, xml, &pci, host, &node)) return FALSE;
  }
  float bw = (float)(pci.width * pci.speed / 80.0);
  if (node == NULL) node = dev;
  if (node != NULL) csim_build_both(node, parent, CSIM_LINK_PCI, bw, xml->loc);
  if (dev != NULL) connect_partitions(b, dev, parent, bw, xml->loc);
  return TRUE;
}

/* --- order of links ------------------------------------------------------ */

static void link_to_end(CsimTopoNode *node, const CsimTopoNode *up) {
  for (guint i = 0; i < node->links->len; i++) {
    CsimTopoLink link = *csim_node_link(node, i);
    if (link.remote != up) continue;
    g_array_remove_index(node->links, i);
    g_array_append_val(node->links, link);
    return;
  }
}

/* The way up goes last in every node of the PCI tree: first of all links to the parent, whatever its type (NCCL does the same). */
static void sort_tree(CsimTopoNode *node, const CsimTopoNode *up) {
  if (up != NULL) link_to_end(node, up);
  for (guint i = 0; i < node->links->len; i++) {
    const CsimTopoLink *link = csim_node_link(node, i);
    if (link->type == CSIM_LINK_PCI && link->remote != up) sort_tree(link->remote, node);
  }
}

/* --- entry points ------------------------------------------------------- */

static gboolean build(CsimBuild *b) {
  const CsimNcclElement *root = csim_nccl_xml_root(b->xml);
  if (root == NULL)
    return csim_build_fail(b, (CsimLoc){g_intern_string(b->xml->file), 1, 1}, CSIM_NCCL_INTERNAL_ERROR,
                           "no-system", "no <system> element");
  for (guint i = 0; i < root->subs->len; i++)
    if (!add_cpu(b, csim_nccl_xml_sub(root, i))) return FALSE;
  b->system->n_hosts = (int)b->hosts->len;
  if (!own_host_is_here(b, root) || !csim_build_links(b, root)) return FALSE;
  for (guint i = 0; i < csim_system_n(b->system, CSIM_NODE_CPU); i++)
    sort_tree(csim_system_node(b->system, CSIM_NODE_CPU, i), NULL);
  return TRUE;
}

static char *base_name(const char *path) {
  g_autofree char *base = g_path_get_basename(path);
  return g_str_has_suffix(base, ".xml") ? g_strndup(base, strlen(base) - 4) : g_steal_pointer(&base);
}

CsimSystem *csim_system_build(const CsimNcclXml *xml, const CsimBuildOptions *options, CsimDiag *diag,
                              CsimNcclOutcome *outcome, CsimSystem **partial, GError **error) {
  static const CsimBuildOptions none;
  CsimNcclOutcome unused;
  g_autofree char *name = base_name(xml->file);
  CsimBuild b = {.xml = xml,
                 .options = options != NULL ? *options : none,
                 .diag = diag,
                 .outcome = outcome != NULL ? outcome : &unused,
                 .system = csim_system_new(name),
                 .hosts = g_array_new(FALSE, FALSE, sizeof(uint64_t)),
                 .error = error};
  *b.outcome = (CsimNcclOutcome){.n_elements = xml->elements->len};
  csim_check_elements(xml, diag);
  gboolean ok = build(&b);
  if (ok) csim_check_system(b.system, diag);
  g_array_unref(b.hosts);
  if (partial != NULL)
    *partial = ok ? NULL : b.system;
  else if (!ok)
    csim_system_free(b.system);
  return ok ? b.system : NULL;
}

CsimSystem *csim_system_from_xml(const CsimNcclXml *xml, CsimDiag *diag, int *nccl_result, GError **error) {
  CsimNcclOutcome outcome;
  CsimSystem *system = csim_system_build(xml, NULL, diag, &outcome, NULL, error);
  if (nccl_result != NULL) *nccl_result = outcome.result;
  return system;
}

CsimSystem *csim_system_load(const char *path, CsimDiag *diag, GError **error) {
  g_autoptr(CsimNcclXml) xml = csim_nccl_xml_load(path, diag, error);
  return xml == NULL ? NULL : csim_system_from_xml(xml, diag, NULL, error);
}
