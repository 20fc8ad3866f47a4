/*
 * cmd_help.c - `orrery help`: the list of commands, or help on a command, on collectives and on
 * settings.
 */
#include <string.h>

#include "base/nearest.h"
#include "cli/cli.h"
#include "cli/collectives.h"
#include "cli/settings_help.h"
#include "platform/lists.h"

struct request {
    int all;
};

static int set_all(void *into, const char *value, struct err *err)
{
    (void)value, (void)err;
    ((struct request *)into)->all = 1;
    return 0;
}

static const struct cli_option options[] = {
    {"all", 0, NULL, NULL, "settings: all of them, with defaults and meaning", set_all},
    {0},
};

static void list_commands(struct buf *out)
{
    buf_adds(out, "usage: orrery command [options] [arguments...]\n\n"
                  "Runs MPI programs in virtual time on a machine that need not exist.\n\n"
                  "Commands:\n");
    for (int i = 0; cli_command_at(i); i++)
        buf_addf(out, "  %-10s %s\n", cli_command_at(i)->usage->command,
                 cli_command_at(i)->summary);
    buf_adds(out, "\n'orrery help COMMAND' explains a command, 'orrery help settings' lists the\n"
                  "settings of machines, 'orrery help KEY' explains one of them, and 'orrery help\n"
                  "collectives' lists algorithms. 'man orrery' has the manual.\n");
}

/* ---- topics ---- */

static void help_settings(const struct request *q, struct buf *out)
{
    if (q->all)
        cli_settings_all(out);
    else
        cli_settings_names(out);
}

static void help_collectives(const struct request *q, struct buf *out)
{
    (void)q;
    cli_collectives_help(out);
}

static const struct topic {
    struct cli_word word;
    void (*help)(const struct request *, struct buf *out);
} topics[] = {
    {{"settings", "settings of the machine"}, help_settings},
    {{"collectives", "algorithms of collectives"}, help_collectives},
};

static const struct cli_usage usage = {
    .command = "help",
    .synopsis = "[command | collectives | settings | KEY]",
    .about = "Lists the commands; explains a command, a setting or a section of settings; lists "
             "the "
             "algorithms of collectives, or all settings.",
    .options = options,
    .arguments = CLI_ARGUMENTS_COMMANDS,
    CLI_WORDS(topics),
};

static int help_topic(const struct request *q, const char *name, struct buf *out)
{
    const struct topic *topic = (const struct topic *)cli_word_find(&usage, name);
    if (!topic)
        return 0;
    topic->help(q, out);
    return 1;
}

static int unknown(const char *name, struct err *err)
{
    struct nearest nearest = {.word = name};
    char list[200];
    for (int i = 0; cli_command_at(i); i++)
        nearest_offer(&nearest, cli_command_at(i)->usage->command);
    for (size_t i = 0; cli_word_at(&usage, i); i++)
        nearest_offer(&nearest, cli_word_at(&usage, i)->name);
    if (nearest.best)
        return err_set(err, ERR_INPUT, "no help on '%s': did you mean '%s'?", name, nearest.best);
    if (platform_suggest(name, list, sizeof list))
        return err_set(err, ERR_INPUT, "no help on '%s': did you mean %s?", name, list);
    return err_set(err, ERR_INPUT,
                   "no help on '%s': expected a command ('orrery help'), collectives, or a "
                   "setting ('orrery help settings')",
                   name);
}

static int explain(const struct request *q, const char *name, struct buf *out, struct err *err)
{
    for (int i = 0; cli_command_at(i); i++)
        if (strcmp(cli_command_at(i)->usage->command, name) == 0) {
            cli_options_manual(cli_command_at(i)->usage, out);
            return 0;
        }
    if (help_topic(q, name, out) || cli_settings_explain(name, out))
        return 0;
    return unknown(name, err);
}

static int help_main(int argc, char **argv)
{
    struct request q = {0};
    struct err err;
    struct buf text;
    int next, status = EXIT_DONE, rc = 0;
    if (cli_begin(&usage, argc, argv, &q, &next, &status))
        return status;
    if (argc > next + 1) {
        err_set(&err, ERR_INPUT, "help takes one word, not '%s' too", argv[next + 1]);
        return cli_fail(&err);
    }
    if (q.all && (next >= argc || strcmp(argv[next], "settings") != 0)) {
        err_set(&err, ERR_INPUT, "--all goes with 'settings': orrery help --all settings");
        return cli_fail(&err);
    }
    buf_init(&text);
    if (next < argc)
        rc = explain(&q, argv[next], &text, &err);
    else
        list_commands(&text);
    status = rc ? cli_fail(&err) : cli_print(&text);
    buf_fini(&text);
    return status;
}

const struct cli_command cli_cmd_help = {
    .summary = "explain a command, a setting, ...",
    .usage = &usage,
    .main = help_main,
};
