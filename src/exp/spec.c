/* The defaults of a run, nccl-tests' where it has one; words of its columns, and a row as JSON. */
#include "exp/run.h"

#include "base/json-write.h"

static const char *const fidelities[] = {"model", "flow", "packet"};

const char *csim_fidelity_name(CsimFidelity fidelity) { return fidelities[fidelity]; }

gboolean csim_fidelity_parse(const char *name, CsimFidelity *fidelity) {
  for (guint i = 0; i < G_N_ELEMENTS(fidelities); i++) {
    if (g_ascii_strcasecmp(name, fidelities[i])) continue;
    *fidelity = (CsimFidelity)i;
    return TRUE;
  }
  return FALSE;
}

void csim_run_spec_init(CsimRunSpec *spec) {
  *spec = (CsimRunSpec){
    .coll = CSIM_COLL_ALL_REDUCE,
    .type = CSIM_TYPE_FLOAT,
    .op = CSIM_OP_SUM,
    .min_bytes = 32 << 20,
    .max_bytes = 32 << 20,
    .step_bytes = 1 << 20,
    .iters = 20,
    .launch = CSIM_LAUNCH_PROCESS,
    .fidelity = CSIM_FIDELITY_FLOW,
    .seed = 1,
    .queue = CSIM_QUEUE_RADIX,
  };
}

const char *csim_row_algo(const CsimRow *row) { return row->n_channels ? csim_algo_name(row->choice.algo) : "none"; }
const char *csim_row_proto(const CsimRow *row) { return row->n_channels ? csim_proto_name(row->choice.proto) : "none"; }
const char *csim_row_redop(const CsimRow *row) { return csim_perf_has_op(row->coll) ? csim_op_name(row->op) : "none"; }

void csim_row_json(GString *out, const CsimRow *r) {
  csim_jsonw_member_string(out, "collective", csim_coll_name(r->coll));
  csim_jsonw_member_int(out, "size_bytes", r->size_bytes);
  csim_jsonw_member_int(out, "count", r->count);
  csim_jsonw_member_string(out, "type", csim_type_name(r->type));
  csim_jsonw_member_string(out, "redop", csim_row_redop(r));
  csim_jsonw_member_int(out, "root", r->root);
  csim_jsonw_member_string(out, "algo", csim_row_algo(r));
  csim_jsonw_member_string(out, "proto", csim_row_proto(r));
  csim_jsonw_member_int(out, "channels", r->n_channels);
  csim_jsonw_member_int(out, "threads", r->choice.n_threads);
  csim_jsonw_member_number(out, "time_us", r->time_us);
  csim_jsonw_member_number(out, "algbw_gbps", r->algbw_gbps);
  csim_jsonw_member_number(out, "busbw_gbps", r->busbw_gbps);
}
