/*
 * apps.c - the list of programs of a run, and its forms as words and text (see apps.h).
 */
#include "launch/apps.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/env.h"
#include "base/mem.h"

int launch_apps_add(struct launch_apps *a, uint64_t ranks, int argc, char **argv, struct err *err)
{
    if (a->count == RUN_APPS_MAX)
        return err_set(err, ERR_INPUT, "too many programs: there may be %d", RUN_APPS_MAX);
    struct launch_app *app = &a->at[a->count++];
    *app = (struct launch_app){.ranks = ranks};
    for (int i = 0; i < argc; i++)
        launch_argv_add(&app->words, argv[i]);
    a->ranks += ranks;
    return 0;
}

void launch_apps_fini(struct launch_apps *a)
{
    for (size_t i = 0; i < a->count; i++) {
        launch_argv_fini(&a->at[i].words);
        mem_free(a->at[i].path);
    }
    a->count = 0;
}

void launch_apps_add_native(const struct launch_apps *a, const char *const *before,
                            struct launch_argv *out)
{
    char ranks[32];
    for (size_t i = 0; i < a->count; i++) {
        if (i)
            launch_argv_add(out, LAUNCH_APPS_BETWEEN);
        snprintf(ranks, sizeof ranks, "%llu", (unsigned long long)a->at[i].ranks);
        launch_argv_add_all(out, (const char *const[]){"-n", ranks, NULL});
        if (before)
            launch_argv_add_all(out, before);
        launch_argv_add_all(out, (const char *const *)a->at[i].words.at);
    }
}

void launch_apps_add_words(const struct launch_apps *a, struct launch_argv *out)
{
    char ranks[32];
    for (size_t i = 0; i < a->count; i++) {
        snprintf(ranks, sizeof ranks, "%llu", (unsigned long long)a->at[i].ranks);
        if (i)
            launch_argv_add_all(out, (const char *const[]){LAUNCH_APPS_BETWEEN, "-n", ranks, "--",
                                                           NULL});
        launch_argv_add_all(out, (const char *const *)a->at[i].words.at);
    }
}

void launch_apps_names(const struct launch_apps *a, struct buf *out)
{
    for (size_t i = 0; i < a->count; i++)
        buf_addf(out, "%s%s", i ? " " LAUNCH_APPS_BETWEEN " " : "", a->at[i].words.at[0]);
}

/* ---- for workers ---- */

void launch_apps_pack(const struct launch_apps *a, struct launch_argv *out)
{
    for (size_t i = 0; i < a->count; i++)
        launch_argv_add_all(out, (const char *const *)a->at[i].words.at);
}

void launch_apps_layout(const struct launch_apps *a, struct buf *out)
{
    for (size_t i = 0; i < a->count; i++)
        buf_addf(out, "%s%llu/%zu", i ? "," : "", (unsigned long long)a->at[i].ranks,
                 a->at[i].words.count);
}

int launch_apps_unpack(struct launch_apps *a, const char *layout, int argc, char **argv,
                       struct err *err)
{
    unsigned long long ranks;
    int words, used, rc = 0;
    a->count = 0;
    a->ranks = 0;
    for (; *layout && rc == 0; layout += used + (layout[used] == ',')) {
        if (sscanf(layout, "%llu/%d%n", &ranks, &words, &used) != 2 || !ranks || words < 1 ||
            words > argc)
            return err_set(err, ERR_INPUT, "--layout: '%s' does not fit the programs", layout);
        rc = launch_apps_add(a, ranks, words, argv, err);
        argv += words;
        argc -= words;
    }
    return rc;
}

void launch_apps_publish(const struct launch_apps *a)
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
