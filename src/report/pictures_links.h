/*
 * pictures_links.h - the load of links as pictures. Nothing is drawn if links are not known.
 */
#ifndef REPORT_PICTURES_LINKS_H
#define REPORT_PICTURES_LINKS_H

#include "analysis/analysis.h"
#include "base/buf.h"

/* The topology, with links coloured by what they carried in the whole run. */
void pictures_links(const struct analysis *, struct buf *out);
/* The busiest links over time. */
void pictures_links_time(const struct analysis *, struct buf *out);

#endif
