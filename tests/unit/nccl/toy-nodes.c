/* Made-up machines as XML text in NCCL's dialect. */
#include "toy-nodes.h"

#include "topo/nccl-xml.h"

#define GPU_BUS 0x10
#define NIC_BUS 0x60
#define SWITCH_BUS 0x01

static void append_pci(GString *s, const ToyNode *t, int bus, const char *class, gboolean open) {
  g_string_append_printf(
      s, "<pci busid=\"0000:%02x:00.0\" class=\"%s\" link_speed=\"%s\" link_width=\"%d\"%s>\n", bus, class,
      t->speed, t->width, open ? "" : "/");
}

static void append_gpu(GString *s, const ToyNode *t, int g) {
  append_pci(s, t, GPU_BUS + g, "0x030200", TRUE);
  g_string_append_printf(s, "<gpu dev=\"%d\" sm=\"%d\" rank=\"%d\" gdr=\"1\">\n", g, t->sm, g);
  if (t->nvlinks)
    g_string_append_printf(s, "<nvlink target=\"0000:ff:00.0\" count=\"%d\" tclass=\"0x068000\"/>\n",
                           t->nvlinks);
  g_string_append(s, "</gpu>\n</pci>\n");
}

static void append_nic(GString *s, const ToyNode *t, int n) {
  if (!t->nic_mbps) return;
  append_pci(s, t, NIC_BUS + n, "0x020700", TRUE);
  g_string_append_printf(s,
                         "<nic>\n<net name=\"n%d\" dev=\"%d\" speed=\"%d\" port=\"1\" guid=\"0x%d\" "
                         "maxconn=\"64\" gdr=\"1\"/>\n</nic>\n</pci>\n",
                         n, n, t->nic_mbps, 100 + n);
}

static void append_group(GString *s, const ToyNode *t, int first, int n, int bus) {
  if (t->gpus_per_switch) append_pci(s, t, bus, "0x060400", TRUE);
  for (int g = first; g < first + n; g++) append_gpu(s, t, g);
  for (int g = first; g < first + n; g++) append_nic(s, t, g);
  if (t->gpus_per_switch) g_string_append(s, "</pci>\n");
}

static void append_socket(GString *s, const ToyNode *t, int socket) {
  int per_socket = t->n_gpus / t->sockets, step = t->gpus_per_switch ? t->gpus_per_switch : per_socket;
  g_string_append_printf(s,
                         "<cpu numaid=\"%d\" arch=\"x86_64\" vendor=\"%s\" familyid=\"6\" modelid=\"143\">\n",
                         socket, t->amd ? "AuthenticAMD" : "GenuineIntel");
  for (int g = socket * per_socket; g < (socket + 1) * per_socket; g += step)
    append_group(s, t, g, step, SWITCH_BUS + g);
  g_string_append(s, "</cpu>\n");
}

char *toy_xml(const ToyNode *t) {
  GString *s = g_string_new("<system version=\"1\">\n");
  for (int i = 0; i < t->sockets; i++) append_socket(s, t, i);
  g_string_append(s, "</system>\n");
  return g_string_free(s, FALSE);
}

CsimSystem *toy_system(const ToyNode *t) {
  g_autoptr(GError) error = NULL;
  g_autofree char *text = toy_xml(t);
  g_autoptr(CsimNcclXml) xml = csim_nccl_xml_parse("toy", text, strlen(text), NULL, &error);
  g_assert_no_error(error);
  CsimSystem *system = csim_system_from_xml(xml, NULL, NULL, &error);
  g_assert_no_error(error);
  return system;
}

CsimCluster *toy_cluster(const ToyNode *t, guint n) {
  CsimCluster *c = g_new0(CsimCluster, 1);
  c->n_nodes = n;
  c->systems = g_ptr_array_new_with_free_func((GDestroyNotify)csim_system_free);
  g_ptr_array_add(c->systems, toy_system(t));
  c->node_system = g_new0(guint, n);
  return c;
}

void toy_cluster_free(CsimCluster *c) {
  g_ptr_array_free(c->systems, TRUE);
  g_free(c->node_system);
  g_free(c);
}

ToyJob toy_job(const ToyNode *t, guint n_machines, const char *const *env) {
  g_autoptr(GError) error = NULL;
  ToyJob job = {toy_cluster(t, n_machines), csim_nccl_env_new(NULL, env, NULL, &error), NULL};
  g_assert_no_error(error);
  CsimCommSpec spec = {.cluster = job.cluster, .env = job.env};
  job.comm = csim_comm_new(&spec, NULL, &error);
  g_assert_no_error(error);
  return job;
}

void toy_job_clear(ToyJob *job) {
  csim_comm_free(job->comm);
  csim_nccl_env_free(job->env);
  toy_cluster_free(job->cluster);
}
