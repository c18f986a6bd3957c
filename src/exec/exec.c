/*
 * exec/exec.c - one call: choose, plan, build, run, read the clock.
 */
#include "base/units.h"
#include "exec/exec-private.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* Back-to-back calls that are simulated before the period is taken as settled. Rings, NVLS, PAT and alltoall, in which all ranks do the same, have it
 * at once; a tree, whose root is done a little before its leaves, and CollNet, with its heads, in the second call; chains (broadcast, reduce ...) overlap for several. */
#define ITERATIONS_TREE 2
#define ITERATIONS_CHAIN 5

static void on_event(CsimEngine *engine, void *owner, const CsimEvent *event) {
  CsimExec *x = owner;
  if (event->kind <= EV_LANE_FLOW) exec_lane_event(x, event);
  else exec_net_event(x, event);
  exec_drain_work(x);
}

/* --- set-up once ----------------------------------------------------------------------------------------------------- */

static uint16_t gpu_index(CsimExec *x, const char *model, double clock) {
  for (guint i = 0; i < x->gpus->len; i++) {
    const CsimGpuModel *known = &g_array_index(x->gpus, CsimGpuModel, i);
    if (strcmp(known->name, model) == 0 && known->clock == clock) return (uint16_t)i;
  }
  CsimGpuModel m;
  csim_gpu_model_init(csim_machine_catalogue(x->spec.machine), model, &m);
  if (clock < 1) csim_gpu_model_slow(&m, clock);
  g_array_append_val(x->gpus, m);
  return (uint16_t)(x->gpus->len - 1);
}

/* The physical GPU behind a rank: its DEV node, which knows NVLinks and the PCI device. */
static const CsimTopoNode *dev_of(const CsimTopoNode *gpu) {
  for (guint i = 0; i < gpu->links->len; i++) {
    const CsimTopoLink *l = &g_array_index(gpu->links, CsimTopoLink, i);
    if (l->remote->type == CSIM_NODE_DEV) return l->remote;
  }
  return NULL;
}

static uint16_t model_of_rank(CsimExec *x, int rank) {
  const CsimTopoNode *gpu = csim_comm_gpu(x->spec.comm, rank), *dev = dev_of(gpu);
  CsimRankPlace place = csim_comm_place(x->spec.comm, rank);
  char device[16];
  g_snprintf(device, sizeof device, "0x%04x", dev ? (unsigned)(dev->dev.device >> 32 & 0xffff) : 0);
  return gpu_index(x, csim_catalogue_gpu_model(csim_machine_catalogue(x->spec.machine), gpu->gpu.sm, dev ? dev->dev.nvlinks : 0,
                                               dev && dev->dev.device ? device : NULL),
                   csim_machine_gpu_clock(x->spec.machine, (CsimGpuRef){place.machine, place.local_gpu}));
}

static const char *transport_name(CsimTransport t) {
  static const char *const names[] = {"ib", "roce", "socket", "slingshot", "efa"};
  return names[t];
}

CsimExec *csim_exec_new(const CsimExecSpec *spec, GError **error) {
  CsimPacketOptions packets = csim_exec_packet_options(spec->env, spec->seed);
  if (spec->packets && !csim_packet_fabric_check(spec->machine, &packets, NULL, error)) return NULL;
  CsimExec *x = g_new0(CsimExec, 1);
  const CsimFabricSpec *fabric = &csim_machine_cluster(spec->machine)->fabric;
  x->spec = *spec;
  x->n_ranks = (uint32_t)csim_comm_info(spec->comm)->n_ranks;
  x->gpus = g_array_new(FALSE, TRUE, sizeof(CsimGpuModel));
  x->loads = g_array_new(FALSE, FALSE, sizeof(CsimLinkLoad));
  x->rank_gpu = g_new(uint16_t, x->n_ranks);
  for (uint32_t r = 0; r < x->n_ranks; r++) x->rank_gpu[r] = model_of_rank(x, (int)r);
  x->costs = g_new0(CsimCost, x->gpus->len);
  x->fluid_of = g_new(uint32_t, csim_machine_n_links(spec->machine));
  csim_net_model_init(csim_machine_catalogue(spec->machine), transport_name(fabric->transport), fabric->mtu, &x->net_model);
  exec_sockets_init(x);
  csim_net_model_init(csim_machine_catalogue(spec->machine), "loopback", 0, &x->loop_model);
  csim_shm_model_init(csim_machine_catalogue(spec->machine), &x->shm_model);
  x->draws = g_new0(Draw, DRAWS);
  exec_shape_init(x);
  return x;
}

void csim_exec_free(CsimExec *x) {
  if (!x) return;
  g_array_unref(x->gpus);
  g_array_unref(x->loads);
  csim_packet_log_unref(x->packet_log);
  g_free(x->rank_gpu);
  g_free(x->costs);
  g_free(x->draws);
  g_free(x->fluid_of);
  g_free(x->node_first);
  g_free(x->node_ranks);
  g_free(x);
}

/* --- one call -------------------------------------------------------------------------------------------------------- */

/* NCCL's nBytes: the larger of the two buffers of a rank. */
static CsimBytes call_bytes(const CsimExec *x, const CsimCall *call) {
  CsimBytes bytes = call->count * csim_type_size(call->type);
  return call->coll == CSIM_COLL_ALL_GATHER || call->coll == CSIM_COLL_REDUCE_SCATTER ? bytes * x->n_ranks : bytes;
}

static CsimBytes buffer_bytes(const CsimExec *x, const CsimCall *call) {
  CsimBytes bytes = call->count * csim_type_size(call->type);
  switch (call->coll) {
  case CSIM_COLL_ALL_GATHER:
  case CSIM_COLL_REDUCE_SCATTER: return bytes * (x->n_ranks + 1);
  case CSIM_COLL_ALLTOALL: return bytes * 2 * x->n_ranks;
  default: return bytes * 2;
  }
}

static gboolean choose(CsimExec *x, const CsimCall *call, int *n_used, GError **error) {
  if (call->coll >= CSIM_N_NCCL_FUNCS) {
    CsimP2pSplit split;
    /* One protocol a call: that of the farthest transfer, which is the slowest. */
    csim_tuning_p2p_split(x->spec.tuning, 0, (int)x->n_ranks - 1, call->count * csim_type_size(call->type), 0, &split);
    *n_used = csim_comm_info(x->spec.comm)->n_p2p_channels;
    x->choice = (CsimChoice){CSIM_ALGO_P2P, split.proto, *n_used, 640, -1};
  } else {
    if (!csim_tuning_choose(x->spec.tuning, call->coll, call->type, call->op, call_bytes(x, call), &x->choice, error)) return FALSE;
    csim_tuning_split(x->spec.tuning, call->coll, &x->choice, call->type, call->count, x->parts, n_used);
  }
  x->proto = csim_tuning_shape(x->spec.tuning, call->coll, x->choice.algo, x->choice.proto);
  return TRUE;
}

static CsimPlan *make_plan(CsimExec *x, const CsimCall *call, int n_used, GError **error) {
  CsimPlanPart parts[CSIM_MAX_CHANNELS];
  for (int i = 0; i < n_used && x->choice.algo != CSIM_ALGO_P2P; i++)
    parts[i] = (CsimPlanPart){x->parts[i].offset, x->parts[i].bytes, x->parts[i].chunk};
  CsimPlanSpec spec = {
    .coll = call->coll, .algo = x->choice.algo, .count_bytes = call->count * csim_type_size(call->type),
    .elem_bytes = (int)csim_type_size(call->type), .root = call->root, .n_channels = n_used, .parts = parts,
    .align_bytes = 16, .slot_bytes = x->proto.step, .shape = &x->shape,
  };
  return csim_plan_new(&spec, error);
}

static int iterations_to_settle(const CsimExec *x, CsimColl coll) {
  guint n_flaps;
  csim_machine_flaps(x->spec.machine, &n_flaps);
  if (n_flaps > 0) return INT_MAX; /* no call is like the one before */
  gboolean ring = x->choice.algo == CSIM_ALGO_RING && coll != CSIM_COLL_BROADCAST && coll != CSIM_COLL_REDUCE;
  if (ring || x->choice.algo == CSIM_ALGO_NVLS || x->choice.algo == CSIM_ALGO_PAT || coll == CSIM_COLL_ALLTOALL) return 1;
  gboolean rooted = coll == CSIM_COLL_BROADCAST || coll == CSIM_COLL_REDUCE || x->choice.algo == CSIM_ALGO_P2P;
  return rooted ? ITERATIONS_CHAIN : ITERATIONS_TREE;
}

static void start_kernels(CsimExec *x) {
  for (uint32_t r = 0; r < x->n_ranks; r++) {
    Rank *rank = &x->ranks[r];
    if (rank->all.n_lanes == 0) {
      rank->iteration = (uint16_t)x->iterations;
      x->ranks_done++;
    }
    for (uint32_t i = 0; i < rank->all.n_lanes; i++) exec_lane_kernel(x, rank->all.first_lane + i, 0);
  }
  exec_drain_work(x);
}

/* A dead-lock is a bug of a plan or of this layer: say who waits. */
static void report_deadlock(const CsimExec *x) {
  for (uint32_t i = 0, said = 0; i < x->n_lanes && said < 10; i++) {
    const Lane *l = &x->lanes[i];
    if (x->state[i] == LANE_DONE) continue;
    said++;
    g_critical("rank %u channel %u role %u waits in state %u at input %u of operation %u", l->rank, l->channel, l->role, x->state[i], l->input, l->ops);
  }
  g_error("dead-lock in %s %s", csim_coll_name(x->call->coll), csim_algo_name(x->choice.algo));
}

static gboolean run_engine(CsimExec *x, GError **error) {
  CsimEnd end = x->packets ? exec_packets_run(x) : csim_engine_run(x->engine, CSIM_TIME_NEVER, 0);
  if (end == CSIM_END_INTERRUPTED) {
    g_set_error_literal(error, CSIM_ERROR, CSIM_ERROR_INTERRUPTED, "interrupted");
    return FALSE;
  }
  if (x->packets && !exec_packets_check(x, error)) return FALSE;
  if (x->ranks_done < x->n_ranks) report_deadlock(x);
  return TRUE;
}

/* nccl-tests' time: n calls back to back, mean over ranks; periods that were not simulated are like the last one. */
static CsimTime gpu_time(const CsimExec *x) {
  guint busy = 0;
  for (uint32_t r = 0; r < x->n_ranks; r++) busy += x->ranks[r].all.n_lanes > 0 ? x->ranks[r].weight : 0;
  if (busy == 0) return 0;
  CsimTime last = x->period_end[x->iterations - 1] / busy;
  CsimTime before = x->iterations > 1 ? x->period_end[x->iterations - 2] / busy : 0;
  int n = MAX(x->spec.iters, x->iterations);
  return (last + (n - x->iterations) * (last - before)) / n;
}

/* GPUs that one host thread launches on, one after the other. In a virtual machine the threads of a process were seen to take turns as well
 * (two H200, one thread each: a floor of two launches). */
static int launches_in_a_row(const CsimExec *x) {
  gboolean serial = x->spec.launch == CSIM_LAUNCH_SINGLE || (x->spec.launch == CSIM_LAUNCH_THREAD && x->spec.virtual_machine);
  return serial ? csim_comm_info(x->spec.comm)->max_local_ranks : 1;
}

/* Sends and receives that a rank's thread enqueues for a call; 0 for NCCL's own collectives. */
static int sends_and_receives(const CsimExec *x) {
  if (x->choice.algo != CSIM_ALGO_P2P) return 0;
  switch (x->call->coll) {
  case CSIM_COLL_ALLTOALL: return 2 * (int)x->n_ranks;
  case CSIM_COLL_GATHER:
  case CSIM_COLL_SCATTER: return (int)x->n_ranks + 1; /* the root */
  default: return 2;
  }
}

/* Host and GPU work side by side; the slower one counts, with a soft maximum. */
static double with_launch(const CsimExec *x, double gpu_us) {
  const CsimGpuModel *gpu = &g_array_index(x->gpus, CsimGpuModel, 0);
  CsimTime launch = x->spec.virtual_machine ? csim_catalogue_time(csim_machine_catalogue(x->spec.machine), "host.launch_vm") : gpu->launch;
  launch += sends_and_receives(x) * gpu->launch_task;
  double host_us = csim_time_us(launch) * launches_in_a_row(x), p = gpu->launch_norm;
  return pow(pow(gpu_us, p) + pow(host_us, p), 1 / p);
}

static void read_loads(CsimExec *x) {
  g_array_set_size(x->loads, 0);
  for (guint i = 0; i < x->machine_of->len; i++) {
    uint32_t like = x->link_rep ? x->link_rep[i] : i;
    if (like == NO_INDEX) continue;
    CsimLinkLoad load = {g_array_index(x->machine_of, uint32_t, i), csim_fluid_link_use(x->fluid, like)};
    if (load.link != NO_INDEX && load.use.bytes > 0) g_array_append_val(x->loads, load);
  }
}

/* When the last lane was through. */
static CsimTime end_of_calls(const CsimExec *x) {
  CsimTime end = 0;
  for (uint32_t i = 0; i < x->n_lanes; i++) end = MAX(end, x->lanes[i].free);
  return end;
}

static void busiest_link(const CsimExec *x, CsimTime total, CsimBreakdown *out) {
  CsimTime longest = 0;
  out->busiest = NO_INDEX;
  for (guint i = 0; i < x->loads->len; i++) {
    const CsimLinkLoad *load = &g_array_index(x->loads, CsimLinkLoad, i);
    if (load->use.binding <= longest) continue;
    longest = load->use.binding;
    out->busiest = load->link;
  }
  out->busiest_share = total > 0 ? (double)longest / (double)total : 0;
}

/* The last lane to finish tells where the time went. */
static void read_breakdown(const CsimExec *x, double time_us, CsimBreakdown *out) {
  const Lane *last = NULL;
  for (uint32_t i = 0; i < x->n_lanes; i++)
    if (!last || x->lanes[i].free > last->free) last = &x->lanes[i];
  if (!last || last->free <= 0) return;
  double total = (double)last->free, gpu_share = MIN(1.0, total / x->iterations * 1e-6 / time_us);
  out->overhead = gpu_share * (double)last->spent[SPENT_OVERHEAD] / total;
  out->copy = gpu_share * (double)last->spent[SPENT_COPY] / total;
  out->link = gpu_share * (double)last->spent[SPENT_LINK] / total;
  out->wait = gpu_share * (double)last->spent[SPENT_WAIT_DATA] / total;
  out->credit = gpu_share * (double)last->spent[SPENT_WAIT_CREDIT] / total;
  out->launch = 1 - out->overhead - out->copy - out->link - out->wait - out->credit;
  busiest_link(x, last->free, out);
}

/* A multicast waits for every GPU of the switch: among GPUs of one kind, the narrowest port (NVLinks lost) sets the pace of all. */
static gboolean set_nvls_costs(CsimExec *x, int channels, GError **error) {
  const CsimCommInfo *info = csim_comm_info(x->spec.comm);
  g_autofree CsimRate *narrowest = g_new0(CsimRate, x->gpus->len);
  if (x->choice.algo != CSIM_ALGO_NVLS && x->choice.algo != CSIM_ALGO_NVLS_TREE) return TRUE;
  for (uint32_t r = 0; r < x->n_ranks; r++) {
    CsimRankPlace p = csim_comm_place(x->spec.comm, (int)r);
    CsimLinkId out, in;
    if (!csim_machine_nvlink_ports(x->spec.machine, (CsimGpuRef){p.machine, p.local_gpu}, &out, &in)) {
      g_set_error(error, CSIM_ERROR, CSIM_ERROR_ROUTE, "rank %u: NVLS needs NVSwitch ports, which this GPU does not have", r);
      return FALSE;
    }
    CsimRate port = csim_machine_link(x->spec.machine, out).capacity;
    CsimRate *least = &narrowest[x->rank_gpu[r]];
    *least = *least ? MIN(*least, port) : port;
  }
  for (guint i = 0; i < x->gpus->len; i++)
    if (narrowest[i]) csim_cost_set_nvls(&x->costs[i], narrowest[i], info->max_local_ranks, info->nvls_heads, channels);
  return TRUE;
}

static gboolean build(CsimExec *x, const CsimCall *call, GError **error) {
  x->engine = csim_engine_new(x->spec.queue);
  x->fluid = csim_fluid_new(x->engine);
  x->handler = csim_engine_add_handler(x->engine, "exec", on_event, x);
  csim_engine_set_ahead(x->engine, x->handler, exec_look_ahead);
  csim_engine_set_interrupt(x->engine, x->spec.interrupt);
  csim_engine_set_digest(x->engine, x->spec.digest);
  memset(x->fluid_of, 0xff, csim_machine_n_links(x->spec.machine) * sizeof *x->fluid_of);
  x->ranks_done = 0;
  x->work_head = x->work_n = 0;
  x->iterations = MIN(MAX(x->spec.iters, 1), iterations_to_settle(x, call->coll));
  x->period_end = g_new0(CsimTime, x->iterations);
  if (x->spec.packets && !exec_packets_new(x, error)) return FALSE;
  if (!exec_build(x, error)) return FALSE;
  exec_trace_begin(x);
  for (guint i = 0; i < x->gpus->len; i++)
    csim_cost_init(&x->costs[i], &g_array_index(x->gpus, CsimGpuModel, i), &x->shm_model, call->coll, x->choice.algo, x->choice.proto,
                   x->choice.n_threads, buffer_bytes(x, call));
  return set_nvls_costs(x, csim_plan_spec(x->plan)->n_channels, error);
}

static void tear_down(CsimExec *x) {
  exec_unbuild(x);
  g_clear_pointer(&x->period_end, g_free);
  g_clear_pointer(&x->packets, exec_packets_free);
  g_clear_pointer(&x->fluid, csim_fluid_free);
  g_clear_pointer(&x->engine, csim_engine_free);
  g_clear_pointer(&x->plan, csim_plan_free);
}

const CsimLinkLoad *csim_exec_loads(const CsimExec *x, guint *n) {
  *n = x->loads->len;
  return (const CsimLinkLoad *)(void *)x->loads->data;
}

gboolean csim_exec_call(CsimExec *x, const CsimCall *call, CsimExecResult *out, GError **error) {
  int n_used = 0;
  x->call = call;
  *out = (CsimExecResult){0};
  if (!choose(x, call, &n_used, error)) return FALSE;
  x->plan = make_plan(x, call, n_used, error);
  gboolean ok = x->plan && build(x, call, error);
  if (ok) {
    start_kernels(x);
    ok = run_engine(x, error);
  }
  if (ok) {
    out->choice = x->choice;
    out->n_channels = n_used;
    out->time_us = with_launch(x, csim_time_us(gpu_time(x)));
    read_loads(x);
    exec_nvls_loads(x);
    exec_packets_take_log(x);
    read_breakdown(x, out->time_us, &out->where);
    out->digest = csim_engine_digest(x->engine);
    out->events = csim_engine_stats(x->engine).events;
    out->span = end_of_calls(x);
    out->calls = x->iterations;
  }
  tear_down(x);
  return ok;
}
