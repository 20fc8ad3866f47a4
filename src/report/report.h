/*
 * report.h - a report of one trace, or of two side by side: an HTML page that needs no other
 * files, and pictures.
 *
 * The page is a template, the bundled front end (web/), with the data inserted: JSON, and chunks of
 * binary data that it loads on demand (chunk.h).
 */
#ifndef REPORT_WEBREPORT_H
#define REPORT_WEBREPORT_H

#include <stddef.h>

#include "base/err.h"

#define REPORT_SCHEMA 1 /* version of the data, which the front end checks */
#define REPORT_TRACES_MOST 2

struct platform;

struct report {
    const char *traces[REPORT_TRACES_MOST]; /* paths */
    const char *names[REPORT_TRACES_MOST];  /* for people; NULL: the path */
    /* Machines through which messages are routed for the load of links; NULL: the trace's own load
     * of links. */
    const struct platform *machines[REPORT_TRACES_MOST];
    size_t count;         /* 1 or 2 */
    const char *page;     /* file to write, or NULL */
    const char *template; /* file of the front end; needed for a page */
    const char *pictures; /* folder for SVG pictures, or NULL; created if necessary */
    /* Filled in: what is missing from a trace; code 0: nothing. */
    struct err warnings[REPORT_TRACES_MOST];
};

/* Reads the traces and writes what is requested. ERR_INPUT names a file that is not a trace. */
int report_write(struct report *, struct err *);

#endif
