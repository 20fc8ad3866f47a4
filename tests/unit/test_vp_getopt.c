/*
 * getopt of a rank against libc's own, over random argument vectors and option tables.
 *
 * The shim under test is part of this file, so that its names are the program's own: with a
 * current fibre they are the rank's, without one they reach libc. Results, the visible variables
 * after each call, the order of argv at the end and every message must be the same.
 */
#include "vp/libc/getopt.c"

#include "vp/libc/real.c"

#include "base/rng.h"
#include "tests/tap.h"

#define SEED 4711
#define ROUNDS 40000

static const struct vp_host fibres;
struct vp_private vp_private = {.host = &fibres};
struct pool vp_pool;

static struct vp_extra extra;
static struct vp_rank fibre = {.extra = &extra};

struct vp_extra *vp_extra_get(void)
{
    return vp_private.current->extra;
}

enum { ARGS_MAX = 9, LOG_MAX = 8192 };
enum form { FORM_SHORT, FORM_POSIX, FORM_LONG, FORM_ONLY, FORMS };

/* One parse: what goes in. */
struct input {
    int argc;
    const char *argv[ARGS_MAX + 1];
    const char *shorts;
    const struct option *longs;
    enum form form;
    int opterr;
    int first;  /* optind before the first call */
    int rewind; /* optind is set to 1 after this many calls, to parse again */
};

static int flag;
static const struct option tables[][8] = {
    {{"alpha", 0, NULL, 'a'}, {"beta", 1, NULL, 'b'}, {"gamma", 2, NULL, 'c'}, {0, 0, 0, 0}},
    {{"verbose", 0, NULL, 'v'},
     {"version", 0, NULL, 'V'},
     {"verb", 1, NULL, 'w'},
     {"a", 0, NULL, 1},
     {0, 0, 0, 0}},
    {{"same", 0, NULL, 's'}, {"sample", 0, NULL, 's'}, {"sand", 0, NULL, 's'}, {0, 0, 0, 0}},
    {{"flag", 0, &flag, 5},
     {"flow", 1, &flag, 6},
     {"beta", 2, NULL, 0},
     {"ab", 0, NULL, 'x'},
     {"alpha", 1, NULL, 'y'},
     {0, 0, 0, 0}},
    {{0, 0, 0, 0}},
};
static const char *const shorts[] = {"",     "ab:c::",   "+ab:c::", "-ab:c::", ":ab:c::", "+:ab:",
                                     "-:a:", "ab:c::W;", ":W;b:",   "W;",      "abvs:",   "a::b::"};
static const char *const words[] = {"-a",        "-b",     "-c",     "-abc",    "-bx",
                                    "-cx",       "-",      "--",     "file",    "x y",
                                    "",          "-z",     "-:",     "-;",      "--alpha",
                                    "--alp",     "--a",    "--beta", "--beta=", "--b=7",
                                    "--gamma",   "--ga=1", "--ver",  "--verb",  "--ve=1",
                                    "--verbose", "--sa",   "--same", "--s",     "--fl",
                                    "--flag=no", "--none", "-W",     "-Walpha", "-Wbeta=3",
                                    "-alpha",    "-al",    "-be",    "-beta",   "-v",
                                    "-ver",      "-fl",    "-azb",   "-sx",     "--=x",
                                    "---a",      "-aW",    "beta=2"};

static struct input random_input(struct rng *rng)
{
    struct input in = {.argc = 1 + (int)rng_below(rng, ARGS_MAX), .argv = {"prog"}};

    for (int i = 1; i < in.argc; i++)
        in.argv[i] = words[rng_below(rng, sizeof words / sizeof words[0])];
    in.shorts = shorts[rng_below(rng, sizeof shorts / sizeof shorts[0])];
    in.longs = tables[rng_below(rng, sizeof tables / sizeof tables[0])];
    in.form = (enum form)rng_below(rng, FORMS);
    in.opterr = rng_below(rng, 4) != 0;
    in.first = rng_below(rng, 4) ? 0 : (int)rng_below(rng, (uint64_t)in.argc) + 1;
    in.rewind = rng_below(rng, 8) ? -1 : (int)rng_below(rng, 6);
    return in;
}

static int call_form(const struct input *in, char **argv, int *index)
{
    switch (in->form) {
    case FORM_SHORT:
        return getopt(in->argc, argv, in->shorts);
    case FORM_POSIX:
        return __posix_getopt(in->argc, argv, in->shorts);
    case FORM_LONG:
        return getopt_long(in->argc, argv, in->shorts, in->longs, index);
    default:
        return getopt_long_only(in->argc, argv, in->shorts, in->longs, index);
    }
}

/* Parses and writes all that a program can see to `log`. */
static void parse(const struct input *in, char *log)
{
    char *argv[ARGS_MAX + 1], *messages = NULL, *at = log;
    size_t size = 0;
    FILE *real_stderr = stderr, *capture = open_memstream(&messages, &size);
    int index = -1, calls = 0, c;

    stderr = capture;
    memcpy(argv, in->argv, sizeof argv);
    flag = 0;
    optopt = 0;
    opterr = in->opterr;
    if (in->first) { /* start afresh, then from another place */
        optind = 0;
        call_form(&(struct input){.argc = 1,
                                  .form = in->form,
                                  .shorts = in->shorts,
                                  .longs = in->longs},
                  argv, NULL);
    }
    optind = in->first;
    do {
        c = call_form(in, argv, &index);
        at += snprintf(at, (size_t)(log + LOG_MAX - at),
                       "%d ind %d opt %d arg %s index %d flag %d\n", c, optind, optopt,
                       optarg ? optarg : "(none)", index, flag);
        if (++calls == in->rewind) {
            optind = 1;
            c = 0;
        }
    } while (c != -1 && calls < 40);
    for (int i = 0; i < in->argc; i++)
        at += snprintf(at, (size_t)(log + LOG_MAX - at), "[%s]", argv[i]);
    fclose(capture);
    stderr = real_stderr;
    snprintf(at, (size_t)(log + LOG_MAX - at), "\n%s", messages);
    free(messages);
}

/* 1 if both agree; otherwise shows the case. */
static int agree(const struct input *in)
{
    static char want[LOG_MAX], got[LOG_MAX];

    parse(in, want);
    vp_private.current = &fibre;
    parse(in, got);
    vp_private.current = NULL;
    if (strcmp(want, got) == 0)
        return 1;
    diag("form %d, options '%s', opterr %d, start %d, rewind %d", in->form, in->shorts, in->opterr,
         in->first, in->rewind);
    for (int i = 0; i < in->argc; i++)
        diag("argv[%d] = '%s'", i, in->argv[i]);
    diag("libc:\n%s\nrank:\n%s", want, got);
    return 0;
}

static void test_random(struct rng *rng, const char *name)
{
    int bad = 0;

    for (int i = 0; i < ROUNDS && bad < 3; i++) {
        struct input in = random_input(rng);
        bad += !agree(&in);
    }
    is_int(bad, 0, name);
}

/* Two ranks in the middle of a cluster do not disturb each other. */
static void test_isolation(void)
{
    struct vp_extra other_extra = {0};
    struct vp_rank other = {.extra = &other_extra};
    char *a[] = {(char *)"p", (char *)"-abc", NULL}, *b[] = {(char *)"p", (char *)"-xyz", NULL};
    char seen[7] = "";
    int ind[2] = {0, 0};

    for (int i = 0; i < 6; i++) {
        vp_private.current = i % 2 ? &other : &fibre;
        optind = ind[i % 2]; /* what the private image does */
        seen[i] = (char)getopt(2, i % 2 ? b : a, i % 2 ? "xyz" : "abc");
        ind[i % 2] = optind;
    }
    vp_private.current = NULL;
    is_str(seen, "axbycz", "two ranks parse their clusters in turn");
    libc_getopt_drop(other_extra.getopt);
}

int main(void)
{
    struct rng rng;

    plan_auto();
    diag("seed %d", SEED);
    rng_seed(&rng, SEED);
    pool_init(&vp_pool, "test");
    test_random(&rng, "40000 random command lines parse as with libc");
    setenv("POSIXLY_CORRECT", "1", 1);
    test_random(&rng, "and 40000 with POSIXLY_CORRECT");
    test_isolation();
    libc_getopt_drop(extra.getopt);
    pool_fini(&vp_pool);
    return done_testing();
}
