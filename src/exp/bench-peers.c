/* exp/bench-peers.c - data/peers.json, which is part of the binary. */
#include "exp/bench.h"

#include "base/json-read.h"
#include "models/embedded.h"

extern const CsimEmbedded csim_embedded_peers[];

/* --- one row: what it measured, and is that this? ------------------------------------- */

typedef struct {
  const char *workload;
  int64_t ranks, chunks, runs;
  CsimBytes bytes;
} Measured;

static gboolean is_same(const Measured *m, const CsimBenchSpec *spec) {
  return g_str_equal(m->workload, csim_bench_name(spec->kind)) && m->ranks == spec->n_ranks && m->bytes == spec->bytes &&
         (spec->kind != CSIM_BENCH_TREE || m->chunks == spec->chunks);
}

static void read_row(CsimJson *row, const CsimBenchSpec *spec, GArray *rows) {
  Measured m = {.workload = ""};
  CsimBenchPeer peer = {0};
  csim_json_text(row, "workload", CSIM_JSON_REQUIRED, &m.workload);
  csim_json_int(row, "ranks", CSIM_JSON_REQUIRED, 2, CSIM_BENCH_MAX_RANKS, &m.ranks);
  csim_json_bytes(row, "bytes", CSIM_JSON_REQUIRED, &m.bytes);
  csim_json_int(row, "chunks", CSIM_JSON_OPTIONAL, 1, CSIM_BENCH_MAX_CHUNKS, &m.chunks);
  csim_json_int(row, "runs", CSIM_JSON_REQUIRED, 1, 1000, &m.runs);
  csim_json_text(row, "tool", CSIM_JSON_REQUIRED, &peer.tool);
  csim_json_text(row, "load", CSIM_JSON_REQUIRED, &peer.load);
  csim_json_double(row, "cpu_s", CSIM_JSON_REQUIRED, 0, 1e9, &peer.cpu_s);
  csim_json_double(row, "rss_mib", CSIM_JSON_REQUIRED, 0, 1e9, &peer.rss_mib);
  if (!is_same(&m, spec)) return;
  peer.tool = g_intern_string(peer.tool); /* a few names, which outlive the document */
  peer.load = g_intern_string(peer.load);
  g_array_append_val(rows, peer);
}

/* --- the file -------------------------------------------------------------------------- */

CsimBenchPeers *csim_bench_peers_new(const CsimBenchSpec *spec) {
  g_autoptr(CsimDiag) diag = csim_diag_new();
  g_autoptr(GError) error = NULL;
  CsimBenchPeers *peers = g_new0(CsimBenchPeers, 1);
  const CsimEmbedded *file = &csim_embedded_peers[0];
  g_autoptr(CsimJsonDoc) doc = csim_json_read_text(file->name, file->text, (gssize)file->length, diag);
  CsimJson *root = csim_json_root(doc, CSIM_JSON_OBJECT);
  const char *format = "", *source = "";
  peers->rows = g_array_new(FALSE, FALSE, sizeof(CsimBenchPeer));
  csim_json_text(root, "format", CSIM_JSON_REQUIRED, &format);
  csim_json_text(root, "source", CSIM_JSON_REQUIRED, &source);
  csim_json_ignore(csim_json_get(root, "about", CSIM_JSON_OPTIONAL));
  CsimJson *rows = csim_json_array(root, "rows", CSIM_JSON_REQUIRED);
  for (CsimJson *row = csim_json_first(rows); row; row = csim_json_next(row)) read_row(row, spec, peers->rows);
  peers->source = g_intern_string(source);
  csim_json_finish(doc);
  if (!csim_diag_check(diag, &error)) g_error("%s", error->message); /* our own file */
  return peers;
}

void csim_bench_peers_free(CsimBenchPeers *peers) {
  if (!peers) return;
  g_array_unref(peers->rows);
  g_free(peers);
}
