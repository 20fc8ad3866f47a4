/*
 * options.c - the option parser; options.h lists the accepted forms. Parsing looks up an argument
 * in the table and passes its value to the option's function; help walks the same table.
 */
#include "cli/options.h"

#include <string.h>

#include "base/nearest.h"

#define WIDTH 80
#define HELP_COLUMN 28
#define SYNOPSIS_COLUMN 14 /* of its second line: behind "usage: orrery" */

/* "--help" is an option of every command that is not in its table. */
static const struct cli_option help_option = {"help", 'h', NULL, NULL, "print this help", NULL};

static int is_end(const struct cli_option *option)
{
    return !option->name;
}

/* The option an argument names; *value points to what follows "=" or the letter, else NULL. */
static const struct cli_option *match(const struct cli_option *option, const char *arg,
                                      const char **value)
{
    *value = NULL;
    if (option->alias && strcmp(arg, option->alias) == 0)
        return option;
    if (arg[1] != '-') {
        if (arg[1] != option->letter || (arg[2] && !option->argument))
            return NULL;
        *value = arg[2] ? arg + 2 : NULL;
        return option;
    }
    size_t length = strlen(option->name);
    if (strncmp(arg + 2, option->name, length) != 0)
        return NULL;
    if (arg[2 + length] == '=')
        *value = arg + 3 + length;
    return arg[2 + length] == 0 || *value ? option : NULL;
}

/* Options of launchers that would be a letter of ours with a value. */
static int is_foreign(const char *arg)
{
    static const char *const words[] = {"-ppn", "-perhost", "-pernode", "-npernode",
                                        "-prepend-rank"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(arg, words[i]) == 0)
            return 1;
    return 0;
}

const struct cli_option *cli_options_find(const struct cli_usage *usage, const char *arg,
                                          const char **value)
{
    if (is_foreign(arg))
        return NULL;
    /* an alias is a whole word; check it before a letter followed by its value */
    for (const struct cli_option *o = usage->options; !is_end(o); o++) {
        if (o->alias && strcmp(arg, o->alias) == 0)
            return match(o, arg, value);
    }
    for (const struct cli_option *o = usage->options; !is_end(o); o++) {
        if (match(o, arg, value))
            return o;
    }
    return match(&help_option, arg, value);
}

static int unknown_option(const struct cli_usage *usage, const char *arg, struct err *err)
{
    char word[64];
    size_t length = strcspn(arg, "=");
    if (length < sizeof word && arg[1] == '-') {
        memcpy(word, arg, length);
        word[length] = 0;
        struct nearest nearest = {.word = word + 2};
        for (const struct cli_option *o = usage->options; !is_end(o); o++)
            if (o->help)
                nearest_offer(&nearest, o->name);
        if (nearest.best)
            return err_set(err, ERR_INPUT, "unknown option '%s': did you mean '--%s'?", word,
                           nearest.best);
    }
    return err_set(err, ERR_INPUT, "unknown option '%s': 'orrery %s --help' lists the options", arg,
                   usage->command);
}

int cli_options_next(const struct cli_usage *usage, int argc, char **argv, int *i,
                     const struct cli_option **option, const char **value, struct err *err)
{
    const char *arg = argv[*i];
    const struct cli_option *found = cli_options_find(usage, arg, value);
    if (!found)
        return unknown_option(usage, arg, err);
    if (found == &help_option)
        return CLI_OPTIONS_HELP;
    if (*value && !found->argument)
        return err_set(err, ERR_INPUT, "option '--%s' takes no value", found->name);
    if (found->argument && !*value && !(*i + 1 < argc))
        return err_set(err, ERR_INPUT, "option '%s' needs a value: %s", arg, found->argument);
    if (found->argument && !*value)
        *value = argv[++*i];
    *option = found;
    ++*i;
    return 0;
}

int cli_options_apply(const struct cli_option *option, const char *value, int argc, char **argv,
                      int *i, void *into, struct err *err)
{
    int rc = option->set(into, value, err);
    if (rc == CLI_OPTIONS_MORE)
        rc = *i < argc ? option->set(into, argv[(*i)++], err)
                       : err_set(err, ERR_INPUT, "'%s' needs a file", value);
    return rc ? err_prefix(err, "--%s", option->name) : 0;
}

int cli_options_text(const char **into, const char *value, struct err *err)
{
    if (!*value)
        return err_set(err, ERR_INPUT, "the value is empty");
    *into = value;
    return 0;
}

int cli_options_choose(const char *value, const char *const *words, int32_t *index, struct err *err)
{
    struct buf list;
    buf_init(&list);
    for (int32_t i = 0; words[i]; i++) {
        if (strcmp(value, words[i]) == 0) {
            *index = i;
            buf_fini(&list);
            return 0;
        }
        buf_addf(&list, "%s%s", i ? ", " : "", words[i]);
    }
    int rc = err_set(err, ERR_INPUT, "unknown value '%s': expected one of: %s", value,
                     buf_str(&list));
    buf_fini(&list);
    return rc;
}

int cli_options_parse(const struct cli_usage *usage, int argc, char **argv, void *into, int *next,
                      struct err *err)
{
    int i = 1;
    while (i < argc && argv[i][0] == '-' && argv[i][1]) {
        const struct cli_option *option;
        const char *value;
        if (strcmp(argv[i], "--") == 0) {
            i++;
            break;
        }
        *next = i;
        int rc = cli_options_next(usage, argc, argv, &i, &option, &value, err);
        if (rc)
            return rc;
        rc = cli_options_apply(option, value, argc, argv, &i, into, err);
        if (rc)
            return rc;
    }
    *next = i;
    return 0;
}

void cli_options_wrap(struct buf *out, const char *text, int indent, int column)
{
    while (*text) {
        int room = WIDTH - column, n = (int)strcspn(text, "\n");
        if (n > room) {
            n = room;
            while (n > 0 && text[n] != ' ')
                n--;
            if (n == 0)
                n = (int)strcspn(text, " \n");
        }
        buf_add(out, text, (size_t)n);
        buf_addc(out, '\n');
        text += n;
        text += *text != 0;
        if (*text)
            buf_addf(out, "%*s", indent, "");
        column = indent;
    }
}

/* A copy of an option's help: the short text or, if requested and present, the long one. */
static void add_text(const struct cli_option *option, int at_length, struct buf *out)
{
    const char *newline = strchr(option->help, '\n');
    if (!newline)
        buf_adds(out, option->help);
    else if (at_length)
        buf_adds(out, newline + 1);
    else
        buf_add(out, option->help, (size_t)(newline - option->help));
}

static void help_line(const struct cli_option *option, int at_length, struct buf *out)
{
    struct buf text;
    size_t start = out->len;
    buf_adds(out, "  ");
    if (option->letter)
        buf_addf(out, "-%c, ", option->letter);
    if (option->alias)
        buf_addf(out, "%s, ", option->alias);
    buf_addf(out, "--%s", option->name);
    if (option->argument)
        buf_addf(out, " %s", option->argument);
    int column = (int)(out->len - start);
    if (column > HELP_COLUMN - 2) {
        buf_addc(out, '\n');
        column = 0;
    }
    buf_addf(out, "%*s", HELP_COLUMN - column, "");
    buf_init(&text);
    add_text(option, at_length, &text);
    cli_options_wrap(out, buf_str(&text), HELP_COLUMN, HELP_COLUMN);
    buf_fini(&text);
}

static void add_synopsis(const struct cli_usage *usage, struct buf *out)
{
    struct buf text;
    buf_init(&text);
    buf_addf(&text, "usage: orrery %s%s%s", usage->command, *usage->synopsis ? " " : "",
             usage->synopsis);
    cli_options_wrap(out, buf_str(&text), SYNOPSIS_COLUMN, 0);
    buf_addc(out, '\n');
    buf_fini(&text);
}

static void add_help(const struct cli_usage *usage, int at_length, struct buf *out)
{
    add_synopsis(usage, out);
    cli_options_wrap(out, usage->about, 0, 0);
    buf_adds(out, "\nOptions:\n");
    for (const struct cli_option *o = usage->options; !is_end(o); o++)
        if (o->help)
            help_line(o, at_length, out);
    help_line(&help_option, at_length, out);
    if (usage->more)
        usage->more(out);
}

void cli_options_help(const struct cli_usage *usage, struct buf *out)
{
    add_help(usage, 0, out);
}

void cli_options_manual(const struct cli_usage *usage, struct buf *out)
{
    add_help(usage, 1, out);
}

/* ---- words ---- */

const struct cli_word *cli_word_at(const struct cli_usage *usage, size_t i)
{
    if (i >= usage->word_count)
        return NULL;
    return (const struct cli_word *)((const char *)usage->words + i * usage->word_size);
}

const struct cli_word *cli_word_find(const struct cli_usage *usage, const char *name)
{
    const struct cli_word *word;
    for (size_t i = 0; (word = cli_word_at(usage, i)); i++)
        if (strcmp(word->name, name) == 0)
            return word;
    return NULL;
}
