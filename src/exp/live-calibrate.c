/* exp/live-calibrate.c - constants of the catalogue from basic probes: copies, a flag, TCP. Never from collectives. */
#include "exp/live-private.h"

#include "base/xml-read.h"
#include "base/units.h"
#include "models/net.h"
#include "probe/copies.h"
#include "probe/sockets.h"
#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>

#define BARRIER_PS (80 * CSIM_NS) /* hop_latency and credit_latency are the flag and the block's barrier: 700 of 620 ns in the catalogue */

/* --- the GPU ---------------------------------------------------------------------- */

/* The first pci element with a gpu inside, in order of the file. */
static CsimXml *find_gpu(CsimXml *element, CsimXml **pci) {
  for (CsimXml *child = csim_xml_first(element, NULL); child; child = csim_xml_next(child, NULL)) {
    if (!strcmp(csim_xml_name(child), "gpu")) {
      *pci = element;
      return child;
    }
    CsimXml *found = find_gpu(child, pci);
    if (found) return found;
  }
  return NULL;
}

gboolean live_gpu_model(const char *topo_file, const CsimCatalogue *catalogue, char **model, CsimLiveBasics *out, GError **error) {
  g_autoptr(CsimDiag) diag = csim_diag_new();
  g_autoptr(CsimXmlDoc) doc = csim_xml_read_file(topo_file, diag);
  CsimXml *root = csim_xml_root(doc, "system"), *pci = NULL, *gpu = root ? find_gpu(root, &pci) : NULL;
  int64_t sm = 0, count = 0;
  const char *device = NULL;
  if (!csim_diag_check(diag, error)) return FALSE;
  if (!gpu || !csim_xml_int(gpu, "sm", CSIM_XML_OPTIONAL, 10, 999, &sm)) {
    csim_error_set(error, CSIM_ERROR_REFERENCE, (CsimLoc){g_intern_string(topo_file), 0, 0}, "no gpu with an sm in it");
    return FALSE;
  }
  for (CsimXml *link = csim_xml_first(gpu, "nvlink"); link; link = csim_xml_next(link, "nvlink"))
    if (csim_xml_int(link, "count", CSIM_XML_OPTIONAL, 0, 64, &count)) out->gpu.nvlinks += (int)count;
  csim_xml_text(pci, "device", CSIM_XML_OPTIONAL, &device);
  *model = g_strdup(csim_catalogue_gpu_model(catalogue, (int)sm, out->gpu.nvlinks, device));
  out->gpu.nvlink_gen = (int)csim_catalogue_number(catalogue, "gpu.%s.nvlink_gen", *model);
  return TRUE;
}

/* --- list ------------------------------------------------------------------------- */

typedef struct {
  const CsimLiveBasics *basics;
  const CsimCatalogue *catalogue;
  GPtrArray *out;
} Calibration;

static void free_constant(gpointer data) {
  CsimLiveConstant *c = (CsimLiveConstant *)data;
  g_free(c->name);
  g_free(c->old);
  g_free(c->value);
  g_free(c->from);
  g_free(c);
}

/* value is taken over. A name that the catalogue lacks ("nvlink.0.kernel") is left out. */
static void add(Calibration *k, char *name, char *value, const char *from) {
  const CsimConstant *old = csim_catalogue_find(k->catalogue, name);
  if (old) {
    CsimLiveConstant *c = g_new0(CsimLiveConstant, 1);
    *c = (CsimLiveConstant){g_strdup(name), csim_constant_text(old), g_strdup(value), g_strdup(from)};
    g_ptr_array_add(k->out, c);
  }
  g_free(name);
  g_free(value);
}

static char *time_text(double us) {
  return g_strdup_printf("%" G_GINT64_FORMAT "ns", (gint64)llround(us * 1e3));
}
static char *rate_text(double gbps) {
  g_autofree char *number = csim_number_text(gbps, "%.6g");
  return g_strconcat(number, "GB/s", NULL);
}

/* --- copies ----------------------------------------------------------------------- */

/* The row of a test with the largest (or smallest) size among those with the most blocks; NULL: not measured. */
static const CsimCopyRow *copy_row(const Calibration *k, const char *test, gboolean largest) {
  const CsimCopyRow *found = NULL;
  for (guint i = 0; k->basics->copies && i < k->basics->copies->len; i++) {
    const CsimCopyRow *r = &g_array_index(k->basics->copies, CsimCopyRow, i);
    if (strcmp(r->test, test)) continue;
    if (!found || r->blocks > found->blocks || (r->blocks == found->blocks && (r->size > found->size) == largest)) found = r;
  }
  return found;
}

static void gpu_time(Calibration *k, const char *constant, const char *test, gboolean largest, const char *from) {
  const CsimCopyRow *row = copy_row(k, test, largest);
  if (row) add(k, g_strdup_printf("gpu.%s.%s", k->basics->gpu_model, constant), time_text(row->median_us), from);
}

static void flag(Calibration *k) {
  const CsimCopyRow *row = copy_row(k, "flag_oneway", TRUE);
  if (!row) return;
  const char *model = k->basics->gpu_model;
  double with_barrier = row->median_us + csim_time_us(BARRIER_PS);
  add(k, g_strdup_printf("gpu.%s.flag_latency", model), time_text(row->median_us), "probe copies, flag_oneway");
  add(k, g_strdup_printf("gpu.%s.hop_latency", model), time_text(with_barrier), "probe copies, flag_oneway + 80 ns");
  add(k, g_strdup_printf("gpu.%s.credit_latency", model), time_text(with_barrier), "probe copies, flag_oneway + 80 ns");
}

/* Between two sizes, so that launch and events drop out. */
static void kernel_rate(Calibration *k) {
  const CsimCopyRow *large = copy_row(k, "sm_write", TRUE), *small = copy_row(k, "sm_write", FALSE);
  const CsimLiveBasics *b = k->basics;
  if (!large || large->size <= small->size || large->median_us <= small->median_us || b->gpu.nvlinks == 0) return;
  double gbps = (double)(large->size - small->size) / (large->median_us - small->median_us) * 1e-3;
  add(k, g_strdup_printf("nvlink.%d.kernel", b->gpu.nvlink_gen), rate_text(gbps / b->gpu.nvlinks),
      "probe copies, sm_write by all multiprocessors, per link");
}

static void copies(Calibration *k) {
  const CsimLiveBasics *b = k->basics;
  const CsimCopyRow *local = copy_row(k, "d2d", TRUE), *peer = copy_row(k, "ce_write", TRUE);
  gpu_time(k, "h2d_latency", "h2d", FALSE, "probe copies, h2d, smallest size");
  gpu_time(k, "d2h_latency", "d2h", FALSE, "probe copies, d2h, smallest size");
  gpu_time(k, "local_floor", "d2d", FALSE, "probe copies, d2d, smallest size");
  gpu_time(k, "peer_latency", "ce_write", FALSE, "probe copies, ce_write, smallest size");
  if (local) add(k, g_strdup_printf("gpu.%s.local_copy_rate", b->gpu_model), rate_text(local->bw_gbps), "probe copies, d2d, largest size");
  if (peer && b->gpu.nvlinks > 0)
    add(k, g_strdup_printf("nvlink.%d.copy", b->gpu.nvlink_gen), rate_text(peer->bw_gbps / b->gpu.nvlinks),
        "probe copies, ce_write, largest size, per link");
  flag(k);
  kernel_rate(k);
}

/* --- sockets ---------------------------------------------------------------------- */

static const CsimSocketRow *socket_row(const Calibration *k, const char *test, CsimBytes size) {
  for (guint i = 0; k->basics->sockets && i < k->basics->sockets->len; i++) {
    const CsimSocketRow *r = &g_array_index(k->basics->sockets, CsimSocketRow, i);
    if (!strcmp(r->test, test) && (size == 0 || r->size == size)) return r;
  }
  return NULL;
}

/* A small message is two endpoints and a step; what TCP takes beyond the catalogue's step goes to the endpoints. */
static void socket_latency(Calibration *k) {
  const CsimSocketRow *small = socket_row(k, "pingpong", 8);
  if (!small) return;
  double step = csim_time_us(csim_catalogue_time(k->catalogue, "socket.step")), rest = small->time_us - step;
  if (rest < 0) add(k, g_strdup("socket.step"), time_text(small->time_us), "probe sockets, pingpong of 8 B");
  add(k, g_strdup("socket.endpoint"), time_text(MAX(rest, 0) / 2), "probe sockets, half of pingpong of 8 B less socket.step");
}

static void sockets(Calibration *k) {
  const CsimSocketRow *ring = socket_row(k, "ring", 0), *stream = socket_row(k, "stream", 0);
  CsimNetModel net;
  csim_net_model_init(k->catalogue, "socket", 0, &net);
  socket_latency(k);
  if (stream) add(k, g_strdup("socket.stream"), rate_text(stream->bw_gbps), "probe sockets, one connection");
  if (!ring || k->basics->nic_gbps <= 0) return;
  g_autofree char *from = g_strdup_printf("probe sockets, ring of %d ranks, against the interface's speed", ring->ranks);
  add(k, g_strdup("socket.share"), csim_number_text(ring->bw_gbps / (k->basics->nic_gbps * net.efficiency), "%.6g"), from);
}

/* --- whole ------------------------------------------------------------------------ */

GPtrArray *csim_live_calibrate(const CsimLiveBasics *basics, const CsimCatalogue *catalogue) {
  Calibration k = {basics, catalogue, g_ptr_array_new_with_free_func(free_constant)};
  if (basics->gpu_model) copies(&k);
  sockets(&k);
  return k.out;
}

/* "gpu.h200.flag_latency" as objects inside each other. */
static void add_nested(cJSON *root, const CsimLiveConstant *c, const char *source) {
  g_auto(GStrv) words = g_strsplit(c->name, ".", -1);
  g_autofree char *from = g_strdup_printf("%s: %s", source, c->from);
  cJSON *object = root;
  char *end;
  for (char **word = words; *word; word++) {
    cJSON *child = cJSON_GetObjectItemCaseSensitive(object, *word);
    object = child ? child : cJSON_AddObjectToObject(object, *word);
  }
  double number = g_ascii_strtod(c->value, &end);
  if (*end == '\0')
    cJSON_AddNumberToObject(object, "value", number);
  else
    cJSON_AddStringToObject(object, "value", c->value);
  cJSON_AddStringToObject(object, "confidence", "measured");
  cJSON_AddStringToObject(object, "source", from);
}

char *csim_live_constants_json(const GPtrArray *constants, const char *source) {
  cJSON *root = cJSON_CreateObject();
  cJSON_AddStringToObject(root, "format", "collsim-hardware-1");
  for (guint i = 0; i < constants->len; i++) add_nested(root, (const CsimLiveConstant *)g_ptr_array_index(constants, i), source);
  char *text = cJSON_Print(root), *out = g_strconcat(text, "\n", NULL);
  cJSON_free(text);
  cJSON_Delete(root);
  return out;
}
