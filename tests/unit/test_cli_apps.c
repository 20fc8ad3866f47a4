/*
 * Several programs on a command line: where each ends, and how workers get them.
 */
#include "cli/apps_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "tap.h"

static struct launch_apps apps;
static struct err err;

/* Splits at spaces; `ranks` is that of the first program. */
static int read_words(uint64_t ranks, const char *line)
{
    static char text[4096], *argv[600];
    int argc = 0;

    snprintf(text, sizeof text, "%s", line);
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
        argv[argc++] = word;
    argv[argc] = NULL;
    launch_apps_fini(&apps);
    err = (struct err){0};
    return cli_apps_read(&apps, "run", NULL, ranks, 1000, argc, argv, &err);
}

static void refuse(uint64_t ranks, const char *line, const char *says)
{
    int rc = read_words(ranks, line);

    if (!ok(rc == ERR_INPUT && strstr(err.text, says), "'%s' is refused", line))
        diag("code %d text '%s'", rc, err.text);
}

static void test_words(void)
{
    is_int(read_words(2, "./a x"), 0, "one program");
    ok(apps.count == 1 && apps.ranks == 2 && apps.at[0].words.count == 2, "with its argument");
    is_int(read_words(2, "./a -n 7 -- : -np 3 ./b -q : --ranks=1 -- -c : -n4 ./d"), 0, "four");
    ok(apps.count == 4 && apps.ranks == 10, "programs, ten ranks");
    is_int(apps.at[0].words.count, 4, "arguments may look like options");
    is_str(apps.at[1].words.at[1], "-q", "options of the program");
    is_str(apps.at[2].words.at[0], "-c", "a program may begin with a dash");
    ok(apps.at[3].ranks == 4 && !apps.at[3].words.at[1], "the last one");
    refuse(0, "./a", "how many ranks?");
    refuse(2, "", "no program given, as in");
    refuse(2, "./a :", "before or after ':'");
    refuse(2, ": -n 2 ./a", "before or after ':'");
    refuse(2, "./a : : -n 2 ./b", "before or after ':'");
    refuse(2, "./a : ./b", "how many ranks of './b'");
    refuse(2, "./a : -n 0 ./b", "bad number of ranks");
    refuse(2, "./a : -n", "needs a value");
    refuse(2, "./a : -h", "'-h'");
    refuse(2, "./a : -n 2 --set x ./b", "'--set'");
    refuse(2, "./a : -n 999 ./b", "too many ranks");
}

static void test_most(void)
{
    struct buf line;

    buf_init(&line);
    buf_adds(&line, "./a");
    for (int i = 1; i < RUN_APPS_MAX; i++)
        buf_adds(&line, " : -n 1 ./b");
    is_int(read_words(1, buf_str(&line)), 0, "as many as possible");
    buf_adds(&line, " : -n 1 ./b");
    refuse(1, buf_str(&line), "too many programs");
    buf_fini(&line);
}

/* What a worker gets. */
static void test_pack(void)
{
    static struct launch_apps again;
    struct launch_argv words = {0};
    struct buf layout;

    buf_init(&layout);
    read_words(2, "./a x y : -n 3 ./b");
    launch_apps_layout(&apps, &layout);
    launch_apps_pack(&apps, &words);
    is_str(buf_str(&layout), "2/3,3/1", "the layout");
    is_int(words.count, 4, "four words without ':'");
    is_int(launch_apps_unpack(&again, buf_str(&layout), 4, words.at, &err), 0, "unpacked");
    ok(again.count == 2 && again.ranks == 5 && strcmp(again.at[1].words.at[0], "./b") == 0,
       "the same again");
    launch_apps_fini(&again);
    ok(launch_apps_unpack(&again, "2/3,3/9", 4, words.at, &err) == ERR_INPUT, "words are missing");
    launch_apps_fini(&again);
    launch_argv_fini(&words);
    buf_fini(&layout);
}

static void test_forms(void)
{
    static const char *const before[] = {"env", "X=1", NULL};
    struct launch_argv words = {0};

    read_words(2, "./a x : -n 3 ./b");
    launch_apps_add_native(&apps, before, &words);
    is_int(words.count, 12, "native words");
    ok(strcmp(words.at[6], ":") == 0 && strcmp(words.at[8], "3") == 0 &&
           strcmp(words.at[9], "env") == 0,
       "each program has its ranks and what precedes it");
    launch_argv_fini(&words);
    launch_apps_publish(&apps);
    is_str(getenv(ENV_PROGRAMS), "-n 2 ./a x : -n 3 ./b", "named for traces");
    read_words(2, "./a");
    launch_apps_publish(&apps);
    ok(!getenv(ENV_PROGRAMS), "one program needs no such name");
}

int main(void)
{
    plan_auto();
    test_words();
    test_most();
    test_pack();
    test_forms();
    launch_apps_fini(&apps);
    return done_testing();
}
