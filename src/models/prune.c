#include "models/prune.h"

/* Spans over each link, as offsets into one array. */
typedef struct {
  const CsimPruneLink *links;
  CsimFlowLink *pool;
  CsimPruneSpan *spans;
  guint n_links, n_spans;
  guint *first, *over; /* over[first[l] .. first[l + 1]): spans that cross link l */
  gboolean *dropped;
  guint *seen; /* link whose witnesses were counted last, + 1 */
} Pruner;

static void index_spans(Pruner *p) {
  p->first = g_new0(guint, p->n_links + 2);
  for (guint s = 0; s < p->n_spans; s++)
    for (guint i = 0; i < p->spans[s].n; i++) p->first[p->pool[p->spans[s].first + i].link + 2]++;
  for (guint l = 0; l < p->n_links; l++) p->first[l + 2] += p->first[l + 1];
  p->over = g_new(guint, p->first[p->n_links + 1] + 1);
  for (guint s = 0; s < p->n_spans; s++)
    for (guint i = 0; i < p->spans[s].n; i++)
      p->over[p->first[p->pool[p->spans[s].first + i].link + 1]++] = s;
}

static const CsimFlowLink *entry(const Pruner *p, guint span, guint link) {
  for (guint i = 0; i < p->spans[span].n; i++)
    if (p->pool[p->spans[span].first + i].link == link) return &p->pool[p->spans[span].first + i];
  return NULL;
}

/* Most that a path can put on a link of weight `own` while it crosses `witness`. */
static double bound(const Pruner *p, const CsimFlowLink *witness, double own) {
  return (double)p->links[witness->link].capacity * own / (double)witness->weight;
}

/* Does one link bound all paths over `link`? Tried for each link of the first path. */
static gboolean one_witness(const Pruner *p, guint link) {
  const CsimPruneSpan *first = &p->spans[p->over[p->first[link]]];
  for (guint i = 0; i < first->n; i++) {
    guint candidate = p->pool[first->first + i].link;
    gboolean all = candidate != link && !p->dropped[candidate];
    for (guint k = p->first[link]; all && k < p->first[link + 1]; k++) {
      const CsimFlowLink *witness = entry(p, p->over[k], candidate);
      all = witness != NULL && witness->weight > 0 &&
            bound(p, witness, entry(p, p->over[k], link)->weight) <= (double)p->links[link].capacity;
    }
    if (all) return TRUE;
  }
  return FALSE;
}

static const CsimFlowLink *narrowest(const Pruner *p, guint span, guint link) {
  const CsimFlowLink *best = NULL, *own = entry(p, span, link);
  for (guint i = 0; i < p->spans[span].n; i++) {
    const CsimFlowLink *w = &p->pool[p->spans[span].first + i];
    if (w->link == link || p->dropped[w->link] || w->weight <= 0) continue;
    if (best == NULL || bound(p, w, own->weight) < bound(p, best, own->weight)) best = w;
  }
  return best;
}

/* Do the narrowest other links of the paths fit together? A witness is counted once for all paths that weigh the same on it and on
 * `link`, and again for each other path: more than needed, so safe. */
static gboolean many_witnesses(Pruner *p, guint link) {
  double sum = 0;
  for (guint k = p->first[link]; k < p->first[link + 1]; k++) {
    const CsimFlowLink *witness = narrowest(p, p->over[k], link), *own = entry(p, p->over[k], link);
    if (witness == NULL) return FALSE;
    gboolean even = own->weight == witness->weight;
    if (!even || p->seen[witness->link] != link + 1) sum += bound(p, witness, own->weight);
    if (even) p->seen[witness->link] = link + 1;
    if (sum > (double)p->links[link].capacity) return FALSE;
  }
  return TRUE;
}

static void shorten(Pruner *p) {
  for (guint s = 0; s < p->n_spans; s++) {
    CsimFlowLink *links = p->pool + p->spans[s].first;
    guint n = 0;
    for (guint i = 0; i < p->spans[s].n; i++)
      if (!p->dropped[links[i].link]) links[n++] = links[i];
    p->spans[s].n = n;
  }
}

guint csim_prune(const CsimPruneLink *links, guint n_links, CsimFlowLink *pool, CsimPruneSpan *spans,
                 guint n_spans) {
  Pruner p = {.links = links, .pool = pool, .spans = spans, .n_links = n_links, .n_spans = n_spans};
  guint n = 0;
  index_spans(&p);
  p.dropped = g_new0(gboolean, n_links + 1);
  p.seen = g_new0(guint, n_links + 1);
  for (guint l = 0; l < n_links; l++) {
    if (p.first[l] == p.first[l + 1] || links[l].softness > 0) continue;
    p.dropped[l] = one_witness(&p, l) || many_witnesses(&p, l);
    n += p.dropped[l];
  }
  shorten(&p);
  g_free(p.first);
  g_free(p.over);
  g_free(p.dropped);
  g_free(p.seen);
  return n;
}
