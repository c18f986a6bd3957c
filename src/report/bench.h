/*
 * report/bench.h - a bare workload's figures as text and JSON.
 *
 * Used by: `collsim bench`. peers may have no rows.
 */
#ifndef CSIM_REPORT_BENCH_H
#define CSIM_REPORT_BENCH_H

#include "exp/bench.h"

/* Lines for people; the caller frees. */
char *csim_report_bench_text(const CsimBenchSpec *spec, const CsimBenchResult *result, const CsimBenchPeers *peers);
/* One object: {"collsim", "workload", "ranks", "bytes", "chunks" (tree), "message_bytes", "rate", "latency_ps", "skew_ps", "seed",
 * "queue", "form", "simulated_ps", "messages", "events", "ranks_simulated", "steps_jumped", "digest" (if asked for), "cpu_s",
 * "wall_s", "process_cpu_s", "peak_rss_mib", "peers": [{"tool", "cpu_s", "peak_rss_mib" or null, "load"}], "peers_source"}. */
char *csim_report_bench_json(const CsimBenchSpec *spec, const CsimBenchResult *result, const CsimBenchPeers *peers);

#endif
