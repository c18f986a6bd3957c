/* exp/logs-private.h - what the parts of the log reader share; private to them. */
#ifndef CSIM_EXP_LOGS_PRIVATE_H
#define CSIM_EXP_LOGS_PRIVATE_H

#include "exp/logs.h"

#define LOG_MAX_WORDS 32

/* The columns that the header line announced. */
typedef struct {
  gboolean known;
  guint sides, per_side; /* per_side 3 (no error column) or 4 */
  gboolean in_place_only;
} LogColumns;

typedef struct {
  CsimLog *log;
  const char *file;      /* interned */
  uint32_t line;
  CsimLogRun *run;       /* open run or NULL */
  gboolean closed;       /* the open run has had its footer */
  LogColumns columns;
  CsimColl hint;         /* from a command line in the log */
  gboolean has_hint;
  const char *nccl_version; /* met before the run's own header */
  guint n_rows;
  /* A row of which only the first words came before somebody else's line. */
  char *pending[LOG_MAX_WORDS];
  guint n_pending;
  CsimLoc pending_loc;
} LogReader;

/* logs.c */
CsimLogRun *log_open_run(LogReader *r); /* the open one, or a new one if that is closed or missing */
CsimLoc log_here(const LogReader *r, const char *line, const char *at);

/* logs-row.c: a piece of a line (changed in place) that may be a row, or part of one. */
void log_take_row(LogReader *r, char *line, char *piece);
void log_take_columns(LogReader *r, const char *comment); /* "size count type ... busbw #wrong" */
gboolean log_is_columns(const char *comment);

/* logs-comment.c: what stands after '#', and the other lines. */
void log_take_comment(LogReader *r, char *line, char *comment);
void log_take_variables(LogReader *r, const char *line);
void log_take_command(LogReader *r, const char *line);
gboolean log_coll_of_text(const char *text, CsimColl *out); /* a word like all_reduce_perf in it */

/* logs-debug.c: if the line holds an NCCL line, appends it, cuts the line before it and returns TRUE. */
gboolean log_take_debug(LogReader *r, char *line);

/* Splits in place at blanks; at most max words, the rest is dropped. */
guint log_split(char *text, char **words, guint max);

#endif
