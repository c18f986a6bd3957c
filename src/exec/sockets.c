/*
 * exec/sockets.c - the sockets of a network connection.
 *
 * With helper threads (NCCL_SOCKET_NTHREADS, none by default) a connection has NCCL_NSOCKS_PERTHREAD sockets for each of them. A message is cut into
 * pieces of at least NCCL_SOCKET_MIN_TASKSIZE bytes, as many as there are sockets at most, which go to the sockets in turn (NCCL 2.30,
 * src/transport/net_socket.cc). The threads then copy instead of the proxy. As a flow a message goes at the joint rate
 * of its pieces; packets know every socket.
 */
#include "exec/exec-private.h"

#define MAX_THREADS 16
#define MAX_SOCKETS 64

gboolean exec_has_sockets(const CsimExec *x) { return g_str_equal(x->net_model.transport, "socket"); }

/* A socket goes as fast as a stream can, and no faster than its share of what its thread copies. */
static CsimRate socket_rate(const CsimNetModel *net, double threads_share) {
  CsimRate share = (CsimRate)(1e12 / net->copy_ps * threads_share);
  return net->stream_rate > 0 ? MIN(net->stream_rate, share) : share;
}

void exec_sockets_init(CsimExec *x) {
  CsimNetModel *net = &x->net_model;
  uint32_t threads = (uint32_t)CLAMP(csim_nccl_env_int(x->spec.env, "NCCL_SOCKET_NTHREADS", 0), 0, MAX_THREADS);
  uint32_t each = (uint32_t)CLAMP(csim_nccl_env_int(x->spec.env, "NCCL_NSOCKS_PERTHREAD", 1), 1, MAX_SOCKETS);
  x->n_sockets = 1;
  x->socket_task = CLAMP(csim_nccl_env_int(x->spec.env, "NCCL_SOCKET_MIN_TASKSIZE", 65536), 1, INT32_MAX);
  if (threads == 0 || !exec_has_sockets(x)) return;
  x->n_sockets = threads * MIN(each, MAX_SOCKETS / threads);
  if (net->copy_ps > 0) net->stream_rate = socket_rate(net, (double)threads / x->n_sockets);
  net->copy_ps = 0;
}

CsimBytes exec_socket_piece(const CsimExec *x, CsimBytes bytes) { return MAX(x->socket_task, (bytes + x->n_sockets - 1) / x->n_sockets); }

CsimRate exec_sockets_cap(const CsimExec *x, CsimRate cap, CsimBytes bytes) {
  if (x->n_sockets == 1 || x->net_model.stream_rate <= 0) return cap;
  CsimBytes piece = exec_socket_piece(x, bytes);
  return MIN(cap, x->net_model.stream_rate * MAX((bytes + piece - 1) / piece, 1));
}
