/* probe/verbs-none.c - in place of verbs-*.c where <infiniband/verbs.h> was not there at build time. */
#include "probe/verbs.h"

#include "collsim/error.h"

void csim_verbs_options_init(CsimVerbsOptions *options) {
  *options = (CsimVerbsOptions){.min = 8, .max = 1 << 20, .factor = 8};
}

gboolean csim_probe_verbs(const CsimVerbsOptions *options, GArray *rows, CsimVerbsFacts *facts, GError **error) {
  *facts = (CsimVerbsFacts){.mtu = 0};
  g_set_error(error, CSIM_ERROR, CSIM_ERROR_UNSUPPORTED, "this collsim was built without RDMA's headers (libibverbs-dev)");
  return FALSE;
}
