/* The MPI module of collsim sweep: where it lies, and whether it is needed. */
#include "cli/messages.h"

#include "collsim/error.h"

#include <dlfcn.h>
#include <stdlib.h>

/* Set by mpirun of Open MPI and of MPICH's kind. */
static int started_ranks(void) {
  static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", NULL};
  for (int i = 0; names[i]; i++)
    if (g_getenv(names[i])) return atoi(g_getenv(names[i]));
  return 1;
}

/* Beside the program (a build folder), else where it was installed. */
static void *open_module(void) {
  g_autofree char *self = g_file_read_link("/proc/self/exe", NULL), *folder = self ? g_path_get_dirname(self) : NULL;
  g_autofree char *beside = folder ? g_build_filename(folder, "collsim-mpi.so", NULL) : NULL;
  void *module = beside ? dlopen(beside, RTLD_NOW | RTLD_GLOBAL) : NULL; /* global: Open MPI loads parts of itself that look for its symbols */
  return module ? module : dlopen(CSIM_MODULE_DIR "/collsim-mpi.so", RTLD_NOW | RTLD_GLOBAL);
}

gboolean cli_messages(const CsimMessages **out, GError **error) {
  *out = NULL;
  if (started_ranks() <= 1) return TRUE;
  void *module = open_module();
  CsimMessagesStart start = NULL;
  if (module) *(void **)&start = dlsym(module, CSIM_MESSAGES_SYMBOL); /* as POSIX shows it: C has no cast between the two kinds of pointer */
  *out = start ? start() : NULL;
  if (*out) return TRUE;
  const char *why = dlerror();
  g_set_error(error, CSIM_ERROR, CSIM_ERROR_UNSUPPORTED, "this collsim was built without MPI (%s); Debian: libopenmpi-dev, then build again",
              why ? why : "its module does not start");
  return FALSE;
}
