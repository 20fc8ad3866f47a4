/*
 * apps.c - see apps.h.
 */
#include "cli/apps.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/env.h"
#include "base/units.h"
#include "cli/shared.h"

#define BETWEEN ":"

/* ---- one program ---- */

static int set_ranks(void *into, const char *value, struct err *err)
{
    uint64_t ranks;
    int rc = units_parse_count(value, &ranks, err);
    if (rc == 0 && ranks < 1)
        rc = err_set(err, ERR_INPUT, "bad number of ranks '%s': expected at least 1", value);
    if (rc == 0)
        ((struct cli_app *)into)->ranks = ranks;
    return rc;
}

/* What may precede each program but the first. */
static const struct cli_option options[] = {
    {CLI_SHARED_RANKS, set_ranks},
    {0},
};
static const struct cli_usage usage = {.command = "run", .options = options};

static int refuse_option(const char *word, struct err *err)
{
    return err_set(err, ERR_INPUT,
                   "'%s': only -n N may precede this program: options of the run precede its first "
                   "program",
                   word);
}

/* Reads the options before a program; *next is the index of the program. */
static int read_options(struct cli_app *app, int argc, char **argv, int *next, struct err *err)
{
    int i = 0;
    while (i < argc && argv[i][0] == '-' && argv[i][1] && strcmp(argv[i], "--") != 0) {
        const struct cli_option *option;
        const char *value, *word = argv[i];
        if (cli_options_find(&usage, word, &value) != options)
            return refuse_option(word, err);
        int rc = cli_options_next(&usage, argc, argv, &i, &option, &value, err);
        if (rc == 0)
            rc = cli_options_apply(option, value, argc, argv, &i, app, err);
        if (rc)
            return rc;
    }
    *next = i + (i < argc && strcmp(argv[i], "--") == 0);
    return 0;
}

static int add_program(struct cli_apps *a, uint64_t ranks, int argc, char **argv, struct err *err)
{
    if (a->count == RUN_APPS_MAX)
        return err_set(err, ERR_INPUT, "too many programs: there may be %d", RUN_APPS_MAX);
    struct cli_app *app = &a->at[a->count++];
    int next = 0, rc = 0;
    *app = (struct cli_app){.ranks = ranks};
    if (!ranks)
        rc = read_options(app, argc, argv, &next, err);
    if (rc)
        return rc;
    if (next >= argc)
        return err_set(err, ERR_INPUT, "no program given before or after ':'");
    for (int i = next; i < argc; i++)
        cli_argv_add(&app->words, argv[i]);
    if (!app->ranks)
        return err_set(err, ERR_INPUT, "how many ranks of '%s'? Give -n N before it", argv[next]);
    a->ranks += app->ranks;
    return 0;
}

/* Programs that are separated by ':'; `ranks`: of the first, whose options were read; else 0. */
static int add_programs(struct cli_apps *a, uint64_t ranks, int argc, char **argv, struct err *err)
{
    int start = 0, rc = 0;
    for (int i = 0; i <= argc && rc == 0; i++) {
        if (i < argc && strcmp(argv[i], BETWEEN) != 0)
            continue;
        rc = add_program(a, start ? 0 : ranks, i - start, argv + start, err);
        start = i + 1;
    }
    return rc;
}

/* ---- a file ---- */

/* A line of the file, without its comment. */
static int read_line(struct cli_apps *a, char *line, struct err *err)
{
    struct cli_argv words = {0};
    line += strspn(line, " \t");
    line[strcspn(line, "\r\n")] = '\0';
    if (!*line || *line == '#')
        return 0;
    int rc = cli_argv_split(&words, "words", line, err);
    if (rc == 0)
        rc = add_programs(a, 0, (int)words.count, words.at, err);
    cli_argv_fini(&words);
    return rc;
}

static int read_file(struct cli_apps *a, const char *path, struct err *err)
{
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t room = 0, number = 0;
    int rc = 0;
    if (!file)
        return err_set(err, ERR_SYSTEM, "--app: cannot read '%s': %s", path, strerror(errno));
    errno = 0;
    while (rc == 0 && getline(&line, &room, file) > 0) {
        number++;
        rc = read_line(a, line, err);
    }
    if (rc)
        err_prefix(err, "--app: '%s', line %zu", path, number);
    else if (ferror(file))
        rc = err_set(err, ERR_SYSTEM, "--app: cannot read '%s': %s", path, strerror(errno));
    else if (a->count == 0)
        rc = err_set(err, ERR_INPUT,
                     "--app: '%s' has no program: each line is to be -n N program arguments...",
                     path);
    free(line);
    fclose(file);
    return rc;
}

/* ---- all of them ---- */

int cli_apps_read(struct cli_apps *a, const char *command, const char *file, uint64_t ranks,
                  uint64_t most, int argc, char **argv, struct err *err)
{
    int rc;
    a->count = 0;
    a->ranks = 0;
    if (file && (argc > 0 || ranks))
        return err_set(err, ERR_INPUT,
                       "--app: the programs and their ranks are in '%s': leave out %s%s", file,
                       argc > 0 ? argv[0] : "-n", argc > 0 ? " and what follows" : "");
    if (!file && argc <= 0)
        return err_set(err, ERR_INPUT, "no program given, as in: orrery %s -n 4 ./app", command);
    if (!file && !ranks)
        return err_set(err, ERR_INPUT,
                       "how many ranks? Give -n N before the program, as in: orrery %s -n 4 %s",
                       command, argv[0]);
    rc = file ? read_file(a, file, err) : add_programs(a, ranks, argc, argv, err);
    if (rc == 0 && a->ranks > most)
        rc = err_set(err, ERR_INPUT, "too many ranks: %llu of all programs; there may be %llu",
                     (unsigned long long)a->ranks, (unsigned long long)most);
    return rc;
}

void cli_apps_fini(struct cli_apps *a)
{
    for (size_t i = 0; i < a->count; i++)
        cli_argv_fini(&a->at[i].words);
    a->count = 0;
}

void cli_apps_add_native(const struct cli_apps *a, const char *const *before, struct cli_argv *out)
{
    char ranks[32];
    for (size_t i = 0; i < a->count; i++) {
        if (i)
            cli_argv_add(out, BETWEEN);
        snprintf(ranks, sizeof ranks, "%llu", (unsigned long long)a->at[i].ranks);
        cli_argv_add_all(out, (const char *const[]){"-n", ranks, NULL});
        if (before)
            cli_argv_add_all(out, before);
        cli_argv_add_all(out, (const char *const *)a->at[i].words.at);
    }
}

void cli_apps_add_words(const struct cli_apps *a, struct cli_argv *out)
{
    char ranks[32];
    for (size_t i = 0; i < a->count; i++) {
        snprintf(ranks, sizeof ranks, "%llu", (unsigned long long)a->at[i].ranks);
        if (i)
            cli_argv_add_all(out, (const char *const[]){BETWEEN, "-n", ranks, "--", NULL});
        cli_argv_add_all(out, (const char *const *)a->at[i].words.at);
    }
}

void cli_apps_names(const struct cli_apps *a, struct buf *out)
{
    for (size_t i = 0; i < a->count; i++)
        buf_addf(out, "%s%s", i ? " " BETWEEN " " : "", a->at[i].words.at[0]);
}

/* ---- for workers ---- */

void cli_apps_pack(const struct cli_apps *a, struct cli_argv *out)
{
    for (size_t i = 0; i < a->count; i++)
        cli_argv_add_all(out, (const char *const *)a->at[i].words.at);
}

void cli_apps_layout(const struct cli_apps *a, struct buf *out)
{
    for (size_t i = 0; i < a->count; i++)
        buf_addf(out, "%s%llu/%zu", i ? "," : "", (unsigned long long)a->at[i].ranks,
                 a->at[i].words.count);
}

int cli_apps_unpack(struct cli_apps *a, const char *layout, int argc, char **argv, struct err *err)
{
    unsigned long long ranks;
    int words, used, rc = 0;
    a->count = 0;
    a->ranks = 0;
    for (; *layout && rc == 0; layout += used + (layout[used] == ',')) {
        if (sscanf(layout, "%llu/%d%n", &ranks, &words, &used) != 2 || !ranks || words < 1 ||
            words > argc)
            return err_set(err, ERR_INPUT, "--layout: '%s' does not fit the programs", layout);
        rc = add_program(a, ranks, words, argv, err);
        argv += words;
        argc -= words;
    }
    return rc;
}

void cli_apps_publish(const struct cli_apps *a)
{
    struct buf text;
    if (a->count <= 1) {
        unsetenv(ENV_PROGRAMS); /* of a run that has started this one */
        return;
    }
    buf_init(&text);
    for (size_t i = 0; i < a->count; i++) {
        buf_addf(&text, "%s-n %llu", i ? " : " : "", (unsigned long long)a->at[i].ranks);
        for (char **word = a->at[i].words.at; *word; word++)
            buf_addf(&text, " %s", *word);
    }
    setenv(ENV_PROGRAMS, buf_str(&text), 1);
    buf_fini(&text);
}
