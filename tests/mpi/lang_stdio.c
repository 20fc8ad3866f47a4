/* test: n=1,2,5,16,300 native=4 output=free args="{tmp}"
 * test: lines="rank \d+:( \d+){5}|fputs fwrite|puts|rank \d+ ends|ok stdio"
 * Output lines of a rank stay whole when it blocks in the middle of one; files are its own. */
#include "check.h"

#include <unistd.h>

static void lines(int rank)
{
    printf("rank %d:", rank);
    for (int i = 0; i < 5; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        printf(" %d", i * rank);
    }
    putchar('\n');
    fputs("fputs ", stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    fwrite("fwrite\n", 1, 7, stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    puts("puts");
    fflush(stdout);
}

static void files(int rank, const char *folder)
{
    char path[4096], line[64], expected[64];
    snprintf(path, sizeof path, "%.4000s/file%d", folder, rank);
    FILE *file = fopen(path, "w+");
    CHECK(file);
    for (int i = 0; i < 10; i++) {
        CHECK(fprintf(file, "rank %d line %d\n", rank, i) > 0);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    rewind(file);
    for (int i = 0; i < 10; i++) {
        snprintf(expected, sizeof expected, "rank %d line %d\n", rank, i);
        CHECK(fgets(line, sizeof line, file) && strcmp(line, expected) == 0);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    CHECK(!fgets(line, sizeof line, file) && feof(file));
    fclose(file);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank = check_rank();
    lines(rank);
    CHECK(argc == 2);
    files(rank, argv[1]);
    check_ok("stdio");
    printf("rank %d ends\n", rank);
    MPI_Finalize();
    return 0;
}
