/* Audits: the arithmetic, the limits, NCCL's lines, variables, pairs; and the three claims that started it. */
#include "exp/audit.h"

#include <math.h>
#include <string.h>

static const CsimAuditFinding *finding(const CsimAudit *audit, const char *words) {
  for (guint i = 0; i < audit->findings->len; i++) {
    const CsimAuditFinding *f = g_ptr_array_index(audit->findings, i);
    if (strstr(f->text, words)) return f;
  }
  return NULL;
}

static CsimAudit *claim(const char *text, CsimAuditSpec spec) {
  g_autoptr(GError) error = NULL;
  CsimAudit *audit = csim_audit_new();
  gboolean ok = csim_audit_claim(audit, &spec, text, &error);
  g_assert_no_error(error);
  g_assert_true(ok);
  return audit;
}

static char *data_path(const char *name) {
  return g_build_filename(g_getenv("COLLSIM_SOURCE_ROOT") ? g_getenv("COLLSIM_SOURCE_ROOT") : ".", "tests",
                          "data", "audit", name, NULL);
}

static CsimAudit *audit_file(const char *path, CsimAuditSpec spec) {
  g_autoptr(GError) error = NULL;
  g_autoptr(CsimLog) log = csim_log_read(path, &error);
  g_assert_no_error(error);
  CsimAudit *audit = csim_audit_new();
  csim_audit_log(audit, &spec, log, &error);
  g_assert_no_error(error);
  return audit;
}

static CsimAudit *audit_data(const char *name, CsimAuditSpec spec) {
  g_autofree char *path = data_path(name);
  return audit_file(path, spec);
}

/* --- claims ---- */

static void test_sharp(void) {
  g_autoptr(CsimAudit) audit =
      claim("all_reduce 8GB 0.9ms", (CsimAuditSpec){.target = "dgx-h100*128", .sharp = TRUE});
  const CsimAuditFinding *nic = finding(audit, "SHARP"), *nvlink = finding(audit, "NVLink"),
                         *memory = finding(audit, "memory of a GPU");
  g_assert_nonnull(nic);
  g_assert_nonnull(nvlink);
  g_assert_nonnull(memory);
  g_assert_cmpfloat_with_epsilon(nic->factor, 20.0 / 0.9, 0.01); /* 8 GB over 8 x 50 GB/s */
  g_assert_cmpfloat_with_epsilon(nvlink->factor, 9.0 / 8 * 8 / 0.45 / 0.9, 0.01);
  g_assert_cmpuint(audit->findings->len, ==, 3);
}

static void test_wrong_collective(void) {
  g_autoptr(CsimAudit) audit = claim("all_reduce algbw=98.7 busbw=86.4 ranks=8", (CsimAuditSpec){0});
  g_assert_cmpuint(audit->findings->len, ==, 1);
  const CsimAuditFinding *f = finding(audit, "all_gather, reduce_scatter, alltoall");
  g_assert_nonnull(f);
  g_assert_nonnull(strstr(f->text, "for 8 ranks; all_reduce's is 1.75"));
  g_autoptr(CsimAudit) right = claim("all_gather algbw=98.7 busbw=86.4 ranks=8", (CsimAuditSpec){0});
  g_assert_cmpuint(right->findings->len, ==, 0);
}

static void test_a800(void) {
  g_autoptr(CsimAudit) audit =
      claim("all_reduce 1GB 380us busbw=192 ", (CsimAuditSpec){.target = "hgx-a800*16"});
  const CsimAuditFinding *itself = finding(audit, "contradicts itself"),
                         *cap = finding(audit, "busbw 192 GB/s: 1.8");
  g_assert_nonnull(itself);
  g_assert_cmpfloat_with_epsilon(itself->factor, 27.2, 0.1);
  g_assert_nonnull(cap);
  g_assert_nonnull(strstr(cap->text, "network adapters"));
  g_assert_cmpfloat_with_epsilon(cap->expected * 127 / 64, 105.8, 0.1); /* algbw cap as busbw */
  g_autoptr(CsimAudit) sharp =
      claim("all_reduce busbw=192", (CsimAuditSpec){.target = "hgx-a800*16", .sharp = TRUE});
  g_assert_nonnull(finding(sharp, "NVLink"));
  g_assert_null(finding(sharp, "network adapters"));
}

static void test_honest(void) {
  g_autoptr(CsimAudit) one = claim("all_reduce busbw=480", (CsimAuditSpec){.target = "dgx-h100"});
  g_assert_cmpuint(one->findings->len, ==, 0);
  g_autoptr(CsimAudit) many = claim("all_reduce 8GiB 43ms", (CsimAuditSpec){.target = "dgx-h100*16"});
  g_assert_cmpuint(many->findings->len, ==, 0);
}

static void test_bad_claims(void) {
  static const char *const texts[] = {"",
                                      "all_reduce",
                                      "all_reduce 8GB",
                                      "all_reduce 8GB 0.9ms foo",
                                      "all_reduce busbw=-1",
                                      "busbw=1 ranks=0",
                                      "busbw="};
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
    g_autoptr(GError) error = NULL;
    g_autoptr(CsimAudit) audit = csim_audit_new();
    g_assert_false(csim_audit_claim(audit, &(CsimAuditSpec){0}, texts[i], &error));
    g_assert_error(error, CSIM_ERROR, CSIM_ERROR_VALUE);
  }
}

/* --- limits: the ceilings of well-known machines, busbw in GB/s ---- */

static double ceiling(const char *target, CsimColl coll, gboolean sharp) {
  g_autoptr(GError) error = NULL;
  g_autoptr(CsimAuditTarget) t =
      csim_audit_target_new(&(CsimAuditTargetSpec){.target = target, .sharp = sharp}, &error);
  g_assert_no_error(error);
  CsimAuditHardware hw = csim_audit_hardware(t, sharp);
  CsimAuditLimit limits[CSIM_N_LIMITS];
  guint n = csim_audit_limits(&hw, coll, limits);
  double best = INFINITY;
  for (guint i = 0; i < n; i++) {
    best = MIN(best, 1e-3 / csim_audit_limit_us(&limits[i], 1, FALSE));
    csim_audit_limit_clear(&limits[i]);
  }
  double n_ranks = hw.ranks,
         factor = coll == CSIM_COLL_ALL_REDUCE ? 2 * (n_ranks - 1) / n_ranks : (n_ranks - 1) / n_ranks;
  return best * factor;
}

static void test_ceilings(void) {
  const struct {
    const char *target;
    CsimColl coll;
    gboolean sharp;
    double busbw;
  } cases[] = {
      {"dgx-h100", CSIM_COLL_ALL_REDUCE, FALSE, 700},
      {"dgx-h100", CSIM_COLL_ALL_GATHER, FALSE, 450},
      {"dgx-h100*2", CSIM_COLL_ALL_REDUCE, FALSE, 750},
      {"dgx-h100*16", CSIM_COLL_ALL_REDUCE, FALSE, 423.3},
      {"dgx-h100*128", CSIM_COLL_ALL_REDUCE, TRUE, 799.2},
      {"dgx-a100", CSIM_COLL_ALL_REDUCE, FALSE, 300},
      {"dgx-a100*128", CSIM_COLL_ALL_REDUCE, FALSE, 201.4},
      {"hgx-a800*16", CSIM_COLL_ALL_REDUCE, FALSE, 105.8},
      {"hgx-a800*16", CSIM_COLL_ALL_REDUCE, TRUE, 198.4},
      {"dgx-b200", CSIM_COLL_ALL_REDUCE, FALSE, 1400},
      {"dgx-h100*2", CSIM_COLL_ALLTOALL, FALSE, 93.75},
      {"dgx-h100*16", CSIM_COLL_ALLTOALL, FALSE, 52.9},
      {"dgx-b200*4", CSIM_COLL_ALL_GATHER, FALSE, 516.7},
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
    g_assert_cmpfloat_with_epsilon(ceiling(cases[i].target, cases[i].coll, cases[i].sharp), cases[i].busbw,
                                   0.1 + 1e-3 * cases[i].busbw);
}

/* --- logs ---- */

static void test_logs(void) {
  g_autoptr(CsimAudit) healthy = audit_data("healthy.log", (CsimAuditSpec){.target = "dgx-h100"});
  g_assert_cmpuint(healthy->findings->len, ==, 0);
  g_assert_cmpuint(healthy->n_rows, ==, 6);
  g_autoptr(CsimAudit) factor = audit_data("factor.log", (CsimAuditSpec){0});
  const CsimAuditFinding *f = finding(factor, "all_gather");
  g_assert_nonnull(f);
  g_assert_cmpuint(f->loc.line, ==, 18 + 4);
  g_assert_cmpuint(f->more, ==, 11);
  g_autoptr(CsimAudit) named = audit_data("factor.log", (CsimAuditSpec){.collective = "all_gather"});
  g_assert_cmpuint(named->findings->len, ==, 0);
  g_autoptr(CsimAudit) changed = audit_data("changed.log", (CsimAuditSpec){0});
  g_assert_nonnull(finding(changed, "algbw says 267.57"));
  g_assert_nonnull(finding(changed, "average busbw 301.5"));
  g_assert_cmpuint(changed->findings->len, ==, 2);
  g_autoptr(CsimAudit) fast = audit_data("fast.log", (CsimAuditSpec){.target = "dgx-h100"});
  g_assert_nonnull(finding(fast, "NVSwitch"));
  g_assert_nonnull(finding(fast, "network adapters"));
}

static void test_nccl_lines(void) {
  g_autoptr(CsimAudit) audit = audit_data("sockets.log", (CsimAuditSpec){.target = "dgx-h100"});
  static const char *const expected[] = {
      "sockets instead of InfiniBand or RoCE between 2 nodes (NCCL_IB_DISABLE=1)",
      "link width 0: NCCL could not read the PCIe width of 0000:1b:00.0",
      "GPU/0-52000 has a PCIe link of 24.0 GB/s, the target 48.0",
      "GPU/0-c3000 has NVLinks of 350.2 GB/s, the target 370.8: a link is missing",
      "GPU/0-9d000 has no adapter on its socket",
      "ranks 1 and 2 talk through host memory",
      "NCCL warns: socketProgress",
      "search for rings found 1 channels of 1.2 GB/s, the target should give 8 of 48",
      "fewer channels for collectives: 2, the target should give 16",
      "ring of channel 0",
      "NCCL_BUFSIZE=8388608: NCCL has no such variable; did you mean NCCL_BUFFSIZE?",
      "NCCL_NET_GDR_LEVEL=PHB was given, but NCCL never read it",
  };
  for (guint i = 0; i < G_N_ELEMENTS(expected); i++) {
    if (!finding(audit, expected[i])) g_error("not found: %s", expected[i]);
  }
  g_assert_cmpuint(audit->n_rows, ==, 1); /* a row that NCCL's lines cut in two */
}

static void test_odd_gpu_without_target(void) {
  g_autoptr(CsimAudit) audit = audit_data("sockets.log", (CsimAuditSpec){0});
  g_assert_nonnull(finding(audit, "GPU/0-52000 has a PCIe link of 24.0 GB/s, the other GPUs 48.0"));
  g_assert_nonnull(finding(audit, "GPU/0-c3000 has NVLinks of 350.2 GB/s, the other GPUs 370.8"));
}

/* A real log of NCCL 2.28.3 on two H200: only what is really odd there, with and without the machine beside it. */
static void test_real_log(void) {
  const char *reference = g_getenv("COLLSIM_REFERENCE");
  const char *root = g_getenv("COLLSIM_SOURCE_ROOT");
  g_autofree char *folder =
      reference ? g_strdup(reference) : g_build_filename(root ? root : ".", "..", "shared", NULL);
  g_autofree char *log = g_build_filename(folder, "measurements", "h200-pair", "nccl-info.log", NULL);
  g_autofree char *topo = g_build_filename(folder, "measurements", "h200-pair", "topo.xml", NULL);
  if (!g_file_test(log, G_FILE_TEST_EXISTS)) {
    g_test_skip("no reference data");
    return;
  }
  const char *const targets[] = {NULL, topo, "hgx-h200"};
  for (guint i = 0; i < G_N_ELEMENTS(targets); i++) {
    g_autoptr(CsimAudit) audit = audit_file(log, (CsimAuditSpec){.target = targets[i]});
    g_assert_cmpuint(audit->findings->len, ==, 1);
    g_assert_nonnull(
        finding(audit, "link width 0: NCCL could not read the PCIe width of 0000:00:06.0, 0000:00:07.0"));
  }
  const char *const nvls[] = {"NCCL_NVLS_ENABLE=1", NULL};
  g_autoptr(CsimAudit) audit = audit_file(log, (CsimAuditSpec){.target = topo, .overrides = nvls});
  g_assert_nonnull(finding(audit, "fewer channels for NVLS: 0"));
}

/* --- pairs ---- */

static CsimAudit *pairs(const char *name, CsimAuditSpec spec) {
  g_autoptr(GError) error = NULL;
  g_autofree char *path = data_path(name);
  CsimAudit *audit = csim_audit_new();
  csim_audit_pairs(audit, &spec, path, &error);
  g_assert_no_error(error);
  return audit;
}

static void test_pairs(void) {
  g_autoptr(CsimAudit) p2p = pairs("p2p.txt", (CsimAuditSpec){0});
  g_assert_cmpuint(p2p->findings->len, ==, 2);
  g_assert_nonnull(finding(p2p, "GPU 3 stands out as sender"));
  g_assert_nonnull(finding(p2p, "pair 6 -> 1 stands out"));
  g_autoptr(CsimAudit) targeted = pairs("p2p.txt", (CsimAuditSpec){.target = "dgx-h100"});
  g_assert_nonnull(finding(targeted, "pair 3 -> "));
  g_autoptr(CsimAudit) nvbandwidth = pairs("nvbandwidth.txt", (CsimAuditSpec){0});
  g_assert_cmpuint(nvbandwidth->findings->len, ==, 1);
  g_assert_nonnull(finding(nvbandwidth, "GPU 2 stands out: median 27.6 GB/s, the others 55.38"));
  g_autoptr(CsimAudit) nodes = pairs("nodes.txt", (CsimAuditSpec){0});
  g_assert_cmpuint(nodes->findings->len, ==, 1);
  g_assert_nonnull(finding(nodes, "n04 stands out as receiver"));
  g_autoptr(CsimAudit) blocks = pairs("blocks.txt", (CsimAuditSpec){0});
  g_assert_cmpuint(blocks->findings->len, ==, 0);
}

static void test_no_pairs(void) {
  g_autoptr(GError) error = NULL;
  g_autoptr(CsimAudit) audit = csim_audit_new();
  g_assert_false(csim_audit_pairs_text(audit, &(CsimAuditSpec){0}, "x", "hello\nworld\n", &error));
  g_assert_error(error, CSIM_ERROR, CSIM_ERROR_SYNTAX);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/audit/claim/sharp", test_sharp);
  g_test_add_func("/audit/claim/wrong-collective", test_wrong_collective);
  g_test_add_func("/audit/claim/a800", test_a800);
  g_test_add_func("/audit/claim/honest", test_honest);
  g_test_add_func("/audit/claim/bad", test_bad_claims);
  g_test_add_func("/audit/ceilings", test_ceilings);
  g_test_add_func("/audit/logs", test_logs);
  g_test_add_func("/audit/nccl/lines", test_nccl_lines);
  g_test_add_func("/audit/nccl/odd-gpu", test_odd_gpu_without_target);
  g_test_add_func("/audit/nccl/real", test_real_log);
  g_test_add_func("/audit/pairs", test_pairs);
  g_test_add_func("/audit/no-pairs", test_no_pairs);
  return g_test_run();
}
