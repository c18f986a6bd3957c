#include "models/gpu.h"

#define TIME(field) csim_catalogue_time(c, "gpu.%s.%s", model, field)
#define NUMBER(field) csim_catalogue_number(c, "gpu.%s.%s", model, field)
#define BYTES(field) csim_catalogue_bytes(c, "gpu.%s.%s", model, field)
#define RATE(field) csim_catalogue_rate(c, "gpu.%s.%s", model, field)

/* Payload and wire bytes of one warp's iteration: fixed by the protocols (NCCL 2.30.7, src/device/prims_ll.h,
 * prims_ll128.h): LL carries 8 of 16 bytes a lane, LL128 120 of each 128. */
#define LL_LINE_BYTES 256
#define LL128_LINE_BYTES 1920
#define LL_WIRE 2.0
#define LL128_WIRE (16.0 / 15.0)

static void init_simple(const CsimCatalogue *c, const char *model, CsimGpuSimple *s) {
  s->base_ps = NUMBER("simple_base_ps");
  s->source_ps = NUMBER("simple_source_ps");
  s->local_dst_ps = NUMBER("simple_local_dst_ps");
  s->remote_dst_ps = NUMBER("simple_remote_dst_ps");
  s->o = TIME("simple_o");
  s->o_empty = TIME("simple_o_empty");
  s->t_min = TIME("simple_t_min");
  s->t_min_bytes = BYTES("simple_t_min_bytes");
  s->post = TIME("simple_post");
  s->t0 = TIME("simple_t0");
  s->t0_bytes = TIME("simple_t0_bytes");
  s->t0_pair = TIME("simple_t0_pair");
  s->thread_scale = NUMBER("simple_thread_scale");
  s->group_share = NUMBER("simple_group_share");
  s->tree_root = NUMBER("simple_tree_root");
  s->more_peer_ps = NUMBER("simple_more_peer_ps");
  s->tree_units = NUMBER("simple_tree_units");
}

static CsimTime ll_time(const CsimCatalogue *c, const char *model, const char *proto, const char *field) {
  return csim_catalogue_time(c, "gpu.%s.%s_%s", model, proto, field);
}

static void init_ll(const CsimCatalogue *c, const char *model, const char *proto, CsimGpuLl *ll) {
  ll->a = ll_time(c, model, proto, "a");
  ll->per_warp = ll_time(c, model, proto, "per_warp");
  ll->two_dst = csim_catalogue_number(c, "gpu.%s.%s_two_dst", model, proto);
  ll->recv = csim_catalogue_number(c, "gpu.%s.%s_recv", model, proto);
  ll->o = ll_time(c, model, proto, "o");
  ll->o_one = ll_time(c, model, proto, "o_one");
  ll->lat = ll_time(c, model, proto, "lat");
  ll->lat_threads = ll_time(c, model, proto, "lat_threads");
  ll->t0 = ll_time(c, model, proto, "t0");
  ll->t0_threads = ll_time(c, model, proto, "t0_threads");
  ll->l2_miss = ll_time(c, model, proto, "l2_miss");
}

static void init_lines(const CsimCatalogue *c, const char *model, CsimGpuModel *m) {
  init_ll(c, model, "ll", &m->ll);
  init_ll(c, model, "ll128", &m->ll128);
  m->ll.line_bytes = LL_LINE_BYTES;
  m->ll.wire_factor = LL_WIRE;
  m->ll.full_threads = 512;
  m->ll.group_share = 1;
  m->ll128.line_bytes = LL128_LINE_BYTES;
  m->ll128.wire_factor = LL128_WIRE;
  m->ll128.full_threads = 640;
  m->ll128.group_share = NUMBER("ll128_group_share");
}

static void init_ports(const CsimCatalogue *c, const char *model, CsimGpuModel *m) {
  m->nvlink_gen = (int)NUMBER("nvlink_gen");
  if (m->nvlink_gen == 0) return;
  m->nvlink_rate = csim_catalogue_rate(c, "nvlink.%d.kernel", m->nvlink_gen);
  m->nvlink_softness = csim_catalogue_number(c, "nvlink.%d.softness", m->nvlink_gen);
}

void csim_gpu_model_init(const CsimCatalogue *c, const char *model, CsimGpuModel *m) {
  *m = (CsimGpuModel){.name = g_intern_string(model), .clock = 1};
  init_simple(c, model, &m->simple);
  init_lines(c, model, m);
  init_ports(c, model, m);
  m->flag = TIME("hop_latency");
  m->credit = TIME("credit_latency");
  m->l2_bytes = BYTES("l2");
  m->hbm_rate = RATE("hbm");
  m->nvls_copy_ps = NUMBER("nvls_copy_ps");
  m->nvls_visit = TIME("nvls_visit");
  m->nvls_o = TIME("nvls_o");
  m->nvls_t0 = TIME("nvls_t0");
  m->launch = TIME("launch");
  m->host_read_share = NUMBER("host_read_share");
  m->host_write_share = NUMBER("host_write_share");
  m->host_flag = TIME("host_flag");
  m->stagger = csim_catalogue_time(c, "host.stagger");
  m->jitter = csim_catalogue_number(c, "host.jitter");
  m->launch_task = csim_catalogue_time(c, "host.launch_task");
  m->launch_norm = csim_catalogue_number(c, "host.launch_norm");
}

static void slow_times(CsimTime *const *times, gsize n, double clock) {
  for (gsize i = 0; i < n; i++) *times[i] = (CsimTime)((double)*times[i] / clock);
}

static void slow_ll(CsimGpuLl *ll, double clock) {
  CsimTime *const times[] = {&ll->a, &ll->per_warp, &ll->o, &ll->o_one, &ll->t0, &ll->t0_threads};
  slow_times(times, G_N_ELEMENTS(times), clock);
}

void csim_gpu_model_slow(CsimGpuModel *m, double clock) {
  CsimGpuSimple *s = &m->simple;
  CsimTime *const times[] = {&s->o, &s->o_empty, &s->t_min, &s->post, &s->t0, &s->t0_bytes, &m->nvls_o, &m->nvls_t0, &m->nvls_visit};
  slow_times(times, G_N_ELEMENTS(times), clock);
  s->base_ps /= clock;
  s->source_ps /= clock;
  s->local_dst_ps /= clock;
  s->remote_dst_ps /= clock;
  s->more_peer_ps /= clock;
  s->tree_units *= clock;
  m->nvls_copy_ps /= clock;
  slow_ll(&m->ll, clock);
  slow_ll(&m->ll128, clock);
  m->clock = clock;
}
