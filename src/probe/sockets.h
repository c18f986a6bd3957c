/*
 * probe/sockets.h - what TCP does between the ranks of a machine, without NCCL: the basis of the socket constants.
 *
 * Used by: `collsim probe sockets`, `validate --live --calibrate`.
 *
 * Ranks are processes, each in a network namespace of its own with `netns`. Tests:
 *   pingpong  rank 0 and 1: half the time to and fro, by message size
 *   stream    rank 0 to 1 alone: payload a second over one connection
 *   ring      every rank to the next at once: mean payload a second and connection
 */
#ifndef CSIM_PROBE_SOCKETS_H
#define CSIM_PROBE_SOCKETS_H

#include "probe/table.h"

typedef struct {
  const char *test; /* static */
  int ranks;
  CsimBytes size; /* of a message; stream and ring: of one write */
  double time_us; /* pingpong */
  double bw_gbps; /* stream, ring: 1e9 bytes/s */
} CsimSocketRow;

typedef struct {
  int n_ranks;       /* at least 2 */
  const char *netns; /* prefix, or NULL: loopback */
  double limit_s;
  const volatile int *interrupt;
} CsimSocketOptions;

#define CSIM_SOCKET_MAX_RANKS 256

/* Appends rows (CsimSocketRow). FALSE: CSIM_ERROR_VALUE, CSIM_ERROR_IO ("rank 1: connect: ..."), CSIM_ERROR_LIMIT. */
gboolean csim_probe_sockets(const CsimSocketOptions *options, GArray *rows, GError **error);
CsimProbeTable *csim_sockets_table(const GArray *rows);

#endif
