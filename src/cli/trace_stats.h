/*
 * trace_stats.h - --stats of what was run on the real MPI: the statistics of `orrery run --stats`,
 * as far as a trace has them. Messages that the MPI exchanges within collectives are not known, so
 * pairs and sizes are those of point-to-point messages.
 */
#ifndef CLI_TRACE_STATS_H
#define CLI_TRACE_STATS_H

/* Writes them, as CSV if `path` ends in .csv, else as JSON. Returns an exit status. */
int cli_trace_stats_write(const char *trace, const char *path);

#endif
