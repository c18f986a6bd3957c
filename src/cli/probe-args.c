/* cli/probe-args.c - options that `probe` and `validate --live` share. */
#include "cli/probe-args.h"

#include "base/units.h"
#include <string.h>

/* --- values ----------------------------------------------------------------------- */

gboolean cli_probe_sizes(const CliArgs *args, CsimBytes *min, CsimBytes *max, int *factor, GError **error) {
  if (!cli_unit_option(args, "minbytes", csim_size_parse, min, error) || !cli_unit_option(args, "maxbytes", csim_size_parse, max, error) ||
      !cli_int_option(args, "stepfactor", 2, 1 << 20, factor, error))
    return FALSE;
  if (*min >= 4 && *min <= *max) return TRUE;
  g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE, "sizes from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT " bytes; allowed: from 4 on, not falling",
              *min, *max);
  return FALSE;
}

static gboolean launch_option(const CliArgs *args, CsimLaunch *out, GError **error) {
  const char *text = cli_args_value(args, "launch");
  if (!text || csim_launch_parse(text, out)) return TRUE;
  g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE, "--launch: \"%s\" is not known; process, thread or single", text);
  return FALSE;
}

gboolean cli_probe_colls(const CliArgs *args, const char *standard, GArray *out, GError **error) {
  const char *text = cli_args_value(args, "collective");
  g_auto(GStrv) words = g_strsplit(text ? text : standard, ",", -1);
  for (char **word = words; *word; word++) {
    CsimColl coll;
    if (!strcmp(*word, "all")) {
      for (int c = 0; c < CSIM_COLL_HYPERCUBE; c++) {
        CsimColl each = (CsimColl)c;
        g_array_append_val(out, each);
      }
    } else if (csim_coll_parse(*word, &coll)) {
      g_array_append_val(out, coll);
    } else {
      g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE,
                  "-c: \"%s\" is no collective; all, all_reduce, all_gather, reduce_scatter, broadcast, reduce, alltoall, "
                  "sendrecv, gather, scatter",
                  *word);
      return FALSE;
    }
  }
  return TRUE;
}

gboolean cli_probe_variables(const CliArgs *args, GPtrArray *out, GError **error) {
  for (const char *const *value = cli_all_values(args, "env", out); *value; value++) {
    if (g_str_has_prefix(*value, "NCCL_") && strchr(*value, '=')) continue;
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE, "-x: \"%s\" is not NCCL_NAME=VALUE", *value);
    return FALSE;
  }
  return TRUE;
}

gboolean cli_nccl_options(const CliArgs *args, CsimNcclOptions *o, GError **error) {
  o->library = cli_args_value(args, "nccl");
  o->netns = cli_args_value(args, "netns");
  return cli_probe_sizes(args, &o->min, &o->max, &o->factor, error) && launch_option(args, &o->launch, error) &&
         cli_int_option(args, "gpus", 1, 1024, &o->n_gpus, error) &&
         cli_int_option(args, "ranks", 2, CSIM_PROBE_MAX_RANKS, &o->n_ranks, error) &&
         cli_int_option(args, "iters", 1, 100000, &o->iters, error) && cli_int_option(args, "warmup", 0, 100000, &o->warmups, error);
}

/* --- tables ----------------------------------------------------------------------- */

const CliOption cli_options_probe_sizes[] = {
    {'b', "minbytes", "SIZE", "smallest size (copies 4, collectives 8)", NULL, NULL},
    {'e', "maxbytes", "SIZE", "largest size (copies 1G, collectives 128M)", NULL, NULL},
    {'f', "stepfactor", "N", "factor between sizes (copies 4, collectives 2)", NULL, NULL},
    {0},
};
const CliOption cli_options_nccl[] = {
    {'c', "collective", "LIST", "collectives, a comma between them, or all (probe: all_reduce; live: all)",
     "all|all_reduce|all_gather|reduce_scatter|broadcast|reduce|alltoall|sendrecv|gather|scatter", NULL},
    {'g', "gpus", "N", "the first N GPUs (all that are visible)", NULL, NULL},
    {0, "ranks", "N", "so many; more than GPUs share them as hosts of their own (one a GPU)", NULL, NULL},
    {0, "launch", "HOW", "a process or thread a rank, or a single thread for all (process)", "process|thread|single", NULL},
    {'n', "iters", "N", "timed calls, back to back (20)", NULL, NULL},
    {'w', "warmup", "N", "calls before them (5)", NULL, NULL},
    {'x', "env", "NCCL_X=V", "a variable for the ranks; may be repeated", NULL, NULL},
    {0, "netns", "PREFIX", "rank N runs in network namespace PREFIXN (as root)", NULL, NULL},
    {0, "nccl", "FILE", "the library (libnccl.so.2)", "@file", NULL},
    {0},
};
