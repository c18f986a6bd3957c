/* cli/cmd-live.h - `collsim validate --live`, for cmd-validate.c. */
#ifndef CSIM_CLI_CMD_LIVE_H
#define CSIM_CLI_CMD_LIVE_H

#include "cli/cli.h"
#include "exp/validate.h"

extern const CliOption cli_options_live[]; /* --live, --calibrate, --forced, --link-rate */

/* Probes, predicts, runs NCCL, compares, writes the folder. options: limit, jobs, seed, fidelity, catalogue, constants. tolerance: as
 * a fraction, below 0: none. Returns the exit code. */
int cli_run_live(const CliArgs *args, const CsimValidateOptions *options, double tolerance);

#endif
