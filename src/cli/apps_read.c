/*
 * apps_read.c - reads the programs of a run from a command line or a file (see apps_read.h).
 */
#include "cli/apps_read.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cli/shared.h"

/* ---- one program ---- */

static int set_ranks(void *into, const char *value, struct err *err)
{
    uint64_t ranks;
    int rc = units_parse_count(value, &ranks, err);
    if (rc == 0 && ranks < 1)
        rc = err_set(err, ERR_INPUT, "bad number of ranks '%s': expected at least 1", value);
    if (rc == 0)
        *(uint64_t *)into = ranks;
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
static int read_options(uint64_t *ranks, int argc, char **argv, int *next, struct err *err)
{
    int i = 0;
    while (i < argc && argv[i][0] == '-' && argv[i][1] && strcmp(argv[i], "--") != 0) {
        const struct cli_option *option;
        const char *value, *word = argv[i];
        if (cli_options_find(&usage, word, &value) != options)
            return refuse_option(word, err);
        int rc = cli_options_next(&usage, argc, argv, &i, &option, &value, err);
        if (rc == 0)
            rc = cli_options_apply(option, value, argc, argv, &i, ranks, err);
        if (rc)
            return rc;
    }
    *next = i + (i < argc && strcmp(argv[i], "--") == 0);
    return 0;
}

static int add_program(struct launch_apps *a, uint64_t ranks, int argc, char **argv,
                       struct err *err)
{
    int next = 0, rc = 0;
    if (!ranks)
        rc = read_options(&ranks, argc, argv, &next, err);
    if (rc)
        return rc;
    if (next >= argc)
        return err_set(err, ERR_INPUT, "no program given before or after ':'");
    if (!ranks)
        return err_set(err, ERR_INPUT, "how many ranks of '%s'? Give -n N before it", argv[next]);
    return launch_apps_add(a, ranks, argc - next, argv + next, err);
}

/* Programs that are separated by ':'; `ranks`: of the first, whose options were read; else 0. */
static int add_programs(struct launch_apps *a, uint64_t ranks, int argc, char **argv,
                        struct err *err)
{
    int start = 0, rc = 0;
    for (int i = 0; i <= argc && rc == 0; i++) {
        if (i < argc && strcmp(argv[i], LAUNCH_APPS_BETWEEN) != 0)
            continue;
        rc = add_program(a, start ? 0 : ranks, i - start, argv + start, err);
        start = i + 1;
    }
    return rc;
}

/* ---- a file ---- */

/* A line of the file, without its comment. */
static int read_line(struct launch_apps *a, char *line, struct err *err)
{
    struct launch_argv words = {0};
    line += strspn(line, " \t");
    line[strcspn(line, "\r\n")] = '\0';
    if (!*line || *line == '#')
        return 0;
    int rc = launch_argv_split(&words, "words", line, err);
    if (rc == 0)
        rc = add_programs(a, 0, (int)words.count, words.at, err);
    launch_argv_fini(&words);
    return rc;
}

static int read_file(struct launch_apps *a, const char *path, struct err *err)
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

int cli_apps_read(struct launch_apps *a, const char *command, const char *file, uint64_t ranks,
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
    if (!file && !ranks && argc > 1 && units_parse_count(argv[0], &ranks, err) == 0)
        return err_set(err, ERR_INPUT,
                       "how many ranks? Give -n before the number, as in: orrery %s -n %s %s",
                       command, argv[0], argv[1]);
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
