/*
 * Who stands out in a table of pairs: a device whose row (as sender) or column (as receiver) has another median than the others', then a pair that
 * is alone the worst of both its row and its column. Blocks (two sockets, NVLink pairs) leave the medians alike, so they are not findings.
 */
#include "exp/audit-pairs.h"

#include "base/file.h"
#include "base/stats.h"

#include <math.h>
#include <string.h>

/* Healthy links of one kind differ by 2-3 % in published matrices; a lane or link less costs 25 % and more (assumed border). */
#define STANDS_OUT 1.1
/* Against the target: what copies reach of the payload rate varies more. */
#define FAR_FROM_TARGET 1.25

static double median(GArray *values) {
  return csim_median((double *)(void *)values->data, values->len);
}

/* --- lines of the table ---- */

/* A device, as the table's row and column of that label; G_MAXUINT: it has none. */
typedef struct {
  const char *label;
  guint row, column;
  gboolean out;
  double as_sender, as_receiver;
} Device;

static GArray *devices_of(const PairTable *t) {
  GArray *devices = g_array_new(FALSE, FALSE, sizeof(Device));
  for (guint i = 0; i < t->columns->len; i++) {
    Device d = {.label = g_ptr_array_index(t->columns, i), .row = G_MAXUINT, .column = i};
    if (!g_ptr_array_find(t->rows, d.label, &d.row) || t->rows->len == 1) d.row = G_MAXUINT;
    g_array_append_val(devices, d);
  }
  return devices;
}

static Device *device(GArray *devices, guint i) {
  return &g_array_index(devices, Device, i);
}

/* Median over the partners that are not out themselves. */
static double line_median(const PairTable *t, GArray *devices, const Device *d, gboolean sender) {
  g_autoptr(GArray) values = g_array_new(FALSE, FALSE, sizeof(double));
  if (sender && d->row == G_MAXUINT) return NAN;
  guint n = sender ? t->columns->len : t->rows->len;
  for (guint i = 0; i < n; i++) {
    double value = sender ? audit_pair(t, d->row, i) : audit_pair(t, i, d->column);
    gboolean out = sender && device(devices, i)->out;
    if (!sender)
      for (guint k = 0; k < devices->len && !out; k++)
        out = device(devices, k)->out && device(devices, k)->row == i;
    if (!isnan(value) && !out) g_array_append_val(values, value);
  }
  return median(values);
}

static double others_median(GArray *devices, guint except, gboolean sender) {
  g_autoptr(GArray) values = g_array_new(FALSE, FALSE, sizeof(double));
  for (guint i = 0; i < devices->len; i++) {
    double value = sender ? device(devices, i)->as_sender : device(devices, i)->as_receiver;
    if (i != except && !isnan(value) && !device(devices, i)->out) g_array_append_val(values, value);
  }
  return values->len >= 2 ? median(values) : NAN;
}

/* How many times worse than the others; 1 or less: not. */
static double worse(const PairTable *t, double seen, double others) {
  if (isnan(seen) || isnan(others)) return 0;
  return t->latency ? seen / others : others / seen;
}

static const char *unit(const PairTable *t) {
  return t->latency ? "us" : "GB/s";
}

static const char *kind_of(const PairTable *t) {
  const char *label = t->columns->len ? g_ptr_array_index(t->columns, 0) : "";
  return g_ascii_isdigit(*label) ? "GPU " : "";
}

static void report_device(CsimAudit *audit, const PairTable *t, GArray *devices, guint i) {
  const Device *d = device(devices, i);
  double send_others = others_median(devices, i, TRUE), receive_others = others_median(devices, i, FALSE);
  double send = worse(t, d->as_sender, send_others), receive = worse(t, d->as_receiver, receive_others);
  gboolean both = send > STANDS_OUT && receive > STANDS_OUT, as_sender = send >= receive;
  double seen = as_sender ? d->as_sender : d->as_receiver, others = as_sender ? send_others : receive_others;
  const char *way = t->rows->len == 1 || both ? "" : as_sender ? " as sender" : " as receiver";
  CsimAuditFinding *f = csim_audit_find(
      audit, CSIM_AUDIT_PAIR, t->loc, "%s%s stands out%s%s: median %.4g %s, the others %.4g (%s)", kind_of(t),
      d->label, way, both ? " in both directions" : "", seen, unit(t), others, t->title);
  f->seen = seen;
  f->expected = others;
  f->factor = MAX(send, receive);
}

/* The worst device, then again without it, while there is one and at most a third are out. */
static void find_devices(CsimAudit *audit, const PairTable *t, GArray *devices) {
  for (guint round = 0; round < MAX(devices->len / 3, 1); round++) {
    guint worst = 0;
    double most = 0;
    for (guint i = 0; i < devices->len; i++) {
      Device *d = device(devices, i);
      d->as_sender = line_median(t, devices, d, TRUE);
      d->as_receiver = line_median(t, devices, d, FALSE);
    }
    for (guint i = 0; i < devices->len; i++) {
      const Device *d = device(devices, i);
      double now = MAX(worse(t, d->as_sender, others_median(devices, i, TRUE)),
                       worse(t, d->as_receiver, others_median(devices, i, FALSE)));
      if (d->out || now <= most) continue;
      most = now;
      worst = i;
    }
    if (most <= STANDS_OUT) return;
    report_device(audit, t, devices, worst);
    device(devices, worst)->out = TRUE;
  }
}

/* --- single pairs ---- */

static gboolean row_is_out(GArray *devices, guint row) {
  for (guint i = 0; i < devices->len; i++)
    if (device(devices, i)->row == row && device(devices, i)->out) return TRUE;
  return FALSE;
}

/* The worst value of the pair's row and column but for itself and for devices that are out. */
static double next_worst(const PairTable *t, GArray *devices, guint row, guint column) {
  double worst = NAN;
  for (guint i = 0; i < t->columns->len; i++) {
    double value = i == column || device(devices, i)->out ? NAN : audit_pair(t, row, i);
    if (!isnan(value) && (isnan(worst) || (value < worst) != t->latency)) worst = value;
  }
  for (guint i = 0; i < t->rows->len; i++) {
    double value = i == row || row_is_out(devices, i) ? NAN : audit_pair(t, i, column);
    if (!isnan(value) && (isnan(worst) || (value < worst) != t->latency)) worst = value;
  }
  return worst;
}

static void find_pairs(CsimAudit *audit, const PairTable *t, GArray *devices) {
  CsimAuditFinding *first = NULL;
  if (t->rows->len < 3 || t->columns->len < 3) return;
  for (guint row = 0; row < t->rows->len; row++) {
    for (guint column = 0; column < t->columns->len; column++) {
      double seen = audit_pair(t, row, column), others = next_worst(t, devices, row, column);
      if (row_is_out(devices, row) || device(devices, column)->out || worse(t, seen, others) <= STANDS_OUT)
        continue;
      if (first && first->more > 100) return;
      CsimLoc loc = {t->loc.file, t->line[row * t->columns->len + column], 0};
      CsimAuditFinding *f = csim_audit_find(
          audit, CSIM_AUDIT_PAIR, loc,
          "pair %s -> %s stands out: %.4g %s, the next of its row and column %.4g (%s)",
          (const char *)g_ptr_array_index(t->rows, row), (const char *)g_ptr_array_index(t->columns, column),
          seen, unit(t), others, t->title);
      f->seen = seen;
      f->expected = others;
      f->factor = worse(t, seen, others);
      if (!first) first = f;
    }
  }
}

/* --- against the target ---- */

static double expected_of(const PairTable *t, const CsimAuditTarget *target, guint from, guint to) {
  CsimRoute route;
  if (!csim_machine_route_p2p(target->machine, (CsimGpuRef){0, from}, (CsimGpuRef){0, to}, &route, NULL))
    return NAN;
  double least = INFINITY;
  gboolean nvlink = FALSE;
  for (guint i = 0; i < route.n; i++) {
    CsimRes link = csim_machine_link(target->machine, route.link[i].link);
    least = MIN(least, (double)link.capacity * 1e-9);
    nvlink |= link.kind == CSIM_RES_NVLINK_OUT || link.kind == CSIM_RES_NVLINK_IN;
  }
  int gen = (int)csim_catalogue_number(target->catalogue, "gpu.%s.nvlink_gen",
                                       csim_machine_gpu_model(target->machine, (CsimGpuRef){0, from}));
  if (nvlink && t->copy_engine && gen > 0)
    least *= (double)csim_catalogue_rate(target->catalogue,
                                         t->both_ways ? "nvlink.%d.copy_both" : "nvlink.%d.copy", gen) /
             (double)csim_catalogue_rate(target->catalogue, "nvlink.%d.kernel", gen);
  return isfinite(least) ? (t->both_ways ? 2 * least : least) : NAN;
}

static gboolean gpu_index(GPtrArray *labels, guint i, guint n, guint *out) {
  guint64 value;
  if (!g_ascii_string_to_unsigned(g_ptr_array_index(labels, i), 10, 0, n - 1, &value, NULL)) return FALSE;
  *out = (guint)value;
  return TRUE;
}

/* Only tables of one node's GPUs, P2P, bandwidth. */
static void compare_target(CsimAudit *audit, const PairTable *t, const CsimAuditTarget *target) {
  guint n = csim_system_n(csim_cluster_system(target->cluster, 0), CSIM_NODE_GPU);
  CsimAuditFinding *worst = NULL;
  if (t->latency || t->host_path || t->rows->len < 2 || n < 2) return;
  for (guint row = 0; row < t->rows->len; row++) {
    for (guint column = 0; column < t->columns->len; column++) {
      guint from, to;
      double seen = audit_pair(t, row, column);
      if (isnan(seen) || !gpu_index(t->rows, row, n, &from) || !gpu_index(t->columns, column, n, &to) ||
          from == to)
        continue;
      double expected = expected_of(t, target, from, to), off = expected / seen;
      if (!(off > FAR_FROM_TARGET)) continue;
      if (worst) worst->more++;
      if (worst && off <= worst->factor) continue;
      g_autofree char *text =
          g_strdup_printf("pair %u -> %u has %.4g GB/s, the target should give about %.4g (%s)", from, to,
                          seen, expected, t->title);
      if (!worst) worst = csim_audit_find(audit, CSIM_AUDIT_PAIR, t->loc, "%s", text);
      g_free(worst->text);
      worst->text = g_steal_pointer(&text);
      worst->loc.line = t->line[row * t->columns->len + column];
      worst->factor = off;
      worst->seen = seen;
      worst->expected = expected;
    }
  }
}

/* --- a file ---- */

static guint count_pairs(const PairTable *t) {
  guint n = 0;
  for (guint row = 0; row < t->rows->len; row++)
    for (guint column = 0; column < t->columns->len; column++) n += !isnan(audit_pair(t, row, column));
  return n;
}

static void audit_table(CsimAudit *audit, const PairTable *t, const CsimAuditTarget *target) {
  guint n = count_pairs(t);
  if (!n || strstr(t->title, "Connectivity")) return;
  audit->n_pairs += n;
  g_autoptr(GArray) devices = devices_of(t);
  find_devices(audit, t, devices);
  find_pairs(audit, t, devices);
  if (target) compare_target(audit, t, target);
}

gboolean csim_audit_pairs_text(CsimAudit *audit, const CsimAuditSpec *spec, const char *name,
                               const char *text, GError **error) {
  g_autoptr(GPtrArray) tables = audit_pairs_read(name, text);
  GError *wrong = NULL;
  if (!tables->len) {
    csim_error_set(error, CSIM_ERROR_SYNTAX, (CsimLoc){g_intern_string(name), 0, 0},
                   "no table of pairs in it; allowed: a matrix under a line of labels, lines 'from to "
                   "value', nccl-tests logs of two ranks each");
    return FALSE;
  }
  g_autoptr(CsimAuditTarget) target = audit_load_target(spec, 0, 0, spec->overrides, &wrong);
  if (wrong) {
    g_propagate_error(error, wrong);
    return FALSE;
  }
  for (guint i = 0; i < tables->len; i++) audit_table(audit, g_ptr_array_index(tables, i), target);
  return TRUE;
}

#define PAIRS_MAX_BYTES (16 * 1024 * 1024)

gboolean csim_audit_pairs(CsimAudit *audit, const CsimAuditSpec *spec, const char *path, GError **error) {
  g_autofree char *text = csim_file_read(path, PAIRS_MAX_BYTES, NULL, error);
  return text && csim_audit_pairs_text(audit, spec, path, text, error);
}
