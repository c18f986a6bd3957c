/*
 * probe/nccl.h - the part of NCCL's interface that the probe uses, loaded at run time (libnccl.so.2, 2.4 or later).
 *
 * Used by: nccl-worker.c, nccl-coll.c. Names are NCCL's without their prefix; types are its public ones (nccl.h).
 */
#ifndef CSIM_PROBE_NCCL_H
#define CSIM_PROBE_NCCL_H

#include "collsim/error.h"
#include <stddef.h>

typedef int CsimNcclResult; /* 0: success */
typedef void *CsimNcclComm;
#define CSIM_NCCL_ID_BYTES 128
typedef struct {
  char internal[CSIM_NCCL_ID_BYTES];
} CsimNcclId;

#define CSIM_NCCL_FLOAT 7 /* ncclFloat32 */
#define CSIM_NCCL_SUM 0

typedef struct {
  CsimNcclResult (*get_version)(int *version); /* 22803: 2.28.3 */
  const char *(*error_string)(CsimNcclResult result);
  const char *(*last_error)(CsimNcclComm comm); /* may be NULL: before 2.13 */
  CsimNcclResult (*get_unique_id)(CsimNcclId *id);
  CsimNcclResult (*comm_init_rank)(CsimNcclComm *comm, int n_ranks, CsimNcclId id, int rank);
  CsimNcclResult (*comm_destroy)(CsimNcclComm comm);
  CsimNcclResult (*group_start)(void);
  CsimNcclResult (*group_end)(void);
  CsimNcclResult (*all_reduce)(const void *send, void *recv, size_t count, int type, int op, CsimNcclComm comm, void *stream);
  CsimNcclResult (*all_gather)(const void *send, void *recv, size_t count, int type, CsimNcclComm comm, void *stream);
  CsimNcclResult (*reduce_scatter)(const void *send, void *recv, size_t count, int type, int op, CsimNcclComm comm, void *stream);
  CsimNcclResult (*broadcast)(const void *send, void *recv, size_t count, int type, int root, CsimNcclComm comm, void *stream);
  CsimNcclResult (*reduce)(const void *send, void *recv, size_t count, int type, int op, int root, CsimNcclComm comm, void *stream);
  CsimNcclResult (*send)(const void *send, size_t count, int type, int peer, CsimNcclComm comm, void *stream);
  CsimNcclResult (*recv)(void *recv, size_t count, int type, int peer, CsimNcclComm comm, void *stream);
} CsimNccl;

/* file NULL: libnccl.so.2. The same table at every call of a process. *found (may be NULL): what was opened. */
const CsimNccl *csim_nccl_open(const char *file, const char **found, GError **error);
/* TRUE for success; else FALSE and CSIM_ERROR_IO "WHAT: unhandled cuda error: NCCL's last words". */
gboolean csim_nccl_check(const CsimNccl *nccl, CsimNcclResult result, const char *what, GError **error);
char *csim_nccl_version_text(int version); /* 22803: "2.28.3"; caller frees */

#endif
