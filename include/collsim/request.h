/*
 * collsim/request.h - one simulation as a library call: settings as text in, rows out.
 *
 * Used by: programs outside this project. The settings are those of the command line and of experiment files.
 *
 *   g_autoptr(CsimRequest) request = csim_request_new("dgx-h100*128");
 *   csim_request_set(request, "collective", "all_reduce", &error);
 *   csim_request_set(request, "size", "1G", &error);
 *   g_autoptr(CsimResult) result = csim_request_run(request, &error);
 *
 * Threads: a request belongs to one thread at a time; different requests may run in different threads.
 */
#ifndef COLLSIM_REQUEST_H
#define COLLSIM_REQUEST_H

#include "collsim/types.h"

G_BEGIN_DECLS

typedef struct CsimRequest CsimRequest;
typedef struct CsimResult CsimResult;

/* target: a shipped node ("dgx-h100", "dgx-h100*128"), an NCCL topology file ("FILE.xml*16") or a cluster ("FILE.json"); it is
 * looked at in csim_request_run. Never NULL. */
CsimRequest *csim_request_new(const char *target);
void csim_request_free(CsimRequest *request); /* NULL allowed */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CsimRequest, csim_request_free)

/*
 * One setting; a later one wins. Keys: collective, type, redop, root, nodes, gpus_per_node, gpus, placement, fault (adds one), size, min_bytes, max_bytes,
 * step_bytes, factor, iters, launch, host, fidelity, seed, catalogue, algo, proto, "env.NCCL_NAME", "set.CONSTANT"; values as on the
 * command line (sizes in nccl-tests' form). FALSE with CSIM_ERROR_REFERENCE for an unknown key (the nearest is suggested) or
 * CSIM_ERROR_VALUE, saying what is allowed.
 */
gboolean csim_request_set(CsimRequest *request, const char *key, const char *value, GError **error);
/* Takes NCCL_* from the process environment, ~/.nccl.conf and /etc/nccl.conf, as NCCL does. Not done unless called. */
void csim_request_use_environment(CsimRequest *request);

/* Simulates every size. NULL with an error of any code of collsim/error.h. The result does not need the request any more. */
CsimResult *csim_request_run(const CsimRequest *request, GError **error);
void csim_result_free(CsimResult *result); /* NULL allowed */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CsimResult, csim_result_free)

/* One size. Later releases only add members at the end. gbps is 1e9 bytes/s, as nccl-tests prints it. */
typedef struct {
  CsimBytes size_bytes, count;
  double time_us, algbw_gbps, busbw_gbps;
  const char *algo, *proto; /* "Ring", "Simple"; "none" when there was nothing to move. Static text. */
  int n_channels, n_threads;
  const char *bottleneck;   /* owned by the result */
} CsimResultRow;

int csim_result_n_ranks(const CsimResult *result);
guint csim_result_n_rows(const CsimResult *result);
CsimResultRow csim_result_row(const CsimResult *result, guint i); /* i < n_rows */
/* What was found doubtful on the way; NULL-ended, owned by the result. */
const char *const *csim_result_warnings(const CsimResult *result);
/* The object that `collsim run --json` prints; the caller frees it with g_free. */
char *csim_result_to_json(const CsimResult *result);

G_END_DECLS
#endif
