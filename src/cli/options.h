/*
 * options.h - option tables: one table per command defines its parsing and its --help.
 *
 * Accepted forms: --name VALUE, --name=VALUE, --flag, -x VALUE, -xVALUE, -x, and an alias that is
 * spelled with one dash and several letters (-np VALUE). "--" ends the options. Every command has
 * --help besides its table. Nothing here prints or exits.
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct cli_option {
    const char *name;     /* long name without dashes */
    char letter;          /* short name, or 0 */
    const char *alias;    /* "-np", or NULL */
    const char *argument; /* name of its value in the help, NULL: takes none */
    /* NULL: internal, not in the help. After a newline may follow a longer text, which `orrery help
     * COMMAND` prints instead; the text before it must fit a line of --help. */
    const char *help;
    /* Stores the value (NULL without argument) in the command's own struct; on failure fills err
     * without naming the option. After CLI_OPTIONS_MORE it is called again with the next
     * argument. */
    int (*set)(void *into, const char *value, struct err *);
};

/* The possible values of an option, for completion. */
struct cli_values {
    const char *option;
    const char *const *words; /* ends with NULL */
};

/* What follows the options. */
enum cli_arguments {
    CLI_ARGUMENTS_OWN,       /* the words of the command itself, or nothing */
    CLI_ARGUMENTS_PROGRAM,   /* a program and its arguments */
    CLI_ARGUMENTS_COMMANDS,  /* names of commands */
    CLI_ARGUMENTS_PLATFORMS, /* a word of the command itself, then platforms */
    CLI_ARGUMENTS_RUN,       /* a whole command line of `run` */
    CLI_ARGUMENTS_TRACES,    /* files, or one file and words of the command */
};

/* A word and what it means. */
struct cli_word {
    const char *name, *about;
};

struct cli_usage {
    const char *command;              /* "run" */
    const char *synopsis;             /* after "orrery run " */
    const char *about;                /* a few sentences, wrapped by the writer */
    const struct cli_option *options; /* ends with a NULL name */
    void (*more)(struct buf *out);    /* text after the options, or NULL */
    const struct cli_values *values;  /* ends with a NULL option; or NULL */
    enum cli_arguments arguments;
    /* The possible first arguments: a table whose items begin with a struct cli_word. */
    const void *words;
    size_t word_count, word_size;
};

/* For the table of words: address, number of items and size of an item. */
#define CLI_WORDS(table) \
    .words = (table), .word_count = sizeof(table) / sizeof(table)[0], .word_size = sizeof(table)[0]

/* Item i of the table of words, and the item with a name; NULL: there is none. */
const struct cli_word *cli_word_at(const struct cli_usage *, size_t i);
const struct cli_word *cli_word_find(const struct cli_usage *, const char *name);

#define CLI_OPTIONS_HELP 1
#define CLI_OPTIONS_MORE 2

/* The option that an argument names, or NULL; *value is what follows "=" or its letter, or NULL. */
const struct cli_option *cli_options_find(const struct cli_usage *, const char *arg,
                                          const char **value);

/*
 * The option at argv[*i] and its value (NULL: none); *i moves past both. Returns 0,
 * CLI_OPTIONS_HELP at --help or -h, or ERR_INPUT with the option and, for an unknown one, the
 * nearest. argv[*i] must begin with '-' and not be "-" or "--".
 */
int cli_options_next(const struct cli_usage *, int argc, char **argv, int *i,
                     const struct cli_option **option, const char **value, struct err *);

/* Stores the value of an option found by the function above. argv[*i] follows it and may belong to
 * it, too; then *i advances. */
int cli_options_apply(const struct cli_option *, const char *value, int argc, char **argv, int *i,
                      void *into, struct err *);

/* Stores a value that must not be empty; for `set` of options that take a name. */
int cli_options_text(const char **into, const char *value, struct err *);

/* Stores the index of a value among words, which end with NULL; otherwise the error lists them. */
int cli_options_choose(const char *value, const char *const *words, int32_t *index, struct err *);

/*
 * Parses argv[1..]. Stops at the first argument that is not an option, or after "--"; *next is
 * its index. Returns 0, CLI_OPTIONS_HELP if --help or -h was met, or ERR_INPUT with the option
 * and, for an unknown one, the nearest; then *next is the index of that option.
 */
int cli_options_parse(const struct cli_usage *, int argc, char **argv, void *into, int *next,
                      struct err *);

/* The help text, at most 80 columns wide: short, and long. */
void cli_options_help(const struct cli_usage *, struct buf *out);
void cli_options_manual(const struct cli_usage *, struct buf *out);

/* Appends text wrapped to 80 columns; every line but the first starts with `indent` spaces, and
 * the first is taken to be at column `column`. Ends with a newline. */
void cli_options_wrap(struct buf *out, const char *text, int indent, int column);

#endif
