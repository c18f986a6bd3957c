#include "exp/bottleneck.h"

#define STAGE(member) G_STRUCT_OFFSET(CsimBreakdown, member)
static const CsimStage stages[] = {
  {"launch", "host and kernel start, and the call's end", STAGE(launch)},
  {"overhead", "what every slice costs: flags, barriers, pipeline fill and drain", STAGE(overhead)},
  {"GPU copy", "channel workers that load, reduce and store", STAGE(copy)},
  {"link sharing", "the same data moving slower because others use the link too", STAGE(link)},
  {"wait for data", "the neighbour or the network has not delivered yet", STAGE(wait)},
  {"wait for slot", "the neighbour or the network has not freed a buffer slot yet", STAGE(credit)},
};

const CsimStage *csim_stages(guint *n) {
  *n = G_N_ELEMENTS(stages);
  return stages;
}

#define LINK_BINDS 0.5
gboolean csim_link_binds(const CsimRow *row) { return row->busiest[0] && row->where.busiest_share >= LINK_BINDS; }

void csim_name_bottleneck(const CsimMachine *machine, CsimRow *row) {
  const CsimBreakdown *where = &row->where;
  row->busiest[0] = row->bottleneck[0] = '\0';
  if (where->busiest != UINT32_MAX) {
    g_autofree char *name = csim_machine_link_name(machine, where->busiest);
    g_strlcpy(row->busiest, name, sizeof row->busiest);
  }
  const CsimStage *largest = &stages[0];
  for (guint i = 1; i < G_N_ELEMENTS(stages); i++)
    if (csim_stage_share(&stages[i], where) > csim_stage_share(largest, where)) largest = &stages[i];
  if (csim_stage_share(largest, where) <= 0) return;
  g_strlcpy(row->bottleneck, csim_link_binds(row) ? row->busiest : largest->name, sizeof row->bottleneck);
}
