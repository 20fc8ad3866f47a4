/*
 * run_files.c - writes the trace and the report of a run that has ended (see run_files.h).
 */
#include "cli/run_files.h"

#include <unistd.h>

#include "base/buf.h"
#include "cli/cli.h"
#include "cli/parts.h"
#include "cli/webpage.h"
#include "launch/finish.h"

/* If writing the page is abandoned, the trace stays, from which it can be written later. */
static int make_page(const struct cli_run *run, const struct launch_finish *how)
{
    const char *trace = run->job.opt.trace_path;
    struct buf what, last_words;
    if (access(trace, R_OK) != 0)
        return EXIT_DONE; /* the run did not come far enough to record anything, or see above */
    buf_init(&what);
    buf_init(&last_words);
    buf_addf(&what, "writing '%s'; another signal ends that", run->report);
    buf_addf(&last_words, "'%s' was not written, because of another signal: orrery report %s -o %s",
             run->report, trace, run->report);
    launch_finish_begin(how, buf_str(&what), buf_str(&last_words));
    int status = cli_webpage_show(trace, run->trace ? run->trace : run->report, run->report);
    launch_finish_end();
    buf_fini(&what);
    buf_fini(&last_words);
    if (!run->trace)
        unlink(trace);
    return status;
}

int cli_run_files(const struct cli_run *run, int signal, int status)
{
    const struct launch_finish how = {.signal = signal,
                                      .progress = run->job.progress < 0
                                                      ? isatty(STDERR_FILENO) && !run->job.quiet
                                                      : run->job.progress,
                                      .quiet = run->job.quiet};
    if (*run->job.opt.trace_path)
        status = cli_parts_merge(&run->job.opt, &how, status);
    int rc = run->report ? make_page(run, &how) : EXIT_DONE;
    return status ? status : rc;
}
