/*
 * replay_request.h - what `orrery replay` was asked for; within the files of the command.
 */
#ifndef CLI_REPLAY_REQUEST_H
#define CLI_REPLAY_REQUEST_H

#include <limits.h>

#include "base/buf.h"
#include "cli/cli.h"
#include "cli/replay_command.h"
#include "launch/argv.h"
#include "trace/reader.h"

#define CLI_REPLAY_SUFFIX ".replay" TRACE_SUFFIX /* of the new trace, unless it has a name */

#define CLI_REPLAY_IDLE_LIMIT INT64_C(30000000000000)

struct cli_replay_request {
    const char *trace, *output, *launcher, *report, *stats, *json;
    int32_t busy_sleep; /* index in busy_words */
    int real_time, deterministic, compares, is_quiet;
    int progress;       /* 1 yes, 0 no, -1: if standard error is a terminal */
    uint64_t ranks;     /* that it begins with; of cli_replay_words */
    int64_t idle_limit; /* of --real-time, in picoseconds */
    struct cli_replay_machine machine;
    struct buf settings;      /* of the recording */
    struct launch_argv run;   /* options for `orrery run` */
    struct launch_argv whats; /* hypotheses */
    char path[PATH_MAX];      /* of the new trace, absolute */
    char source[PATH_MAX];    /* of the old one */
    char summary[64];         /* where the simulator writes its summary; empty: nowhere */
};

void cli_replay_request_fini(struct cli_replay_request *);

/* replay_options.c: reads them into a request. */
extern const struct cli_usage cli_replay_usage;

/* replay_command.c: what a trace must have to be replayed. */
int cli_replay_check(struct trace *, const char *name, struct err *);
/* The words of the command that replays it: `orrery run`, or the launcher of the real MPI. */
int cli_replay_words(struct launch_argv *, struct cli_replay_request *, struct trace *,
                     struct err *);

#endif
