/*
 * links.h - what the links of a simulated machine carried, from the definitions of a trace or from
 * another source.
 */
#ifndef ANALYSIS_LINKS_H
#define ANALYSIS_LINKS_H

#include "analysis/analysis.h"
#include "trace/network.h"

/* Fills in a->links; does nothing if there is no topology. A tick has that many seconds; the first
 * bin begins at tick `begin`. */
void analysis_links_take(struct analysis *a, const struct trace_network *, double tick,
                         int64_t begin);

/* The share of a bin, and of the run time, that a link would need at its full rate; 0 if that is
 * infinite. */
double analysis_link_load(const struct analysis_links *, const struct analysis_link *, size_t bin);
double analysis_link_busy(const struct analysis *, const struct analysis_link *);
/* The bin in which it carried most. */
size_t analysis_link_peak(const struct analysis_links *, const struct analysis_link *);

#endif
