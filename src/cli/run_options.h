/*
 * run_options.h - the options of `orrery run`.
 */
#ifndef CLI_RUN_OPTIONS_H
#define CLI_RUN_OPTIONS_H

#include "cli/machine.h"
#include "cli/options.h"
#include "launch/job.h"
#include "results/result.h"
#include "run/run.h"

/* The options given. */
struct cli_run {
    struct launch_job job; /* for whoever starts and watches it */
    const char *app_file;  /* with the programs, or NULL */
    const char *layout;    /* of a worker: where the words of each program end */
    struct results_program programs[RUN_APPS_MAX];     /* what the summary says of them */
    struct cli_machine given;                          /* the machine as given by options */
    struct platform machine;                           /* made from that */
    const char *compute_file, *record, *counter_table; /* given options of the processor model */
    int wants_file;                                    /* a file name is to follow */
    const char *trace;                                 /* likewise */
    const char *report;                                /* page to write, or NULL */
    const char *pcap, *pcap_at; /* folder for packets, and patterns of where, or NULL */
    const char *vectors,
        *vectors_at;          /* file for values over time, and patterns of which, or NULL */
    const char *stats, *json; /* file names as given, borrowed from argv, or NULL */
    char collectives[64];     /* --collectives as a setting; empty: not given */
    const char *outside;      /* the program that the ranks stand for, or NULL */
};

extern const struct cli_usage cli_run_usage;

/* Reads the programs, from the words that follow the options or from --app. run->job.opt.ranks
 * becomes that of all. Call it once. */
int cli_run_read_apps(struct cli_run *, int argc, char **argv, struct err *);

/* Fills in the defaults. */
void cli_run_init(struct cli_run *);

#endif
