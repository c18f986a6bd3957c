/*
 * exp/logs.h - a log of nccl-tests as printed: runs, rows, and the NCCL_DEBUG lines between them.
 *
 * Used by: audit.c, validate. Implemented in logs*.c. Reads what any version prints (with or without root, redop, #wrong/error, one or
 * two sides), several runs in one file, ranks' output mixed line by line or in the middle of a row, tags in front of the
 * lines (mpirun --tag-output, srun --label, time stamps, colours), and fragments without a header. It never refuses a text because of
 * what it says; what it does not know it skips.
 */
#ifndef CSIM_EXP_LOGS_H
#define CSIM_EXP_LOGS_H

#include "base/diag.h"
#include "collsim/types.h"

/* A number as printed: half is half a unit of its last digit ("12.3": 0.05), so that value +- half holds the true one. value is NAN
 * where nothing or N/A stood. */
typedef struct { double value, half; } CsimLogNumber;

typedef struct {
  CsimLogNumber time_us, algbw, busbw; /* GB/s as printed, 1e9 bytes/s */
  double wrong;      /* #wrong, or the old versions' largest error; NAN if N/A or not printed */
} CsimLogSide;

typedef struct {
  CsimLoc loc;
  CsimBytes size, count;
  char type[16], redop[16]; /* "float", "sum"; redop "none" or "" where it does not apply */
  int root;          /* -1: none or not printed */
  gboolean has_out, has_in;
  CsimLogSide out, in; /* out of place, in place */
} CsimLogRow;

typedef struct {
  int rank, device;
  const char *host, *bus, *name; /* "node1", "0000:0f:00" or "0x0f", "NVIDIA H100 80GB HBM3" */
} CsimLogDevice;

typedef enum {
  CSIM_LOG_COLL_UNKNOWN,
  CSIM_LOG_COLL_COMMAND, /* ".../all_reduce_perf -b 8" stood before the run, or in the file's name */
  CSIM_LOG_COLL_HEADER   /* "# Collective test starting: all_reduce_perf" */
} CsimLogCollFrom;

typedef struct {
  CsimLoc loc;          /* first line of the run */
  CsimLogCollFrom coll_from;
  CsimColl coll;        /* meaningful unless coll_from is CSIM_LOG_COLL_UNKNOWN */
  int n_ranks;          /* from the device list, else from NCCL's init lines; 0: unknown */
  int n_hosts;          /* distinct hosts of the device list, else nNodes of NCCL's init lines; 0: unknown */
  int threads, gpus;    /* -t, -g: a process's threads, and GPUs a thread; 0: not printed */
  int iters, warmup, agg_iters;
  const char *type;     /* of the first row, "" if there is none */
  const char *tests_version, *nccl_version; /* NULL: not printed */
  GArray *devices;      /* CsimLogDevice */
  GArray *rows;         /* CsimLogRow */
  CsimLogNumber avg_busbw; /* "# Avg bus bandwidth"; NAN if missing */
  CsimLoc avg_loc;
  double out_of_bounds; /* "# Out of bounds values"; NAN if missing */
  gboolean graph;       /* -G above 0: launched as CUDA graphs */
} CsimLogRun;

typedef enum { CSIM_LOG_INFO, CSIM_LOG_WARN, CSIM_LOG_OTHER } CsimLogLevel;

typedef struct {
  CsimLoc loc;
  CsimLogLevel level;
  const char *host;     /* interned */
  int64_t pid, tid;
  int dev;              /* CUDA device in brackets; -1: none */
  guint run;            /* index of the run in which, or before which, it was printed */
  const char *text;     /* what follows "NCCL INFO ", without blanks at its ends */
} CsimLogDebug;

/* "NCCL_X=V" on a line that NCCL did not print: a command line, a script, a list of the environment. */
typedef struct {
  CsimLoc loc;
  guint run;            /* as CsimLogDebug.run */
  const char *name, *value; /* interned */
} CsimLogVariable;

typedef struct {
  GPtrArray *runs;      /* CsimLogRun*, in order; one may have no rows (it ended early, or its rows are in another file) */
  GArray *debug;        /* CsimLogDebug, in order */
  GArray *variables;    /* CsimLogVariable, in order; each name once a run */
  guint n_lines;
  char *buffer;         /* private: what the texts point into */
} CsimLog;

#define CSIM_LOG_MAX_BYTES (256 * 1024 * 1024)
#define CSIM_LOG_MAX_ROWS 1000000

/* A file. Errors: cannot be read, too large. A file without any row or NCCL line gives an empty log, and no error. */
CsimLog *csim_log_read(const char *path, GError **error);
/* The same from memory; name stands in places. Text may hold NUL bytes (they read as blanks). */
CsimLog *csim_log_parse(const char *name, const char *text, gsize length, GError **error);
void csim_log_free(CsimLog *log);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CsimLog, csim_log_free)

static inline const CsimLogRun *csim_log_run(const CsimLog *log, guint i) {
  return (const CsimLogRun *)g_ptr_array_index(log->runs, i);
}
static inline const CsimLogRow *csim_log_row(const CsimLogRun *run, guint i) { return &g_array_index(run->rows, CsimLogRow, i); }
static inline const CsimLogDebug *csim_log_debug(const CsimLog *log, guint i) { return &g_array_index(log->debug, CsimLogDebug, i); }

static inline const CsimLogVariable *csim_log_variable(const CsimLog *log, guint i) { return &g_array_index(log->variables, CsimLogVariable, i); }

/* "12.34" with half = 0.005; "1e+03" with half = 500; "N/A" gives NAN. FALSE if it is no number at all. */
gboolean csim_log_number_parse(const char *text, CsimLogNumber *out);

#endif
