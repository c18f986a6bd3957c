/*
 * Making communicators: search, agreement, channels; CPU seconds, best of three, and the peak of the
 * process's memory. Nodes shipped with the project, and, where the reference data is there, a 72-GPU NVLink
 * domain.
 */
#include "bench.h"
#include "nccl/comm.h"

#include <stdio.h>
#include <sys/resource.h>

typedef struct {
  const char *name, *file; /* file: in topologies/, or with a slash in the reference folder */
  guint machines;
  gboolean mnnvl;
  double limit_s; /* the project's goal */
} Job;

static const Job jobs[] = {
    {"8 H100, 8 NICs, 1 node", "dgx-h100.xml", 1, FALSE, 0.1},
    {"8 H100, 8 NICs, 2 nodes", "dgx-h100.xml", 2, FALSE, 0.1},
    {"8 A100, 8 NICs, 2 nodes", "dgx-a100.xml", 2, FALSE, 0.1},
    {"8 B200, 8 NICs, 2 nodes", "dgx-b200.xml", 2, FALSE, 0.1},
    {"16 384 ranks, 2048 nodes", "dgx-h100.xml", 2048, FALSE, 1},
    {"72-GPU domain", "topologies-real/gb300-nvl72.xml", 1, TRUE, 2},
    {"two 72-GPU domains", "topologies-real/gb300-nvl72.xml", 2, TRUE, 2},
};

static char *target_of(const Job *job) {
  const char *root = g_getenv("COLLSIM_SOURCE_ROOT"), *reference = g_getenv("COLLSIM_REFERENCE");
  if (!root) root = ".";
  if (!strchr(job->file, '/')) return g_build_filename(root, "topologies", job->file, NULL);
  return reference ? g_build_filename(reference, job->file, NULL)
                   : g_build_filename(root, "..", "shared", job->file, NULL);
}

static double make(const CsimCluster *cluster, const CsimNcclEnv *env, gboolean mnnvl, int *n_ranks) {
  double start = cpu_seconds();
  CsimComm *comm = csim_comm_new(&(CsimCommSpec){.cluster = cluster, .env = env, .mnnvl = mnnvl}, NULL, NULL);
  double taken = cpu_seconds() - start;
  *n_ranks = comm ? csim_comm_info(comm)->n_ranks : 0;
  csim_comm_free(comm);
  return taken;
}

static void run(const Job *job, const CsimNcclEnv *env) {
  g_autofree char *target = target_of(job);
  g_autoptr(GError) error = NULL;
  g_autoptr(CsimCluster) cluster = csim_cluster_load(target, job->machines, &error);
  if (!cluster) {
    printf("%-26s skipped: %s\n", job->name, error->message);
    return;
  }
  double best = 1e9;
  int n_ranks = 0;
  for (int i = 0; i < 3; i++) best = MIN(best, make(cluster, env, job->mnnvl, &n_ranks));
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  printf("%-26s %6d ranks %8.4f s (goal %.1f s), peak %ld MiB\n", job->name, n_ranks, best, job->limit_s,
         usage.ru_maxrss / 1024);
}

int main(void) {
  g_autoptr(CsimNcclEnv) env = csim_nccl_env_new(NULL, NULL, NULL, NULL);
  for (guint i = 0; i < G_N_ELEMENTS(jobs); i++) run(&jobs[i], env);
  return 0;
}
