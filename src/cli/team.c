/*
 * Starting the workers, and the few things that make `orrery run` one of them.
 *
 * The exit status of a launcher says little: it may be that of any process, or of a signal. So the
 * worker of process 0 writes the status of the run into a file of ours, if it is on this machine
 * (ENV_REPORT names it); without it, what the launcher returns has to do.
 */
#define _GNU_SOURCE 1
#include "cli/team.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/env.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/sys.h"
#include "cli/cli.h"
#include "cli/libsearch.h"
#include "cli/placement.h"
#include "cli/program.h"
#include "engine/place.h"

#define NATIVE_LIBRARY "libmpich.so.12"
#define FAILED 3

/* ---- the launcher's command line ---- */

struct words {
    char **at;
    size_t count;
};

static void words_add(struct words *w, const char *text)
{
    w->at = mem_realloc(w->at, (w->count + 2) * sizeof *w->at);
    w->at[w->count++] = mem_strdup(text);
    w->at[w->count] = NULL;
}

static void words_fini(struct words *w)
{
    for (size_t i = 0; i < w->count; i++)
        mem_free(w->at[i]);
    mem_free(w->at);
}

/* Words are separated by blanks; quotes of either kind keep blanks in a word. */
static int words_split(struct words *w, const char *text, struct err *err)
{
    struct buf word;
    char quote = 0;
    int inside = 0;

    buf_init(&word);
    for (; *text; text++) {
        if (quote ? *text == quote : *text == '"' || *text == '\'') {
            quote = quote ? 0 : *text;
            inside = 1;
        } else if (!quote && (*text == ' ' || *text == '\t')) {
            if (inside)
                words_add(w, buf_str(&word));
            buf_clear(&word);
            inside = 0;
        } else {
            buf_addc(&word, *text);
            inside = 1;
        }
    }
    if (inside)
        words_add(w, buf_str(&word));
    buf_fini(&word);
    if (quote)
        return err_set(err, ERR_INPUT, "--launcher: a quote (%c) is not closed", quote);
    return w->count ? 0 : err_set(err, ERR_INPUT, "--launcher: the command is empty");
}

static int command_line(struct words *w, const struct cli_run *run, int argc, char **argv,
                        struct err *err)
{
    char text[32], self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    int rc = words_split(w, run->launcher ? run->launcher : CLI_TEAM_LAUNCHER, err);

    if (rc)
        return rc;
    if (n < 0)
        return err_set(err, ERR_SYSTEM, "cannot read '/proc/self/exe': %s", strerror(errno));
    self[n] = 0;
    words_add(w, "-n");
    snprintf(text, sizeof text, "%u", run->opt.procs);
    words_add(w, text);
    words_add(w, self);
    words_add(w, "run");
    words_add(w, "--worker");
    if (run->progress < 0 && isatty(STDERR_FILENO) && !run->quiet)
        words_add(w, "--progress");
    for (int i = 1; i < argc; i++)
        words_add(w, argv[i]);
    return 0;
}

/* ---- running it ---- */

/* Workers on this machine open our memory files by these names. */
static void name_file(const char *variable, pid_t owner, int fd)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)owner, fd);
    if (fd >= 0)
        setenv(variable, path, 1);
    else
        unsetenv(variable);
}

_Noreturn static void become(char **argv, const sigset_t *mask, pid_t parent, int report,
                             int answer, int placement)
{
    int error;

    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        sys_exit(FAILED);
    sigprocmask(SIG_SETMASK, mask, NULL);
    name_file(ENV_REPORT, parent, answer);
    name_file(ENV_PLACEMENT, parent, placement);
    execvp(argv[0], argv);
    error = errno;
    sys_write_all(report, &error, sizeof error);
    sys_exit(2);
}

static int start(char **argv, const sigset_t *mask, int answer, int placement, pid_t *pid,
                 struct err *err)
{
    int report[2], error = 0;
    pid_t self = getpid();
    ssize_t got;

    if (pipe2(report, O_CLOEXEC) != 0)
        return err_set(err, ERR_SYSTEM, "cannot create a pipe: %s", strerror(errno));
    *pid = fork();
    if (*pid == 0)
        become(argv, mask, self, report[1], answer, placement);
    error = errno;
    close(report[1]);
    if (*pid < 0) {
        close(report[0]);
        return err_set(err, ERR_SYSTEM, "cannot start a process: %s", strerror(error));
    }
    got = TEMP_FAILURE_RETRY(read(report[0], &error, sizeof error));
    close(report[0]);
    if (got <= 0)
        return 0;
    waitpid(*pid, NULL, 0);
    return err_set(err, ERR_SYSTEM,
                   "cannot start the launcher '%s': %s; install mpich, or see --launcher", argv[0],
                   strerror(error));
}

/* The status of the run, from process 0 or as far as the launcher tells. */
static int judge(int answer, const struct cli_outcome *outcome)
{
    int status, code = WIFEXITED(outcome->status) ? WEXITSTATUS(outcome->status) : -1;

    if (pread(answer, &status, sizeof status, 0) == sizeof status)
        return status;
    if (outcome->signal)
        return 128 + outcome->signal;
    if (code == 0 || code == 2 || code == FAILED)
        return code;
    if (code < 0)
        log_error("the launcher died of signal %d (%s): the run is not complete",
                  WTERMSIG(outcome->status), strsignal(WTERMSIG(outcome->status)));
    else
        log_error("the launcher ended with status %d, and no process reported the end of the run: one "
                  "of them was killed, or could not be started; see above", code);
    return FAILED;
}

int cli_team_run(const struct cli_run *run, int argc, char **argv, int *status, struct err *err)
{
    struct words w = {0};
    struct cli_outcome outcome;
    sigset_t mask;
    pid_t pid = -1;
    int answer = memfd_create("orrery-report", MFD_CLOEXEC);
    int rc = command_line(&w, run, argc, argv, err);

    if (rc == 0 && answer < 0)
        rc = err_set(err, ERR_SYSTEM, "cannot create a memory file: %s", strerror(errno));
    if (rc == 0) {
        cli_watch_block(&mask);
        rc = start(w.at, &mask, answer, run->opt.place_fd, &pid, err);
    }
    if (rc == 0) {
        cli_watch_launcher(pid, &outcome);
        *status = judge(answer, &outcome);
    }
    words_fini(&w);
    if (answer >= 0)
        close(answer);
    return rc;
}

/* ---- being a worker ---- */

static int find_native(struct cli_run *run, struct err *err)
{
    const char *given = getenv(ENV_NATIVE_MPI);
    struct cli_libsearch_from none = {0};
    struct cli_libsearch search;
    size_t size = sizeof run->opt.native_path;
    int found;

    if (given && *given) {
        snprintf(run->opt.native_path, size, "%s", given);
        return access(given, R_OK) == 0 ? 0
                                        : err_set(err, ERR_SYSTEM, "%s: cannot read '%s': %s",
                                                  ENV_NATIVE_MPI, given, strerror(errno));
    }
    cli_libsearch_init(&search);
    found = cli_libsearch_find(&search, NATIVE_LIBRARY, &none, &none, cli_program_is_elf,
                               run->opt.native_path, size);
    cli_libsearch_fini(&search);
    return found ? 0
                 : err_set(err, ERR_SYSTEM,
                           "cannot find %s, the native MPI that --procs needs: install mpich, or set "
                           "%s", NATIVE_LIBRARY, ENV_NATIVE_MPI);
}

/* The table that who started us has computed; 0 if that is on another machine. */
static int open_list(struct cli_run *run)
{
    const char *path = getenv(ENV_PLACEMENT);
    int fd = path ? open(path, O_RDONLY) : -1;

    if (fd >= 0)
        run->opt.place_fd = fd;
    return fd >= 0;
}

static int make_list(struct cli_run *run, struct err *err)
{
    size_t bytes = (size_t)run->opt.ranks * sizeof(uint32_t);
    uint32_t *owner = MAP_FAILED;
    int fd = memfd_create("orrery-placement", 0), rc;

    if (fd >= 0 && ftruncate(fd, (off_t)bytes) == 0)
        owner = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (owner == MAP_FAILED)
        return err_set(err, ERR_SYSTEM, "cannot make room for the placement: %s", strerror(errno));
    rc = cli_placement_mincut(run->mincut, run->opt.ranks, run->opt.procs, owner, err);
    munmap(owner, bytes);
    run->opt.place_fd = fd;
    return rc;
}

int cli_team_prepare(struct cli_run *run, struct err *err)
{
    int rc;

    if (run->opt.procs > run->opt.ranks) /* a process without a rank would be of no use */
        run->opt.procs = (uint32_t)run->opt.ranks;
    if (run->opt.procs <= 1)
        return 0;
    rc = find_native(run, err);
    if (rc == 0 && run->opt.placement == PLACE_LIST && !(run->worker && open_list(run)))
        rc = make_list(run, err);
    return rc;
}

int cli_team_judge(const struct run_page *page, const struct cli_outcome *outcome, pid_t pid)
{
    char machine[256] = "?", name[400];

    if (page->end.cause != RUN_CAUSE_NONE || outcome->signal)
        return 0;
    gethostname(machine, sizeof machine - 1);
    if (page->now.joined)
        snprintf(name, sizeof name, "process %u of %u (pid %d on %s)", page->now.proc,
                 page->opt.procs, (int)pid, machine);
    else
        snprintf(name, sizeof name, "a process (pid %d on %s)", (int)pid, machine);
    if (outcome->hung)
        log_error("%s does not respond%s: the run ends here", name,
                  outcome->hung == CLI_WATCH_STOPPED ? ", it was stopped by a signal" : "");
    else if (WIFSIGNALED(outcome->status))
        log_error("%s was killed by signal %d (%s): the run ends here", name,
                  WTERMSIG(outcome->status), strsignal(WTERMSIG(outcome->status)));
    else
        log_error("%s ended with status %d before its time: the run ends here", name,
                  WEXITSTATUS(outcome->status));
    return 1;
}

void cli_team_tell(int status)
{
    const char *path = getenv(ENV_REPORT);
    int fd = path ? open(path, O_WRONLY | O_CLOEXEC) : -1;

    if (fd < 0)
        return; /* on another machine */
    if (write(fd, &status, sizeof status) != sizeof status)
        log_warn("cannot report the end of the run to the launcher's parent: %s", strerror(errno));
    close(fd);
}
