/*
 * models/sharp.h - reduction in InfiniBand switches (SHARP): what one operation of an aggregation tree costs.
 *
 * Used by: exec (CollNet). Filled from the catalogue ("sharp.*"). Equations and sources: docs/models/sharp.md.
 *
 * A tree has one aggregation node in each switch that it uses; the hosts are its leaves. Data go up, are reduced level by
 * level, and the result comes down to all hosts on the same cables. Short operations travel as packets whose payload
 * the switch keeps (low latency, few at once); longer ones stream through at nearly line rate, one at a time on a
 * tree, and on Quantum (HDR) one at a time in a whole switch.
 */
#ifndef CSIM_MODELS_SHARP_H
#define CSIM_MODELS_SHARP_H

#include "models/catalogue.h"

/* Generations: 1 Switch-IB 2 (EDR; no streaming), 2 Quantum (HDR), 3 Quantum-2 (NDR), 4 Quantum-X800 (XDR). */
typedef struct {
  int generation;
  CsimRate rate;            /* of a streaming operation on one NIC, payload bytes/s */
  CsimTime reduce;          /* an aggregation node's share of the latency beyond cut-through, each level */
  CsimBytes streaming_from; /* operations above this stream; INT64_MAX: none does */
  CsimBytes payload;        /* of a low-latency operation */
  int outstanding;          /* of those, at once */
} CsimSharpModel;

/* line: rate of a NIC, bits as bytes/s (NDR 50e9). */
int csim_sharp_generation(CsimRate line);
void csim_sharp_model_init(const CsimCatalogue *catalogue, CsimRate line, CsimSharpModel *out);

/*
 * Highest rate of one operation of `bytes`, all hosts alike, over a tree whose way up and down takes round_trip:
 * streaming, or outstanding payloads, full or not, a round trip.
 */
CsimRate csim_sharp_rate(const CsimSharpModel *sharp, CsimBytes bytes, CsimTime round_trip);

/*
 * How much sooner than at that rate an operation is through: its first payload waits for no other's result. The next operation of the tree follows
 * at the rate nevertheless, since the window is the tree's.
 */
CsimTime csim_sharp_head_start(const CsimSharpModel *sharp, CsimBytes bytes, CsimTime round_trip);

/* Whether streaming operations of different trees through one switch wait for each other. */
static inline gboolean csim_sharp_one_stream_per_switch(const CsimSharpModel *sharp) {
  return sharp->generation == 2;
}

#endif
