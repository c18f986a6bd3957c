/* DCQCN's reaction point against steps written down by hand from the published text and from ConnectX's
 * parameters. */
#include "models/pkt/dcqcn.h"

#include <math.h>

#define GBPS 125000000.0
#define LINE (100 * (CsimRate)125000000)

static void near(double have, double want) {
  g_assert_cmpfloat_with_epsilon(have, want, 1e-9 * MAX(1, fabs(want)));
}

static void test_line_rate(void) {
  CsimDcqcn params = csim_dcqcn_paper(5000000);
  CsimRp rp;
  csim_rp_init(&rp, &params, LINE);
  csim_rp_sent(&rp, CSIM_S, 100000000);
  near(csim_rp_rate(&rp, CSIM_S), LINE);
  g_assert_cmpuint(rp.cuts, ==, 0);
}

/* Five timer events: four halve the gap to the target, the fifth adds R_AI first. Alpha decays in the same
 * period. */
static void test_recovery(void) {
  CsimDcqcn params = csim_dcqcn_paper(5000000);
  CsimRp rp;
  double rate = 25 * GBPS, target = 50 * GBPS;
  csim_rp_init(&rp, &params, LINE);
  csim_rp_cnp(&rp, 0);
  csim_rp_cnp(&rp, 0); /* alpha 1 still: 25 Gb/s, target 50 */
  for (int i = 1; i <= 4; i++) {
    rate = (rate + target) / 2;
    near(csim_rp_rate(&rp, i * 55 * CSIM_US), rate);
  }
  target += 5000000;
  near(csim_rp_rate(&rp, 5 * 55 * CSIM_US), (rate + target) / 2);
  near(rp.target, target);
  csim_rp_cnp(&rp, 5 * 55 * CSIM_US);
  near(rp.alpha, (1 - params.g) * pow(1 - params.g, 5) + params.g);
}

/* Asked once or every microsecond, the answer is the same. */
static void test_lazy(void) {
  CsimDcqcn params[] = {csim_dcqcn_paper(5000000), csim_dcqcn_connectx(), csim_dcqcn_hpcc(LINE)};
  for (guint k = 0; k < G_N_ELEMENTS(params); k++) {
    CsimRp often, once;
    csim_rp_init(&often, &params[k], LINE);
    csim_rp_init(&once, &params[k], LINE);
    for (int cnp = 0; cnp < 20; cnp++) {
      csim_rp_cnp(&often, cnp * 7 * CSIM_US);
      csim_rp_cnp(&once, cnp * 7 * CSIM_US);
    }
    for (int us = 140; us < 5000; us++) csim_rp_rate(&often, us * CSIM_US);
    near(csim_rp_rate(&once, 5000 * CSIM_US), csim_rp_rate(&often, 5000 * CSIM_US));
    csim_rp_cnp(&often, 5001 * CSIM_US);
    csim_rp_cnp(&once, 5001 * CSIM_US);
    near(once.alpha, often.alpha);
  }
}

static void test_byte_counter(void) {
  CsimDcqcn params = csim_dcqcn_paper(5000000);
  CsimRp rp;
  csim_rp_init(&rp, &params, LINE);
  csim_rp_cnp(&rp, 0);
  csim_rp_sent(&rp, CSIM_US, 9999999);
  near(csim_rp_rate(&rp, CSIM_US), 50 * GBPS);
  csim_rp_sent(&rp, CSIM_US, 1);
  near(csim_rp_rate(&rp, CSIM_US), 75 * GBPS);
}

/* Hyper increase needs both counters beyond F; the i-th adds i times. */
static void test_hyper(void) {
  CsimDcqcn params = csim_dcqcn_paper(5000000);
  CsimRp rp;
  params.threshold = 1;
  csim_rp_init(&rp, &params, LINE);
  for (int i = 0; i < 3; i++) csim_rp_cnp(&rp, 0); /* 12.5 Gb/s, target 25 */
  csim_rp_rate(&rp, 110 * CSIM_US);                /* T 2: additive twice */
  near(rp.target, 25 * GBPS + 2 * 5000000);
  csim_rp_sent(&rp, 110 * CSIM_US, 10000000); /* BC 1 */
  near(rp.target, 25 * GBPS + 3 * 5000000);
  csim_rp_sent(&rp, 110 * CSIM_US, 10000000); /* BC 2: min(2, 2) - 1 = 1 */
  near(rp.target, 25 * GBPS + 3 * 5000000 + 50000000);
}

/* ConnectX: cuts at most every 4 us, alpha sees each microsecond's CNP once. */
static void test_connectx(void) {
  CsimDcqcn params = csim_dcqcn_connectx();
  CsimRp rp;
  double keep = 1 - params.g, alpha = 1023.0 / 1024;
  csim_rp_init(&rp, &params, LINE);
  csim_rp_cnp(&rp, 0);
  near(csim_rp_rate(&rp, 0), LINE * (1 - alpha / 2));
  csim_rp_cnp(&rp, CSIM_US + 1);
  csim_rp_cnp(&rp, CSIM_US + 2);
  g_assert_cmpuint(rp.cuts, ==, 1);
  csim_rp_rate(&rp, 4 * CSIM_US);
  g_assert_cmpuint(rp.cuts, ==, 2);
  alpha = keep * alpha;            /* 1 us: no CNP before */
  alpha = keep * alpha + params.g; /* 2 us */
  near(rp.alpha, alpha * keep * keep);
  near(rp.target, LINE);
}

static void test_floor(void) {
  CsimDcqcn params = csim_dcqcn_hpcc(LINE);
  CsimRp rp;
  csim_rp_init(&rp, &params, LINE);
  for (int i = 0; i < 100; i++) csim_rp_cnp(&rp, i * 4 * CSIM_US);
  near(csim_rp_rate(&rp, 400 * CSIM_US), params.min_rate);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/dcqcn/line-rate", test_line_rate);
  g_test_add_func("/dcqcn/recovery", test_recovery);
  g_test_add_func("/dcqcn/lazy", test_lazy);
  g_test_add_func("/dcqcn/byte-counter", test_byte_counter);
  g_test_add_func("/dcqcn/hyper", test_hyper);
  g_test_add_func("/dcqcn/connectx", test_connectx);
  g_test_add_func("/dcqcn/floor", test_floor);
  return g_test_run();
}
