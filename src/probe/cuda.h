/*
 * probe/cuda.h - the part of CUDA's driver interface that the probes use, loaded at run time; one device's things in one place.
 *
 * Used by: copies*.c, nccl-*.c, verbs-memory.c. Types and function names are those of the CUDA driver API (libcuda.so.1); no
 * toolkit is needed to build or to run. NCCL sees the same devices: both use the primary context.
 *
 * A process that has called csim_cuda_open must not fork: workers open it for themselves.
 */
#ifndef CSIM_PROBE_CUDA_H
#define CSIM_PROBE_CUDA_H

#include "collsim/error.h"
#include "collsim/types.h"

typedef int CsimCuResult; /* 0: success */
typedef unsigned long long CsimCuPtr;
typedef void *CsimCuStream, *CsimCuEvent, *CsimCuFunction, *CsimCuContext, *CsimCuModule;

typedef struct {
  CsimCuResult (*init)(unsigned flags);
  CsimCuResult (*driver_version)(int *version); /* 13000: CUDA 13.0 */
  CsimCuResult (*error_name)(CsimCuResult error, const char **text);
  CsimCuResult (*device_count)(int *n);
  CsimCuResult (*device_get)(int *device, int ordinal);
  CsimCuResult (*device_name)(char *name, int size, int device);
  CsimCuResult (*device_attribute)(int *value, int attribute, int device);
  CsimCuResult (*device_bus_id)(char *text, int size, int device);
  CsimCuResult (*device_memory)(size_t *bytes, int device);
  CsimCuResult (*primary_retain)(CsimCuContext *context, int device);
  CsimCuResult (*primary_release)(int device);
  CsimCuResult (*set_current)(CsimCuContext context);
  CsimCuResult (*can_access_peer)(int *can, int device, int peer);
  CsimCuResult (*enable_peer)(CsimCuContext peer, unsigned flags);
  CsimCuResult (*memory_free_total)(size_t *free_bytes, size_t *total);
  CsimCuResult (*alloc)(CsimCuPtr *memory, size_t bytes);
  CsimCuResult (*free)(CsimCuPtr memory);
  CsimCuResult (*host_alloc)(void **memory, size_t bytes, unsigned flags);
  CsimCuResult (*host_free)(void *memory);
  CsimCuResult (*memset8)(CsimCuPtr memory, unsigned char value, size_t n);
  CsimCuResult (*to_device)(CsimCuPtr dst, const void *src, size_t bytes, CsimCuStream stream);
  CsimCuResult (*to_host)(void *dst, CsimCuPtr src, size_t bytes, CsimCuStream stream);
  CsimCuResult (*on_device)(CsimCuPtr dst, CsimCuPtr src, size_t bytes, CsimCuStream stream);
  CsimCuResult (*to_peer)(CsimCuPtr dst, CsimCuContext dst_context, CsimCuPtr src, CsimCuContext src_context, size_t bytes,
                          CsimCuStream stream);
  CsimCuResult (*stream_create)(CsimCuStream *stream, unsigned flags);
  CsimCuResult (*stream_destroy)(CsimCuStream stream);
  CsimCuResult (*stream_wait)(CsimCuStream stream, CsimCuEvent event, unsigned flags);
  CsimCuResult (*stream_sync)(CsimCuStream stream);
  CsimCuResult (*event_create)(CsimCuEvent *event, unsigned flags);
  CsimCuResult (*event_destroy)(CsimCuEvent event);
  CsimCuResult (*event_record)(CsimCuEvent event, CsimCuStream stream);
  CsimCuResult (*event_elapsed)(float *ms, CsimCuEvent start, CsimCuEvent end);
  CsimCuResult (*module_load)(CsimCuModule *module, const void *image);
  CsimCuResult (*module_unload)(CsimCuModule module);
  CsimCuResult (*module_function)(CsimCuFunction *function, CsimCuModule module, const char *name);
  CsimCuResult (*launch)(CsimCuFunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                         unsigned block_y, unsigned block_z, unsigned shared, CsimCuStream stream, void **params, void **extra);
  CsimCuResult (*dmabuf)(void *handle, CsimCuPtr memory, size_t bytes, int type, unsigned long long flags); /* NULL: before 11.7 */
} CsimCuda;
#define CSIM_CU_HANDLE_DMABUF 1

#define CSIM_CU_STREAM_NON_BLOCKING 1u
#define CSIM_CU_HOST_PORTABLE 1u
/* Numbers of device attributes. */
enum {
  CSIM_CU_CLOCK_KHZ = 13,
  CSIM_CU_MULTIPROCESSORS = 16,
  CSIM_CU_L2_BYTES = 38,
  CSIM_CU_SM_MAJOR = 75,
  CSIM_CU_SM_MINOR = 76,
};

/* The driver, initialised, with at least one device; the same table at every call. NULL and CSIM_ERROR_UNSUPPORTED, one line, when
 * there is no library, no driver or no device. */
const CsimCuda *csim_cuda_open(GError **error);
int csim_cuda_n_devices(const CsimCuda *cuda);
/* TRUE for success; else FALSE and CSIM_ERROR_IO "WHAT: CUDA_ERROR_OUT_OF_MEMORY". */
gboolean csim_cuda_check(const CsimCuda *cuda, CsimCuResult result, const char *what, GError **error);

/* --- a device in use: primary context, two streams, events, kernels --- */
typedef struct {
  const CsimCuda *cuda;
  int ordinal, device;
  char name[96], bus_id[32];
  int sm, n_multiprocessors, l2_bytes, clock_khz; /* sm: 90 */
  size_t memory;                                  /* bytes in all */
  CsimCuContext context;
  CsimCuStream stream, second;
  CsimCuEvent start, middle, end; /* with timing */
  CsimCuModule module;            /* kernels of kernels.cu */
  CsimCuFunction nop, copy, ping, fill, check;
} CsimGpu;

/* Makes the device current and its things ready; zeroed on failure. csim_gpu_close(NULL or zeroed) does nothing. */
gboolean csim_gpu_open(CsimGpu *gpu, const CsimCuda *cuda, int ordinal, GError **error);
void csim_gpu_close(CsimGpu *gpu);
/* Facts only (name to memory), no context. */
gboolean csim_gpu_describe(CsimGpu *gpu, const CsimCuda *cuda, int ordinal, GError **error);
gboolean csim_gpu_use(const CsimGpu *gpu, GError **error); /* current for this thread */

#endif
