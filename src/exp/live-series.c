/* exp/live-series.c - what is measured: the user's collectives as NCCL chooses, and forced algorithms and protocols. */
#include "exp/live-private.h"

#include <string.h>

#define FORCED_MAX (INT64_C(1) << 30)

static void free_series(gpointer data) {
  LiveSeries *s = (LiveSeries *)data;
  g_free(s->tag);
  g_array_unref(s->colls);
  g_ptr_array_unref(s->variables);
  g_free(s);
}

static LiveSeries *series_new(const CsimLiveOptions *options, const char *tag, CsimBytes max) {
  LiveSeries *s = g_new0(LiveSeries, 1);
  s->tag = g_strdup(tag);
  s->max = MIN(max, options->nccl.max);
  s->colls = g_array_new(FALSE, FALSE, sizeof(CsimColl));
  s->variables = g_ptr_array_new_with_free_func(g_free);
  for (int i = 0; options->nccl.variables && options->nccl.variables[i]; i++)
    g_ptr_array_add(s->variables, g_strdup(options->nccl.variables[i]));
  return s;
}

static void add_forced(const CsimLiveOptions *options, GPtrArray *list) {
  static const char *const algos[] = {"Ring", "Tree"}, *const protos[] = {"LL", "LL128", "Simple"};
  CsimColl coll = CSIM_COLL_ALL_REDUCE;
  for (guint a = 0; a < G_N_ELEMENTS(algos); a++)
    for (guint p = 0; p < G_N_ELEMENTS(protos); p++) {
      g_autofree char *tag = g_strdup_printf("%s-%s", algos[a], protos[p]);
      LiveSeries *s = series_new(options, tag, FORCED_MAX);
      g_array_append_val(s->colls, coll);
      g_ptr_array_add(s->variables, g_strdup_printf("NCCL_ALGO=%s", algos[a]));
      g_ptr_array_add(s->variables, g_strdup_printf("NCCL_PROTO=%s", protos[p]));
      g_ptr_array_add(s->variables, NULL);
      g_ptr_array_add(list, s);
    }
}

GPtrArray *live_series(const CsimLiveOptions *options) {
  GPtrArray *list = g_ptr_array_new_with_free_func(free_series);
  LiveSeries *s = series_new(options, "default", options->nccl.max);
  g_array_append_vals(s->colls, options->nccl.colls, options->nccl.n_colls);
  g_ptr_array_add(s->variables, NULL);
  g_ptr_array_add(list, s);
  if (options->forced) add_forced(options, list);
  return list;
}

CsimNcclOptions live_series_options(const CsimLiveOptions *options, const LiveSeries *series) {
  CsimNcclOptions o = options->nccl;
  o.colls = (const CsimColl *)(const void *)series->colls->data;
  o.n_colls = series->colls->len;
  o.variables = (const char *const *)series->variables->pdata;
  o.max = MAX(series->max, o.min);
  o.dump = NULL;
  return o;
}
