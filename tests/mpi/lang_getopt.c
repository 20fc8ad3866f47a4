/* test: n=1,2,5,16,300 native=4 args="-x 3 file --name=value -vv -- -rest"
 * getopt and getopt_long keep their position per rank: clustered options, permutation, several
 * passes, and a barrier between any two calls. Ranks parse different vectors. */
#include "check.h"

#include <getopt.h>

enum { STEPS = 12 };

/* Takes one step and writes what happened to out; goes on when the options have ended. */
static int step(int argc, char **argv, const char *shorts, const struct option *longs, char *out)
{
    int c = longs ? getopt_long(argc, argv, shorts, longs, 0) : getopt(argc, argv, shorts);
    if (c == -1)
        return 0;
    char item[64];
    snprintf(item, sizeof item, "%c=%s ", c, optarg ? optarg : "-");
    strcat(out, item);
    return 1;
}

static void parse(int argc, char **argv, const char *shorts, const struct option *longs,
                  const char *expected, int first)
{
    char out[256] = "";
    int more = 1;
    optind = 1;
    for (int i = 0; i < STEPS; i++) {
        if (more)
            more = step(argc, argv, shorts, longs, out);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    CHECK(!more && strcmp(out, expected) == 0);
    CHECK(optind == first);
}

static void clustered(int rank)
{
    char *even[] = {(char *)"app", (char *)"-abc", (char *)"-ofile",
                    (char *)"-d",  (char *)"rest", 0};
    char *odd[] = {(char *)"app", (char *)"-c", (char *)"-ba", (char *)"-o", (char *)"out", 0};
    if (rank % 2 == 0)
        parse(5, even, "abcdo:", 0, "a=- b=- c=- o=file d=- ", 4);
    else
        parse(5, odd, "abcdo:", 0, "c=- b=- a=- o=out ", 5);
}

static void permuted(int rank)
{
    static const struct option longs[] = {{"alpha", no_argument, 0, 'A'},
                                          {"beta", required_argument, 0, 'B'},
                                          {0, 0, 0, 0}};
    char *even[] = {(char *)"app",
                    (char *)"one",
                    (char *)"--alpha",
                    (char *)"two",
                    (char *)"-v",
                    (char *)"--beta=5",
                    0};
    char *odd[] = {(char *)"app", (char *)"--beta", (char *)"x", (char *)"three", (char *)"-vv", 0};
    if (rank % 2 == 0) {
        parse(6, even, "v", longs, "A=- v=- B=5 ", 4);
        CHECK(strcmp(even[4], "one") == 0 && strcmp(even[5], "two") == 0);
    } else {
        parse(5, odd, "v", longs, "B=x v=- v=- ", 4);
        CHECK(strcmp(odd[4], "three") == 0);
    }
}

static void unknown(void)
{
    char *bad[] = {(char *)"app", (char *)"-a", (char *)"-z", 0};
    opterr = 0;
    optind = 1;
    CHECK(getopt(3, bad, "a") == 'a');
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(getopt(3, bad, "a") == '?' && optopt == 'z');
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(optopt == 'z' && opterr == 0);
    CHECK(getopt(3, bad, "a") == -1 && optind == 3);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank = check_rank();
    static const struct option longs[] = {{"name", required_argument, 0, 'n'}, {0, 0, 0, 0}};
    CHECK(optind == 1 && opterr == 1);
    parse(argc, argv, "x:v", longs, "x=3 n=value v=- v=- ", argc - 2);
    CHECK(strcmp(argv[argc - 2], "file") == 0 && strcmp(argv[argc - 1], "-rest") == 0);
    check_ok("command line");
    clustered(rank);
    check_ok("clustered");
    permuted(rank);
    check_ok("permuted");
    unknown();
    check_ok("unknown");
    MPI_Finalize();
    return 0;
}
