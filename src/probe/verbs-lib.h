/* probe/verbs-lib.h - libibverbs as loaded at run time; private to verbs-*.c. Types are those of <infiniband/verbs.h>. */
#ifndef CSIM_PROBE_VERBS_LIB_H
#define CSIM_PROBE_VERBS_LIB_H

#include "collsim/error.h"
#include <infiniband/verbs.h>

/* Functions of the library; what <infiniband/verbs.h> defines inline (post, poll) goes through the device's own table. ibv_query_port
 * is exported with an older struct, which the usual one begins with. */
typedef struct {
  struct ibv_device **(*get_device_list)(int *n);
  void (*free_device_list)(struct ibv_device **list);
  const char *(*get_device_name)(struct ibv_device *device);
  struct ibv_context *(*open_device)(struct ibv_device *device);
  int (*close_device)(struct ibv_context *context);
  int (*query_device)(struct ibv_context *context, struct ibv_device_attr *attributes);
  int (*query_port)(struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *attributes);
  int (*query_gid)(struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid);
  struct ibv_pd *(*alloc_pd)(struct ibv_context *context);
  int (*dealloc_pd)(struct ibv_pd *pd);
  struct ibv_mr *(*reg_mr)(struct ibv_pd *pd, void *memory, size_t bytes, int access);
  struct ibv_mr *(*reg_dmabuf_mr)(struct ibv_pd *pd, uint64_t offset, size_t bytes, uint64_t iova, int fd, int access); /* may be NULL */
  int (*dereg_mr)(struct ibv_mr *mr);
  struct ibv_cq *(*create_cq)(struct ibv_context *context, int n, void *data, struct ibv_comp_channel *channel, int vector);
  int (*destroy_cq)(struct ibv_cq *cq);
  struct ibv_qp *(*create_qp)(struct ibv_pd *pd, struct ibv_qp_init_attr *attributes);
  int (*modify_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attributes, int mask);
  int (*destroy_qp)(struct ibv_qp *qp);
  const char *(*wc_status_str)(enum ibv_wc_status status);
} CsimVerbs;

const CsimVerbs *csim_verbs_open(GError **error);

#endif
