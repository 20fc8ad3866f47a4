/*
 * replay_answer.h - what came of a replay, in words: the original against the new trace.
 */
#ifndef CLI_REPLAY_ANSWER_H
#define CLI_REPLAY_ANSWER_H

#include <stdint.h>

#include "results/summary_read.h"

/* What the replay did otherwise than the recording. */
struct cli_replay_counts {
    uint64_t events;            /* calls */
    uint64_t remapped;          /* another request or message came first */
    uint64_t drawn;             /* completions that came earlier */
    uint64_t forced;            /* waits in place of tests that had succeeded */
    uint64_t removed;           /* calls with nothing left to do */
    uint64_t unfinished;        /* ranks that end without MPI_Finalize */
    uint64_t timed;             /* calls on files, of which only the time passes */
    struct results_summary run; /* of the simulator; all 0 if there is none */
};

/* Prints it: the run times alone, or with `whole` all that can be compared. Returns an exit status.
 * */
int cli_replay_answer(const char *original, const char *replayed, const struct cli_replay_counts *,
                      int whole, int quiet);

#endif
