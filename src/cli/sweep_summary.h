/*
 * sweep_summary.h - what a sweep needs of the summary of a run.
 */
#ifndef CLI_SWEEP_SUMMARY_H
#define CLI_SWEEP_SUMMARY_H

#include <stddef.h>
#include <stdint.h>

struct sweep_summary {
    uint64_t time_ps; /* virtual time */
    uint64_t messages, bytes;
    double wall_s;
};

/* Reads a file that `orrery run --json` wrote. 0 if there is none, or if it is not whole; O(size), and
 * little memory. */
int sweep_summary_read(const char *path, struct sweep_summary *);

/* The same from memory. */
int sweep_summary_parse(const void *data, size_t size, struct sweep_summary *);

#endif
