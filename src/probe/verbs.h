/*
 * probe/verbs.h - RDMA write, read and send between two devices or two hosts, in the manner of perftest.
 *
 * Used by: `collsim probe verbs`. libibverbs.so.1 is loaded at run time.
 *
 * Two ends, A and B, talk over a byte stream (a socket pair inside one process, or TCP between hosts) and over reliable-connected
 * queue pairs. Tests:
 *   write_bw read_bw send_bw  A keeps `depth` messages under way on each of `qps` queue pairs; `iters` messages in all
 *   write_lat send_lat        a message to and fro, halved      read_lat  one read at a time
 * Contents are checked at the end of each test (host memory); packets are counted by the device beside what they must be at least.
 */
#ifndef CSIM_PROBE_VERBS_H
#define CSIM_PROBE_VERBS_H

#include "probe/table.h"

typedef enum {
  CSIM_VERBS_WRITE_BW,
  CSIM_VERBS_READ_BW,
  CSIM_VERBS_SEND_BW,
  CSIM_VERBS_WRITE_LAT,
  CSIM_VERBS_READ_LAT,
  CSIM_VERBS_SEND_LAT,
  CSIM_N_VERBS_TESTS
} CsimVerbsTest;
extern const char *const csim_verbs_test_names[CSIM_N_VERBS_TESTS + 1]; /* NULL-ended */

#define CSIM_VERBS_MAX_QPS 64
#define CSIM_VERBS_MAX_DEPTH 1024
#define CSIM_VERBS_MAX_SIZE (INT64_C(1) << 30)

typedef struct {
  const char *device, *peer_device; /* NULL: the first; of B in one process, NULL: as A's */
  int port, gid_index;              /* gid_index -1: RoCE v2 with an IPv4 address if there is one, else 0 */
  int mtu;                          /* 256 to 4096; 0: the port's own */
  int qps, depth, inline_bytes, iters;
  CsimBytes min, max;
  int factor;
  gboolean tests[CSIM_N_VERBS_TESTS];
  gboolean gpu;        /* A's and B's buffers in memory of GPU 0 (peermem or dmabuf); bandwidths and read_lat only */
  int listen;          /* TCP port: be B for another host; 0: no */
  const char *connect; /* "HOST:PORT": be A; NULL: both ends here */
  double limit_s;
  const volatile int *interrupt;
} CsimVerbsOptions;
void csim_verbs_options_init(CsimVerbsOptions *options); /* all tests, 8 B to 1 MiB by 8, 1 QP, depth 16, 1000 messages, 120 s */

typedef struct {
  CsimVerbsTest test;
  CsimBytes size;
  int iters;
  double time_us; /* a message (bandwidth tests: the mean; latency: one way) */
  double bw_gbps; /* payload, 1e9 bytes/s; 0 for latency tests */
  guint64 wrong;  /* bytes of the last message */
  gint64 packets, counted; /* data packets A must send (or receive, read) at least; what its device counted; -1: no counter */
} CsimVerbsRow;

typedef struct {
  char device[64], gid[48], firmware[64];
  int mtu, gid_index;
} CsimVerbsFacts;

/* Appends rows. FALSE, one line: no library, no device (CSIM_ERROR_UNSUPPORTED), what a verb said (CSIM_ERROR_IO), CSIM_ERROR_LIMIT.
 * As B (listen) there are no rows. */
gboolean csim_probe_verbs(const CsimVerbsOptions *options, GArray *rows, CsimVerbsFacts *facts, GError **error);
CsimProbeTable *csim_verbs_table(const CsimVerbsOptions *options, const CsimVerbsFacts *facts, const GArray *rows);

#endif
