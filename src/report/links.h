/*
 * links.h - the load of links over time, as data of a report.
 */
#ifndef REPORT_LINKS_H
#define REPORT_LINKS_H

#include "analysis/analysis.h"
#include "base/json.h"
#include "report/chunk.h"

#define LINKS_DRAWN 6000  /* links, of larger topologies those that carried most */
#define LINKS_VECTORS 32  /* values over time of each kind: those that are greatest */
#define LINKS_SERIES 2000 /* links whose load is shown over time */
#define LINKS_LISTED 20

/* Writes the member "links" of an open object, if links are known. */
void links_write(const struct analysis *, struct chunks *, struct json *);

#endif
