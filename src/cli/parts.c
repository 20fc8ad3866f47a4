/*
 * parts.c - merges the parts of a trace when a run has ended (see parts.h).
 */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "cli/cli.h"
#include "cli/namer.h"
#include "cli/parts.h"
#include "trace/merge.h"
#include "trace/part.h"

static char **make_names(const struct run_options *o, unsigned count)
{
    char **names = mem_alloc(count * sizeof *names);
    for (unsigned i = 0; i < count; i++) {
        size_t room = sizeof o->trace_path + 32;
        names[i] = mem_alloc(room);
        run_trace_part(names[i], room, o->trace_path, i);
    }
    return names;
}

/* Nobody else has put it there (base/path.h). */
static int is_ours(const char *path)
{
    struct path_entry entry;
    if (path_resolve(path, &entry) != 0)
        return 0;
    path_close(&entry);
    return entry.exists && S_ISREG(entry.st.st_mode);
}

/* A run that failed early may have written no parts. */
static unsigned keep_existing(char **names, unsigned count)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < count; i++) {
        if (is_ours(names[i]))
            names[kept++] = names[i];
        else
            mem_free(names[i]);
    }
    return kept;
}

/* "t.orr.part-3": "t.orr.part-*" */
static int prefix_length(const char *name)
{
    const char *dash = strrchr(name, '-');
    return dash ? (int)(dash + 1 - name) : (int)strlen(name);
}

static int is_over(struct trace_merge_watch *watch, uint64_t done, uint64_t all)
{
    (void)watch;
    return launch_finish_is_over(done, all);
}

static void begin(const char *trace, const struct launch_finish *how)
{
    struct buf text;
    buf_init(&text);
    buf_addf(&text, "merging the parts of '%s'; another signal leaves them as they are", trace);
    launch_finish_begin(how, buf_str(&text), NULL);
    buf_fini(&text);
}

/* The parts stay: says where, and what to do. */
static void report_failure(const char *trace, const char *part, const struct err *err,
                           int is_abandoned)
{
    int length = prefix_length(part);
    if (is_abandoned)
        log_error("the trace '%s' was not written, because of another signal; what was recorded is "
                  "in '%.*s*': orrery trace merge -o %s %.*s*",
                  trace, length, part, trace, length, part);
    else
        log_error(
            "%s; what was recorded is in '%.*s*': make room, and then: orrery trace merge -o %s "
            "%.*s*",
            err->text, length, part, trace, length, part);
}

int cli_parts_join(const char *trace, char **names, size_t count, size_t expected,
                   const struct launch_finish *how)
{
    struct trace_merge_watch watch = {is_over};
    struct err err, missing;
    struct cli_namer namer;
    if (how)
        begin(trace, how);
    cli_namer_init(&namer);
    int rc = trace_merge_named((const char *const *)names, count, trace, &namer.namer,
                               how ? &watch : NULL, &missing, &err);
    cli_namer_fini(&namer);
    int abandoned = how ? launch_finish_end() : 0;
    if (rc != 0) {
        report_failure(trace, names[0], &err, abandoned);
        return abandoned ? 128 + abandoned : EXIT_USAGE;
    }
    if (missing.code)
        log_warn("the trace is not complete: %s", missing.text);
    else if (count < expected)
        log_warn("the trace is not complete: %zu of %zu processes have recorded nothing",
                 expected - count, expected);
    for (size_t i = 0; i < count; i++)
        unlink(names[i]);
    return EXIT_DONE;
}

int cli_parts_merge(const struct run_options *o, const struct launch_finish *how, int status)
{
    unsigned expected = o->procs > 1 ? o->procs : 1;
    char **names = make_names(o, expected);
    unsigned count = keep_existing(names, expected);
    int rc = count ? cli_parts_join(o->trace_path, names, count, expected, how) : EXIT_DONE;
    for (unsigned i = 0; i < count; i++)
        mem_free(names[i]);
    mem_free(names);
    return status ? status : rc;
}

/* "t.orr.part-3", and the suffix */
static int is_part(const char *name, const char *trace, const char *suffix)
{
    size_t length = strlen(trace);
    if (strncmp(name, trace, length) != 0 ||
        strncmp(name + length, TRACE_PART_SUFFIX, strlen(TRACE_PART_SUFFIX)) != 0)
        return 0;
    name += length + strlen(TRACE_PART_SUFFIX);
    size_t digits = strspn(name, "0123456789");
    return digits > 0 && strcmp(name + digits, suffix) == 0;
}

static int by_number(const void *a, const void *b)
{
    const char *p = *(char *const *)a, *q = *(char *const *)b;
    size_t n = strlen(p), m = strlen(q);
    return n != m ? (n > m) - (n < m) : strcmp(p, q);
}

void cli_parts_find(const char *trace, const char *suffix, struct launch_argv *names)
{
    char path[2 * PATH_MAX];
    const char *slash = strrchr(trace, '/');
    int length = (int)(slash + 1 - trace);
    snprintf(path, sizeof path, "%.*s", length, trace);
    DIR *folder = opendir(path);
    struct dirent *entry;
    while (folder && (entry = readdir(folder))) {
        if (!is_part(entry->d_name, slash + 1, suffix))
            continue;
        snprintf(path, sizeof path, "%.*s%s", length, trace, entry->d_name);
        if (is_ours(path))
            launch_argv_add(names, path);
    }
    if (folder)
        closedir(folder);
    if (names->count)
        qsort(names->at, names->count, sizeof *names->at, by_number);
}

int cli_parts_check_none(const char *trace, struct err *err)
{
    struct launch_argv names = {0};
    cli_parts_find(trace, "", &names);
    int rc =
        names.count
            ? err_set(
                  err, ERR_INPUT,
                  "'%s' is a part of an earlier run: merge it into a trace with 'orrery trace merge', "
                  "or remove it",
                  names.at[0])
            : 0;
    launch_argv_fini(&names);
    return rc;
}
