/*
 * `orrery help`: the list of commands, or the help of one.
 */
#include <string.h>

#include "cli/cli.h"
#include "cli/collectives.h"

static const struct cli_option options[] = {{0}};

static const struct cli_usage usage = {
    .command = "help",
    .synopsis = "[command | collectives]",
    .about = "Lists the commands, explains one, or lists the algorithms of collectives.",
    .options = options,
    .arguments = CLI_ARGUMENTS_COMMANDS,
};

static void list_commands(struct buf *out)
{
    buf_adds(out, "usage: orrery command [options] [arguments...]\n\n"
                  "Runs MPI programs in virtual time on a machine that need not exist.\n\n"
                  "Commands:\n");
    for (int i = 0; cli_command_at(i); i++)
        buf_addf(out, "  %-10s %s\n", cli_command_at(i)->usage->command,
                 cli_command_at(i)->summary);
    buf_adds(out, "\n'orrery help COMMAND' explains a command, 'orrery help collectives' lists\n"
                  "algorithms; 'man orrery' has the manual.\n");
}

static int help_main(int argc, char **argv)
{
    struct err err;
    struct buf text;
    int next, status = CLI_DONE;
    if (cli_begin(&usage, argc, argv, NULL, &next, &status))
        return status;
    if (argc > next + 1) {
        err_set(&err, ERR_INPUT, "help takes one command, not '%s' too", argv[next + 1]);
        return cli_fail(&err);
    }
    const struct cli_command *command = NULL;
    int collectives = next < argc && strcmp(argv[next], "collectives") == 0;
    if (next < argc && !collectives && !(command = cli_command_find(argv[next], &err)))
        return cli_fail(&err);
    buf_init(&text);
    if (collectives)
        cli_collectives_help(&text);
    else if (command)
        cli_options_help(command->usage, &text);
    else
        list_commands(&text);
    status = cli_print(&text);
    buf_fini(&text);
    return status;
}

const struct cli_command cli_cmd_help = {
    .summary = "list the commands, or explain one",
    .usage = &usage,
    .main = help_main,
};
