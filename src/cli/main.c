/*
 * main.c - entry of the `orrery` program: finds and runs the subcommand.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "base/log.h"
#include "base/log_module.h"
#include "base/mem.h"
#include "base/nearest.h"
#include "base/printable.h"
#include "base/sys.h"
#include "cli/advice.h"
#include "cli/cli.h"
#include "launch/limit.h"

static const struct cli_command *const commands[] = {
    &cli_cmd_run,      &cli_cmd_record,    &cli_cmd_check,
    &cli_cmd_platform, &cli_cmd_calibrate, &cli_cmd_sweep,
    &cli_cmd_tune,     &cli_cmd_trace,     &cli_cmd_analyze,
    &cli_cmd_compare,  &cli_cmd_report,    &cli_cmd_replay,
    &cli_cmd_hybrid,   &cli_cmd_emulate,   &cli_cmd_completion,
    &cli_cmd_help,     &cli_cmd_version,   NULL,
};

const struct cli_command *cli_command_at(int i)
{
    return commands[i];
}

const struct cli_command *cli_command_find(const char *name, struct err *err)
{
    struct nearest nearest = {.word = name};
    for (int i = 0; commands[i]; i++) {
        if (strcmp(commands[i]->usage->command, name) == 0)
            return commands[i];
        nearest_offer(&nearest, commands[i]->usage->command);
    }
    if (nearest.best)
        err_set(err, ERR_INPUT, "unknown command '%s': did you mean '%s'?", name, nearest.best);
    else if (name[0] == '-' || strchr(name, '/'))
        err_set(err, ERR_INPUT,
                "'%s' is not a command, which comes first, as in: orrery run -n 4 %s; 'orrery help' "
                "lists the commands",
                name, name[0] == '-' ? "./app" : name);
    else
        err_set(err, ERR_INPUT, "unknown command '%s': 'orrery help' lists the commands", name);
    return NULL;
}

int cli_fail(const struct err *err)
{
    log_error("%s", err->text);
    return err->code == ERR_INTERNAL ? EXIT_INTERNAL : EXIT_USAGE;
}

/* ---- output that nobody reads any more ---- */

static volatile sig_atomic_t is_pipe_closed;

static void note_pipe(int number)
{
    (void)number;
    is_pipe_closed = 1;
}

/* SIGPIPE ends the command when it is done. Programs that it starts have the usual handler. */
static void put_off_pipe(void)
{
    struct sigaction before, act = {.sa_handler = note_pipe, .sa_flags = SA_RESTART};
    if (sigaction(SIGPIPE, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
        sigaction(SIGPIPE, &act, NULL);
}

static void end_by_pipe(void)
{
    signal(SIGPIPE, SIG_DFL);
    raise(SIGPIPE);
}

/* Writes text that may have names from files. */
static int write_printable(int fd, const struct buf *text)
{
    struct buf shown;
    buf_init(&shown);
    buf_add(&shown, buf_str(text), text->len);
    if (shown.len)
        printable(shown.data, shown.len, 1);
    int rc = sys_write_all(fd, buf_str(&shown), shown.len);
    buf_fini(&shown);
    return rc;
}

void cli_tell(const struct buf *text)
{
    write_printable(STDERR_FILENO, text);
}

int cli_print(const struct buf *text)
{
    if (write_printable(STDOUT_FILENO, text) == 0)
        return EXIT_DONE;
    if (!is_pipe_closed)
        log_error("cannot write to standard output: %s", strerror(errno));
    return EXIT_USAGE;
}

int cli_begin(const struct cli_usage *usage, int argc, char **argv, void *into, int *next,
              int *status)
{
    struct err err;
    int rc = cli_options_parse(usage, argc, argv, into, next, &err);
    if (rc == CLI_OPTIONS_HELP) {
        struct buf text;
        buf_init(&text);
        cli_options_help(usage, &text);
        *status = cli_print(&text);
        buf_fini(&text);
    } else if (rc) {
        const char *value;
        if (*next < argc && argv[*next][0] == '-' && !cli_options_find(usage, argv[*next], &value))
            cli_advise(usage, argv[*next], &err);
        *status = cli_fail(&err);
    }
    return rc != 0;
}

int cli_next(const struct cli_usage *usage, int *argc, char ***argv, void *into, const char **word,
             int *status)
{
    int next;
    if (cli_begin(usage, *argc, *argv, into, &next, status))
        return 1;
    *argc -= next;
    *argv += next;
    *word = *argc > 0 ? **argv : NULL;
    return 0;
}

/*
 * Opens closed standard streams such that using them still fails. Otherwise the next opened file,
 * such as shared memory, would become a standard stream.
 */
static void open_streams(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd)
            sys_exit(EXIT_INTERNAL);
}

int main(int argc, char **argv)
{
    static char help[] = "help", version[] = "version";
    struct err err;
    open_streams();
    if (log_modules_init(&err))
        return cli_fail(&err);
    if (mem_fail_at(getenv(ENV_FAIL_ALLOCATION)) != 0) {
        log_error(ENV_FAIL_ALLOCATION " '%s': expected K or all:K", getenv(ENV_FAIL_ALLOCATION));
        return EXIT_USAGE;
    }
    signal(SIGXFSZ, SIG_IGN); /* with 'ulimit -f', writing fails and is reported */
    if (argc < 2) {
        log_error("no command given: try 'orrery help'");
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        argv[1] = help;
    else if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)
        argv[1] = version;
    const struct cli_command *command = cli_command_find(argv[1], &err);
    if (!command)
        return cli_fail(&err);
    if (command->starts && launch_limit_begin(&err))
        return cli_fail(&err);
    if (command->cleans_up)
        put_off_pipe();
    int status = launch_limit_end(command->main(argc - 1, argv + 1));
    if (is_pipe_closed)
        end_by_pipe();
    return status;
}
