#include "models/sharp.h"

#include "base/units.h"

#define GBITS INT64_C(125000000) /* bytes/s */

int csim_sharp_generation(CsimRate line) {
  if (line >= 700 * GBITS) return 4;
  if (line >= 350 * GBITS) return 3;
  return line >= 175 * GBITS ? 2 : 1;
}

void csim_sharp_model_init(const CsimCatalogue *c, CsimRate line, CsimSharpModel *sharp) {
  *sharp = (CsimSharpModel){.generation = csim_sharp_generation(line)};
  sharp->rate = (CsimRate)((double)line * csim_catalogue_number(c, "sharp.share"));
  sharp->reduce = csim_catalogue_time(c, "sharp.reduce");
  sharp->streaming_from = sharp->generation >= 2 ? csim_catalogue_bytes(c, "sharp.streaming_from") : INT64_MAX;
  sharp->payload = csim_catalogue_bytes(c, "sharp.payload");
  sharp->outstanding = (int)csim_catalogue_number(c, "sharp.outstanding");
}

CsimTime csim_sharp_head_start(const CsimSharpModel *sharp, CsimBytes bytes, CsimTime round_trip) {
  CsimBytes first = MIN(bytes, sharp->payload);
  if (first == 0 || csim_sharp_rate(sharp, bytes, round_trip) >= sharp->rate) return 0;
  return round_trip / sharp->outstanding - csim_rate_time(sharp->rate, first);
}

CsimRate csim_sharp_rate(const CsimSharpModel *sharp, CsimBytes bytes, CsimTime round_trip) {
  if (bytes > sharp->streaming_from) return sharp->rate;
  CsimBytes payloads = MAX(1, (bytes + sharp->payload - 1) / sharp->payload);
  double window = (double)bytes / (double)payloads * sharp->outstanding * 1e12;
  return (CsimRate)MIN((double)sharp->rate, window / (double)MAX(round_trip, 1));
}
