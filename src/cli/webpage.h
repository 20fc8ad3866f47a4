/*
 * webpage.h - reports in HTML: finds the front end, and writes them.
 */
#ifndef CLI_WEBPAGE_H
#define CLI_WEBPAGE_H

#include <stddef.h>

#include "report/report.h"

/* The bundled front end: ORRERY_REPORT, else web/report.html next to the program (a build tree),
 * else ../share/orrery/report.html (installed). ERR_INPUT: it was not built. */
int cli_webpage_find(char *path, size_t size, struct err *);

/* Writes a page of one trace, which it calls by that name. Returns an exit status. */
int cli_webpage_show(const char *trace, const char *name, const char *page);

/* Writes a report and its warnings; returns the exit status. */
int cli_webpage_write(struct report *);

#endif
