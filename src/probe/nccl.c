/* probe/nccl.c - NCCL's library. */
#include "probe/nccl.h"

#include "probe/library.h"

#define S(member, name) CSIM_SYMBOL(CsimNccl, member, name)
static const CsimSymbol symbols[] = {
    S(get_version, "ncclGetVersion"),
    S(error_string, "ncclGetErrorString"),
    CSIM_SYMBOL_OPTIONAL(CsimNccl, last_error, "ncclGetLastError"),
    S(get_unique_id, "ncclGetUniqueId"),
    S(comm_init_rank, "ncclCommInitRank"),
    S(comm_destroy, "ncclCommDestroy"),
    S(group_start, "ncclGroupStart"),
    S(group_end, "ncclGroupEnd"),
    S(all_reduce, "ncclAllReduce"),
    S(all_gather, "ncclAllGather"),
    S(reduce_scatter, "ncclReduceScatter"),
    S(broadcast, "ncclBroadcast"),
    S(reduce, "ncclReduce"),
    S(send, "ncclSend"),
    S(recv, "ncclRecv"),
    {NULL, 0, FALSE},
};

static const char *const files[] = {"libnccl.so.2", NULL};
static const CsimLibrary library = {
    .what = "NCCL",
    .files = files,
    .needs = "install NCCL or name its file with --nccl FILE",
    .symbols = symbols,
};

const CsimNccl *csim_nccl_open(const char *file, const char **found, GError **error) {
  static CsimNccl nccl;
  static const char *opened;
  if (!opened && !csim_library_open(&library, file, &nccl, &opened, error)) return NULL;
  if (found) *found = opened;
  return &nccl;
}

gboolean csim_nccl_check(const CsimNccl *nccl, CsimNcclResult result, const char *what, GError **error) {
  if (result == 0) return TRUE;
  const char *last = nccl->last_error ? nccl->last_error(NULL) : NULL;
  gboolean has_last = last && *last;
  g_autofree char *words = g_strdelimit(g_strdup(has_last ? last : ""), "\r\n", ' ');
  g_set_error(error, CSIM_ERROR, CSIM_ERROR_IO, "NCCL, %s: %s%s%s", what, nccl->error_string(result), has_last ? ": " : "",
              g_strstrip(words));
  return FALSE;
}

/* Since 2.9 the version is major x 10000 + minor x 100 + patch; before it was major x 1000. */
char *csim_nccl_version_text(int version) {
  int unit = version >= 10000 ? 10000 : 1000;
  return g_strdup_printf("%d.%d.%d", version / unit, version % unit / 100, version % 100);
}
