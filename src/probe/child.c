/* probe/child.c - forks, watches and ends the processes of a probe. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* setns */
#endif
#include "probe/child.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define POLL_US 5000

gpointer csim_shared_new(gsize bytes, GError **error) {
  g_assert(bytes >= sizeof(CsimChildHeader));
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory != MAP_FAILED) return memory;
  g_set_error(error, CSIM_ERROR, CSIM_ERROR_IO, "no shared memory for the probe: %s", g_strerror(errno));
  return NULL;
}

void csim_shared_free(gpointer shared, gsize bytes) {
  if (shared) munmap(shared, bytes);
}

gboolean csim_shared_barrier(pthread_barrier_t *barrier, guint n, GError **error) {
  pthread_barrierattr_t attributes;
  if (pthread_barrierattr_init(&attributes) == 0 && pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED) == 0 &&
      pthread_barrier_init(barrier, &attributes, n) == 0)
    return TRUE;
  g_set_error(error, CSIM_ERROR, CSIM_ERROR_IO, "no barrier between processes on this system");
  return FALSE;
}

/* --- child ------------------------------------------------------------------------ */

void csim_child_fail(gpointer shared, const GError *error) {
  CsimChildHeader *header = (CsimChildHeader *)shared;
  if (!g_atomic_int_compare_and_exchange(&header->failed, 0, 1)) return;
  header->code = error->domain == CSIM_ERROR ? error->code : CSIM_ERROR_IO;
  g_strlcpy(header->message, error->message, sizeof header->message);
}

gboolean csim_child_enter_netns(const char *prefix, int n, GError **error) {
  g_autofree char *path = g_strdup_printf("/run/netns/%s%d", prefix, n);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  gboolean ok = fd >= 0 && setns(fd, CLONE_NEWNET) == 0;
  if (!ok) g_set_error(error, CSIM_ERROR, CSIM_ERROR_IO, "network namespace %s cannot be entered: %s", path, g_strerror(errno));
  if (fd >= 0) close(fd);
  return ok;
}

/* Ends with _exit: what the parent has registered for its own end is not the child's. */
static void child_main(const CsimChildren *c, guint index, pid_t parent) {
  g_autoptr(GError) error = NULL;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
  if (c->work(index, c->shared, c->options, &error)) _exit(0);
  csim_child_fail(c->shared, error);
  _exit(1);
}

/* --- parent ----------------------------------------------------------------------- */

typedef struct {
  const CsimChildren *c;
  pid_t *pids; /* 0: over */
  guint running;
  int bad_status; /* of a child that died without a word; 0: none */
  gboolean failed;
} Watch;

static void kill_all(Watch *w) {
  for (guint i = 0; i < w->c->n; i++)
    if (w->pids[i] > 0) kill(w->pids[i], SIGKILL);
  for (guint i = 0; i < w->c->n; i++) {
    while (w->pids[i] > 0 && waitpid(w->pids[i], NULL, 0) < 0 && errno == EINTR) continue;
    w->pids[i] = 0;
  }
  w->running = 0;
}

static gboolean start_all(Watch *w, GError **error) {
  pid_t parent = getpid();
  for (guint i = 0; i < w->c->n; i++) {
    pid_t pid = fork();
    if (pid == 0) child_main(w->c, i, parent);
    if (pid < 0) {
      g_set_error(error, CSIM_ERROR, CSIM_ERROR_IO, "cannot start process %u of the probe: %s", i + 1, g_strerror(errno));
      return FALSE;
    }
    w->pids[i] = pid;
    w->running++;
  }
  return TRUE;
}

static void collect(Watch *w) {
  for (guint i = 0; i < w->c->n; i++) {
    int status = 0;
    if (w->pids[i] <= 0 || waitpid(w->pids[i], &status, WNOHANG) != w->pids[i]) continue;
    w->pids[i] = 0;
    w->running--;
    if (status == 0) continue;
    w->failed = TRUE;
    if (WIFSIGNALED(status)) w->bad_status = status;
  }
}

static gboolean say_failure(const Watch *w, GError **error) {
  CsimChildHeader *header = (CsimChildHeader *)w->c->shared;
  if (g_atomic_int_get(&header->failed))
    g_set_error_literal(error, CSIM_ERROR, header->code, header->message);
  else if (w->bad_status)
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_IO, "a process of the probe died of signal %d (%s)", WTERMSIG(w->bad_status),
                g_strsignal(WTERMSIG(w->bad_status)));
  else
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_IO, "a process of the probe ended early");
  return FALSE;
}

static gboolean watch(Watch *w, GError **error) {
  const CsimChildren *c = w->c;
  CsimChildHeader *header = (CsimChildHeader *)c->shared;
  gint64 start = g_get_monotonic_time();
  while (w->running > 0) {
    collect(w);
    if (w->failed || g_atomic_int_get(&header->failed)) return say_failure(w, error);
    if (c->interrupt && *c->interrupt) {
      g_set_error(error, CSIM_ERROR, CSIM_ERROR_INTERRUPTED, "interrupted");
      return FALSE;
    }
    if (c->limit_s > 0 && (double)(g_get_monotonic_time() - start) * 1e-6 > c->limit_s) {
      g_set_error(error, CSIM_ERROR, CSIM_ERROR_LIMIT, "the probe did not end in %g s; its processes were killed", c->limit_s);
      return FALSE;
    }
    if (c->progress) c->progress((guint)g_atomic_int_get(&header->done), c->of, c->data);
    if (w->running > 0) g_usleep(POLL_US);
  }
  return TRUE;
}

gboolean csim_children_run(const CsimChildren *c, GError **error) {
  Watch w = {.c = c};
  w.pids = g_new0(pid_t, c->n);
  gboolean ok = start_all(&w, error) && watch(&w, error);
  kill_all(&w);
  g_free(w.pids);
  return ok;
}
