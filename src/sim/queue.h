/*
 * sim/queue.h - the pending events, earliest first; equal times in order of arrival.
 *
 * Used by: engine.c, tests/equiv, tests/bench. Implemented by: queue-radix.c (default; flat cost, needs a
 * clock that never goes back) and queue-heap4.c (reference: obviously right). Both leave in the same order.
 *
 * An entry is a date and a handle (slot, generation) that means nothing to the queue. A
 * cancelled event stays in the queue until its date; who pops it sees the old generation.
 */
#ifndef CSIM_SIM_QUEUE_H
#define CSIM_SIM_QUEUE_H

#include "collsim/types.h"

typedef struct {
  CsimTime time;
  uint32_t slot, generation;
} CsimQueueEntry;

typedef struct CsimQueue CsimQueue;

/* Told of entries that will be popped soon, in no order, each at most once; some never. */
typedef void (*CsimQueueAhead)(void *data, const CsimQueueEntry *entries, guint n);

/* The form that an implementation fills in; all are needed but set_ahead. */
typedef struct {
  const char *name;
  CsimQueue *(*new_queue)(void);
  void (*free_queue)(CsimQueue *queue); /* NULL allowed */

  /* entry.time must not be before the floor: the largest time popped so far, or the last rewind. */
  void (*push)(CsimQueue *queue, CsimQueueEntry entry);

  /* Takes out the earliest entry if it is not later than `limit`. FALSE otherwise, and then the queue is as it
   * was: a later push may still be earlier than what was refused. */
  gboolean (*pop)(CsimQueue *queue, CsimTime limit, CsimQueueEntry *out);

  /* For an empty queue only: puts the floor at `now`, which may be before what was popped last (those
   * were cancelled events). */
  void (*rewind)(CsimQueue *queue, CsimTime now);

  gsize (*size)(const CsimQueue *queue);
  gsize (*bytes)(const CsimQueue *queue); /* heap memory held */
  void (*set_ahead)(CsimQueue *queue, CsimQueueAhead fn, void *data); /* NULL: this queue cannot tell */
} CsimQueueClass;

extern const CsimQueueClass csim_queue_radix;
extern const CsimQueueClass csim_queue_heap4;

#endif
