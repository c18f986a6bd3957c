/* collsim packet-scenarios: the packet level against published, computed and independent figures. */
#include "cli/cli.h"
#include "exp/packet-scenarios.h"

#include <inttypes.h>

static const char *relation(const CsimPacketCheck *check) {
  return check->kind == CSIM_CHECK_AT_LEAST ? ">=" : check->kind == CSIM_CHECK_AT_MOST ? "<=" : "";
}

/* "-" where a difference says nothing. */
static void print_difference(const CsimPacketCheck *check) {
  if (check->kind == CSIM_CHECK_INFO || check->target == 0)
    printf("%9s", "-");
  else
    printf("%+8.2f%%", 100 * (check->ours - check->target) / check->target);
}

static void print_check(const CsimPacketCheck *check) {
  if (check->kind == CSIM_CHECK_INFO)
    printf("  %3s%13s", "", "-");
  else
    printf("  %3s%13.6g", relation(check), check->target);
  printf("%13.6g  ", check->ours);
  print_difference(check);
  if (check->kind == CSIM_CHECK_NEAR)
    printf("  %5.3g%%", 100 * check->tolerance);
  else
    printf("  %6s", "");
  printf("  %-4s  %s: %s\n",
         check->kind == CSIM_CHECK_INFO ? ""
         : check->pass                  ? "pass"
                                        : "FAIL",
         check->unit, check->what);
}

static guint run_one(const CsimPacketScenario *scenario) {
  g_autoptr(CsimPacketReport) report = csim_packet_report_new();
  guint failed = 0;
  scenario->run(report);
  printf("# %s (%s): %s\n", scenario->name, scenario->numbers, scenario->summary);
  printf("#          target         ours  difference  within\n");
  for (guint i = 0; i < report->checks->len; i++) {
    const CsimPacketCheck *check = &g_array_index(report->checks, CsimPacketCheck, i);
    print_check(check);
    failed += !check->pass;
  }
  printf("# %u checks, %u failed", report->checks->len, failed);
  if (report->hops)
    printf("; %" PRIu64 " packet hops, %" PRIu64 " events, %.2f s, %.2f million hops/s", report->hops,
           report->events, report->cpu_s, (double)report->hops * 1e-6 / report->cpu_s);
  printf("\n\n");
  fflush(stdout);
  return failed;
}

static int list(void) {
  for (const CsimPacketScenario *s = csim_packet_scenarios; s->name; s++)
    printf("%-14s %-4s %s\n", s->name, s->numbers, s->summary);
  return CLI_OK;
}

static int run_packet(const CliArgs *args) {
  g_autoptr(GError) error = NULL;
  guint n = cli_args_n_operands(args), failed = 0, ran = 0;
  if (cli_args_flag(args, "list")) return list();
  for (guint i = 0; i < n; i++)
    if (!csim_packet_scenario_find(cli_args_operand(args, i), &error)) return cli_fail(error);
  for (guint i = 0; i < n; i++, ran++)
    failed += run_one(csim_packet_scenario_find(cli_args_operand(args, i), NULL)) > 0;
  for (const CsimPacketScenario *s = csim_packet_scenarios; n == 0 && s->name; s++, ran++)
    failed += run_one(s) > 0;
  printf("%u scenarios, %u passed, %u failed\n", ran, ran - failed, failed);
  return failed ? CLI_FINDINGS : CLI_OK;
}

static const CliOption options[] = {
    {0, "list", NULL, "the scenarios, their numbers in the validation list, and what they show", NULL, NULL},
    {0},
};
static const CliOption *const tables[] = {options, NULL};

const CliVerb cli_verb_packet = {
    .name = "packet-scenarios",
    .operands = "[NAME...]",
    .summary = "the packet level (RoCE, InfiniBand) against computed and independent figures",
    .tables = tables,
    .max_operands = -1,
    .operand_words = "frames|line-rate|pfc-incast|static-xoff|headroom|steady-state|first-cuts|together|"
                     "connectx|victim|go-back-n|go-back-0|ecmp|ring|ib-credits|deadlock|storm|speed",
    .run = run_packet,
};
