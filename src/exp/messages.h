/*
 * exp/messages.h - words between the processes of one sweep, whatever carries them.
 *
 * Used by: sweep-ranks.c. Implemented by mpi-module.c, a module of its own that is loaded only under mpirun, so that collsim itself needs no MPI.
 * All functions are called from the thread that started the module.
 */
#ifndef CSIM_EXP_MESSAGES_H
#define CSIM_EXP_MESSAGES_H

#include <glib.h>

typedef struct {
  int rank, size;
  void (*send)(int to, int tag, const void *data, gsize n);
  /* Takes one message that has arrived, from anybody: TRUE, and data holds it. FALSE at once if there is none. */
  gboolean (*receive)(int *from, int *tag, GByteArray *data);
  void (*finish)(void); /* the last call; every process makes it */
} CsimMessages;

#define CSIM_MESSAGES_SYMBOL "csim_messages_start"
typedef const CsimMessages *(*CsimMessagesStart)(void); /* NULL: it does not work here */

#endif
