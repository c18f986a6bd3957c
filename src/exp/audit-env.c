/* Variables: those given but never read, and names that NCCL does not have. */
#include "exp/audit-nccl.h"

#include <string.h>

static const NcclVariable *find_read(const NcclFacts *f, const char *name) {
  for (guint i = 0; i < f->variables->len; i++) {
    const NcclVariable *v = &g_array_index(f->variables, NcclVariable, i);
    if (strcmp(v->name, name) == 0) return v;
  }
  return NULL;
}

static const char *nearest_name(const char *name) {
  guint n;
  const CsimNcclVar *vars = csim_nccl_vars(&n);
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  for (guint i = 0; i < n; i++) g_ptr_array_add(names, (gpointer)vars[i].name);
  g_ptr_array_add(names, NULL);
  return csim_nearest(name, (const char *const *)names->pdata);
}

/* Read before the logging is set up, read by others (nccl-tests, container images, build systems), or never read by NCCL's own code. */
static gboolean is_silent(const char *name) {
  static const char *const others[] = {"NCCL_CONF_FILE", "NCCL_VERSION",     "NCCL_HOME", "NCCL_ROOT",
                                       "NCCL_LIB_DIR",   "NCCL_INCLUDE_DIR", NULL};
  return g_str_has_prefix(name, "NCCL_DEBUG") || g_str_has_prefix(name, "NCCL_TESTS_") ||
         g_strv_contains(others, name);
}

static void check_unknown(CsimAudit *audit, const CsimLogVariable *v) {
  const char *myth = csim_nccl_var_myth(v->name), *nearest = nearest_name(v->name);
  if (myth)
    csim_audit_find(audit, CSIM_AUDIT_ENV, v->loc, "%s=%s: %s", v->name, v->value, myth);
  else
    csim_audit_find(audit, CSIM_AUDIT_ENV, v->loc, "%s=%s: NCCL has no such variable%s%s%s", v->name,
                    v->value, nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
}

/* A job's ranks may get another value than the command line says. */
static void check_given(CsimAudit *audit, const NcclFacts *f, const CsimLogVariable *v) {
  const NcclVariable *read = find_read(f, v->name);
  if (is_silent(v->name)) return;
  if (read) {
    if (strcmp(read->value, v->value) == 0 || strchr(v->value, '$')) return; /* a shell's variable */
    csim_audit_find(audit, CSIM_AUDIT_ENV, read->loc, "%s was given as %s (line %u), but NCCL read %s",
                    v->name, v->value, v->loc.line, read->value);
  } else if (!csim_nccl_var_find(v->name)) {
    check_unknown(audit, v);
  } else if (f->env_seen) {
    csim_audit_find(
        audit, CSIM_AUDIT_ENV, v->loc,
        "%s=%s was given, but NCCL never read it: it did not reach the ranks, or nothing here asks for it",
        v->name, v->value);
  }
}

static void tell_read(CsimAudit *audit, const NcclFacts *f) {
  if (!f->variables->len) return;
  g_autoptr(GString) list = g_string_new(NULL);
  for (guint i = 0; i < f->variables->len; i++) {
    const NcclVariable *v = &g_array_index(f->variables, NcclVariable, i);
    g_string_append_printf(list, "%s%s=%s", i ? " " : "", v->name, v->value);
  }
  csim_audit_fact(audit, "variables that NCCL read: %s", list->str);
}

/* Given ones of this run, and of none (a script at the top) if NCCL's lines are of the first. */
void audit_env(CsimAudit *audit, const NcclFacts *facts, const CsimLog *log, guint run) {
  tell_read(audit, facts);
  for (guint i = 0; i < log->variables->len; i++) {
    const CsimLogVariable *v = csim_log_variable(log, i);
    if (v->run == run) check_given(audit, facts, v);
  }
}
