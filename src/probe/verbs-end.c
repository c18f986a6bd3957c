/* probe/verbs-end.c - one end: device, memory, queue pairs and their states. */
#include "probe/verbs-private.h"

#include "base/file.h"
#include <errno.h>
#include <string.h>

#define ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)
#define SYSFS_LIMIT (1 << 16) /* its files call themselves 4 KiB, or a page of the machine */
#define COUNTER_US 20000 /* twice the life of a value that the kernel keeps */
#define MAX_READS 16 /* outstanding reads that both ends ask for; devices have at least 16 or say less */

static gboolean fail(GError **error, const End *end, const char *what, int code) {
  g_set_error(error, CSIM_ERROR, CSIM_ERROR_IO, "%s: %s: %s%s", end->device_name ? end->device_name : "verbs", what, g_strerror(code),
              code == ENOMEM ? " (locked memory? see ulimit -l)" : "");
  return FALSE;
}

/* --- device ----------------------------------------------------------------------- */

static gboolean no_device(const char *name, GError **error) {
  if (name)
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_UNSUPPORTED, "no RDMA device \"%s\" on this machine", name);
  else
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_UNSUPPORTED, "no RDMA device on this machine; this probe needs one");
  return FALSE;
}

static gboolean open_device(End *end, const char *name, GError **error) {
  int n = 0;
  struct ibv_device **list = end->v->get_device_list(&n);
  for (int i = 0; list && i < n && !end->context; i++)
    if (!name || !strcmp(name, end->v->get_device_name(list[i]))) {
      end->device_name = g_intern_string(end->v->get_device_name(list[i]));
      end->context = end->v->open_device(list[i]);
      if (!end->context) {
        int code = errno;
        end->v->free_device_list(list);
        return fail(error, end, "cannot be opened", code);
      }
    }
  if (list) end->v->free_device_list(list);
  return end->context || no_device(name, error);
}

/* --- GID: RoCE v2 with an IPv4-mapped address, unless the user says which ------------- */

static gboolean is_v2(const End *end, int index) {
  g_autofree char *path = g_strdup_printf("/sys/class/infiniband/%s/ports/%d/gid_attrs/types/%d", end->device_name, end->options->port, index);
  g_autofree char *text = csim_file_read(path, SYSFS_LIMIT, NULL, NULL);
  return text && g_str_has_prefix(text, "RoCE v2");
}

static gboolean is_ipv4(const union ibv_gid *gid) {
  static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};
  return !memcmp(gid->raw, prefix, sizeof prefix);
}

static gboolean is_empty(const union ibv_gid *gid) {
  static const union ibv_gid none;
  return !memcmp(gid->raw, none.raw, sizeof none.raw);
}

static int choose_gid(const End *end, int n) {
  union ibv_gid gid;
  for (int i = 0; i < MIN(n, 64); i++)
    if (end->v->query_gid(end->context, (uint8_t)end->options->port, i, &gid) == 0 && is_ipv4(&gid) && is_v2(end, i)) return i;
  return 0;
}

static gboolean query(End *end, GError **error) {
  struct ibv_port_attr port = {0};
  struct ibv_device_attr device = {0};
  uint8_t number = (uint8_t)end->options->port;
  int code = end->v->query_port(end->context, number, (struct _compat_ibv_port_attr *)&port);
  if (code) return fail(error, end, "port", code);
  if (port.state != IBV_PORT_ACTIVE) {
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_UNSUPPORTED, "%s: port %d is not active", end->device_name, number);
    return FALSE;
  }
  end->gid_index = end->options->gid_index >= 0 ? end->options->gid_index : choose_gid(end, port.gid_tbl_len);
  code = end->v->query_gid(end->context, number, end->gid_index, &end->own.gid);
  if (code) return fail(error, end, "GID", errno);
  if (port.link_layer == IBV_LINK_LAYER_ETHERNET && is_empty(&end->own.gid)) {
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE, "%s: entry %d of the GID table is empty; see /sys/class/infiniband/%s/ports/%d/gids",
                end->device_name, end->gid_index, end->device_name, number);
    return FALSE;
  }
  end->own.lid = port.lid;
  end->own.mtu = 128 << port.active_mtu; /* IBV_MTU_256 is 1 */
  if (end->options->mtu > 0) end->own.mtu = MIN(end->own.mtu, end->options->mtu);
  end->link_layer = port.link_layer;
  if (end->v->query_device(end->context, &device) == 0) g_strlcpy(end->facts.firmware, device.fw_ver, sizeof end->facts.firmware);
  return TRUE;
}

static void write_facts(End *end) {
  const uint8_t *g = end->own.gid.raw;
  g_strlcpy(end->facts.device, end->device_name, sizeof end->facts.device);
  end->facts.gid_index = end->gid_index;
  end->facts.mtu = end->own.mtu;
  if (is_ipv4(&end->own.gid))
    g_snprintf(end->facts.gid, sizeof end->facts.gid, "::ffff:%d.%d.%d.%d", g[12], g[13], g[14], g[15]);
  else
    for (int i = 0; i < 16; i += 2)
      g_snprintf(end->facts.gid + i * 5 / 2, 6, "%02x%02x%s", g[i], g[i + 1], i < 14 ? ":" : "");
}

/* --- memory ----------------------------------------------------------------------- */

/* GPUDirect through peermem takes the pointer as it is. */
static gboolean take_gpu_memory(End *end, size_t bytes, GError **error) {
  const CsimCuda *cuda = csim_cuda_open(error);
  if (!cuda || !csim_gpu_open(&end->gpu, cuda, 0, error) ||
      !csim_cuda_check(cuda, cuda->alloc(&end->gpu_buffer, bytes), "GPU memory", error))
    return FALSE;
  end->mr = end->v->reg_mr(end->pd, (void *)(gsize)end->gpu_buffer, bytes, ACCESS);
  if (end->mr) return TRUE;
  int fd = -1;
  if (end->v->reg_dmabuf_mr && cuda->dmabuf && cuda->dmabuf(&fd, end->gpu_buffer, bytes, CSIM_CU_HANDLE_DMABUF, 0) == 0)
    end->mr = end->v->reg_dmabuf_mr(end->pd, 0, bytes, end->gpu_buffer, fd, ACCESS);
  return end->mr || fail(error, end, "GPU memory cannot be registered (nvidia-peermem or dmabuf)", errno);
}

static gboolean take_memory(End *end, GError **error) {
  size_t bytes = 2 * (size_t)end->options->max;
  end->pd = end->v->alloc_pd(end->context);
  if (!end->pd) return fail(error, end, "protection domain", errno);
  if (end->options->gpu) {
    if (!take_gpu_memory(end, bytes, error)) return FALSE;
    end->own.address = end->gpu_buffer;
  } else {
    if (posix_memalign(&end->buffer, 4096, bytes)) return fail(error, end, "memory", ENOMEM);
    memset(end->buffer, 0, bytes);
    end->mr = end->v->reg_mr(end->pd, end->buffer, bytes, ACCESS);
    if (!end->mr) return fail(error, end, "registering memory", errno);
    end->own.address = (uint64_t)(gsize)end->buffer;
  }
  end->own.rkey = end->mr->rkey;
  return TRUE;
}

/* --- queue pairs -------------------------------------------------------------------- */

static gboolean make_queues(End *end, GError **error) {
  const CsimVerbsOptions *o = end->options;
  end->cq = end->v->create_cq(end->context, 2 * o->qps * (o->depth + 1), NULL, NULL, 0);
  if (!end->cq) return fail(error, end, "completion queue", errno);
  for (int i = 0; i < o->qps; i++) {
    struct ibv_qp_init_attr want = {.send_cq = end->cq, .recv_cq = end->cq, .qp_type = IBV_QPT_RC};
    want.cap = (struct ibv_qp_cap){.max_send_wr = (uint32_t)o->depth + 1, .max_recv_wr = (uint32_t)o->depth + 1, .max_send_sge = 1,
                                   .max_recv_sge = 1, .max_inline_data = (uint32_t)o->inline_bytes};
    end->qp[i] = end->v->create_qp(end->pd, &want);
    if (!end->qp[i]) return fail(error, end, "queue pair", errno);
    end->own.qpn[i] = end->qp[i]->qp_num;
    end->n_qps++;
    struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = (uint8_t)o->port, .qp_access_flags = ACCESS};
    int code = end->v->modify_qp(end->qp[i], &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
    if (code) return fail(error, end, "queue pair to INIT", code);
  }
  return TRUE;
}

static enum ibv_mtu mtu_code(int bytes) {
  enum ibv_mtu code = IBV_MTU_256;
  while (code < IBV_MTU_4096 && 128 << (code + 1) <= bytes) code++;
  return code;
}

/* RoCE has no LIDs: the address is a GID there, and may be on InfiniBand. */
static int to_ready(const End *end, int i) {
  struct ibv_qp_attr rtr = {
      .qp_state = IBV_QPS_RTR,
      .path_mtu = mtu_code(MIN(end->own.mtu, end->other.mtu)),
      .dest_qp_num = end->other.qpn[i],
      .rq_psn = end->other.psn,
      .max_dest_rd_atomic = MAX_READS,
      .min_rnr_timer = 12,
      .ah_attr = {.port_num = (uint8_t)end->options->port, .dlid = end->other.lid},
  };
  if (end->link_layer == IBV_LINK_LAYER_ETHERNET || end->other.lid == 0) {
    rtr.ah_attr.is_global = 1;
    rtr.ah_attr.grh = (struct ibv_global_route){.dgid = end->other.gid, .sgid_index = (uint8_t)end->gid_index, .hop_limit = 64};
  }
  int code = end->v->modify_qp(end->qp[i], &rtr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                                      IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
  if (code) return code;
  struct ibv_qp_attr rts = {.qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7, .sq_psn = end->own.psn, .max_rd_atomic = MAX_READS};
  return end->v->modify_qp(end->qp[i], &rts, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                                                 IBV_QP_MAX_QP_RD_ATOMIC);
}

gboolean verbs_end_connect(End *end, GError **error) {
  for (int i = 0; i < end->n_qps; i++) {
    int code = to_ready(end, i);
    if (code == ETIMEDOUT)
      return fail(error, end, "the other end's address is not reached (two devices of one host need net.ipv4.conf.*.accept_local=1)", code);
    if (code) return fail(error, end, "connecting the queue pair (GID index? MTU?)", code);
  }
  return TRUE;
}

/* --- whole ------------------------------------------------------------------------- */

gboolean verbs_end_open(End *end, const CsimVerbsOptions *options, const char *device, GError **error) {
  *end = (End){.v = csim_verbs_open(error), .options = options, .channel = -1};
  if (!end->v || !open_device(end, device, error) || !query(end, error) || !take_memory(end, error) || !make_queues(end, error))
    return FALSE;
  end->own.psn = end->own.qpn[0] * 7919u & 0xffffff;
  write_facts(end);
  return TRUE;
}

void verbs_end_close(End *end) {
  for (int i = 0; i < CSIM_VERBS_MAX_QPS; i++)
    if (end->qp[i]) end->v->destroy_qp(end->qp[i]);
  if (end->cq) end->v->destroy_cq(end->cq);
  if (end->mr) end->v->dereg_mr(end->mr);
  if (end->gpu_buffer) end->gpu.cuda->free(end->gpu_buffer);
  csim_gpu_close(&end->gpu);
  free(end->buffer);
  if (end->pd) end->v->dealloc_pd(end->pd);
  if (end->context) end->v->close_device(end->context);
}

/* Soft-RoCE counts in hw_counters, InfiniBand adapters in counters. */
gint64 verbs_end_packets(const End *end, gboolean received) {
  static const char *const names[2][2] = {{"hw_counters/sent_pkts", "counters/port_xmit_packets"},
                                          {"hw_counters/rcvd_pkts", "counters/port_rcv_packets"}};
  g_usleep(COUNTER_US);
  for (int i = 0; i < 2; i++) {
    g_autofree char *path = g_strdup_printf("/sys/class/infiniband/%s/ports/%d/%s", end->device_name, end->options->port, names[received][i]);
    g_autofree char *text = csim_file_read(path, SYSFS_LIMIT, NULL, NULL);
    gint64 value;
    if (text && g_ascii_string_to_signed(g_strstrip(text), 10, 0, G_MAXINT64, &value, NULL)) return value;
  }
  return -1;
}
