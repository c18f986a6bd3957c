/* probe/gpus.c - the GPUs of this machine. */
#include "probe/gpus.h"

#include "probe/child.h"
#include "probe/cuda.h"
#include <string.h>

#define LIMIT_S 120 /* the driver's first start takes seconds on a large machine */

typedef struct {
  CsimChildHeader header;
  CsimGpuFacts facts;
} Shared;

static gboolean look(guint index, gpointer data, gconstpointer options, GError **error) {
  Shared *shared = (Shared *)data;
  const CsimCuda *cuda = csim_cuda_open(error);
  CsimGpu gpu;
  if (!cuda || !csim_gpu_describe(&gpu, cuda, 0, error)) return FALSE;
  CsimGpuFacts *f = &shared->facts;
  f->n = csim_cuda_n_devices(cuda);
  g_strlcpy(f->name, gpu.name, sizeof f->name);
  f->sm = gpu.sm;
  f->n_multiprocessors = gpu.n_multiprocessors;
  f->l2 = gpu.l2_bytes;
  f->memory = (CsimBytes)gpu.memory;
  return csim_cuda_check(cuda, cuda->driver_version(&f->cuda_version), "driver version", error);
}

gboolean csim_probe_gpus(CsimGpuFacts *facts, GError **error) {
  Shared *shared = (Shared *)csim_shared_new(sizeof *shared, error);
  if (!shared) return FALSE;
  CsimChildren children = {.n = 1, .work = look, .shared = shared, .limit_s = LIMIT_S};
  gboolean ok = csim_children_run(&children, error);
  if (ok) *facts = shared->facts;
  csim_shared_free(shared, sizeof *shared);
  return ok;
}

void csim_probe_gpu_facts(CsimProbeTable *table, const CsimGpuFacts *f) {
  g_autofree char *driver = NULL;
  csim_probe_table_fact(table, "hardware", "%d x %s", f->n, f->name);
  csim_probe_table_fact(table, "gpu", "compute capability %d.%d, %d multiprocessors, L2 %d MiB, memory %d MiB", f->sm / 10,
                        f->sm % 10, f->n_multiprocessors, (int)(f->l2 >> 20), (int)(f->memory >> 20));
  csim_probe_table_fact(table, "cuda", "driver interface %d.%d", f->cuda_version / 1000, f->cuda_version % 1000 / 10);
  if (!g_file_get_contents("/proc/driver/nvidia/version", &driver, NULL, NULL)) return;
  driver[strcspn(driver, "\n")] = '\0';
  csim_probe_table_fact(table, "driver", "%s", driver);
}
