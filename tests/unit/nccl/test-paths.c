/* Best paths and the rules on top of them, on small machines. */
#include "nccl/paths.h"
#include "nccl/topo-matrix.h"
#include "topo/nccl-xml.h"
#include <string.h>

/* --- machines ----------------------------------------------------------- */

#define CPU(numa, in)                                                                                   \
  "<cpu numaid=\"" numa "\" arch=\"x86_64\" vendor=\"GenuineIntel\" familyid=\"6\" modelid=\"143\">" in \
  "</cpu>"
#define AMD(numa, in) "<cpu numaid=\"" numa "\" arch=\"x86_64\" vendor=\"AuthenticAMD\">" in "</cpu>"
#define ARM(numa, in) "<cpu numaid=\"" numa "\" arch=\"arm64\">" in "</cpu>"
#define PCI(bus, class, in) \
  "<pci busid=\"" bus "\" class=\"" class "\" link_speed=\"32.0 GT/s PCIe\" link_width=\"16\">" in "</pci>"
#define SWITCH(bus, in) PCI(bus, "0x060400", in)
#define GPU_SM(bus, dev, sm, gdr, in) \
  PCI(bus, "0x030200", "<gpu dev=\"" dev "\" sm=\"" sm "\" rank=\"" dev "\" gdr=\"" gdr "\">" in "</gpu>")
#define GPU(bus, dev, in) GPU_SM(bus, dev, "90", "1", in)
#define NIC(bus, dev) PCI(bus, "0x020700", "<nic><net dev=\"" dev "\" speed=\"400000\" gdr=\"1\"/></nic>")
#define NVS "<nvlink target=\"f\" count=\"18\" tclass=\"0x068000\"/>"
#define NVL(bus, count) "<nvlink target=\"" bus "\" count=\"" count "\" tclass=\"0x030200\"/>"
#define SYSTEM(in) "<system version=\"1\">" in "</system>"

#define B0 "0000:11:00.0"
#define B1 "0000:12:00.0"
#define B2 "0000:21:00.0"
#define B3 "0000:22:00.0"

/* Two sockets, a switch with two GPUs and a NIC on each, no NVLink. */
#define PCIE_NODE                                                                                     \
  SYSTEM(CPU("0", SWITCH("0000:10:00.0", GPU(B0, "0", "") GPU(B1, "1", "") NIC("0000:13:00.0", "0"))) \
             CPU("1", SWITCH("0000:20:00.0", GPU(B2, "2", "") GPU(B3, "3", "") NIC("0000:23:00.0", "1"))))
/* The same with NVSwitch, and a switch and NIC for each GPU. */
#define NVSWITCH_NODE                                                                 \
  SYSTEM(CPU("0", SWITCH("0000:10:00.0", GPU(B0, "0", NVS) NIC("0000:13:00.0", "0"))) \
             CPU("1", SWITCH("0000:20:00.0", GPU(B2, "1", NVS) NIC("0000:23:00.0", "1"))))
/* A square of four V100: 0-1, 1-2, 2-3, 3-0, two links each; all on one CPU. */
#define SQUARE                                                                  \
  SYSTEM(CPU("0", GPU_SM(B0, "0", "70", "1", NVL(B1, "2") NVL(B3, "2"))         \
                      GPU_SM(B1, "1", "70", "1", NVL(B0, "2") NVL(B2, "2"))     \
                          GPU_SM(B2, "2", "70", "1", NVL(B1, "2") NVL(B3, "2")) \
                              GPU_SM(B3, "3", "70", "1", NVL(B2, "2") NVL(B0, "2"))))
/* Grace: GPUs and NICs at their CPU, C2C. */
#define C2C "<c2c bw=\"44712\" count=\"5\"/>"
#define GRACE                                                     \
  SYSTEM(ARM("0", GPU(B0, "0", NVS C2C) NIC("0000:13:00.0", "0")) \
             ARM("1", GPU(B2, "1", NVS C2C) NIC("0000:23:00.0", "1")))

typedef struct {
  CsimSystem *system;
  CsimNcclEnv *env;
  CsimPaths *paths;
} Machine;

static Machine machine(const char *text, const char *const *vars) {
  Machine m = {0};
  g_autoptr(GError) error = NULL;
  g_autoptr(CsimNcclXml) xml = csim_nccl_xml_parse("m.xml", text, strlen(text), NULL, &error);
  g_assert_no_error(error);
  m.system = csim_system_from_xml(xml, NULL, NULL, &error);
  g_assert_no_error(error);
  m.env = csim_nccl_env_new(NULL, vars, NULL, &error);
  g_assert_no_error(error);
  m.paths = csim_paths_new(m.system, &(CsimPathContext){.env = m.env});
  return m;
}

static void machine_clear(Machine *m) {
  csim_paths_free(m->paths);
  csim_nccl_env_free(m->env);
  csim_system_free(m->system);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Machine, machine_clear)

static const CsimTopoNode *gpu(const Machine *m, guint i) {
  return csim_system_node(m->system, CSIM_NODE_GPU, i);
}
static const CsimTopoNode *net(const Machine *m, guint i) {
  return csim_system_node(m->system, CSIM_NODE_NET, i);
}

/* "TYPE GB/s hops" */
static char *path(const Machine *m, const CsimTopoNode *a, const CsimTopoNode *b) {
  const CsimPath *p = csim_paths_get(m->paths, a, b);
  return g_strdup_printf("%s %g %d", csim_path_type_name(p->type), p->bw, p->n_links);
}

static void assert_path(const Machine *m, const CsimTopoNode *a, const CsimTopoNode *b,
                        const char *expected) {
  g_autofree char *got = path(m, a, b);
  g_assert_cmpstr(got, ==, expected);
}

/* Links follow each other from a to b. */
static void assert_walks(const Machine *m, const CsimTopoNode *a, const CsimTopoNode *b) {
  const CsimPath *p = csim_paths_get(m->paths, a, b);
  const CsimTopoNode *at = a;
  for (int i = 0; i < p->n_links; i++) {
    gboolean own = FALSE;
    for (guint l = 0; l < at->links->len; l++) own |= csim_node_link(at, l) == p->link[i];
    g_assert_true(own);
    at = p->link[i]->remote;
  }
  g_assert_true(at == b);
}

/* --- types -------------------------------------------------------------- */

static void test_pcie(void) {
  const char *const sys[] = {"NCCL_P2P_LEVEL=SYS", NULL};
  g_auto(Machine) m = machine(PCIE_NODE, sys);
  assert_path(&m, gpu(&m, 0), gpu(&m, 0), "LOC 5000 0");
  assert_path(&m, gpu(&m, 0), gpu(&m, 1), "PIX 48 4");
  assert_path(&m, gpu(&m, 0), net(&m, 0), "PIX 48 4");
  assert_path(&m, gpu(&m, 0), csim_system_node(m.system, CSIM_NODE_CPU, 0), "PHB 48 3");
  assert_path(&m, gpu(&m, 0), csim_system_node(m.system, CSIM_NODE_CPU, 1), "SYS 22 4");
  assert_path(&m, gpu(&m, 0), net(&m, 1), "SYS 22 7");
  assert_walks(&m, gpu(&m, 0), gpu(&m, 1));
  assert_walks(&m, net(&m, 1), gpu(&m, 0));
}

static void test_two_levels(void) {
  g_auto(Machine) m = machine(
      SYSTEM(CPU("0", SWITCH("0000:01:00.0", SWITCH("0000:02:00.0", GPU(B0, "0", ""))
                                                 SWITCH("0000:03:00.0", GPU(B1, "1", ""))) GPU(B2, "2", ""))),
      NULL);
  assert_path(&m, gpu(&m, 0), gpu(&m, 1), "PXB 48 6");
  assert_path(&m, gpu(&m, 0), gpu(&m, 2), "PHB 48 6");
}

static void test_nvlink(void) {
  g_auto(Machine) m = machine(NVSWITCH_NODE, NULL);
  assert_path(&m, gpu(&m, 0), gpu(&m, 1), "NVL 370.8 4");
  assert_walks(&m, gpu(&m, 0), gpu(&m, 1));
}

static void test_nvb(void) {
  g_auto(Machine) m = machine(SQUARE, NULL);
  assert_path(&m, gpu(&m, 0), gpu(&m, 1), "NVL 40 3");
  assert_path(&m, gpu(&m, 0), gpu(&m, 2), "NVB 40 4");
  const char *const off[] = {"NCCL_NVB_DISABLE=1", NULL};
  g_auto(Machine) without = machine(SQUARE, off);
  assert_path(&without, gpu(&without, 0), gpu(&without, 2), "PHB 48 4");
}

/* A chain of four: the ends are two GPUs apart, which NCCL does not relay over. */
static void test_nvb_once(void) {
  g_auto(Machine) m =
      machine(SYSTEM(CPU("0", GPU(B0, "0", NVL(B1, "4")) GPU(B1, "1", NVL(B0, "4") NVL(B2, "4"))
                                  GPU(B2, "2", NVL(B1, "4") NVL(B3, "4")) GPU(B3, "3", NVL(B2, "4")))),
              NULL);
  assert_path(&m, gpu(&m, 0), gpu(&m, 2), "NVB 82.4 4");
  assert_path(&m, gpu(&m, 0), gpu(&m, 3), "PHB 48 4");
}

/* --- GPUs and NICs ------------------------------------------------------ */

static void test_pxn(void) {
  g_auto(Machine) m = machine(NVSWITCH_NODE, NULL);
  assert_path(&m, gpu(&m, 0), net(&m, 1), "PXN 48 8");
  assert_path(&m, net(&m, 1), gpu(&m, 0), "SYS 22 7");
  g_assert_true(csim_paths_pxn_gpu(m.paths, gpu(&m, 0), net(&m, 1)) == gpu(&m, 1));
  g_assert_null(csim_paths_pxn_gpu(m.paths, gpu(&m, 0), net(&m, 0)));
  assert_walks(&m, gpu(&m, 0), net(&m, 1));
  const char *const off[] = {"NCCL_PXN_DISABLE=1", NULL};
  g_auto(Machine) without = machine(NVSWITCH_NODE, off);
  assert_path(&without, gpu(&without, 0), net(&without, 1), "SYS 22 7");
}

static void test_p2c(void) {
  g_auto(Machine) m = machine(GRACE, NULL);
  assert_path(&m, gpu(&m, 0), net(&m, 0), "P2C 48 4");
  assert_path(&m, net(&m, 0), gpu(&m, 0), "P2C 48 4");
  assert_path(&m, gpu(&m, 0), net(&m, 1), "PXN 48 8");
  const char *const off[] = {"NCCL_PXN_C2C=0", NULL};
  g_auto(Machine) without = machine(GRACE, off);
  assert_path(&without, gpu(&without, 0), net(&without, 1), "SYS 6 5");
}

static void test_gdr(void) {
  g_auto(Machine) m = machine(PCIE_NODE, NULL);
  g_assert_true(csim_paths_gdr_ok(m.paths, gpu(&m, 0), net(&m, 0), TRUE));
  g_assert_false(csim_paths_gdr_ok(m.paths, gpu(&m, 0), net(&m, 1), TRUE));
  const char *const loc[] = {"NCCL_NET_GDR_LEVEL=LOC", NULL};
  g_auto(Machine) never = machine(PCIE_NODE, loc);
  g_assert_false(csim_paths_gdr_ok(never.paths, gpu(&never, 0), net(&never, 0), FALSE));
  assert_path(&never, gpu(&never, 0), net(&never, 0), "PHB 48 6"); /* up to the CPU and down again */
  assert_path(&never, net(&never, 0), gpu(&never, 0), "PHB 48 6");
}

/* Before Ampere a NIC reads from a GPU only if NVLink leaves PCIe free. */
static void test_gdr_read(void) {
  g_auto(Machine) m =
      machine(SYSTEM(CPU("0", SWITCH("0000:10:00.0", GPU_SM(B0, "0", "70", "1", "") GPU_SM(
                                                         B1, "1", "70", "1", "") NIC("0000:13:00.0", "0")))),
              NULL);
  g_assert_false(csim_paths_gdr_ok(m.paths, gpu(&m, 0), net(&m, 0), TRUE));
  g_assert_true(csim_paths_gdr_ok(m.paths, gpu(&m, 0), net(&m, 0), FALSE));
  const char *const on[] = {"NCCL_NET_GDR_READ=1", NULL};
  g_auto(Machine) asked =
      machine(SYSTEM(CPU("0", SWITCH("0000:10:00.0", GPU_SM(B0, "0", "70", "1", "") GPU_SM(
                                                         B1, "1", "70", "1", "") NIC("0000:13:00.0", "0")))),
              on);
  g_assert_true(csim_paths_gdr_ok(asked.paths, gpu(&asked, 0), net(&asked, 0), TRUE));
}

static void test_no_gdr_flag(void) {
  g_auto(Machine) m = machine(
      SYSTEM(CPU("0", SWITCH("0000:10:00.0", GPU_SM(B0, "0", "90", "0", "") NIC("0000:13:00.0", "0")))),
      NULL);
  g_assert_false(csim_paths_gdr_ok(m.paths, gpu(&m, 0), net(&m, 0), FALSE));
  assert_path(&m, gpu(&m, 0), net(&m, 0), "PHB 48 6");
}

/* --- between GPUs ------------------------------------------------------- */

static void test_p2p(void) {
  gboolean read = TRUE;
  g_auto(Machine) m = machine(PCIE_NODE, NULL);
  g_assert_true(csim_paths_p2p_ok(m.paths, gpu(&m, 0), gpu(&m, 1), &read));
  g_assert_false(read);
  g_assert_false(csim_paths_p2p_ok(m.paths, gpu(&m, 0), gpu(&m, 2), NULL));
  g_assert_cmpint(csim_paths_via(m.paths, gpu(&m, 0), gpu(&m, 1)), ==, CSIM_VIA_P2P);
  /* Each GPU reaches a NIC faster (48) than the other socket (22): the network carries it, and the machine falls into two nodes. */
  g_assert_cmpint(csim_paths_via(m.paths, gpu(&m, 0), gpu(&m, 2)), ==, CSIM_VIA_NET);
  int domain[4];
  g_assert_cmpuint(csim_paths_domains(m.paths, domain), ==, 2);
  g_assert_cmpint(domain[1], ==, 0);
  g_assert_cmpint(domain[3], ==, 2);
}

static void test_no_net_inside(void) {
  const char *const vars[] = {"NCCL_NET_DISABLE_INTRA=1", NULL};
  int domain[4];
  g_auto(Machine) m = machine(PCIE_NODE, vars);
  g_assert_cmpint(csim_paths_via(m.paths, gpu(&m, 0), gpu(&m, 2)), ==, CSIM_VIA_SHM);
  g_assert_cmpuint(csim_paths_domains(m.paths, domain), ==, 1);
  const char *const both[] = {"NCCL_NET_DISABLE_INTRA=1", "NCCL_SHM_DISABLE=1", NULL};
  g_auto(Machine) n = machine(PCIE_NODE, both);
  g_assert_cmpint(csim_paths_via(n.paths, gpu(&n, 0), gpu(&n, 2)), ==, CSIM_VIA_NET);
}

static void test_p2p_disable(void) {
  const char *const vars[] = {"NCCL_P2P_DISABLE=1", NULL};
  g_auto(Machine) m = machine(NVSWITCH_NODE, vars);
  g_assert_false(csim_paths_p2p_ok(m.paths, gpu(&m, 0), gpu(&m, 1), NULL));
  g_assert_cmpint(csim_paths_get(m.paths, gpu(&m, 0), gpu(&m, 1))->type, ==, CSIM_PATH_NET);
}

/* AMD with two GPUs allows P2P over sockets; with three not. */
static void test_amd(void) {
  g_auto(Machine) two = machine(SYSTEM(AMD("0", GPU(B0, "0", "")) AMD("1", GPU(B2, "1", ""))), NULL);
  g_assert_true(csim_paths_p2p_ok(two.paths, gpu(&two, 0), gpu(&two, 1), NULL));
  g_auto(Machine) three =
      machine(SYSTEM(AMD("0", GPU(B0, "0", "") GPU(B1, "1", "")) AMD("1", GPU(B2, "2", ""))), NULL);
  g_assert_false(csim_paths_p2p_ok(three.paths, gpu(&three, 0), gpu(&three, 2), NULL));
}

static void test_read(void) {
  gboolean read;
  g_auto(Machine) m =
      machine(SYSTEM(CPU("0", GPU_SM(B0, "0", "80", "1", NVS) GPU_SM(B1, "1", "80", "1", NVS))), NULL);
  csim_paths_p2p_ok(m.paths, gpu(&m, 0), gpu(&m, 1), &read);
  g_assert_true(read);
  const char *const off[] = {"NCCL_P2P_READ_ENABLE=0", NULL};
  g_auto(Machine) n =
      machine(SYSTEM(CPU("0", GPU_SM(B0, "0", "80", "1", NVS) GPU_SM(B1, "1", "80", "1", NVS))), off);
  csim_paths_p2p_ok(n.paths, gpu(&n, 0), gpu(&n, 1), &read);
  g_assert_false(read);
}

/* --- local NICs --------------------------------------------------------- */

static int local(const Machine *m, guint g, int channel) {
  return csim_paths_local_net(m->paths, gpu(m, g), channel)->net.dev;
}

/* Four NICs and two GPUs under one switch: two NICs a GPU, spread by bit reversal of dev. */
static void test_local_nets(void) {
  g_auto(Machine) m = machine(
      SYSTEM(CPU("0", SWITCH("0000:10:00.0", GPU(B0, "0", "") GPU(B1, "1", "") NIC("0000:13:00.0", "0")
                                                 NIC("0000:14:00.0", "1") NIC("0000:15:00.0", "2")
                                                     NIC("0000:16:00.0", "3")))),
      NULL);
  const int expected[2][3] = {{0, 1, 0}, {2, 3, 2}};
  for (guint g = 0; g < 2; g++)
    for (int c = 0; c < 3; c++) g_assert_cmpint(local(&m, g, c), ==, expected[g][c]);
  g_assert_true(csim_paths_local_gpu(m.paths, net(&m, 1)) == gpu(&m, 0));
  g_assert_true(csim_paths_local_gpu(m.paths, net(&m, 3)) == gpu(&m, 1));
  const char *const one[] = {"NCCL_NETDEVS_POLICY=MAX:1", NULL};
  g_auto(Machine) n = machine(SYSTEM(CPU("0", SWITCH("0000:10:00.0", GPU(B0, "0", "") NIC("0000:13:00.0", "0")
                                                                         NIC("0000:14:00.0", "1")))),
                              one);
  g_assert_cmpint(local(&n, 0, 1), ==, 0);
  g_assert_null(csim_paths_local_gpu(n.paths, net(&n, 1)));
}

static void test_no_nets(void) {
  g_auto(Machine) m = machine(SQUARE, NULL);
  g_assert_null(csim_paths_local_net(m.paths, gpu(&m, 0), 0));
}

/* --- where NCCL gives up ------------------------------------------------ */

static void assert_gives_up(const char *text, const char *message) {
  g_autoptr(GError) error = NULL;
  g_auto(Machine) m = machine(text, NULL);
  g_assert_false(csim_paths_check(m.paths, &error));
  g_assert_error(error, CSIM_ERROR, CSIM_ERROR_NCCL);
  g_assert_nonnull(strstr(error->message, message));
}

static void test_gives_up(void) {
  assert_gives_up(SYSTEM(CPU("0", GPU(B0, "0", NVL(B1, "4")) GPU(B1, "1", ""))),
                  "the link DEV/0 -> DEV/1 has no way back");
  assert_gives_up(SYSTEM(CPU("0", "<pci busid=\"1\" class=\"0x03\" link_speed=\"\" link_width=\"-1\"><gpu "
                                  "dev=\"0\" sm=\"90\" rank=\"0\" gdr=\"1\"/></pci>")),
                  "no CPU can be reached from GPU/0");
}

/* --- hosts -------------------------------------------------------------- */

#define HOST(hash, bus)                                                        \
  "<cpu numaid=\"0\" host_hash=\"" hash "\" arch=\"arm64\">" GPU(B0, "0", NVS) \
      NIC("0000:13:00.0", "0") "</cpu>"

static void test_hosts(void) {
  g_auto(Machine) m = machine(SYSTEM(HOST("1", B0) HOST("2", B0)), NULL);
  assert_path(&m, gpu(&m, 0), gpu(&m, 1), "NVL 370.8 4");
  assert_path(&m, gpu(&m, 0), net(&m, 1), "DIS 0 0"); /* no PXN over hosts */
  g_assert_cmpint(csim_paths_via(m.paths, gpu(&m, 0), gpu(&m, 1)), ==, CSIM_VIA_P2P);
  g_autoptr(CsimPaths) split =
      csim_paths_new(m.system, &(CsimPathContext){.env = m.env, .split_hosts = TRUE});
  g_assert_cmpint(csim_paths_via(split, gpu(&m, 0), gpu(&m, 1)), ==, CSIM_VIA_NET);
}

static void test_matrix(void) {
  g_auto(Machine) m = machine(NVSWITCH_NODE, NULL);
  g_autofree char *text = csim_topo_matrix_text(m.paths);
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  g_assert_cmpstr(lines[1], ==, "GPU0  X     NV18  PIX   SYS    N/A                   0");
  g_assert_cmpstr(lines[4], ==, "NIC1  SYS   PIX   SYS   X");
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/paths/type/pcie", test_pcie);
  g_test_add_func("/paths/type/two-levels", test_two_levels);
  g_test_add_func("/paths/type/nvlink", test_nvlink);
  g_test_add_func("/paths/type/nvb", test_nvb);
  g_test_add_func("/paths/type/nvb-once", test_nvb_once);
  g_test_add_func("/paths/net/pxn", test_pxn);
  g_test_add_func("/paths/net/p2c", test_p2c);
  g_test_add_func("/paths/net/gdr", test_gdr);
  g_test_add_func("/paths/net/gdr-read", test_gdr_read);
  g_test_add_func("/paths/net/no-gdr-flag", test_no_gdr_flag);
  g_test_add_func("/paths/gpu/p2p", test_p2p);
  g_test_add_func("/paths/gpu/no-net-inside", test_no_net_inside);
  g_test_add_func("/paths/gpu/p2p-disable", test_p2p_disable);
  g_test_add_func("/paths/gpu/amd", test_amd);
  g_test_add_func("/paths/gpu/read", test_read);
  g_test_add_func("/paths/local/nets", test_local_nets);
  g_test_add_func("/paths/local/none", test_no_nets);
  g_test_add_func("/paths/gives-up", test_gives_up);
  g_test_add_func("/paths/hosts", test_hosts);
  g_test_add_func("/paths/matrix", test_matrix);
  return g_test_run();
}
