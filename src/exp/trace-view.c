#include "exp/trace-view.h"

#include "exp/run-private.h"

gsize csim_run_trace_n(const CsimRun *run) { return run->trace ? csim_trace_n(run->trace) : 0; }
gsize csim_run_trace_dropped(const CsimRun *run) { return run->trace ? csim_trace_dropped(run->trace) : 0; }

CsimTraceItem csim_run_trace_get(const CsimRun *run, gsize i) {
  const CsimTraceRecord *r = csim_trace_get(run->trace, i);
  CsimTraceItem item = {.is_span = r->kind == CSIM_TRACE_SPAN, .begin = r->begin, .name = csim_trace_name_text(run->trace, r->name)};
  if (item.is_span) {
    item.end = r->end;
    item.rank = (int)CSIM_TRACK_RANK(r->track);
    item.channel = (int)CSIM_TRACK_CHANNEL(r->track);
    item.bytes = (CsimBytes)r->arg * 1024;
  } else {
    item.link = r->track;
    item.value = r->value;
  }
  return item;
}

char *csim_run_link_name(const CsimRun *run, CsimLinkId link) { return csim_machine_link_name(run->machine, link); }

char *csim_run_rank_name(const CsimRun *run, int rank) {
  CsimRankPlace place = csim_comm_place(run->comm, rank);
  return g_strdup_printf("rank %d (node %u, GPU %u)", rank, place.machine, place.local_gpu);
}
