/*
 * cli/probe-args.h - options that `collsim probe` and `collsim validate --live` share: sizes, collectives, how NCCL is run.
 *
 * Used by: cmd-probe.c, cmd-live.c. Every function returns FALSE with one line that names the option and what is allowed.
 */
#ifndef CSIM_CLI_PROBE_ARGS_H
#define CSIM_CLI_PROBE_ARGS_H

#include "cli/cli.h"
#include "probe/nccl-run.h"

extern const CliOption cli_options_probe_sizes[]; /* -b -e -f */
extern const CliOption cli_options_nccl[];        /* -c -g --ranks --launch -n -w -x --netns --nccl */

gboolean cli_probe_sizes(const CliArgs *args, CsimBytes *min, CsimBytes *max, int *factor, GError **error);
/* "all_reduce,alltoall" or "all" (all that NCCL has); standard: when -c is not given. Appends CsimColl. */
gboolean cli_probe_colls(const CliArgs *args, const char *standard, GArray *out, GError **error);
/* Values of -x, borrowed, NULL-ended. */
gboolean cli_probe_variables(const CliArgs *args, GPtrArray *out, GError **error);
/* Everything but collectives, variables, dump and limit. */
gboolean cli_nccl_options(const CliArgs *args, CsimNcclOptions *options, GError **error);

#endif
