/*
 * summary_read.h - reads what other commands need from the summary of a run.
 */
#ifndef RESULTS_SUMMARY_READ_H
#define RESULTS_SUMMARY_READ_H

#include <stdint.h>

struct results_summary {
    uint64_t time_ps; /* virtual time */
    uint64_t messages, bytes;
    double wall_s;
    /* of an emulation; else 0 */
    double max_behind_s, tolerance_s;
    uint64_t expected, unexpected;
    /* of a run in which nodes sent faster than their links; else 0 */
    double overcommitted, overcommitted_at_s;
    uint64_t overcommitted_ranks, overcommitted_rank;
};

/* Reads a file that `orrery run --json` wrote. 0 if there is none, or if it is incomplete; O(size),
 * and little memory. */
int results_summary_read(const char *path, struct results_summary *);

#endif
