/*
 * probe/child.h - probes run in processes of their own, which are watched and never left behind.
 *
 * Used by: copies.c, nccl-run.c, sockets.c. A process that has used CUDA cannot fork workers that use it, and a hung driver call
 * cannot be ended from inside; so the calling process stays clean, and its children answer through shared memory.
 */
#ifndef CSIM_PROBE_CHILD_H
#define CSIM_PROBE_CHILD_H

#include "collsim/error.h"

#include <pthread.h>

/* At the start of every shared block. */
typedef struct {
  gint failed; /* atomic: the first that fails writes the message */
  gint code;   /* CsimErrorCode */
  gint done;   /* atomic: steps so far, for progress */
  char message[480];
} CsimChildHeader;

/* Zeroed memory that parent and children share; starts with a CsimChildHeader. NULL and CSIM_ERROR_IO. */
gpointer csim_shared_new(gsize bytes, GError **error);
void csim_shared_free(gpointer shared, gsize bytes);
/* A barrier inside such memory, for n threads of any processes. */
gboolean csim_shared_barrier(pthread_barrier_t *barrier, guint n, GError **error);

typedef struct {
  guint n; /* processes */
  gboolean (*work)(guint index, gpointer shared, gconstpointer options, GError **error); /* in the child */
  gpointer shared;
  gconstpointer options; /* as they were at the fork */
  double limit_s;        /* 0: none */
  const volatile int *interrupt;
  void (*progress)(guint done, guint of, void *data); /* NULL allowed; gets header.done */
  void *data;
  guint of;
} CsimChildren;

/* Forks, waits for all, and kills what is left as soon as one fails, the time is over or the caller is interrupted. FALSE with the
 * first child's own error, CSIM_ERROR_LIMIT, CSIM_ERROR_INTERRUPTED, or CSIM_ERROR_IO for one that died. */
gboolean csim_children_run(const CsimChildren *children, GError **error);
/* From a thread of a child: says what failed; the first one counts. The caller then ends its process or thread. */
void csim_child_fail(gpointer shared, const GError *error);
/* Into network namespace PREFIXn (as `ip netns add` makes it); root only. */
gboolean csim_child_enter_netns(const char *prefix, int n, GError **error);

#endif
