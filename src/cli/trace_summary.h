/*
 * trace_summary.h - --json of the commands that write a trace by running something: `orrery record`
 * and `orrery replay`. Members that `orrery run` has, too, mean the same.
 */
#ifndef CLI_TRACE_SUMMARY_H
#define CLI_TRACE_SUMMARY_H

#include <stdint.h>

#include "cli/replay_answer.h"

struct cli_trace_summary {
    const char *trace;    /* that was written */
    const char *original; /* that was replayed, as given, or NULL */
    const char *source;   /* that was replayed, as an .orr file */
    uint64_t ranks;       /* at the start */
    int is_virtual;       /* the times of the trace are virtual */
    double wall_s;
    int status;
    const char *cause;                      /* how it ended, in a word */
    const struct cli_replay_counts *counts; /* of a replay, or NULL */
};

/* Writes it to `path`. What a trace would say is null if there is none. Returns an exit status. */
int cli_trace_summary_write(const struct cli_trace_summary *, const char *path);

#endif
