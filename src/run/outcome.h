/*
 * outcome.h - how the program's process ended, as the command that watched it saw it.
 */
#ifndef RUN_OUTCOME_H
#define RUN_OUTCOME_H

#include <stdint.h>

enum run_hung { RUN_ALIVE = 0, RUN_STOPPED, RUN_SILENT };

struct run_outcome {
    int status;           /* as wait(2) gives it */
    int signal;           /* SIGINT, SIGTERM or SIGHUP that the command received, or 0 */
    int unreported;       /* that signal ended it, and nobody has reported it */
    int is_lost;          /* a process of its launcher was killed, which was reported: so was it */
    int is_launchers;     /* the status is what a launcher returned, which also started others */
    uint64_t memory_left; /* it was killed because no more was left; 0: it was not */
    int hung;             /* enum run_hung: why it was killed */
    double wall_s;
    uint64_t peak_rss_bytes;
};

#endif
