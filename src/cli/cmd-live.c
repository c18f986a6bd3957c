/* collsim validate --live: predictions beside what this machine's own GPUs do. */
#include "cli/cmd-live.h"

#include "cli/probe-args.h"
#include "exp/live.h"
#include "report/live.h"
#include "report/validate.h"
#include <string.h>

#define NCCL_LIMIT_S 600

static void say(const char *what, void *data) {
  cli_progress_clear();
  fprintf(stderr, "live: %s\n", what);
}
static void progress(guint done, guint of, void *data) {
  cli_progress(done, of, "sizes");
}

static void print(const CliArgs *args, const CsimLive *live, GString *out) {
  gboolean verbose = cli_args_flag(args, "verbose");
  if (cli_args_flag(args, "json"))
    csim_report_validation_json(out, live->after ? live->after : live->before, verbose);
  else if (cli_args_flag(args, "csv"))
    csim_report_validation_csv(out, live->before);
  else
    csim_report_live_text(out, live);
}

/* Why the first series that was left out was. */
static const char *first_reason(const CsimValidation *v) {
  for (guint i = 0; i < v->sets->len; i++) {
    const CsimSetResult *r = (const CsimSetResult *)g_ptr_array_index(v->sets, i);
    if (r->skipped) return r->skipped;
  }
  return "no size moved anything";
}

static int finish(const CliArgs *args, const CsimLive *live, double tolerance) {
  g_autoptr(GError) error = NULL;
  g_autoptr(GString) out = g_string_new(NULL);
  const char *folder = cli_args_value(args, "live");
  guint n_plots = 0;
  cli_progress_clear();
  if (!csim_report_live(live, folder, cli_command_line(), &n_plots, &error)) return cli_fail(error);
  print(args, live, out);
  int code = cli_write(cli_args_value(args, "output"), out->str);
  if (code != CLI_OK) return code;
  if (live->wrong > 0) cli_warn("NCCL's results have %" G_GUINT64_FORMAT " wrong elements", live->wrong);
  if (live->n_changed > 0) cli_warn("%u predictions changed between the runs: a bug, please report it", live->n_changed);
  if (live->before->check.n_sets == 0) {
    cli_warn("nothing could be compared: %s", first_reason(live->before));
    return CLI_FINDINGS;
  }
  gboolean within = tolerance < 0 || csim_validation_within(live->after ? live->after : live->before, tolerance);
  return within && live->wrong == 0 && live->n_changed == 0 ? CLI_OK : CLI_FINDINGS;
}

int cli_run_live(const CliArgs *args, const CsimValidateOptions *validate, double tolerance) {
  g_autoptr(GError) error = NULL;
  g_autoptr(GArray) colls = g_array_new(FALSE, FALSE, sizeof(CsimColl));
  g_autoptr(GPtrArray) variables = g_ptr_array_new();
  CsimLiveOptions o = {
      .folder = cli_args_value(args, "live"),
      .forced = cli_args_flag(args, "forced"),
      .link_rate = cli_args_value(args, "link-rate"),
      .calibrate = cli_args_value(args, "calibrate"),
      .validate = *validate,
      .step = say,
  };
  csim_nccl_options_init(&o.nccl);
  if (cli_args_n_operands(args) > 0) {
    cli_warn("--live measures this machine and takes no file of measurements");
    return CLI_USAGE;
  }
  if (!cli_probe_colls(args, "all", colls, &error) || !cli_probe_variables(args, variables, &error) ||
      !cli_nccl_options(args, &o.nccl, &error))
    return cli_fail(error);
  o.nccl.colls = (const CsimColl *)(const void *)colls->data;
  o.nccl.n_colls = colls->len;
  o.nccl.variables = (const char *const *)variables->pdata;
  o.nccl.limit_s = NCCL_LIMIT_S;
  o.nccl.interrupt = cli_interrupt();
  o.nccl.progress = progress;
  g_autoptr(CsimLive) live = csim_live(&o, &error);
  return live ? finish(args, live, tolerance) : cli_fail(error);
}

const CliOption cli_options_live[] = {
    {0, "live", "DIR", "measure this machine's GPUs with NCCL, beside predictions made before; files and report go there", "@file", NULL},
    {0, "calibrate", "FILE", "live: constants from copies and sockets into this file, and errors with them too", "@file", NULL},
    {0, "forced", NULL, "live: all_reduce by every algorithm and protocol as well", NULL, NULL},
    {0, "link-rate", "RATE", "live: rate of each rank's shaped link (--netns), such as 4Gb/s", NULL, NULL},
    {0},
};
