/* probe/verbs-lib.c - libibverbs. */
#include "probe/verbs-lib.h"

#include "probe/library.h"

#define S(member) CSIM_SYMBOL(CsimVerbs, member, "ibv_" #member)
static const CsimSymbol symbols[] = {
    S(get_device_list), S(free_device_list), S(get_device_name), S(open_device), S(close_device), S(query_device),
    S(query_port),      S(query_gid),        S(alloc_pd),        S(dealloc_pd),  S(reg_mr),       S(dereg_mr),
    S(create_cq),       S(destroy_cq),       S(create_qp),       S(modify_qp),   S(destroy_qp),   S(wc_status_str),
    CSIM_SYMBOL_OPTIONAL(CsimVerbs, reg_dmabuf_mr, "ibv_reg_dmabuf_mr"),
    {NULL, 0, FALSE},
};
static const char *const files[] = {"libibverbs.so.1", NULL};
static const CsimLibrary library = {
    .what = "RDMA verbs",
    .files = files,
    .needs = "this probe needs rdma-core and an RDMA device",
    .symbols = symbols,
};

const CsimVerbs *csim_verbs_open(GError **error) {
  static CsimVerbs verbs;
  static gboolean ready;
  if (!ready) ready = csim_library_open(&library, NULL, &verbs, NULL, error);
  return ready ? &verbs : NULL;
}
