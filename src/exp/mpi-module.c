/* exp/mpi-module.c - exp/messages.h over MPI. A shared module; dlopen()ed by cli under mpirun. */
#include "exp/messages.h"

#include <mpi.h>

static void send_message(int to, int tag, const void *data, gsize n) { MPI_Send(data, (int)n, MPI_BYTE, to, tag, MPI_COMM_WORLD); }

static gboolean receive_message(int *from, int *tag, GByteArray *data) {
  MPI_Status status;
  int there = 0, n = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status);
  if (!there) return FALSE;
  MPI_Get_count(&status, MPI_BYTE, &n);
  g_byte_array_set_size(data, (guint)n);
  MPI_Recv(data->data, n, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  *from = status.MPI_SOURCE;
  *tag = status.MPI_TAG;
  return TRUE;
}

static void finish(void) { MPI_Finalize(); }

const CsimMessages *csim_messages_start(void);
const CsimMessages *csim_messages_start(void) {
  static CsimMessages messages = {0, 1, send_message, receive_message, finish};
  int provided;
  if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) return NULL;
  MPI_Comm_rank(MPI_COMM_WORLD, &messages.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &messages.size);
  return &messages;
}
