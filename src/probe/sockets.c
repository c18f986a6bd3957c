/* probe/sockets.c - TCP between the ranks of a machine. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* accept4 */
#endif
#include "probe/sockets.h"

#include "base/units.h"
#include "probe/child.h"
#include "probe/clock.h"
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define WRITE_BYTES (512 << 10) /* the size of NCCL's larger socket messages */
#define PING_MAX (1 << 20)
#define PING_ROUNDS 200
#define WARM_US 1e5 /* slow start and token buckets have settled then */
#define MEASURE_US 5e5
#define MAX_ROWS 64

typedef struct {
  CsimChildHeader header;
  pthread_barrier_t barrier;
  struct sockaddr_in address[CSIM_SOCKET_MAX_RANKS];
  double rate[CSIM_SOCKET_MAX_RANKS]; /* bytes a microsecond */
  gint sending;                       /* atomic: streams go on */
  guint n_rows;
  CsimSocketRow rows[MAX_ROWS];
} Shared;

/* One rank: connected to the next one and from the one before. */
typedef struct {
  Shared *shared;
  int rank, n;
  int next, previous;
  char *buffer; /* PING_MAX bytes */
} Rank;

static gboolean fail(const Rank *r, const char *what, GError **error) {
  g_set_error(error, CSIM_ERROR, CSIM_ERROR_IO, "rank %d: %s: %s", r->rank, what, g_strerror(errno));
  return FALSE;
}

static void barrier(const Rank *r) {
  pthread_barrier_wait(&r->shared->barrier);
}

/* --- connections ------------------------------------------------------------------ */

/* The first IPv4 address of an interface that is up and no loopback; loopback without a namespace. */
static struct in_addr own_address(gboolean loopback) {
  struct in_addr out = {.s_addr = htonl(INADDR_LOOPBACK)};
  struct ifaddrs *list = NULL;
  if (loopback || getifaddrs(&list) != 0) return out;
  for (const struct ifaddrs *i = list; i; i = i->ifa_next)
    if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET && (i->ifa_flags & IFF_UP) && !(i->ifa_flags & IFF_LOOPBACK)) {
      out = ((const struct sockaddr_in *)(const void *)i->ifa_addr)->sin_addr;
      break;
    }
  freeifaddrs(list);
  return out;
}

static gboolean set_no_delay(const Rank *r, int fd, GError **error) {
  int yes = 1;
  return setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes) == 0 || fail(r, "TCP_NODELAY", error);
}

static gboolean connect_ring(Rank *r, gboolean loopback, GError **error) {
  struct sockaddr_in *own = &r->shared->address[r->rank];
  socklen_t length = sizeof *own;
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  *own = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = own_address(loopback)};
  if (listener < 0 || bind(listener, (struct sockaddr *)own, sizeof *own) != 0 || listen(listener, 4) != 0 ||
      getsockname(listener, (struct sockaddr *)own, &length) != 0)
    return fail(r, "listen", error);
  barrier(r);
  r->next = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const struct sockaddr_in *there = &r->shared->address[(r->rank + 1) % r->n];
  if (r->next < 0 || connect(r->next, (const struct sockaddr *)there, sizeof *there) != 0) return fail(r, "connect", error);
  r->previous = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
  if (r->previous < 0) return fail(r, "accept", error);
  close(listener);
  return set_no_delay(r, r->next, error) && set_no_delay(r, r->previous, error);
}

static gboolean send_all(const Rank *r, int fd, gsize bytes, GError **error) {
  for (gsize at = 0; at < bytes;) {
    ssize_t n = send(fd, r->buffer + at, bytes - at, MSG_NOSIGNAL);
    if (n < 0 && errno != EINTR) return fail(r, "send", error);
    if (n > 0) at += (gsize)n;
  }
  return TRUE;
}

static gboolean recv_all(const Rank *r, int fd, gsize bytes, GError **error) {
  for (gsize at = 0; at < bytes;) {
    ssize_t n = recv(fd, r->buffer + at, bytes - at, 0);
    if (n == 0) errno = ECONNRESET;
    if (n == 0 || (n < 0 && errno != EINTR)) return fail(r, "receive", error);
    if (n > 0) at += (gsize)n;
  }
  return TRUE;
}

/* --- ping-pong: 0 sends on `next`, 1 answers on `previous` -------------------------- */

static gboolean ping(Rank *r, gsize bytes, double *half_us, GError **error) {
  double start = 0;
  for (int i = -PING_ROUNDS / 10; i < PING_ROUNDS; i++) {
    if (i == 0) start = csim_probe_now_us();
    if (r->rank == 0 && (!send_all(r, r->next, bytes, error) || !recv_all(r, r->next, bytes, error))) return FALSE;
    if (r->rank == 1 && (!recv_all(r, r->previous, bytes, error) || !send_all(r, r->previous, bytes, error))) return FALSE;
  }
  *half_us = (csim_probe_now_us() - start) / PING_ROUNDS / 2;
  return TRUE;
}

static gboolean pings(Rank *r, GError **error) {
  static const gsize sizes[] = {8, 128, 4096, 65536, 262144, PING_MAX};
  for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
    double us = 0;
    if (r->rank < 2 && !ping(r, sizes[i], &us, error)) return FALSE;
    if (r->rank == 0)
      r->shared->rows[r->shared->n_rows++] = (CsimSocketRow){"pingpong", r->n, (CsimBytes)sizes[i], us, 0};
    barrier(r);
  }
  return TRUE;
}

/* --- streams ---------------------------------------------------------------------- */

static gpointer pump(gpointer data) {
  const Rank *r = (const Rank *)data;
  g_autofree char *buffer = g_malloc0(WRITE_BYTES);
  while (g_atomic_int_get(&r->shared->sending))
    if (send(r->next, buffer, WRITE_BYTES, MSG_NOSIGNAL) < 0 && errno != EINTR) break;
  return NULL;
}

/* Counts what comes in from WARM_US to WARM_US + MEASURE_US after the first byte; then takes what is still under way. */
static gboolean drain(Rank *r, GError **error) {
  double first = 0, from = 0, last = 0, bytes = 0;
  for (;;) {
    ssize_t n = recv(r->previous, r->buffer, WRITE_BYTES, 0);
    double now = csim_probe_now_us();
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return fail(r, "receive", error);
    if (first == 0) first = now;
    if (from > 0) bytes += (double)n;
    if (from == 0 && now - first >= WARM_US) from = now;
    last = now;
    if (from > 0 && now - from >= MEASURE_US) break;
  }
  r->shared->rate[r->rank] = bytes / (last - from);
  return TRUE;
}

/* Takes what comes until the senders are told to stop and nothing has come for a while: a sender must not be left in a full socket. */
static void drain_rest(const Rank *r) {
  struct timeval wait = {.tv_usec = 200000};
  setsockopt(r->previous, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
  while (recv(r->previous, r->buffer, WRITE_BYTES, 0) > 0 || g_atomic_int_get(&r->shared->sending)) continue;
  wait.tv_usec = 0;
  setsockopt(r->previous, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
}

/* Ranks below n_senders send to their next one. */
static gboolean stream(Rank *r, const char *test, int n_senders, GError **error) {
  int source = (r->rank + r->n - 1) % r->n;
  gboolean sends = r->rank < n_senders, receives = source < n_senders, ok = TRUE;
  if (r->rank == 0) g_atomic_int_set(&r->shared->sending, 1);
  barrier(r);
  GThread *thread = sends ? g_thread_new("pump", pump, r) : NULL;
  if (receives) ok = drain(r, error);
  if (!ok) return FALSE; /* the parent ends all */
  /* `sending` counts up from 1; the last receiver that has measured stops all senders. */
  if (receives && g_atomic_int_add(&r->shared->sending, 1) == n_senders) g_atomic_int_set(&r->shared->sending, 0);
  if (receives) drain_rest(r);
  if (thread) g_thread_join(thread);
  barrier(r);
  if (r->rank == 0) {
    double sum = 0;
    for (int i = 0; i < n_senders; i++) sum += r->shared->rate[(i + 1) % r->n];
    r->shared->rows[r->shared->n_rows++] = (CsimSocketRow){test, r->n, WRITE_BYTES, 0, sum / n_senders * 1e-3};
  }
  barrier(r);
  return TRUE;
}

/* --- whole ------------------------------------------------------------------------ */

static gboolean work(guint index, gpointer data, gconstpointer options, GError **error) {
  const CsimSocketOptions *o = (const CsimSocketOptions *)options;
  Rank r = {.shared = (Shared *)data, .rank = (int)index, .n = o->n_ranks, .next = -1, .previous = -1};
  r.buffer = g_malloc0(PING_MAX);
  gboolean ok = (!o->netns || csim_child_enter_netns(o->netns, r.rank, error)) && connect_ring(&r, !o->netns, error) &&
                pings(&r, error) && stream(&r, "stream", 1, error) && stream(&r, "ring", r.n, error);
  g_free(r.buffer);
  return ok;
}

gboolean csim_probe_sockets(const CsimSocketOptions *options, GArray *rows, GError **error) {
  if (options->n_ranks < 2 || options->n_ranks > CSIM_SOCKET_MAX_RANKS) {
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE, "%d ranks; allowed: 2 to %d", options->n_ranks, CSIM_SOCKET_MAX_RANKS);
    return FALSE;
  }
  Shared *shared = (Shared *)csim_shared_new(sizeof *shared, error);
  if (!shared) return FALSE;
  CsimChildren children = {
      .n = (guint)options->n_ranks,
      .work = work,
      .shared = shared,
      .options = options,
      .limit_s = options->limit_s,
      .interrupt = options->interrupt,
  };
  gboolean ok = csim_shared_barrier(&shared->barrier, (guint)options->n_ranks, error) && csim_children_run(&children, error);
  g_array_append_vals(rows, shared->rows, shared->n_rows);
  csim_shared_free(shared, sizeof *shared);
  return ok;
}

CsimProbeTable *csim_sockets_table(const GArray *rows) {
  static const char *const columns[] = {"test", "ranks", "size_bytes", "time_us", "bw_gbps", NULL};
  CsimProbeTable *table = csim_probe_table_new(columns);
  csim_probe_table_machine(table);
  for (guint i = 0; i < rows->len; i++) {
    const CsimSocketRow *r = &g_array_index(rows, CsimSocketRow, i);
    g_autofree char *ranks = g_strdup_printf("%d", r->ranks), *size = g_strdup_printf("%" G_GINT64_FORMAT, r->size);
    g_autofree char *time = r->time_us > 0 ? csim_number_text(r->time_us, "%.3f") : g_strdup("");
    g_autofree char *bw = r->bw_gbps > 0 ? csim_number_text(r->bw_gbps, "%.4f") : g_strdup("");
    csim_probe_table_row(table, (const char *const[]){r->test, ranks, size, time, bw, NULL});
  }
  return table;
}
