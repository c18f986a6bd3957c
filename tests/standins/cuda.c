/*
 * libcuda.so.1 for tests: a stand-in, not CUDA. It has STANDIN_GPUS GPUs (default 2) whose memory is the host's, whose work is
 * done at the call, and whose events tell a made-up time: copies cost LATENCY_US and 1 us per US_BYTES, an empty kernel 2 us.
 * So the runner's logic, its checks and its arithmetic can be tested without hardware. STANDIN_CUDA_FAIL=name: that call fails.
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define ERROR_NOT_INITIALISED 3
#define ERROR_NO_DEVICE 100
#define ERROR_OUT_OF_MEMORY 2
#define LATENCY_US 4.0
#define BYTES_PER_US 50000.0 /* 50 GB/s */
#define KERNEL_US 2.0

typedef struct {
  double now_us;
} Stream;
typedef struct {
  double at_us;
} Event;
enum { NOP, COPY, PING, FILL, CHECK };

static __thread int current = -1;

static int n_gpus(void) {
  const char *text = getenv("STANDIN_GPUS");
  return text ? atoi(text) : 2;
}
static int fails(const char *name) {
  const char *text = getenv("STANDIN_CUDA_FAIL");
  return text && !strcmp(text, name);
}

EXPORT int cuInit(unsigned flags);
EXPORT int cuInit(unsigned flags) {
  return fails("cuInit") ? ERROR_NO_DEVICE : 0;
}
EXPORT int cuDriverGetVersion(int *version);
EXPORT int cuDriverGetVersion(int *version) {
  *version = 13000;
  return 0;
}
EXPORT int cuGetErrorName(int error, const char **text);
EXPORT int cuGetErrorName(int error, const char **text) {
  *text = error == ERROR_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : error == ERROR_NO_DEVICE ? "CUDA_ERROR_NO_DEVICE" : "CUDA_ERROR_UNKNOWN";
  return 0;
}
EXPORT int cuDeviceGetCount(int *n);
EXPORT int cuDeviceGetCount(int *n) {
  *n = n_gpus();
  return 0;
}
EXPORT int cuDeviceGet(int *device, int ordinal);
EXPORT int cuDeviceGet(int *device, int ordinal) {
  *device = ordinal;
  return ordinal < n_gpus() ? 0 : ERROR_NO_DEVICE;
}
EXPORT int cuDeviceGetName(char *name, int size, int device);
EXPORT int cuDeviceGetName(char *name, int size, int device) {
  strncpy(name, "Stand-in GPU, H200", (size_t)size - 1);
  name[size - 1] = '\0';
  return 0;
}
EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device);
EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device) {
  *value = attribute == 75 ? 9 : attribute == 76 ? 0 : attribute == 16 ? 132 : attribute == 38 ? 60 << 20 : 1000000;
  return 0;
}
EXPORT int cuDeviceGetPCIBusId(char *text, int size, int device);
EXPORT int cuDeviceGetPCIBusId(char *text, int size, int device) {
  strncpy(text, "0000:00:06.0", (size_t)size - 1);
  text[size - 1] = '\0';
  return 0;
}
EXPORT int cuDeviceTotalMem_v2(size_t *bytes, int device);
EXPORT int cuDeviceTotalMem_v2(size_t *bytes, int device) {
  *bytes = (size_t)1 << 30;
  return 0;
}
EXPORT int cuMemGetInfo_v2(size_t *free_bytes, size_t *total);
EXPORT int cuMemGetInfo_v2(size_t *free_bytes, size_t *total) {
  *free_bytes = *total = (size_t)1 << 30;
  return 0;
}

/* --- contexts: the GPU's number, one up ------------------------------------------- */

EXPORT int cuDevicePrimaryCtxRetain(void **context, int device);
EXPORT int cuDevicePrimaryCtxRetain(void **context, int device) {
  *context = (void *)(intptr_t)(device + 1);
  return 0;
}
EXPORT int cuDevicePrimaryCtxRelease_v2(int device);
EXPORT int cuDevicePrimaryCtxRelease_v2(int device) {
  return 0;
}
EXPORT int cuCtxSetCurrent(void *context);
EXPORT int cuCtxSetCurrent(void *context) {
  current = (int)(intptr_t)context - 1;
  return 0;
}
EXPORT int cuDeviceCanAccessPeer(int *can, int device, int peer);
EXPORT int cuDeviceCanAccessPeer(int *can, int device, int peer) {
  *can = 1;
  return 0;
}
EXPORT int cuCtxEnablePeerAccess(void *peer, unsigned flags);
EXPORT int cuCtxEnablePeerAccess(void *peer, unsigned flags) {
  return 0;
}

/* --- memory ----------------------------------------------------------------------- */

EXPORT int cuMemAlloc_v2(unsigned long long *memory, size_t bytes);
EXPORT int cuMemAlloc_v2(unsigned long long *memory, size_t bytes) {
  if (current < 0) return ERROR_NOT_INITIALISED;
  void *p = fails("cuMemAlloc") ? NULL : malloc(bytes);
  *memory = (unsigned long long)(uintptr_t)p;
  return p ? 0 : ERROR_OUT_OF_MEMORY;
}
EXPORT int cuMemFree_v2(unsigned long long memory);
EXPORT int cuMemFree_v2(unsigned long long memory) {
  free((void *)(uintptr_t)memory);
  return 0;
}
EXPORT int cuMemHostAlloc(void **memory, size_t bytes, unsigned flags);
EXPORT int cuMemHostAlloc(void **memory, size_t bytes, unsigned flags) {
  *memory = malloc(bytes);
  return *memory ? 0 : ERROR_OUT_OF_MEMORY;
}
EXPORT int cuMemFreeHost(void *memory);
EXPORT int cuMemFreeHost(void *memory) {
  free(memory);
  return 0;
}
EXPORT int cuMemsetD8_v2(unsigned long long memory, unsigned char value, size_t n);
EXPORT int cuMemsetD8_v2(unsigned long long memory, unsigned char value, size_t n) {
  memset((void *)(uintptr_t)memory, value, n);
  return 0;
}

static int copy(void *dst, const void *src, size_t bytes, void *stream) {
  memmove(dst, src, bytes);
  ((Stream *)stream)->now_us += LATENCY_US + (double)bytes / BYTES_PER_US;
  return 0;
}
EXPORT int cuMemcpyHtoDAsync_v2(unsigned long long dst, const void *src, size_t bytes, void *stream);
EXPORT int cuMemcpyHtoDAsync_v2(unsigned long long dst, const void *src, size_t bytes, void *stream) {
  return copy((void *)(uintptr_t)dst, src, bytes, stream);
}
EXPORT int cuMemcpyDtoHAsync_v2(void *dst, unsigned long long src, size_t bytes, void *stream);
EXPORT int cuMemcpyDtoHAsync_v2(void *dst, unsigned long long src, size_t bytes, void *stream) {
  return copy(dst, (void *)(uintptr_t)src, bytes, stream);
}
EXPORT int cuMemcpyDtoDAsync_v2(unsigned long long dst, unsigned long long src, size_t bytes, void *stream);
EXPORT int cuMemcpyDtoDAsync_v2(unsigned long long dst, unsigned long long src, size_t bytes, void *stream) {
  return copy((void *)(uintptr_t)dst, (void *)(uintptr_t)src, bytes, stream);
}
EXPORT int cuMemcpyPeerAsync(unsigned long long dst, void *dst_context, unsigned long long src, void *src_context, size_t bytes, void *stream);
EXPORT int cuMemcpyPeerAsync(unsigned long long dst, void *dst_context, unsigned long long src, void *src_context, size_t bytes, void *stream) {
  return copy((void *)(uintptr_t)dst, (void *)(uintptr_t)src, bytes, stream);
}

/* --- streams and events ----------------------------------------------------------- */

EXPORT int cuStreamCreate(void **stream, unsigned flags);
EXPORT int cuStreamCreate(void **stream, unsigned flags) {
  *stream = calloc(1, sizeof(Stream));
  return 0;
}
EXPORT int cuStreamDestroy_v2(void *stream);
EXPORT int cuStreamDestroy_v2(void *stream) {
  free(stream);
  return 0;
}
EXPORT int cuStreamWaitEvent(void *stream, void *event, unsigned flags);
EXPORT int cuStreamWaitEvent(void *stream, void *event, unsigned flags) {
  ((Stream *)stream)->now_us = fmax(((Stream *)stream)->now_us, ((Event *)event)->at_us);
  return 0;
}
EXPORT int cuStreamSynchronize(void *stream);
EXPORT int cuStreamSynchronize(void *stream) {
  return 0;
}
EXPORT int cuEventCreate(void **event, unsigned flags);
EXPORT int cuEventCreate(void **event, unsigned flags) {
  *event = calloc(1, sizeof(Event));
  return 0;
}
EXPORT int cuEventDestroy_v2(void *event);
EXPORT int cuEventDestroy_v2(void *event) {
  free(event);
  return 0;
}
EXPORT int cuEventRecord(void *event, void *stream);
EXPORT int cuEventRecord(void *event, void *stream) {
  ((Event *)event)->at_us = ((Stream *)stream)->now_us;
  return 0;
}
EXPORT int cuEventElapsedTime(float *ms, void *start, void *end);
EXPORT int cuEventElapsedTime(float *ms, void *start, void *end) {
  *ms = (float)((((Event *)end)->at_us - ((Event *)start)->at_us) * 1e-3);
  return 0;
}

/* --- kernels ---------------------------------------------------------------------- */

EXPORT int cuModuleLoadData(void **module, const void *image);
EXPORT int cuModuleLoadData(void **module, const void *image) {
  *module = (void *)image;
  return strstr((const char *)image, ".visible .entry probe_check") ? 0 : ERROR_NOT_INITIALISED;
}
EXPORT int cuModuleUnload(void *module);
EXPORT int cuModuleUnload(void *module) {
  return 0;
}
EXPORT int cuModuleGetFunction(void **function, void *module, const char *name);
EXPORT int cuModuleGetFunction(void **function, void *module, const char *name) {
  static const char *const names[] = {"probe_nop", "probe_copy", "probe_ping", "probe_fill", "probe_check"};
  for (int i = 0; i < 5; i++)
    if (!strcmp(name, names[i])) {
      *function = (void *)(intptr_t)(i + 1);
      return 0;
    }
  return ERROR_NOT_INITIALISED;
}

/* As kernels.cu has it. */
static float value(uint64_t rank, uint64_t index) {
  uint32_t x = (uint32_t)index * 2654435761u + (uint32_t)(index >> 32) * 2246822519u + (uint32_t)rank * 3266489917u;
  x ^= x >> 15;
  return (float)(x * 2246822519u >> 29);
}

static void fill(void **params) {
  float *data = (float *)*(uintptr_t *)params[0];
  uint64_t n = *(uint64_t *)params[1], rank = *(uint64_t *)params[2];
  for (uint64_t i = 0; i < n; i++) data[i] = value(rank, i);
}

static void check(void **params) {
  const float *data = (const float *)*(uintptr_t *)params[0];
  uint64_t n = *(uint64_t *)params[1], block = *(uint64_t *)params[2], first_rank = *(uint64_t *)params[3],
           n_ranks = *(uint64_t *)params[4], first = *(uint64_t *)params[5], *wrong = (uint64_t *)*(uintptr_t *)params[6];
  for (uint64_t i = 0; i < n; i++) {
    float want = 0;
    for (uint64_t k = 0; k < n_ranks; k++) want += value(first_rank + i / block + k, first + i % block);
    *wrong += data[i] != want;
  }
}

EXPORT int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                          unsigned shared, void *stream, void **params, void **extra);
EXPORT int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                          unsigned shared, void *stream, void **params, void **extra) {
  int kernel = (int)(intptr_t)function - 1;
  ((Stream *)stream)->now_us += KERNEL_US;
  if (kernel == FILL) fill(params);
  if (kernel == CHECK) check(params);
  if (kernel == COPY) copy((void *)*(uintptr_t *)params[0], (void *)*(uintptr_t *)params[1], 16 * *(uint64_t *)params[2], stream);
  if (kernel == PING) **(int **)params[0] = *(int *)params[2];
  return 0;
}
