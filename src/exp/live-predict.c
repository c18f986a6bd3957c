/* exp/live-predict.c - this machine as a target, and predictions before anything is measured. */
#include "exp/live-private.h"

#include "base/json-write.h"
#include "base/units.h"
#include "collsim/version.h"
#include <inttypes.h>
#include <string.h>

/* --- target ----------------------------------------------------------------------- */

/* GB/s of the first adapter or interface, which every rank calls its own. 0: none told. */
static double interface_gbps(const char *topo_file) {
  g_autoptr(CsimCluster) cluster = csim_cluster_load(topo_file, 1, NULL);
  const CsimSystem *system = cluster ? csim_cluster_system(cluster, 0) : NULL;
  return system && csim_system_n(system, CSIM_NODE_NET) > 0 ? (double)csim_system_node(system, CSIM_NODE_NET, 0)->net.bw : 0;
}

/* The link is a share of what the interface calls itself: NCCL goes by the interface, the data by the link. */
static gboolean add_link_rate(const char *link_rate, LiveTarget *t, GError **error) {
  CsimRate rate;
  char number[G_ASCII_DTOSTR_BUF_SIZE];
  if (!csim_rate_parse(link_rate, &rate, error)) {
    g_prefix_error(error, "--link-rate: ");
    return FALSE;
  }
  if (t->nic_gbps <= 0) {
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE, "--link-rate: NCCL's topology names no speed of a network interface");
    return FALSE;
  }
  g_ascii_formatd(number, sizeof number, "%.6f", (double)rate * 1e-9 / t->nic_gbps);
  g_ptr_array_add(t->constants, g_strdup_printf("socket.share=%s", number));
  t->n_link = 1;
  return TRUE;
}

gboolean live_target(const CsimLiveOptions *options, const CsimNcclFacts *facts, const char *topo_file, LiveTarget *out,
                     GError **error) {
  *out = (LiveTarget){.constants = g_ptr_array_new_with_free_func(g_free)};
  if (facts->n_hosts > 1) {
    GString *cluster = g_string_new("{\"nodes\": [{");
    out->nic_gbps = interface_gbps(topo_file);
    csim_jsonw_member_string(cluster, "xml", topo_file);
    csim_jsonw_member_int(cluster, "count", facts->n_hosts);
    out->target = g_string_free(g_string_append(cluster, "}], \"fabric\": {\"transport\": \"socket\"}}"), FALSE);
    out->label = g_strdup_printf("%d ranks of %d x %s, sockets%s%s", facts->n_ranks, facts->n_gpus, facts->gpu,
                                 options->link_rate ? " at " : "", options->link_rate ? options->link_rate : "");
  } else {
    out->target = g_strdup(topo_file);
    out->label = g_strdup_printf("%d x %s", facts->n_gpus, facts->gpu);
  }
  gboolean ok = !options->link_rate || add_link_rate(options->link_rate, out, error);
  for (int i = 0; options->validate.constants && options->validate.constants[i]; i++)
    g_ptr_array_add(out->constants, g_strdup(options->validate.constants[i]));
  g_ptr_array_add(out->constants, NULL);
  if (!ok) live_target_clear(out);
  return ok;
}

void live_target_clear(LiveTarget *t) {
  g_clear_pointer(&t->target, g_free);
  g_clear_pointer(&t->label, g_free);
  g_clear_pointer(&t->constants, g_ptr_array_unref);
}

/* --- sets ------------------------------------------------------------------------- */

static void add_rows(CsimMeasuredSet *set, const CsimNcclOptions *o, int n_ranks) {
  for (CsimBytes size = o->min; size <= o->max; size *= o->factor) {
    CsimPerfSize perf = csim_perf_size(set->coll, CSIM_TYPE_FLOAT, n_ranks, size);
    CsimMeasuredRow row = {.size = perf.size_bytes, .type = CSIM_TYPE_FLOAT, .op = CSIM_OP_SUM};
    if (perf.count > 0) g_array_append_val(set->rows, row);
  }
}

char *live_set_name(const char *tag, int n_ranks, CsimColl coll) {
  return g_strdup_printf("%s:%d:%s", tag, n_ranks, csim_coll_name(coll));
}

/* As the readers make it of nccl.csv: the same name, variables, launch and iterations. */
static CsimMeasuredSet *empty_set(const LiveSeries *s, const CsimNcclOptions *o, CsimColl coll, const CsimNcclFacts *facts) {
  CsimMeasuredSet *set = csim_measured_set_new();
  g_autofree char *name = live_set_name(s->tag, facts->n_ranks, coll);
  g_autofree char *variables = csim_nccl_variables_text(o);
  csim_measured_fact(set, CSIM_FACT_NAME, name);
  csim_measured_fact(set, CSIM_FACT_TAG, s->tag);
  csim_measured_fact(set, CSIM_FACT_ENV, variables);
  set->coll = coll;
  set->has_coll = set->has_launch = TRUE;
  set->launch = o->launch;
  set->iters = o->iters;
  set->n_nodes = (guint)facts->n_hosts;
  set->n_gpus = (guint)facts->n_ranks;
  add_rows(set, o, facts->n_ranks);
  csim_measured_set_settle(set);
  return set;
}

GPtrArray *live_empty_sets(const CsimLiveOptions *options, const GPtrArray *series, const CsimNcclFacts *facts) {
  GPtrArray *sets = g_ptr_array_new_with_free_func(csim_measured_set_free);
  for (guint i = 0; i < series->len; i++) {
    const LiveSeries *s = (const LiveSeries *)g_ptr_array_index(series, i);
    CsimNcclOptions o = live_series_options(options, s);
    for (guint c = 0; c < s->colls->len; c++)
      g_ptr_array_add(sets, empty_set(s, &o, g_array_index(s->colls, CsimColl, c), facts));
  }
  return sets;
}

CsimValidation *live_validate(const CsimLiveOptions *options, const LiveTarget *target, GPtrArray *sets, gboolean predict,
                              const char *catalogue) {
  CsimValidateOptions v = options->validate;
  v.target = target->target;
  v.label = target->label;
  v.virtual_machine = csim_probe_is_virtual_machine();
  v.predict = predict;
  v.constants = (const char *const *)target->constants->pdata;
  if (catalogue) {
    v.catalogue_file = catalogue;
    v.constants += target->n_link;
  }
  return csim_validate(sets, &v);
}

/* --- text ------------------------------------------------------------------------- */

char *live_predictions_csv(const CsimValidation *v, const char *target, const char *date) {
  GString *out = g_string_new(NULL);
  g_string_append_printf(out, "# predicted before the runs: %s\n# program: collsim %s, constants %016" PRIx64 "\n# target: %s\n",
                         date, COLLSIM_VERSION, v->catalogue_digest, target);
  g_string_append(out, "set,collective,size_bytes,time_us,busbw_gbps,algo,proto,channels\n");
  for (guint i = 0; i < v->sets->len; i++) {
    const CsimSetResult *r = (const CsimSetResult *)g_ptr_array_index(v->sets, i);
    if (r->skipped) g_string_append_printf(out, "# %s: %s\n", r->set->facts[CSIM_FACT_NAME], r->skipped);
    for (guint k = 0; k < r->rows->len; k++) {
      const CsimCompared *c = &g_array_index(r->rows, CsimCompared, k);
      g_autofree char *time = csim_number_text(c->time_us, "%.4f"), *busbw = csim_number_text(c->busbw_gbps, "%.4f");
      g_string_append_printf(out, "%s,%s,%" PRId64 ",%s,%s,%s,%s,%d\n", r->set->facts[CSIM_FACT_NAME],
                             csim_coll_name(r->set->coll), c->measured.size, time, busbw, csim_algo_name(c->algo),
                             c->algo == CSIM_ALGO_P2P ? "none" : csim_proto_name(c->proto), c->n_channels);
    }
  }
  return g_string_free(out, FALSE);
}
