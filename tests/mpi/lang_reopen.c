/*
 * test: n=1,2,5 native=4 args="{tmp}" output=sorted measured=no
 * Log files per rank by freopen() of the standard streams, and files that nobody closes: each rank
 * finds its own lines in its own files. A second run of the same ranks reads what the first has
 * left.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[4096];

static const char *name(const char *folder, const char *what, int rank)
{
    snprintf(path, sizeof path, "%s/%s.%d", folder, what, rank);
    return path;
}

static void expect(const char *file, const char *wanted, int rank, FILE *to)
{
    char text[256];
    FILE *in = fopen(file, "r");
    size_t n = in ? fread(text, 1, sizeof text - 1, in) : 0;

    text[n] = '\0';
    if (in)
        fclose(in);
    if (strcmp(text, wanted) != 0)
        fprintf(to, "rank %d: '%s' instead of '%s'\n", rank, text, wanted);
}

int main(int argc, char **argv)
{
    char wanted[256], line[64] = "";
    FILE *report, *in;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("rank %d starts\n", rank);
    fflush(stdout);
    report = fopen(name(argv[1], "report", rank), "w");
    if (freopen(name(argv[1], "out", rank), "w", stdout) != stdout ||
        freopen(name(argv[1], "err", rank), "w", stderr) != stderr)
        MPI_Abort(MPI_COMM_WORLD, 1);
    printf("one %d\n", rank);
    fprintf(stderr, "error %d\n", rank);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("two %d\n", rank);
    fflush(stdout);
    if (write(STDOUT_FILENO, "three\n", 6) != 6)
        fprintf(report, "rank %d: no write\n", rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (freopen("/nowhere/at/all", "w", stderr))
        fprintf(report, "rank %d: a file nowhere\n", rank);
    snprintf(wanted, sizeof wanted, "one %d\ntwo %d\nthree\n", rank, rank);
    expect(name(argv[1], "out", rank), wanted, rank, report);
    snprintf(wanted, sizeof wanted, "error %d\n", rank);
    expect(name(argv[1], "err", rank), wanted, rank, report);
    in = freopen(name(argv[1], "out", rank), "r", stdin);
    if (!in || !fgets(line, sizeof line, stdin) || strncmp(line, "one", 3) != 0)
        fprintf(report, "rank %d: '%s' from stdin\n", rank, line);
    fputs("last\n", stdout); /* left to exit(), like the report */
    MPI_Finalize();
    return 0;
}
