/* probe/verbs-test.c - the tests: what A does, what B does meanwhile. */
#include "probe/verbs-private.h"

#include "probe/clock.h"
#include <errno.h>
#include <sched.h>
#include <string.h>

#define EAGER 256 /* polls before others get the processor: both ends and the kernel's soft interrupts may share one */
#define LINE 128

/* A test under way at one end. */
typedef struct {
  End *end;
  CsimVerbsTest test;
  uint32_t size;
  int iters;
} Job;

/* --- memory ------------------------------------------------------------------------- */

static uint64_t local_send(const End *end) {
  return end->own.address;
}
static uint64_t local_recv(const End *end) {
  return end->own.address + (uint64_t)end->options->max;
}
static volatile unsigned char *recv_byte(const End *end, uint32_t at) {
  return (volatile unsigned char *)end->buffer + end->options->max + at;
}

/* What the end that sends holds: differs from one size and position to the next. */
static unsigned char pattern(uint32_t size, uint32_t at) {
  return (unsigned char)((at * 167u + size * 13u + (at >> 8)) | 1u);
}

static void prepare(const Job *job) {
  unsigned char *send = (unsigned char *)job->end->buffer;
  if (!send) return; /* GPU memory: contents are not looked at */
  for (uint32_t i = 0; i < job->size; i++) send[i] = pattern(job->size, i);
  memset(send + job->end->options->max, 0, job->size);
}

/* The last byte counts messages in latency tests. */
static guint64 count_wrong(const Job *job) {
  guint64 wrong = 0;
  uint32_t n = job->test == CSIM_VERBS_WRITE_LAT ? job->size - 1 : job->size;
  for (uint32_t i = 0; job->end->buffer && i < n; i++) wrong += *recv_byte(job->end, i) != pattern(job->size, i);
  return wrong;
}

/* --- work requests -------------------------------------------------------------------- */

static gboolean fail(const End *end, const char *what, const char *why, GError **error) {
  g_set_error(error, CSIM_ERROR, CSIM_ERROR_IO, "%s: %s: %s", end->device_name, what, why);
  return FALSE;
}

static gboolean post(const Job *job, int qp, enum ibv_wr_opcode opcode, GError **error) {
  End *end = job->end;
  struct ibv_send_wr *bad, wr = {.wr_id = (uint64_t)qp, .num_sge = 1, .opcode = opcode, .send_flags = IBV_SEND_SIGNALED};
  struct ibv_sge sge = {.addr = opcode == IBV_WR_RDMA_READ ? local_recv(end) : local_send(end), .length = job->size, .lkey = end->mr->lkey};
  if (opcode != IBV_WR_RDMA_READ && (int)job->size <= end->options->inline_bytes) wr.send_flags |= IBV_SEND_INLINE;
  wr.sg_list = &sge;
  wr.wr.rdma.remote_addr = opcode == IBV_WR_RDMA_READ ? end->other.address : end->other.address + (uint64_t)end->options->max;
  wr.wr.rdma.rkey = end->other.rkey;
  int code = ibv_post_send(end->qp[qp], &wr, &bad);
  return code == 0 || fail(end, "posting a send", g_strerror(code), error);
}

static gboolean post_recv(const Job *job, int qp, GError **error) {
  End *end = job->end;
  struct ibv_sge sge = {.addr = local_recv(end), .length = (uint32_t)end->options->max, .lkey = end->mr->lkey};
  struct ibv_recv_wr *bad, wr = {.wr_id = (uint64_t)qp, .sg_list = &sge, .num_sge = 1};
  int code = ibv_post_recv(end->qp[qp], &wr, &bad);
  end->receives[qp] += code == 0;
  return code == 0 || fail(end, "posting a receive", g_strerror(code), error);
}

/* Waits for one completion; *qp (may be NULL): whose; *received (may be NULL): of a receive. */
static gboolean wait_one(End *end, int *qp, gboolean *received, GError **error) {
  struct ibv_wc wc;
  int n;
  for (guint polls = 1; (n = ibv_poll_cq(end->cq, 1, &wc)) == 0; polls++)
    if (polls > EAGER) sched_yield();
  if (n < 0) return fail(end, "completion queue", g_strerror(-n), error);
  if (wc.status != IBV_WC_SUCCESS) return fail(end, "a message", end->v->wc_status_str(wc.status), error);
  if (wc.opcode & IBV_WC_RECV) end->receives[wc.wr_id]--;
  if (qp) *qp = (int)wc.wr_id;
  if (received) *received = (wc.opcode & IBV_WC_RECV) != 0;
  return TRUE;
}

/* --- bandwidth ------------------------------------------------------------------------ */

static enum ibv_wr_opcode opcode_of(CsimVerbsTest test) {
  switch (test) {
  case CSIM_VERBS_WRITE_BW:
  case CSIM_VERBS_WRITE_LAT: return IBV_WR_RDMA_WRITE;
  case CSIM_VERBS_READ_BW:
  case CSIM_VERBS_READ_LAT: return IBV_WR_RDMA_READ;
  default: return IBV_WR_SEND;
  }
}

/* Up to `depth` under way on each queue pair; a completion makes room for the next on the same one. */
static gboolean lead_stream(const Job *job, GError **error) {
  const CsimVerbsOptions *o = job->end->options;
  enum ibv_wr_opcode opcode = opcode_of(job->test);
  int posted = 0, done = 0, depth = job->test == CSIM_VERBS_READ_LAT ? 1 : o->depth, qps = job->test == CSIM_VERBS_READ_LAT ? 1 : o->qps;
  for (int d = 0; d < depth; d++)
    for (int q = 0; q < qps && posted < job->iters; q++, posted++)
      if (!post(job, q, opcode, error)) return FALSE;
  for (; done < job->iters; done++) {
    int qp;
    if (!wait_one(job->end, &qp, NULL, error)) return FALSE;
    if (posted < job->iters && posted++ >= 0 && !post(job, qp, opcode, error)) return FALSE;
  }
  return TRUE;
}

/* B of send_bw: as many receives posted as A may have under way, renewed as they are used. */
static gboolean serve_sends(const Job *job, GError **error) {
  for (int done = 0; done < job->iters; done++) {
    int qp;
    if (!wait_one(job->end, &qp, NULL, error) || !post_recv(job, qp, error)) return FALSE;
  }
  return TRUE;
}

/* Those of an earlier test still stand. */
static gboolean post_recvs(const Job *job, int depth, int qps, GError **error) {
  for (int q = 0; q < qps; q++)
    while (job->end->receives[q] < depth)
      if (!post_recv(job, q, error)) return FALSE;
  return TRUE;
}

/* --- latency -------------------------------------------------------------------------- */

static gboolean await_byte(const Job *job, unsigned char value, GError **error) {
  volatile unsigned char *at = recv_byte(job->end, job->size - 1);
  for (guint polls = 1; *at != value; polls++)
    if (polls > EAGER) sched_yield();
  return TRUE;
}

static gboolean write_stamped(const Job *job, unsigned char value, GError **error) {
  ((unsigned char *)job->end->buffer)[job->size - 1] = value;
  return post(job, 0, IBV_WR_RDMA_WRITE, error) && wait_one(job->end, NULL, NULL, error);
}

static unsigned char stamp(int i) {
  return (unsigned char)(1 + i % 255); /* never the 0 that the buffer starts with */
}

static gboolean write_ping(const Job *job, gboolean leads, GError **error) {
  for (int i = 0; i < job->iters; i++) {
    if (leads && !write_stamped(job, stamp(i), error)) return FALSE;
    if (!await_byte(job, stamp(i), error)) return FALSE;
    if (!leads && !write_stamped(job, stamp(i), error)) return FALSE;
  }
  return TRUE;
}

/* Waits for the completion of a send (sends of them) and for a message (receives of them), in whichever order they come: the other end
 * may be a message ahead, and that one is kept for the next wait. */
static gboolean await_both(const Job *job, int sends, int receives, GError **error) {
  while (sends > 0 || job->end->arrived < receives) {
    gboolean received;
    if (!wait_one(job->end, NULL, &received, error)) return FALSE;
    if (received)
      job->end->arrived++;
    else
      sends--;
  }
  job->end->arrived -= receives;
  return TRUE;
}

static gboolean send_ping(const Job *job, gboolean leads, GError **error) {
  for (int i = 0; i < job->iters; i++) {
    if (leads && !post(job, 0, IBV_WR_SEND, error)) return FALSE;
    if (!await_both(job, leads, 1, error) || !post_recv(job, 0, error)) return FALSE;
    if (!leads && (!post(job, 0, IBV_WR_SEND, error) || !await_both(job, 1, 0, error))) return FALSE;
  }
  return TRUE;
}

/* --- a test at either end ---------------------------------------------------------------- */

static gboolean needs_recvs(const Job *job, gboolean leads) {
  return job->test == CSIM_VERBS_SEND_LAT || (job->test == CSIM_VERBS_SEND_BW && !leads);
}

static gboolean before(const Job *job, gboolean leads, GError **error) {
  const CsimVerbsOptions *o = job->end->options;
  prepare(job);
  if (!needs_recvs(job, leads)) return TRUE;
  return job->test == CSIM_VERBS_SEND_LAT ? post_recvs(job, 1, 1, error) : post_recvs(job, o->depth, o->qps, error);
}

static gboolean run(const Job *job, gboolean leads, GError **error) {
  switch (job->test) {
  case CSIM_VERBS_WRITE_LAT: return write_ping(job, leads, error);
  case CSIM_VERBS_SEND_LAT: return send_ping(job, leads, error);
  case CSIM_VERBS_SEND_BW: return leads ? lead_stream(job, error) : serve_sends(job, error);
  default: return !leads || lead_stream(job, error);
  }
}

static gboolean expect_line(const End *end, const char *word, guint64 *number, GError **error) {
  char line[LINE];
  gsize n = strlen(word);
  if (!verbs_hear(end->channel, line, sizeof line, error)) return FALSE;
  if (!strncmp(line, word, n) && (!number || g_ascii_string_to_unsigned(line + n + (line[n] == ' '), 10, 0, G_MAXUINT64, number, NULL)))
    return TRUE;
  return fail(end, "the other end says", line, error);
}

static gint64 packets_of(const Job *job, const Address *a, const Address *b) {
  int mtu = MIN(a->mtu, b->mtu);
  return (gint64)job->iters * MAX(1, (job->size + mtu - 1) / mtu);
}

gboolean verbs_test_lead(End *a, CsimVerbsTest test, CsimBytes size, CsimVerbsRow *row, GError **error) {
  Job job = {a, test, (uint32_t)size, a->options->iters};
  gboolean reads = opcode_of(test) == IBV_WR_RDMA_READ, ping = test == CSIM_VERBS_WRITE_LAT || test == CSIM_VERBS_SEND_LAT;
  guint64 there = 0;
  if (!before(&job, TRUE, error) || !verbs_say(a->channel, error, "test %d %u %d", (int)test, job.size, job.iters) ||
      !expect_line(a, "ready", NULL, error))
    return FALSE;
  gint64 packets = verbs_end_packets(a, reads);
  double start = csim_probe_now_us();
  if (!run(&job, TRUE, error)) return FALSE;
  double us = (csim_probe_now_us() - start) / job.iters / (ping ? 2 : 1);
  if (!verbs_say(a->channel, error, "over") || !expect_line(a, "done", &there, error)) return FALSE;
  gint64 then = verbs_end_packets(a, reads);
  *row = (CsimVerbsRow){.test = test, .size = size, .iters = job.iters, .time_us = us, .packets = packets_of(&job, &a->own, &a->other)};
  row->counted = packets < 0 || then < 0 ? -1 : then - packets;
  row->wrong = reads || ping ? count_wrong(&job) + there : there;
  if (test <= CSIM_VERBS_SEND_BW) row->bw_gbps = (double)size / us * 1e-3;
  return TRUE;
}

/* One "test N SIZE ITERS". */
static gboolean serve_one(End *b, const char *line, GError **error) {
  g_auto(GStrv) words = g_strsplit(line, " ", -1);
  guint64 v[3];
  const guint64 max[3] = {CSIM_N_VERBS_TESTS - 1, (guint64)b->options->max, 100000000};
  if (g_strv_length(words) != 4 || strcmp(words[0], "test")) return fail(b, "the other end says", line, error);
  for (int i = 0; i < 3; i++)
    if (!g_ascii_string_to_unsigned(words[1 + i], 10, i ? 1 : 0, max[i], &v[i], NULL)) return fail(b, "the other end asks for too much", line, error);
  Job job = {b, (CsimVerbsTest)v[0], (uint32_t)v[1], (int)v[2]};
  gboolean reads = opcode_of(job.test) == IBV_WR_RDMA_READ;
  if (!before(&job, FALSE, error) || !verbs_say(b->channel, error, "ready") || !run(&job, FALSE, error) ||
      !expect_line(b, "over", NULL, error))
    return FALSE;
  return verbs_say(b->channel, error, "done %" G_GUINT64_FORMAT, reads ? (guint64)0 : count_wrong(&job));
}

gboolean verbs_test_serve(End *b, GError **error) {
  char line[LINE];
  for (;;) {
    if (!verbs_hear(b->channel, line, sizeof line, error)) return FALSE;
    if (!strcmp(line, "end")) return TRUE;
    if (!serve_one(b, line, error)) return FALSE;
  }
}
