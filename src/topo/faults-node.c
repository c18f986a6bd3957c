/* topo/faults-node.c - broken machines: each set of faults makes a system of its own, by way of the topology file that NCCL reads. */
#include "topo/adapters.h"
#include "topo/cluster-build.h"
#include "topo/faults.h"
#include "topo/hostlist.h"
#include "topo/nccl-xml-edit.h"
#include <string.h>

typedef struct {
  CsimCluster *c;
  const CsimSystem *whole; /* of the machine at hand */
  const char *hca;         /* NCCL_IB_HCA, or NULL: no choice */
  gboolean buffers_follow; /* host memory of a process lies where it is bound */
  CsimNcclXml *xml;
  gboolean hardware;       /* which view is made: what is there, or what NCCL is told */
  GError **error;
} Maker;

static gboolean is_of_node(const CsimFault *f) {
  return f->kind == CSIM_FAULT_NIC || f->kind == CSIM_FAULT_PCIE || f->kind == CSIM_FAULT_NVLINK || f->kind == CSIM_FAULT_GPU ||
         f->kind == CSIM_FAULT_STUCK || f->kind == CSIM_FAULT_BIND;
}

/* --- devices ----------------------------------------------------------------- */

static const char *device_of(const CsimFault *f) {
  const char *slash = strchr(f->at, '/');
  return slash != NULL ? slash + 1 : "";
}

/* "gpu12" with the prefix "gpu": 12; -1 for anything else. */
static int number_after(const char *text, const char *prefix) {
  guint64 n;
  if (!g_str_has_prefix(text, prefix)) return -1;
  return g_ascii_string_to_unsigned(text + strlen(prefix), 10, 0, 9999, &n, NULL) ? (int)n : -1;
}

static const CsimTopoNode *find_gpu(const CsimSystem *s, const char *device) {
  int n = number_after(device, "gpu");
  return n >= 0 && (guint)n < csim_system_n(s, CSIM_NODE_GPU) ? csim_system_node(s, CSIM_NODE_GPU, (guint)n) : NULL;
}

/* By number, or by the name of the device. */
static const CsimTopoNode *find_net(const CsimSystem *s, const char *device) {
  int n = number_after(device, "nic");
  for (guint i = 0; i < csim_system_n(s, CSIM_NODE_NET); i++) {
    const CsimTopoNode *net = csim_system_node(s, CSIM_NODE_NET, i);
    if ((int)i == n || g_strcmp0(net->label, device) == 0) return net;
  }
  return NULL;
}

static gboolean no_device(const Maker *m, const CsimFault *f, const char *device, const char *wanted) {
  guint gpus = csim_system_n(m->whole, CSIM_NODE_GPU), nets = csim_system_n(m->whole, CSIM_NODE_NET);
  return csim_fault_fail(f, m->error, CSIM_ERROR_REFERENCE, "no %s '%.40s' in %s, which has %u GPUs and %u NICs; allowed: such as node0/%s", wanted,
                         device, m->whole->name, gpus, nets, f->kind == CSIM_FAULT_NIC || f->kind == CSIM_FAULT_STUCK ? "nic0" : "gpu0");
}

static CsimNcclElement *element_of(const Maker *m, const CsimTopoNode *node) {
  return node != NULL ? csim_nccl_xml_at(m->xml, node->loc) : NULL;
}

/* The pci element of a GPU, a NIC or a bus id. */
static CsimNcclElement *pci_of(const Maker *m, const char *device) {
  CsimNcclElement *e = element_of(m, find_gpu(m->whole, device));
  if (e == NULL) e = element_of(m, find_net(m->whole, device));
  if (e == NULL) return csim_nccl_xml_pci(m->xml, device);
  while (e != NULL && strcmp(e->name, "pci") != 0) e = e->parent;
  return e;
}

/* --- one fault --------------------------------------------------------------- */

static gboolean edit_nic(const Maker *m, const CsimFault *f) {
  CsimNcclElement *net = element_of(m, find_net(m->whole, device_of(f)));
  if (net == NULL) return no_device(m, f, device_of(f), "NIC");
  if (f->rate <= 0) {
    csim_nccl_xml_drop(net);
    return TRUE;
  }
  int64_t mbps = csim_nccl_xml_int(net, "speed", 10000);
  g_autofree char *slower = g_strdup_printf("%" G_GINT64_FORMAT, (gint64)MAX(1, (double)mbps * f->rate));
  csim_nccl_xml_set(m->xml, net, "speed", slower);
  return TRUE;
}

static gboolean edit_pcie(const Maker *m, const CsimFault *f) {
  static const char *const speeds[] = {NULL, "2.5 GT/s PCIe", "5.0 GT/s PCIe", "8.0 GT/s PCIe", "16.0 GT/s PCIe", "32.0 GT/s PCIe", "64.0 GT/s PCIe"};
  CsimNcclElement *pci = pci_of(m, device_of(f));
  if (pci == NULL) return no_device(m, f, device_of(f), "PCIe device");
  g_autofree char *width = g_strdup_printf("%d", f->width);
  if (f->width > 0) csim_nccl_xml_set(m->xml, pci, "link_width", width);
  if (f->generation > 0) csim_nccl_xml_set(m->xml, pci, "link_speed", speeds[f->generation]);
  return TRUE;
}

/* Takes `links` NVLinks off one GPU, those to one target if that is given; how many are still to take. */
static int take_nvlinks(const Maker *m, CsimNcclElement *gpu, const char *target, int links) {
  for (guint i = gpu->subs->len; i-- > 0 && links > 0;) {
    CsimNcclElement *sub = csim_nccl_xml_sub(gpu, i);
    const char *to = csim_nccl_xml_value(sub, "target");
    if (strcmp(sub->name, "nvlink") != 0 || (target != NULL && (to == NULL || csim_busid(to) != csim_busid(target)))) continue;
    int count = (int)csim_nccl_xml_int(sub, "count", 1), less = MIN(count, links);
    g_autofree char *left = g_strdup_printf("%d", count - less);
    links -= less;
    if (count == less) csim_nccl_xml_drop(sub);
    else csim_nccl_xml_set(m->xml, sub, "count", left);
  }
  return links;
}

static gboolean is_meshed(const CsimNcclElement *gpu) {
  for (guint i = 0; i < gpu->subs->len; i++) {
    const CsimNcclElement *sub = csim_nccl_xml_sub(gpu, i);
    const char *class = csim_nccl_xml_value(sub, "tclass");
    if (strcmp(sub->name, "nvlink") == 0 && class != NULL && csim_dict_pci_class(class, NULL) == CSIM_NODE_GPU) return TRUE;
  }
  return FALSE;
}

static gboolean edit_nvlink(const Maker *m, const CsimFault *f) {
  CsimNcclElement *gpu = element_of(m, find_gpu(m->whole, device_of(f)));
  if (gpu == NULL) return no_device(m, f, device_of(f), "GPU");
  CsimNcclElement *other = f->to != NULL ? element_of(m, find_gpu(m->whole, f->to)) : NULL;
  if (f->to != NULL && other == NULL) return no_device(m, f, f->to, "GPU");
  if (other == NULL && is_meshed(gpu))
    return csim_fault_fail(f, m->error, CSIM_ERROR_SCHEMA, "the GPUs of %s are joined pair by pair; allowed: with the other end, such as to=gpu1", m->whole->name);
  const char *there = other != NULL ? csim_nccl_xml_value(other->parent, "busid") : NULL, *here = csim_nccl_xml_value(gpu->parent, "busid");
  int left = take_nvlinks(m, gpu, there, f->links);
  if (other != NULL && left == 0) left = take_nvlinks(m, other, here, f->links);
  if (left == 0) return TRUE;
  return csim_fault_fail(f, m->error, CSIM_ERROR_VALUE, "%d NVLinks lost of fewer than that; allowed: as many as there are", f->links);
}

/* The CPU of that number beside a GPU, on its host. */
static const CsimTopoNode *find_numa(const CsimSystem *s, const CsimTopoNode *gpu, int numa) {
  uint64_t id = (uint64_t)csim_node_host(gpu) << 56 | (uint64_t)numa;
  for (guint i = 0; i < csim_system_n(s, CSIM_NODE_CPU); i++)
    if (csim_system_node(s, CSIM_NODE_CPU, i)->id == id) return csim_system_node(s, CSIM_NODE_CPU, i);
  return NULL;
}

static gboolean no_numa(const Maker *m, const CsimFault *f, const CsimTopoNode *gpu) {
  g_autoptr(GString) there = g_string_new(NULL);
  for (guint i = 0; i < csim_system_n(m->whole, CSIM_NODE_CPU); i++) {
    const CsimTopoNode *cpu = csim_system_node(m->whole, CSIM_NODE_CPU, i);
    if (csim_node_host(cpu) != csim_node_host(gpu)) continue;
    g_string_append_printf(there, "%s%" G_GINT64_FORMAT, there->len > 0 ? ", " : "", (gint64)(cpu->id & CSIM_NODE_LOCAL_MASK));
  }
  return csim_fault_fail(f, m->error, CSIM_ERROR_REFERENCE, "no NUMA node %d beside %s of %s; allowed: %s", f->numa, device_of(f), m->whole->name,
                         there->str);
}

static gboolean check_bind(const Maker *m, const CsimFault *f) {
  const CsimTopoNode *gpu = find_gpu(m->whole, device_of(f));
  if (gpu == NULL) return no_device(m, f, device_of(f), "GPU");
  return find_numa(m->whole, gpu, f->numa) != NULL || no_numa(m, f, gpu);
}

static gboolean applies(const CsimFault *f, gboolean hardware) {
  CsimFaultSeen seen = f->seen;
  /* NCCL takes a GPU's width and generation from NVML as they are now, but for other devices the most that device and port can (NCCL 2.30, src/graph/xml.cc). */
  if (seen == CSIM_SEEN_AS_REAL && f->kind == CSIM_FAULT_PCIE)
    seen = number_after(device_of(f), "gpu") >= 0 ? CSIM_SEEN : CSIM_UNSEEN;
  if (f->kind == CSIM_FAULT_NIC && f->rate <= 0) return TRUE; /* a port that is down is no port */
  return hardware ? seen != CSIM_SEEN_ONLY : seen != CSIM_UNSEEN;
}

static gboolean edit(const Maker *m, const CsimFault *f) {
  if (!applies(f, m->hardware)) return TRUE;
  switch (f->kind) {
  case CSIM_FAULT_NIC:
    return edit_nic(m, f);
  case CSIM_FAULT_PCIE:
    return edit_pcie(m, f);
  case CSIM_FAULT_NVLINK:
    return edit_nvlink(m, f);
  case CSIM_FAULT_GPU:
    return find_gpu(m->whole, device_of(f)) != NULL || no_device(m, f, device_of(f), "GPU");
  case CSIM_FAULT_STUCK:
    return find_net(m->whole, device_of(f)) != NULL || no_device(m, f, device_of(f), "NIC");
  case CSIM_FAULT_BIND:
    return check_bind(m, f);
  case CSIM_FAULT_LINK:
  case CSIM_FAULT_SWITCH:
  case CSIM_FAULT_LOSS:
    break;
  }
  return TRUE;
}

/* --- one broken system ------------------------------------------------------- */

/* Rails are cables: they stay where they are when a NIC before them is gone. */
static void keep_rails(const CsimSystem *whole, CsimSystem *broken) {
  for (guint i = 0; i < csim_system_n(broken, CSIM_NODE_NET); i++) {
    CsimTopoNode *net = csim_system_node(broken, CSIM_NODE_NET, i);
    for (guint k = 0; k < csim_system_n(whole, CSIM_NODE_NET); k++) {
      CsimLoc loc = csim_system_node(whole, CSIM_NODE_NET, k)->loc;
      if (loc.line == net->loc.line && loc.col == net->loc.col) net->net.place = (int)csim_net_rail(whole, k) + 1;
    }
  }
}

/* A GPU's physical one, or NULL. */
static CsimTopoNode *find_dev(const CsimTopoNode *gpu) {
  for (guint i = 0; gpu != NULL && i < gpu->links->len; i++)
    if (csim_node_link(gpu, i)->remote->type == CSIM_NODE_DEV) return csim_node_link(gpu, i)->remote;
  return NULL;
}

static void slow_gpu(CsimSystem *s, const CsimFault *f) {
  CsimTopoNode *dev = find_dev(find_gpu(s, device_of(f)));
  if (dev != NULL) dev->dev.clock = f->clock;
}

static void bind_gpu(CsimSystem *s, const CsimFault *f) {
  const CsimTopoNode *gpu = find_gpu(s, device_of(f));
  CsimTopoNode *dev = find_dev(gpu);
  if (dev != NULL) dev->dev.bound = find_numa(s, gpu, f->numa);
}

/* A NIC that an earlier fault took away is not stuck. */
static void stick_nic(CsimSystem *s, const CsimFault *f) {
  CsimTopoNode *net = (CsimTopoNode *)find_net(s, device_of(f));
  if (net == NULL) return;
  net->net.stuck = TRUE;
  net->net.stuck_from = f->period;
  net->net.stuck_for = f->down;
}

/* faults: indices into the cluster's. */
static CsimSystem *make(Maker *m, const char *source, const GArray *faults) {
  g_autoptr(CsimNcclXml) xml = csim_cluster_open_xml(source, NULL, m->error);
  m->xml = xml;
  if (xml == NULL) return NULL;
  for (guint i = 0; i < faults->len; i++)
    if (!edit(m, &g_array_index(m->c->faults, CsimFault, g_array_index(faults, guint, i)))) return NULL;
  if (m->hca != NULL && !csim_adapters_choose(xml, m->hca, m->whole->name, m->error)) return NULL;
  CsimSystem *s = csim_system_from_xml(xml, m->hardware ? NULL : m->c->diag, NULL, m->error);
  if (s == NULL) return NULL;
  g_free(s->name);
  s->name = g_strdup(m->whole->name);
  keep_rails(m->whole, s);
  for (guint i = 0; i < faults->len; i++) {
    const CsimFault *f = &g_array_index(m->c->faults, CsimFault, g_array_index(faults, guint, i));
    if (f->kind == CSIM_FAULT_GPU) slow_gpu(s, f);
    if (f->kind == CSIM_FAULT_STUCK) stick_nic(s, f);
    if (f->kind == CSIM_FAULT_BIND && m->buffers_follow) bind_gpu(s, f);
  }
  return s;
}

static gboolean one_view(const CsimCluster *c, const GArray *faults) {
  for (guint i = 0; i < faults->len; i++) {
    const CsimFault *f = &g_array_index(c->faults, CsimFault, g_array_index(faults, guint, i));
    if (applies(f, TRUE) != applies(f, FALSE)) return FALSE;
  }
  return TRUE;
}

typedef struct { guint nccl, hardware; } Pair;

static gboolean make_pair(CsimCluster *c, guint base, const GArray *faults, const CsimClusterOptions *options, Pair *out, GError **error) {
  const char *source = (const char *)g_ptr_array_index(c->sources, base);
  Maker m = {.c = c, .whole = (const CsimSystem *)g_ptr_array_index(c->systems, base), .hca = options->hca, .buffers_follow = options->buffers_follow,
             .error = error};
  CsimSystem *told = make(&m, source, faults);
  if (told == NULL) return FALSE;
  out->nccl = out->hardware = csim_cluster_add_system(c, told, source);
  if (one_view(c, faults)) return TRUE;
  m.hardware = TRUE;
  CsimSystem *there = make(&m, source, faults);
  if (there == NULL) return FALSE;
  out->hardware = csim_cluster_add_system(c, there, source);
  return TRUE;
}

/* --- which places ------------------------------------------------------------ */

/* Adds fault i to the lists of the places that it names. */
static gboolean mark(const CsimCluster *c, guint i, GArray **lists, GError **error) {
  const CsimFault *f = &g_array_index(c->faults, CsimFault, i);
  const char *slash = strchr(f->at, '/');
  if (slash == NULL)
    return csim_fault_fail(f, error, CSIM_ERROR_SYNTAX, "'%.60s' is no device of a node; allowed: such as node3/gpu2, node[0-7]/nic1, */gpu0", f->at);
  g_autofree char *hosts = g_strndup(f->at, (gsize)(slash - f->at));
  gboolean all = strcmp(hosts, "*") == 0;
  GError *wrong = NULL;
  g_autoptr(GPtrArray) names = all ? NULL : csim_hostlist_parse(hosts, &wrong);
  if (wrong != NULL) {
    csim_fault_fail(f, error, (CsimErrorCode)wrong->code, "%s", wrong->message);
    g_error_free(wrong);
    return FALSE;
  }
  for (guint k = 0; k < (all ? c->n_places : names->len); k++) {
    int place = all ? (int)k : csim_cluster_find_place(c, (const char *)g_ptr_array_index(names, k));
    if (place < 0)
      return csim_fault_fail(f, error, CSIM_ERROR_REFERENCE, "no host '%.60s' in this cluster; allowed: %s to %s", (const char *)g_ptr_array_index(names, k),
                             c->place_name[0], c->place_name[c->n_places - 1]);
    if (lists[place] == NULL) lists[place] = g_array_new(FALSE, FALSE, sizeof(guint));
    g_array_append_val(lists[place], i);
  }
  return TRUE;
}

static gboolean break_place(CsimCluster *c, guint place, const GArray *faults, const CsimClusterOptions *options, GHashTable *made,
                            GError **error) {
  GString *text = g_string_new(NULL);
  g_string_append_printf(text, "%u", c->node_system[place]);
  for (guint i = 0; i < faults->len; i++) g_string_append_printf(text, " %u", g_array_index(faults, guint, i));
  g_autofree char *key = g_string_free(text, FALSE);
  Pair *pair = (Pair *)g_hash_table_lookup(made, key);
  if (pair == NULL) {
    pair = g_new0(Pair, 1);
    g_hash_table_insert(made, g_strdup(key), pair);
    if (!make_pair(c, c->node_system[place], faults, options, pair, error)) return FALSE;
  }
  c->node_system[place] = pair->nccl;
  c->node_hardware[place] = pair->hardware;
  return TRUE;
}

/* The variable is one of NCCL's InfiniBand plugin. */
static gboolean has_hcas(const CsimCluster *c) { return c->fabric.transport == CSIM_TRANSPORT_IB || c->fabric.transport == CSIM_TRANSPORT_ROCE; }

gboolean csim_faults_apply_nodes(CsimCluster *c, const CsimClusterOptions *given, GError **error) {
  CsimClusterOptions options = *given;
  if (options.hca != NULL && (!options.hca[0] || !has_hcas(c))) options.hca = NULL;
  g_autofree GArray **lists = g_new0(GArray *, c->n_places + 1);
  g_autoptr(GHashTable) made = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  gboolean ok = TRUE;
  for (guint i = 0; ok && i < c->faults->len; i++) {
    const CsimFault *f = &g_array_index(c->faults, CsimFault, i);
    if (f->kind == CSIM_FAULT_LOSS) c->loss = c->fabric.packet.loss = f->rate;
    c->seeded |= f->kind == CSIM_FAULT_LINK && strcmp(f->at, "random") == 0 && !f->has_seed;
    c->stuck |= f->kind == CSIM_FAULT_STUCK;
    c->bound_in_vain |= f->kind == CSIM_FAULT_BIND && !options.buffers_follow;
    if (is_of_node(f)) ok = mark(c, i, lists, error);
  }
  for (guint p = 0; p < c->n_places; p++) {
    if (lists[p] == NULL && options.hca != NULL) lists[p] = g_array_new(FALSE, FALSE, sizeof(guint));
    if (lists[p] == NULL) continue;
    ok = ok && break_place(c, p, lists[p], &options, made, error);
    g_array_unref(lists[p]);
  }
  return ok;
}
