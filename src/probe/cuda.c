/* probe/cuda.c - CUDA's driver library, and one device's context, streams, events and kernels. */
#include "probe/cuda.h"

#include "probe/library.h"
#include <string.h>

extern const char csim_probe_kernels[]; /* kernels.ptx */

#define S(member, name) CSIM_SYMBOL(CsimCuda, member, name)
static const CsimSymbol symbols[] = {
    S(init, "cuInit"),
    S(driver_version, "cuDriverGetVersion"),
    S(error_name, "cuGetErrorName"),
    S(device_count, "cuDeviceGetCount"),
    S(device_get, "cuDeviceGet"),
    S(device_name, "cuDeviceGetName"),
    S(device_attribute, "cuDeviceGetAttribute"),
    S(device_bus_id, "cuDeviceGetPCIBusId"),
    S(device_memory, "cuDeviceTotalMem_v2"),
    S(primary_retain, "cuDevicePrimaryCtxRetain"),
    S(primary_release, "cuDevicePrimaryCtxRelease_v2"),
    S(set_current, "cuCtxSetCurrent"),
    S(can_access_peer, "cuDeviceCanAccessPeer"),
    S(enable_peer, "cuCtxEnablePeerAccess"),
    S(memory_free_total, "cuMemGetInfo_v2"),
    S(alloc, "cuMemAlloc_v2"),
    S(free, "cuMemFree_v2"),
    S(host_alloc, "cuMemHostAlloc"),
    S(host_free, "cuMemFreeHost"),
    S(memset8, "cuMemsetD8_v2"),
    S(to_device, "cuMemcpyHtoDAsync_v2"),
    S(to_host, "cuMemcpyDtoHAsync_v2"),
    S(on_device, "cuMemcpyDtoDAsync_v2"),
    S(to_peer, "cuMemcpyPeerAsync"),
    S(stream_create, "cuStreamCreate"),
    S(stream_destroy, "cuStreamDestroy_v2"),
    S(stream_wait, "cuStreamWaitEvent"),
    S(stream_sync, "cuStreamSynchronize"),
    S(event_create, "cuEventCreate"),
    S(event_destroy, "cuEventDestroy_v2"),
    S(event_record, "cuEventRecord"),
    S(event_elapsed, "cuEventElapsedTime"),
    S(module_load, "cuModuleLoadData"),
    S(module_unload, "cuModuleUnload"),
    S(module_function, "cuModuleGetFunction"),
    S(launch, "cuLaunchKernel"),
    CSIM_SYMBOL_OPTIONAL(CsimCuda, dmabuf, "cuMemGetHandleForAddressRange"),
    {NULL, 0, FALSE},
};

static const char *const files[] = {"libcuda.so.1", NULL};
static const CsimLibrary library = {
    .what = "the NVIDIA driver's library",
    .files = files,
    .needs = "this probe needs an NVIDIA GPU and its driver",
    .symbols = symbols,
};

/* --- the driver ----------------------------------------------------------------- */

gboolean csim_cuda_check(const CsimCuda *cuda, CsimCuResult result, const char *what, GError **error) {
  const char *name = NULL;
  if (result == 0) return TRUE;
  cuda->error_name(result, &name);
  g_set_error(error, CSIM_ERROR, CSIM_ERROR_IO, "%s: %s (CUDA error %d)", what, name ? name : "unknown", result);
  return FALSE;
}

static gboolean initialise(const CsimCuda *cuda, GError **error) {
  int n = 0;
  CsimCuResult result = cuda->init(0);
  const char *name = NULL;
  if (result == 0) result = cuda->device_count(&n);
  if (result == 0 && n > 0) return TRUE;
  if (result) cuda->error_name(result, &name);
  g_set_error(error, CSIM_ERROR, CSIM_ERROR_UNSUPPORTED, "the NVIDIA driver has no GPU to use (%s); %s",
              result == 0 ? "0 devices" : name ? name : "unknown error", library.needs);
  return FALSE;
}

const CsimCuda *csim_cuda_open(GError **error) {
  static CsimCuda cuda;
  static gboolean ready;
  if (!ready) ready = csim_library_open(&library, NULL, &cuda, NULL, error) && initialise(&cuda, error);
  return ready ? &cuda : NULL;
}

int csim_cuda_n_devices(const CsimCuda *cuda) {
  int n = 0;
  return cuda->device_count(&n) == 0 ? n : 0;
}

/* --- a device ------------------------------------------------------------------- */

static int attribute(const CsimGpu *gpu, int which) {
  int value = 0;
  return gpu->cuda->device_attribute(&value, which, gpu->device) == 0 ? value : 0;
}

gboolean csim_gpu_describe(CsimGpu *gpu, const CsimCuda *cuda, int ordinal, GError **error) {
  memset(gpu, 0, sizeof *gpu);
  gpu->cuda = cuda;
  gpu->ordinal = ordinal;
  if (!csim_cuda_check(cuda, cuda->device_get(&gpu->device, ordinal), "GPU", error) ||
      !csim_cuda_check(cuda, cuda->device_name(gpu->name, sizeof gpu->name, gpu->device), "GPU name", error) ||
      !csim_cuda_check(cuda, cuda->device_bus_id(gpu->bus_id, sizeof gpu->bus_id, gpu->device), "GPU bus id", error) ||
      !csim_cuda_check(cuda, cuda->device_memory(&gpu->memory, gpu->device), "GPU memory", error))
    return FALSE;
  gpu->sm = 10 * attribute(gpu, CSIM_CU_SM_MAJOR) + attribute(gpu, CSIM_CU_SM_MINOR);
  gpu->n_multiprocessors = attribute(gpu, CSIM_CU_MULTIPROCESSORS);
  gpu->l2_bytes = attribute(gpu, CSIM_CU_L2_BYTES);
  gpu->clock_khz = attribute(gpu, CSIM_CU_CLOCK_KHZ);
  return TRUE;
}

static gboolean load_kernels(CsimGpu *gpu, GError **error) {
  const CsimCuda *c = gpu->cuda;
  const struct {
    const char *name;
    CsimCuFunction *function;
  } wanted[] = {{"probe_nop", &gpu->nop},
                {"probe_copy", &gpu->copy},
                {"probe_ping", &gpu->ping},
                {"probe_fill", &gpu->fill},
                {"probe_check", &gpu->check}};
  if (!csim_cuda_check(c, c->module_load(&gpu->module, csim_probe_kernels), "loading the kernels", error)) return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS(wanted); i++)
    if (!csim_cuda_check(c, c->module_function(wanted[i].function, gpu->module, wanted[i].name), wanted[i].name, error))
      return FALSE;
  return TRUE;
}

static gboolean prepare(CsimGpu *gpu, GError **error) {
  const CsimCuda *c = gpu->cuda;
  return csim_cuda_check(c, c->primary_retain(&gpu->context, gpu->device), "GPU context", error) && csim_gpu_use(gpu, error) &&
         csim_cuda_check(c, c->stream_create(&gpu->stream, CSIM_CU_STREAM_NON_BLOCKING), "stream", error) &&
         csim_cuda_check(c, c->stream_create(&gpu->second, CSIM_CU_STREAM_NON_BLOCKING), "stream", error) &&
         csim_cuda_check(c, c->event_create(&gpu->start, 0), "event", error) &&
         csim_cuda_check(c, c->event_create(&gpu->middle, 0), "event", error) &&
         csim_cuda_check(c, c->event_create(&gpu->end, 0), "event", error) && load_kernels(gpu, error);
}

gboolean csim_gpu_open(CsimGpu *gpu, const CsimCuda *cuda, int ordinal, GError **error) {
  if (csim_gpu_describe(gpu, cuda, ordinal, error) && prepare(gpu, error)) return TRUE;
  csim_gpu_close(gpu);
  return FALSE;
}

gboolean csim_gpu_use(const CsimGpu *gpu, GError **error) {
  return csim_cuda_check(gpu->cuda, gpu->cuda->set_current(gpu->context), "GPU context", error);
}

/* Errors while closing say nothing new: what failed before was reported. */
void csim_gpu_close(CsimGpu *gpu) {
  if (!gpu || !gpu->cuda) return;
  const CsimCuda *c = gpu->cuda;
  CsimCuEvent events[] = {gpu->start, gpu->middle, gpu->end};
  if (gpu->context) c->set_current(gpu->context);
  for (guint i = 0; i < G_N_ELEMENTS(events); i++)
    if (events[i]) c->event_destroy(events[i]);
  if (gpu->module) c->module_unload(gpu->module);
  if (gpu->second) c->stream_destroy(gpu->second);
  if (gpu->stream) c->stream_destroy(gpu->stream);
  if (gpu->context) c->primary_release(gpu->device);
  memset(gpu, 0, sizeof *gpu);
}
