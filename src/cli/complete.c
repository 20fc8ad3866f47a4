/*
 * complete.c - completion: walks the words like the option parser, to learn what the last one is: a
 * command, an option, the value of an option, or an argument of the command.
 */
#include "cli/complete.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "cli/machine.h"
#include "cli/run_options.h"
#include "formats/formats.h"

/* The word to complete: a head that every candidate begins with, and the rest to match. */
struct word {
    const char *head; /* "--set=", or "net.latency=1us," of a list */
    size_t head_length;
    const char *text;
    struct buf *out;
};

/* Where an explanation begins that is too long for a list: at a line break, a semicolon, or a
 * parenthesis after a space. One without a space, as in "source <(...)", belongs to the text. */
static size_t short_length(const char *about)
{
    size_t length = strcspn(about, "\n;");
    for (size_t i = 1; i < length; i++)
        if (about[i] == '(' && about[i - 1] == ' ')
            return i;
    return length;
}

static void add_about(struct buf *out, const char *about)
{
    size_t length = short_length(about);
    while (length > 0 && about[length - 1] == ' ')
        length--;
    buf_addc(out, '\t');
    buf_add(out, about, length);
}

static void offer(const struct word *w, const char *text, const char *end, const char *about)
{
    if (strncmp(text, w->text, strlen(w->text)) != 0)
        return;
    buf_add(w->out, w->head, w->head_length);
    buf_addf(w->out, "%s%s", text, end);
    if (about)
        add_about(w->out, about);
    buf_addc(w->out, '\n');
}

/* What only the shell can list. */
static void offer_kind(const struct word *w, const char *kind)
{
    buf_addf(w->out, "@%s\n", kind);
}

/* ---- values ---- */

static void offer_platforms(const struct word *w)
{
    struct cli_preset_dirs dirs;
    size_t count;
    cli_preset_dirs_init(&dirs);
    char **names = platform_presets(&dirs.list, &count);
    for (size_t i = 0; i < count; i++) {
        offer(w, names[i], "", NULL);
        mem_free(names[i]);
    }
    mem_free(names);
    cli_preset_dirs_fini(&dirs);
    offer_kind(w, "files");
}

static void offer_choices(const struct word *w, const char *key)
{
    const char *choice;
    for (unsigned i = 0; (choice = cli_machine_choice(key, i)); i++)
        offer(w, choice, "", NULL);
}

static void offer_keys(const struct word *w, const char *end)
{
    for (size_t i = 0; i < platform_config_count(); i++)
        offer(w, platform_config_key(i), end, platform_config_text(i));
}

/* Completes the last item of KEY=VALUE,KEY=VALUE. */
static void offer_settings(const struct word *w)
{
    const char *comma = strrchr(w->text, ','), *item = comma ? comma + 1 : w->text;
    const char *equals = strchr(item, '=');
    const char *rest = equals ? equals + 1 : item;
    struct word last = *w;
    struct buf head;
    char key[128];

    buf_init(&head);
    buf_add(&head, w->head, w->head_length);
    buf_add(&head, w->text, (size_t)(rest - w->text));
    last.head = buf_str(&head);
    last.head_length = head.len;
    last.text = rest;
    if (equals) {
        snprintf(key, sizeof key, "%.*s", (int)(equals - item), item);
        offer_choices(&last, key);
    } else {
        offer_keys(&last, "=");
    }
    buf_fini(&head);
}

static void offer_collectives(const struct word *w)
{
    offer_choices(w, "mpi.collectives");
}

static void offer_key(const struct word *w)
{
    offer_keys(w, "");
}

/* Formats that a trace can be written in. */
static void offer_formats(const struct word *w)
{
    const struct trace_format *f;
    for (size_t i = 0; (f = formats_at(i)); i++)
        if (f->write)
            offer(w, f->name, "", NULL);
}

/* Options whose values come from a table of another module, by name; of one command, or of all. */
static const struct {
    const char *option;
    void (*offer)(const struct word *);
    const char *command;
} special[] = {
    {"platform", offer_platforms, NULL},
    {"verify", offer_platforms, NULL},
    {"set", offer_settings, NULL},
    {"baseline", offer_settings, NULL},
    {"collectives", offer_collectives, NULL},
    {"x", offer_key, NULL},
    {"format", offer_formats, "trace"},
};

/* Names of values that the shell can list. */
static const struct {
    const char *argument, *kind;
} kinds[] = {{"FILE", "files"}, {"DIR", "directories"}, {"COMMAND", "programs"}};

static void offer_values(const struct word *w, const struct cli_usage *usage,
                         const struct cli_option *option)
{
    for (size_t i = 0; i < sizeof special / sizeof special[0]; i++)
        if (strcmp(option->name, special[i].option) == 0 &&
            (!special[i].command || strcmp(special[i].command, usage->command) == 0)) {
            special[i].offer(w);
            return;
        }
    for (const struct cli_values *v = usage->values; v && v->option; v++)
        for (size_t i = 0; strcmp(v->option, option->name) == 0 && v->words[i]; i++)
            offer(w, v->words[i], "", NULL);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(option->argument, kinds[i].argument) == 0)
            offer_kind(w, kinds[i].kind);
}

/* ---- options ---- */

static void offer_options(const struct word *w, const struct cli_usage *usage)
{
    const char *value, *equals = strchr(w->text, '=');
    if (equals) {
        const struct cli_option *option = cli_options_find(usage, w->text, &value);
        struct word rest = {w->text, (size_t)(equals + 1 - w->text), equals + 1, w->out};
        if (option && option->argument)
            offer_values(&rest, usage, option);
        return;
    }
    for (const struct cli_option *o = usage->options; o->name; o++)
        if (o->help) {
            char name[64];
            char about[80]; /* the short text */
            snprintf(name, sizeof name, "--%s", o->name);
            snprintf(about, sizeof about, "%.*s", (int)strcspn(o->help, "\n"), o->help);
            offer(w, name, "", about);
        }
    offer(w, "--help", "", "print help");
}

/* ---- arguments ---- */

static void offer_commands(const struct word *w)
{
    for (int i = 0; cli_command_at(i); i++)
        offer(w, cli_command_at(i)->usage->command, "", cli_command_at(i)->summary);
}

static void offer_words(const struct word *w, const struct cli_usage *usage)
{
    const struct cli_word *word;
    for (size_t i = 0; (word = cli_word_at(usage, i)); i++)
        offer(w, word->name, "", word->about);
}

static void offer_argument(const struct word *w, const struct cli_usage *usage, int position)
{
    if (usage->arguments == CLI_ARGUMENTS_PROGRAM)
        offer_kind(w, position == 0 ? "programs" : "files");
    else if (usage->arguments == CLI_ARGUMENTS_PLATFORMS && position > 0)
        offer_platforms(w);
    else if (usage->arguments == CLI_ARGUMENTS_RUN)
        offer(w, cli_run_usage.command, "", NULL);
    else if (usage->arguments == CLI_ARGUMENTS_COMMANDS && position == 0)
        offer_commands(w);
    else if (usage->arguments == CLI_ARGUMENTS_TRACES && (position == 0 || !usage->word_count))
        offer_kind(w, "files");
    if ((position == 0) != (usage->arguments == CLI_ARGUMENTS_TRACES))
        offer_words(w, usage);
}

/* ---- the line ---- */

/* Completes the last word of a command; words[0] is its name. */
static void complete_command(const struct cli_usage *usage, int count, char **words,
                             struct buf *out)
{
    struct word last = {"", 0, words[count - 1], out};
    int position = 0;

    for (int i = 1; i < count - 1; i++) {
        const char *value = NULL;
        const struct cli_option *option;
        if (words[i][0] != '-' || !words[i][1]) {
            if (usage->arguments == CLI_ARGUMENTS_RUN) {
                complete_command(&cli_run_usage, count - i, words + i, out);
                return;
            }
            position++;
            if (usage->arguments == CLI_ARGUMENTS_PROGRAM) {
                /* what follows belongs to the program, up to the next one */
                while (i < count - 1 && strcmp(words[i], ":") != 0)
                    i++;
                if (i == count - 1)
                    break;
                position = 0;
            }
            continue;
        }
        option = cli_options_find(usage, words[i], &value);
        if (!option || !option->argument || value)
            continue;
        if (i == count - 2) {
            offer_values(&last, usage, option);
            return;
        }
        i++;
    }
    if (last.text[0] == '-' && !(position && usage->arguments == CLI_ARGUMENTS_PROGRAM))
        offer_options(&last, usage);
    else
        offer_argument(&last, usage, position);
}

void cli_complete(int count, char **words, struct buf *out)
{
    struct word first = {"", 0, count ? words[0] : "", out};
    if (count <= 1) {
        offer_commands(&first);
        return;
    }
    const struct cli_command *command = cli_command_find(words[0], NULL);
    if (command)
        complete_command(command->usage, count, words, out);
}
