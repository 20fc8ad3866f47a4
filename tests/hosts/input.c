/* Every rank copies its standard input to its standard output, by stdio or (argument "raw") by
 * read. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    char text[200];
    int rank, bytes = 0, raw = argc > 1 && !strcmp(argv[1], "raw");

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (raw) {
        for (ssize_t n; (n = read(0, text, sizeof text)) > 0; bytes += (int)n)
            fwrite(text, 1, (size_t)n, stdout);
    } else {
        for (; fgets(text, sizeof text, stdin); bytes += (int)strlen(text))
            printf("%d: %s", rank, text);
    }
    printf("rank %d: %d bytes\n", rank, bytes);
    MPI_Finalize();
    return 0;
}
