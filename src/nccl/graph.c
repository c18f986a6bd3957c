/* A search result as a value. */
#include "nccl/graph.h"

void csim_graph_finish(CsimGraph *graph) {
  g_clear_pointer(&graph->intra, g_free);
}
