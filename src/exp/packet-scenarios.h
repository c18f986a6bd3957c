/*
 * exp/packet-scenarios.h - the packet level against numbers that do not come from it: arithmetic, DCQCN's
 * fluid model, independent simulations, peers.
 *
 * Used by: `collsim packet-scenarios`, tests. Implemented in packet-scenarios*.c. The numbering of issue and
 * docs (1-18) is that of the validation list of the scenario data (roce-scenarios, November 2026); every
 * target's origin stands beside it in the code.
 */
#ifndef CSIM_EXP_PACKET_SCENARIOS_H
#define CSIM_EXP_PACKET_SCENARIOS_H

#include "collsim/types.h"

typedef enum {
  CSIM_CHECK_NEAR,     /* |ours - target| <= tolerance x |target| */
  CSIM_CHECK_AT_LEAST, /* ours >= target */
  CSIM_CHECK_AT_MOST,  /* ours <= target */
  CSIM_CHECK_INFO      /* printed only */
} CsimCheckKind;

typedef struct {
  char *what;
  const char *unit; /* static text */
  CsimCheckKind kind;
  double target, ours, tolerance;
  gboolean pass;
} CsimPacketCheck;

typedef struct {
  GArray *checks; /* CsimPacketCheck */
  uint64_t hops, events;
  double cpu_s; /* of the event loop */
} CsimPacketReport;
CsimPacketReport *csim_packet_report_new(void);
void csim_packet_report_free(CsimPacketReport *report); /* NULL allowed */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CsimPacketReport, csim_packet_report_free)

typedef struct {
  const char *name;
  const char *numbers; /* of the validation list: "6-8" */
  const char *summary;
  void (*run)(CsimPacketReport *report);
} CsimPacketScenario;

/* In the list's order; the last has no name. */
extern const CsimPacketScenario csim_packet_scenarios[];
/* NULL and CSIM_ERROR_REFERENCE, with the nearest name, if there is none. */
const CsimPacketScenario *csim_packet_scenario_find(const char *name, GError **error);

#endif
