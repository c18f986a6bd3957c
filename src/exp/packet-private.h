/*
 * exp/packet-private.h - what the packet scenarios share: checks and test beds.
 *
 * packet-scenarios.c has the list and the beds; packet-exact.c, packet-lossless.c, packet-dcqcn.c and
 * packet-paths.c the scenarios.
 */
#ifndef CSIM_EXP_PACKET_PRIVATE_H
#define CSIM_EXP_PACKET_PRIVATE_H

#include "exp/packet-scenarios.h"
#include "models/pkt/pkt.h"

#define GBPS 125000000 /* bytes/s */

/* format: what was compared. */
void packet_near(CsimPacketReport *report, double target, double ours, double tolerance, const char *unit,
                 const char *format, ...) G_GNUC_PRINTF(6, 7);
void packet_at_least(CsimPacketReport *report, double target, double ours, const char *unit,
                     const char *format, ...) G_GNUC_PRINTF(5, 6);
void packet_at_most(CsimPacketReport *report, double target, double ours, const char *unit,
                    const char *format, ...) G_GNUC_PRINTF(5, 6);
void packet_info(CsimPacketReport *report, double ours, const char *unit, const char *format, ...)
    G_GNUC_PRINTF(4, 5);

/* A network to run. */
typedef struct {
  CsimEngine *engine;
  CsimPktNet *net;
  guint n_qps;
  guint bottleneck; /* star: the switch's port to the receiver */
} Bed;
Bed *bed_new(const CsimPktSpec *spec);
void bed_free(Bed *bed);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Bed, bed_free)

/* n senders and a receiver on a switch, a queue pair each; sender i's link comes in by port bed_in(i). */
Bed *bed_star(const CsimPktSpec *spec, const CsimPktSwitch *sw, guint n, const CsimPktCable *cable);
static inline guint bed_in(guint sender) { return 3 + 2 * sender; }
/* Leaves x hosts with as many spines, every link alike; host h is node h. No queue pairs yet. */
Bed *bed_leaf_spine(const CsimPktSpec *spec, const CsimPktSwitch *sw, guint leaves, guint hosts, guint spines,
                    const CsimPktCable *cable);
void bed_qp(Bed *bed, guint src, guint dst);
/* Queue pairs of a random permutation of n hosts that all leave their leaf. */
void bed_permutation(Bed *bed, guint n, guint per_leaf, uint64_t seed);
/* Every queue pair's message, queue pair i at i x stagger. */
void bed_send(Bed *bed, CsimBytes bytes, CsimTime stagger);
/* Runs (until: CSIM_TIME_NEVER for the end), adds the work to the report, checks conservation and adds a
 * failed check if it does not hold. */
void bed_run(Bed *bed, CsimTime until, CsimPacketReport *report);

/* Over all queue pairs. */
typedef struct {
  CsimTime makespan;
  double goodput_gbps, jain; /* payload / makespan; Jain's index of each one's payload / time */
  uint64_t cnps, marked, drops, pauses;
  CsimBytes max_queue, max_ingress, max_headroom;
  double mean_queue;
  guint unfinished;
} BedResult;
BedResult bed_result(Bed *bed);

void packet_frames(CsimPacketReport *report);
void packet_line_rate(CsimPacketReport *report);
void packet_first_cuts(CsimPacketReport *report);
void packet_go_back_n(CsimPacketReport *report);
void packet_go_back_0(CsimPacketReport *report);
void packet_pfc_incast(CsimPacketReport *report);
void packet_static_xoff(CsimPacketReport *report);
void packet_headroom(CsimPacketReport *report);
void packet_ib_credits(CsimPacketReport *report);
void packet_deadlock(CsimPacketReport *report);
void packet_steady_state(CsimPacketReport *report);
void packet_together(CsimPacketReport *report);
void packet_connectx(CsimPacketReport *report);
void packet_victim(CsimPacketReport *report);
void packet_ecmp(CsimPacketReport *report);
void packet_ring(CsimPacketReport *report);
void packet_storm(CsimPacketReport *report);
void packet_speed(CsimPacketReport *report);

#endif
