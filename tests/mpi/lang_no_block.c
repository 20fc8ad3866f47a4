/* test: n=1,2,5,300 native=4
 * Ranks that never wait for anybody: each runs from start to end in one go, and must still find the
 * program's data as it was built: globals, statics, getopt's state, the standard streams. */
#include <unistd.h>

#include "check.h"

static int initialised = 41;
static int zeroed;
static char text[200] = "fresh";

static int next(void)
{
    static int calls;
    return ++calls;
}

int main(int argc, char **argv)
{
    char *arguments[] = {argv[0], (char *)"-ab", (char *)"-c", (char *)"value", NULL};
    int found = 0, option;

    MPI_Init(&argc, &argv);
    CHECK(initialised++ == 41);
    CHECK(zeroed++ == 0);
    CHECK(strcmp(text, "fresh") == 0);
    memset(text, 'x', sizeof text - 1);
    CHECK(next() == 1 && next() == 2);
    CHECK(optind == 1);
    while ((option = getopt(4, arguments, "abc:")) != -1)
        found += option == 'a' || option == 'b' || (option == 'c' && !strcmp(optarg, "value"));
    CHECK(found == 3);
    if (check_rank() == 0)
        printf("ok no block\n");
    MPI_Finalize();
    return 0;
}
