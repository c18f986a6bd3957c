/* A program outside the tree: one simulation through the installed library. */
#include <collsim/collsim.h>
#include <stdio.h>

int main(void) {
  g_autoptr(GError) error = NULL;
  g_autoptr(CsimRequest) request = csim_request_new("dgx-h100*2");
  if (!csim_request_set(request, "size", "1G", &error) || !csim_request_set(request, "fidelity", "model", &error)) {
    fprintf(stderr, "%s\n", error->message);
    return 1;
  }
  g_autoptr(CsimResult) result = csim_request_run(request, &error);
  if (!result) {
    fprintf(stderr, "%s\n", error->message);
    return 1;
  }
  CsimResultRow row = csim_result_row(result, 0);
  printf("%d ranks: %s, %s\n", csim_result_n_ranks(result), csim_coll_name(CSIM_COLL_ALL_REDUCE), row.busbw_gbps > 0 ? "has a bandwidth" : "none");
  return 0;
}
