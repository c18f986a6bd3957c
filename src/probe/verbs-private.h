/* probe/verbs-private.h - one end of a verbs test, shared by verbs-*.c. */
#ifndef CSIM_PROBE_VERBS_PRIVATE_H
#define CSIM_PROBE_VERBS_PRIVATE_H

#include "probe/cuda.h"
#include "probe/verbs-lib.h"
#include "probe/verbs.h"

/* What the other end must know. */
typedef struct {
  int mtu; /* bytes */
  uint16_t lid;
  union ibv_gid gid;
  uint32_t rkey, psn, qpn[CSIM_VERBS_MAX_QPS];
  uint64_t address;
} Address;

typedef struct {
  const CsimVerbs *v;
  const CsimVerbsOptions *options;
  const char *device_name;
  struct ibv_context *context;
  struct ibv_pd *pd;
  struct ibv_cq *cq; /* of all queue pairs, both directions */
  struct ibv_mr *mr;
  struct ibv_qp *qp[CSIM_VERBS_MAX_QPS];
  void *buffer; /* send half, then receive half, of options->max bytes each */
  CsimGpu gpu;  /* gpu.cuda NULL: host memory */
  CsimCuPtr gpu_buffer;
  int receives[CSIM_VERBS_MAX_QPS]; /* posted and not yet used, of a whole half each */
  int arrived; /* messages of a send_lat that came before they were waited for */
  int n_qps, gid_index, link_layer;
  Address own, other;
  CsimVerbsFacts facts;
  int channel; /* the byte stream to the other end */
} End;

/* verbs-end.c: device to queue pairs in state INIT with own filled; then, with other known, ready to send. */
gboolean verbs_end_open(End *end, const CsimVerbsOptions *options, const char *device, GError **error);
gboolean verbs_end_connect(End *end, GError **error);
void verbs_end_close(End *end);
/* Packets that the device has sent (received: TRUE) so far; -1: it does not say. Takes 20 ms: the kernel renews them every 10. */
gint64 verbs_end_packets(const End *end, gboolean received);

/* verbs-channel.c: lines of text between the ends. */
gboolean verbs_channel_pair(int out[2], GError **error);
int verbs_channel_listen(int port, GError **error);           /* waits for one caller; -1 */
int verbs_channel_connect(const char *host_port, GError **error); /* -1 */
gboolean verbs_say(int fd, GError **error, const char *format, ...) G_GNUC_PRINTF(3, 4);
/* One line without its end into `line`; FALSE when the other end has gone or says nonsense. */
gboolean verbs_hear(int fd, char *line, gsize size, GError **error);
gboolean verbs_exchange(End *end, GError **error); /* own out, other in */

/* verbs-test.c: A runs a test and fills the row; B serves tests until A says it is over. */
gboolean verbs_test_lead(End *a, CsimVerbsTest test, CsimBytes size, CsimVerbsRow *row, GError **error);
gboolean verbs_test_serve(End *b, GError **error);

#endif
