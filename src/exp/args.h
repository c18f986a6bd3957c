/*
 * exp/args.h - a run's description, built setting by setting from text.
 *
 * Used by: cli (option values), lib (public API), experiment files: one set of names for all three.
 * Keys: target, collective, type, redop, root, nodes, gpus_per_node, gpus, placement, fault (one more each time), size (one size), min_bytes, max_bytes, step_bytes, factor,
 * iters, launch, host, fidelity, seed, queue, no_symmetry, whole_fabric, digest, catalogue, algo, proto, "env.NCCL_NAME", "set.CONSTANT"; also "env" and "set" with a
 * value NAME=VALUE.
 */
#ifndef CSIM_EXP_ARGS_H
#define CSIM_EXP_ARGS_H

#include "exp/run.h"

typedef struct CsimRunArgs CsimRunArgs;

CsimRunArgs *csim_run_args_new(void);
void csim_run_args_free(CsimRunArgs *args);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CsimRunArgs, csim_run_args_free)

/* FALSE with CSIM_ERROR_VALUE, the message without a place: unknown key (nearest one suggested), or what the value may be. */
gboolean csim_run_args_set(CsimRunArgs *args, const char *key, const char *value, GError **error);
/* The keys without the two open-ended families, NULL-ended; static. */
const char *const *csim_run_args_keys(void);

/* What has been set, nccl-tests' defaults for the rest. Texts are borrowed: valid until args is freed or changed.
 * If only the smaller of min_bytes and max_bytes makes no range (-b 1G alone), the other follows it. */
CsimRunSpec csim_run_args_spec(const CsimRunArgs *args);

/* Takes NCCL_* from the process environment, completed as NCCL does it from ~/.nccl.conf and /etc/nccl.conf. */
void csim_run_args_use_environment(CsimRunArgs *args);

#endif
