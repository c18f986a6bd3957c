/* Where NCCL's table switches algorithm or protocol, beside where the simulator would. */
#include "exp/inspect.h"

#include <inttypes.h>
#include <string.h>

static char *pair_name(CsimAlgo algo, CsimProto proto) { return g_strdup_printf("%s/%s", csim_algo_name(algo), csim_proto_name(proto)); }

/* "|" as long as nothing changes. */
static const char *shown(const char *now, const char *before) { return before && strcmp(now, before) == 0 ? "|" : now; }

void csim_inspect_switches_text(GString *out, const GArray *rows, CsimColl coll) {
  g_autofree char *choice_before = NULL, *best_before = NULL;
  guint apart = 0, n = 0;
  g_string_append_printf(out, "\nwhere %s switches\n  %17s  %-22s %s\n", csim_coll_name(coll), "from", "NCCL's table", "simulated");
  for (guint i = 0; i < rows->len; i++) {
    const CsimTuneRow *row = &g_array_index(rows, CsimTuneRow, i);
    if (row->best_us == 0) continue;
    g_autofree char *choice = pair_name(row->choice_algo, row->choice_proto), *best = pair_name(row->best_algo, row->best_proto);
    const char *left = shown(choice, choice_before), *right = shown(best, best_before);
    if (*left != '|' || *right != '|') g_string_append_printf(out, "  %15" PRId64 " B  %-22s %s\n", row->size_bytes, left, right);
    apart += strcmp(choice, best) != 0;
    n++;
    g_free(choice_before);
    g_free(best_before);
    choice_before = g_steal_pointer(&choice);
    best_before = g_steal_pointer(&best);
  }
  g_string_append_printf(out, "  they differ at %u of %u sizes\n", apart, n);
}
