/* The node graph: every rule of the builder on a text of its own, the copy and the cut, and the findings. */
#include "topo/check.h"
#include "topo/export.h"
#include "topo/nccl-xml.h"
#include <string.h>

/* --- texts -------------------------------------------------------------- */

#define SPR "<cpu numaid=\"0\" arch=\"x86_64\" vendor=\"GenuineIntel\" familyid=\"6\" modelid=\"143\">"
#define PCI(bus, class, more, speed, width) \
  "<pci busid=\"" bus "\" class=\"" class "\"" more " link_speed=\"" speed "\" link_width=\"" width "\">"
#define GEN5 "32.0 GT/s PCIe"
#define GPU_ON(bus, dev, sm, in)       \
  PCI(bus, "0x030200", "", GEN5, "16") \
  "<gpu dev=\"" dev "\" sm=\"" sm "\" rank=\"" dev "\" gdr=\"1\">" in "</gpu></pci>"
#define NIC_ON(bus, dev, speed)        \
  PCI(bus, "0x020700", "", GEN5, "16") \
  "<nic><net name=\"n" dev "\" dev=\"" dev "\" speed=\"" speed "\" gdr=\"1\"/></nic></pci>"
#define SYSTEM(in) "<system version=\"1\">" in "</system>"
#define ONE(in) SYSTEM(SPR in "</cpu>")
#define NVSWITCH(n) "<nvlink target=\"0000:ff:00.0\" count=\"" n "\" tclass=\"0x068000\"/>"

static CsimSystem *build(const char *text, CsimDiag *diag) {
  g_autoptr(GError) error = NULL;
  g_autoptr(CsimNcclXml) xml = csim_nccl_xml_parse("m.xml", text, strlen(text), diag, &error);
  g_assert_no_error(error);
  CsimSystem *system = csim_system_from_xml(xml, diag, NULL, &error);
  g_assert_no_error(error);
  return system;
}

/* "TYPE GB/s NODE, ..." of a node's links in stored order. */
static char *links(const CsimSystem *s, CsimNodeType type, guint index) {
  GString *out = g_string_new(NULL);
  const CsimTopoNode *node = csim_system_node(s, type, index);
  for (guint i = 0; i < node->links->len; i++) {
    const CsimTopoLink *link = csim_node_link(node, i);
    g_autofree char *name = csim_node_name(s, link->remote);
    g_string_append_printf(out, "%s%s %g %s", i > 0 ? ", " : "", csim_link_type_name(link->type), link->bw,
                           name);
  }
  return g_string_free(out, FALSE);
}

/* --- tables ------------------------------------------------------------- */

typedef struct {
  const char *name, *text;
  CsimNodeType type; /* of the node whose links are compared */
  guint index;
  const char *links;
} Case;

static const Case cases[] = {
    {"pci/gen3 without suffix",
     ONE(PCI("0000:01:00.0", "0x030200", "", "8.0 GT/s",
             "8") "<gpu dev=\"0\" sm=\"80\" rank=\"0\" gdr=\"1\"/></pci>"),
     CSIM_NODE_DEV, 0, "LOC 5000 GPU/0, PCI 6 CPU/0"},
    {"pci/gen4 x8",
     ONE(PCI("0000:01:00.0", "0x030200", "", "16 GT/s",
             "8") "<gpu dev=\"0\" sm=\"80\" rank=\"0\" gdr=\"1\"/></pci>"),
     CSIM_NODE_DEV, 0, "LOC 5000 GPU/0, PCI 12 CPU/0"},
    {"pci/gen6",
     ONE(PCI("0000:01:00.0", "0x030200", "", "64.0 GT/s PCIe",
             "16") "<gpu dev=\"0\" sm=\"80\" rank=\"0\" gdr=\"1\"/></pci>"),
     CSIM_NODE_DEV, 0, "LOC 5000 GPU/0, PCI 96 CPU/0"},
    {"pci/width 0",
     ONE(PCI("0000:01:00.0", "0x030200", "", GEN5,
             "0") "<gpu dev=\"0\" sm=\"80\" rank=\"0\" gdr=\"1\"/></pci>"),
     CSIM_NODE_DEV, 0, "LOC 5000 GPU/0, PCI 48 CPU/0"},
    {"pci/width octal",
     ONE(PCI("0000:01:00.0", "0x030200", "", GEN5,
             "010") "<gpu dev=\"0\" sm=\"80\" rank=\"0\" gdr=\"1\"/></pci>"),
     CSIM_NODE_DEV, 0, "LOC 5000 GPU/0, PCI 24 CPU/0"},
    {"pci/no speed",
     ONE(PCI("0000:01:00.0", "0x030200", "", "", "") "<gpu dev=\"0\" sm=\"80\" rank=\"0\" gdr=\"1\"/></pci>"),
     CSIM_NODE_DEV, 0, "LOC 5000 GPU/0, PCI 12 CPU/0"},
    {"pci/switch",
     ONE(PCI("0000:10:00.0", "0x060400", "", "16.0 GT/s PCIe", "16") GPU_ON("0000:11:00.0", "0", "80", "")
             NIC_ON("0000:12:00.0", "0", "200000") "</pci>"),
     CSIM_NODE_PCI, 0, "PCI 48 DEV/0, PCI 48 NIC/12000, PCI 24 CPU/0"},
    {"pci/unknown class is a switch",
     ONE(PCI("0000:10:00.0", "0x999999", "", GEN5, "16") GPU_ON("0000:11:00.0", "0", "80", "") "</pci>"),
     CSIM_NODE_PCI, 0, "PCI 48 DEV/0, PCI 48 CPU/0"},
    {"pci/up link goes last",
     ONE(PCI("0000:10:00.0", "0x060400", "", GEN5, "16") PCI("0000:11:00.0", "0x060400", "", "8 GT/s", "16")
             GPU_ON("0000:12:00.0", "0", "80", "") "</pci></pci>"),
     CSIM_NODE_PCI, 0, "PCI 12 PCI/11000, PCI 48 CPU/0"},
    {"nvlink/v100 pair",
     ONE(GPU_ON("0000:01:00.0", "0", "70",
                "<nvlink target=\"0000:02:00.0\" count=\"2\" tclass=\"0x030200\"/>")
             GPU_ON("0000:02:00.0", "1", "70",
                    "<nvlink target=\"0000:01:00.0\" count=\"2\" tclass=\"0x030200\"/>")),
     CSIM_NODE_DEV, 0, "LOC 5000 GPU/0, NVL 40 DEV/1, PCI 48 CPU/0"},
    {"nvlink/absent peer",
     ONE(GPU_ON("0000:01:00.0", "0", "70",
                "<nvlink target=\"0000:02:00.0\" count=\"2\" tclass=\"0x030200\"/>")),
     CSIM_NODE_DEV, 0, "LOC 5000 GPU/0, PCI 48 CPU/0"},
    {"nvlink/several switches are one",
     ONE(GPU_ON("0000:01:00.0", "0", "80", NVSWITCH("2") NVSWITCH("2") NVSWITCH("8"))), CSIM_NODE_DEV, 0,
     "LOC 5000 GPU/0, NVL 240 NVS/0, PCI 48 CPU/0"},
    {"nvlink/odd class is a switch",
     ONE(GPU_ON("0000:01:00.0", "0", "86", "<nvlink target=\"x\" count=\"4\" tclass=\"0x020000\"/>")),
     CSIM_NODE_DEV, 0, "LOC 5000 GPU/0, NVL 48 NVS/0, PCI 48 CPU/0"},
    {"nvlink/blackwell", ONE(GPU_ON("0000:01:00.0", "0", "100", NVSWITCH("18"))), CSIM_NODE_NVS, 0,
     "NVL 721.8 DEV/0"},
    {"nvlink/to the CPU",
     ONE(GPU_ON("0000:01:00.0", "0", "70", "<nvlink target=\"x\" count=\"3\" tclass=\"0x068001\"/>")),
     CSIM_NODE_CPU, 0, "NVL 60 DEV/0, PCI 48 DEV/0"},
    {"c2c", ONE(GPU_ON("0000:01:00.0", "0", "90", "<c2c bw=\"44712\" count=\"5\"/>")), CSIM_NODE_DEV, 0,
     "LOC 5000 GPU/0, PCI 48 CPU/0, C2C 223.56 CPU/0"},
    {"two ranks of one GPU",
     ONE(PCI("0000:01:00.0", "0x030200", "", GEN5,
             "16") "<gpu dev=\"0\" sm=\"90\" rank=\"0\" gdr=\"1\">" NVSWITCH("18") "</gpu>"
                                                                                   "<gpu dev=\"0\" sm=\"90\" "
                                                                                   "rank=\"1\" "
                                                                                   "gdr=\"1\">" NVSWITCH(
                                                                                       "18") "</gpu></pci>"),
     CSIM_NODE_DEV, 0, "LOC 5000 GPU/0, LOC 5000 GPU/0, NVL 370.8 NVS/0, PCI 48 CPU/0"},
    {"pcilink to nothing",
     ONE(PCI("0000:10:00.0", "0x060400", "", GEN5, "16") "<pcilink target=\"0000:20:00.0\"/></pci>"),
     CSIM_NODE_PCI, 0, "PCI 48 CPU/0"},
    {"nic/virtual ones share a node",
     ONE("<nic><net dev=\"0\" speed=\"10000\"/></nic><nic><net dev=\"1\" speed=\"20000\"/></nic>"),
     CSIM_NODE_NIC, 0, "NET 2.5 NET/1, NET 1.25 NET/0, PCI 5000 CPU/0"},
    {"nic/gin and rma",
     ONE(PCI("0000:01:00.0", "0x020700", "", GEN5,
             "16") "<nic><net dev=\"3\" speed=\"400000\" gin=\"1\" rma=\"1\"/></nic></pci>"),
     CSIM_NODE_NIC, 0, "NET 50 NET/3, NET 50 GIN/3, NET 50 RMA/3, PCI 48 CPU/0"},
    {"cpu/no numa",
     SYSTEM("<cpu numaid=\"-1\" arch=\"arm64\">" GPU_ON("0000:01:00.0", "0", "90", "") "</cpu>"),
     CSIM_NODE_DEV, 0, "LOC 5000 GPU/0, PCI 48 CPU/ffffffffffffff"},
    {"cpu/power", SYSTEM("<cpu numaid=\"0\" arch=\"ppc64le\"/><cpu numaid=\"8\" arch=\"ppc64le\"/>"),
     CSIM_NODE_CPU, 1, "SYS 32 CPU/0"},
    {"cpu/zhaoxin",
     SYSTEM("<cpu numaid=\"0\" arch=\"x86_64\" vendor=\"  Shanghai  \" familyid=\"7\" modelid=\"91\"/>"
            "<cpu numaid=\"1\" arch=\"x86_64\" vendor=\"CentaurHauls\" familyid=\"7\" modelid=\"59\"/>"),
     CSIM_NODE_CPU, 0, "SYS 9 CPU/1"},
    {"cpu/each way its own",
     SYSTEM("<cpu numaid=\"0\" arch=\"x86_64\" vendor=\"AuthenticAMD\"/>" SPR "</cpu>"), CSIM_NODE_CPU, 1,
     "SYS 22 CPU/0"},
    {"cpu/unknown vendor",
     SYSTEM("<cpu numaid=\"0\" arch=\"x86_64\" vendor=\"None\"/><cpu numaid=\"1\" arch=\"riscv\"/>"),
     CSIM_NODE_CPU, 1, "SYS 5000 CPU/0"},
};

static void test_links(gconstpointer data) {
  const Case *c = data;
  g_autoptr(CsimSystem) s = build(c->text, NULL);
  g_autofree char *got = links(s, c->type, c->index);
  g_assert_cmpstr(got, ==, c->links);
}

/* --- Broadcom ----------------------------------------------------------- */

#define BCM(device, sub) \
  " vendor=\"0x1000\" device=\"" device "\" subsystem_vendor=\"0x1000\" subsystem_device=\"" sub "\""

/* Gen5: parent ...0xxx over child ...1xxx is one chip; two parents or two children are not. */
static void test_broadcom(void) {
  static const struct {
    const char *parent, *child;
    guint switches;
  } pairs[] = {{BCM("0xc030", "0x0001"), BCM("0xc030", "0x1002"), 1},
               {BCM("0xc030", "0x1002"), BCM("0xc030", "0x1002"), 2},
               {BCM("0xc010", "0xa096"), BCM("0xc010", "0xa001"), 1},
               {BCM("0xc010", "0xa096"), BCM("0xc030", "0x1002"), 2},
               {"", BCM("0xc010", "0xa096"), 2}};
  for (guint i = 0; i < G_N_ELEMENTS(pairs); i++) {
    g_autofree char *text = g_strdup_printf(
        ONE("<pci busid=\"0000:10:00.0\" class=\"0x060400\" link_speed=\"16 GT/s\" link_width=\"16\"%s>"
            "<pci busid=\"0000:11:00.0\" class=\"0x060400\" link_speed=\"8 GT/s\" "
            "link_width=\"16\"%s>" GPU_ON("0000:12:00.0", "0", "80", "") "</pci></pci>"),
        pairs[i].parent, pairs[i].child);
    g_autoptr(CsimSystem) s = build(text, NULL);
    g_assert_cmpuint(csim_system_n(s, CSIM_NODE_PCI), ==, pairs[i].switches);
    g_autofree char *got = links(s, CSIM_NODE_PCI, 0);
    g_assert_cmpstr(got, ==,
                    pairs[i].switches == 1 ? "PCI 48 DEV/0, PCI 24 CPU/0" : "PCI 12 PCI/11000, PCI 24 CPU/0");
  }
}

/* --- hosts -------------------------------------------------------------- */

#define HOST(hash, gpu) "<cpu numaid=\"0\" host_hash=\"" hash "\" arch=\"arm64\">" gpu "</cpu>"

static void test_hosts(void) {
  g_autoptr(CsimSystem) s =
      build(SYSTEM(HOST("0xb", GPU_ON("0000:01:00.0", "0", "100", NVSWITCH("18")))
                       HOST("A", GPU_ON("0000:01:00.0", "0", "100", NVSWITCH("18"))) HOST("0xB", "")),
            NULL);
  g_assert_cmpint(s->n_hosts, ==, 2);
  g_autofree char *nvs = links(s, CSIM_NODE_NVS, 0), *third = links(s, CSIM_NODE_CPU, 2);
  g_assert_cmpstr(nvs, ==, "NVL 721.8 DEV/0-0, NVL 721.8 DEV/1-0");
  g_assert_cmpstr(third, ==, "SYS 6 CPU/0-0");
}

/* --- failures ----------------------------------------------------------- */

static void test_refusals(void) {
  static const struct {
    const char *text, *reason;
  } bad[] = {
      {"", "no-system"},
      {SYSTEM("<cpu arch=\"arm64\"/>"), "missing-attribute cpu/numaid"},
      {SYSTEM("<cpu numaid=\"0\"/>"), "missing-attribute cpu/arch"},
      {ONE("<pci class=\"0x060400\" link_speed=\"\" link_width=\"\"/>"), "missing-attribute pci/busid"},
      {ONE(GPU_ON("0000:01:00.0", "0", "70", "<nvlink tclass=\"0x068000\"/>")),
       "missing-attribute nvlink/count"},
      {ONE(GPU_ON("0000:01:00.0", "0", "70", "<nvlink count=\"1\" tclass=\"0x03\"/>")),
       "missing-attribute nvlink/target"},
      {ONE(GPU_ON("0000:01:00.0", "0", "90", "<c2c count=\"1\"/>")), "missing-attribute c2c/bw"},
      {ONE(PCI("0000:10:00.0", "0x060400", "", GEN5, "16") "<pcilink/></pci>"),
       "missing-attribute pcilink/target"}};
  for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
    g_autoptr(GError) error = NULL;
    CsimNcclOutcome outcome;
    g_autoptr(CsimNcclXml) xml = csim_nccl_xml_parse("m.xml", bad[i].text, strlen(bad[i].text), NULL, NULL);
    g_assert_null(csim_system_build(xml, NULL, NULL, &outcome, NULL, &error));
    g_assert_cmpstr(outcome.reason, ==, bad[i].reason);
    g_assert_cmpint(outcome.result, ==, CSIM_NCCL_INTERNAL_ERROR);
    g_assert_error(error, CSIM_ERROR, CSIM_ERROR_NCCL);
    g_assert_true(g_str_has_prefix(error->message, "m.xml:1:"));
  }
}

/* --- copy and cut ------------------------------------------------------- */

static void assert_sound(const CsimSystem *s) {
  for (int t = 0; t < CSIM_N_NODE_TYPES; t++)
    for (guint i = 0; i < csim_system_n(s, t); i++) {
      const CsimTopoNode *node = csim_system_node(s, t, i);
      g_assert_cmpint(node->index, ==, i);
      for (guint l = 0; l < node->links->len; l++) {
        const CsimTopoNode *remote = csim_node_link(node, l)->remote;
        g_assert_true(csim_system_node(s, remote->type, (guint)remote->index) == remote);
      }
    }
}

#define TWO_SOCKETS                                                                                         \
  SYSTEM(                                                                                                   \
      SPR PCI("0000:10:00.0", "0x060400", "", GEN5, "16") GPU_ON("0000:11:00.0", "0", "90", NVSWITCH("18")) \
          NIC_ON("0000:12:00.0", "0", "400000") "</pci>" PCI("0000:18:00.0", "0x060400", "", GEN5, "16")    \
              GPU_ON(                                                                                       \
                  "0000:19:00.0", "1", "90",                                                                \
                  NVSWITCH("18")) "</pci></cpu><cpu numaid=\"1\" arch=\"x86_64\" vendor=\"GenuineIntel\" "  \
                                  "familyid=\"6\" modelid=\"143\">" GPU_ON("0000:81:00.0", "2", "90",       \
                                                                           NVSWITCH("18")) "</cpu>")

static void test_keep(void) {
  g_autoptr(CsimSystem) whole = build(TWO_SOCKETS, NULL), s = csim_system_copy(whole);
  assert_sound(s);
  g_assert_true(csim_system_keep_gpus(s, (const int[]){1}, 1, NULL));
  assert_sound(s);
  g_assert_cmpuint(csim_system_n(s, CSIM_NODE_GPU), ==, 1);
  g_assert_cmpuint(csim_system_n(s, CSIM_NODE_DEV), ==, 1);
  g_assert_cmpuint(csim_system_n(s, CSIM_NODE_PCI), ==, 2); /* the other one still leads to a NIC */
  g_assert_cmpuint(csim_system_n(s, CSIM_NODE_CPU), ==, 1);
  g_assert_cmpuint(csim_system_n(s, CSIM_NODE_NVS), ==, 1);
  g_assert_cmpuint(csim_system_n(whole, CSIM_NODE_GPU), ==, 3);
  assert_sound(whole);
}

static void test_keep_unknown(void) {
  g_autoptr(CsimSystem) s = build(TWO_SOCKETS, NULL);
  g_autoptr(GError) error = NULL;
  g_assert_false(csim_system_keep_gpus(s, (const int[]){0, 7}, 2, &error));
  g_assert_error(error, CSIM_ERROR, CSIM_ERROR_REFERENCE);
  g_assert_cmpstr(error->message, ==, "m has no GPU with dev 7; it has 3 GPUs");
  g_assert_cmpuint(csim_system_n(s, CSIM_NODE_GPU), ==, 3);
}

static void test_remove(void) {
  g_autoptr(CsimSystem) s = build(TWO_SOCKETS, NULL);
  csim_system_remove(s, csim_system_node(s, CSIM_NODE_DEV, 0));
  assert_sound(s);
  g_autofree char *nvs = links(s, CSIM_NODE_NVS, 0);
  g_assert_cmpstr(nvs, ==, "NVL 370.8 DEV/1, NVL 370.8 DEV/2");
}

/* --- findings ----------------------------------------------------------- */

typedef struct {
  const char *name, *text, *finding; /* how the first finding of the kind starts */
  double cost;
} Finding;

#define BARE(bus, dev, speed, width) \
  PCI(bus, "0x030200", "", speed, width) "<gpu dev=\"" dev "\" sm=\"90\" rank=\"" dev "\" gdr=\"1\"/></pci>"

static const Finding findings[] = {
    {"clean", TWO_SOCKETS, NULL, 0},
    {"width 0", ONE(BARE("0000:01:00.0", "0", GEN5, "0")),
     "link_width=\"0\"; NCCL takes 16 lanes: 48 GB/s at 32.0 GT/s PCIe", 0},
    {"width text", ONE(BARE("0000:01:00.0", "0", GEN5, "x8")), "link_width=\"x8\"; NCCL takes 16 lanes", 0},
    {"width negative", ONE(BARE("0000:01:00.0", "0", GEN5, "-1")),
     "link_width=\"-1\" gives NCCL a negative bandwidth", 0},
    {"no suffix", ONE(BARE("0000:01:00.0", "0", "32.0 GT/s", "16")),
     "link_speed=\"32.0 GT/s\" lacks the suffix \" PCIe\"", 36},
    {"unknown speed", ONE(BARE("0000:01:00.0", "0", "Unknown speed", "16")),
     "link_speed=\"Unknown speed\" is not in NCCL's table", 0},
    {"slow upstream port",
     ONE(PCI("0000:10:00.0", "0x060400", "", "16 GT/s", "8") BARE("0000:11:00.0", "0", GEN5, "16") "</pci>"),
     "the upstream port of PCI/10000 has 12 GB/s, DEV/0 below it 48", 36},
    {"slow GPU slot", ONE(BARE("0000:01:00.0", "0", GEN5, "16") BARE("0000:02:00.0", "1", GEN5, "8")),
     "the PCIe link of GPU 1 has 24 GB/s, the best GPU's 48", 24},
    {"far NIC",
     SYSTEM(SPR GPU_ON("0000:01:00.0", "0", "90",
                       "") "</cpu><cpu numaid=\"1\" arch=\"x86_64\" vendor=\"GenuineIntel\" familyid=\"6\" "
                           "modelid=\"143\">" NIC_ON("0000:81:00.0", "0", "400000") "</cpu>"),
     "net 0 is on a socket without GPUs; all its traffic crosses the socket link (22 GB/s)", 26},
    {"no NVLink entry",
     ONE(GPU_ON("0000:01:00.0", "0", "90", NVSWITCH("18")) GPU_ON("0000:02:00.0", "1", "90", "")),
     "GPU 1 has no NVLink entry, others have 18 links", 370.8},
    {"fewer NVLinks",
     ONE(GPU_ON("0000:01:00.0", "0", "90", NVSWITCH("18")) GPU_ON("0000:02:00.0", "1", "90", NVSWITCH("16"))),
     "GPU 1 has 16 NVLinks, others 18", 41.2},
    {"NVLink to nothing",
     ONE(GPU_ON("0000:01:00.0", "0", "90", "<nvlink target=\"0000:02:00.0\" count=\"2\" tclass=\"0x03\"/>")),
     "NVLink to 0000:02:00.0, which is no GPU of this system", 41.2},
    {"one-sided NVLink",
     ONE(GPU_ON("0000:01:00.0", "0", "90", "<nvlink target=\"0000:02:00.0\" count=\"2\" tclass=\"0x03\"/>")
             GPU_ON("0000:02:00.0", "1", "90", "")),
     "the NVL link DEV/0 -> DEV/1 has no way back", 0},
    {"no rank",
     ONE(PCI("0000:01:00.0", "0x030200", "", GEN5, "16") "<gpu dev=\"0\" sm=\"90\" gdr=\"1\"/></pci>"),
     "GPU without rank; NCCL leaves it out", 0},
    {"no gdr",
     ONE(PCI("0000:01:00.0", "0x030200", "", GEN5, "16") "<gpu dev=\"0\" sm=\"90\" rank=\"0\"/></pci>"),
     "GPU without gdr", 0},
    {"net without dev", ONE("<nic><net name=\"a\" speed=\"10000\"/></nic>"),
     "net without dev; NCCL leaves it out", 0},
    {"net without speed", ONE("<nic><net dev=\"0\" gdr=\"1\"/></nic>"),
     "net without a speed above 0; NCCL takes 10 Gb/s: 1.25 GB/s", 0},
    {"unequal nets", ONE(NIC_ON("0000:01:00.0", "0", "400000") NIC_ON("0000:02:00.0", "1", "100000")),
     "net 1 has 12.5 GB/s, the fastest net 50", 37.5},
    {"slow NIC slot",
     ONE(PCI("0000:01:00.0", "0x020700", "", "8 GT/s",
             "8") "<nic><net dev=\"0\" speed=\"100000\" gdr=\"1\"/></nic></pci>"),
     "the PCIe link of net 0 has 6 GB/s, its wire 12.5", 6.5},
    {"unknown CPU", SYSTEM("<cpu numaid=\"0\" arch=\"riscv\"/><cpu numaid=\"1\" arch=\"riscv\"/>"),
     "CPU of an architecture or vendor", 0},
    {"second system", SYSTEM("") SYSTEM(""), "second <system>; NCCL uses the first one only", 0},
};

static void test_finding(gconstpointer data) {
  const Finding *f = data;
  g_autoptr(CsimDiag) diag = csim_diag_new();
  csim_system_free(build(f->text, diag));
  const CsimFinding *found = NULL;
  for (guint i = 0; i < csim_diag_n(diag) && found == NULL; i++) {
    const CsimFinding *d = csim_diag_get(diag, i);
    if (f->finding == NULL || g_str_has_prefix(d->text, f->finding))
      found = d;
    else
      g_test_message("%s", d->text);
  }
  g_assert_true((found != NULL) == (f->finding != NULL));
  if (found == NULL) return;
  g_assert_cmpfloat_with_epsilon(found->cost_gbps, f->cost, 0.01);
  g_assert_cmpstr(found->loc.file, ==, "m.xml");
  g_assert_cmpuint(found->loc.line, ==, 1);
}

static void test_dot(void) {
  g_autoptr(CsimSystem) s = build(ONE(GPU_ON("0000:01:00.0", "0", "90", "")), NULL);
  g_autofree char *dot = csim_topo_dot(s);
  g_assert_nonnull(strstr(dot, "\"CPU/0\" -> \"DEV/0\" [label=\"PCI 48\", dir=both];"));
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *path = g_strdup_printf("/system/links/%s", cases[i].name);
    g_test_add_data_func(path, &cases[i], test_links);
  }
  for (guint i = 0; i < G_N_ELEMENTS(findings); i++) {
    g_autofree char *path = g_strdup_printf("/system/finding/%s", findings[i].name);
    g_test_add_data_func(path, &findings[i], test_finding);
  }
  g_test_add_func("/system/broadcom", test_broadcom);
  g_test_add_func("/system/hosts", test_hosts);
  g_test_add_func("/system/refusals", test_refusals);
  g_test_add_func("/system/keep", test_keep);
  g_test_add_func("/system/keep-unknown", test_keep_unknown);
  g_test_add_func("/system/remove", test_remove);
  g_test_add_func("/system/dot", test_dot);
  return g_test_run();
}
