/*
 * tests/unit/exec/lab.h - a machine and a communicator ready to run calls, for the tests of exec.
 */
#ifndef CSIM_TEST_EXEC_LAB_H
#define CSIM_TEST_EXEC_LAB_H

#include "exec/exec.h"

typedef struct {
  CsimCatalogue *catalogue;
  CsimCluster *cluster;
  CsimNcclEnv *env;
  CsimComm *comm;
  CsimTuning *tuning;
  CsimMachine *machine;
  CsimExec *exec;
} Lab;

/* target as `collsim run` takes it; gpus a node (0: all); overrides "NCCL_X=V" and sets "name=value", NULL-ended. spec: iters, launch, seed, queue,
 * digest are taken from it; NULL for one iteration. Aborts the test on an error. */
Lab *lab_new(const char *target, guint gpus, const char *const *overrides, const char *const *sets, const CsimExecSpec *spec);
void lab_free(Lab *lab);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Lab, lab_free)

/* bytes: of the buffer that nccl-tests calls the size. */
CsimExecResult lab_call(Lab *lab, CsimColl coll, CsimBytes bytes);

/* No randomness, no stagger, no host: times can then be written down. NULL-ended. */
extern const char *const lab_ideal[];

#endif
