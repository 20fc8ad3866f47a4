/* test: n=1,2,5 native=4 args="{tmp}" schedules=20
 * The working directory and the file mode mask are each rank's own: files with the same relative
 * name land in different folders. */
#include "check.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank = check_rank(), found = -1;
    char folder[PATH_MAX], now[PATH_MAX], base[PATH_MAX];
    CHECK(argc == 2 && realpath(argv[1], base));
    snprintf(folder, sizeof folder, "%.4000s/rank%d", base, rank);
    CHECK(mkdir(folder, 0777) == 0 && chdir(folder) == 0);
    umask(rank % 2 ? 077 : 022);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(getcwd(now, sizeof now) && strcmp(now, folder) == 0);
    FILE *file = fopen("data", "w");
    CHECK(file && fprintf(file, "%d\n", rank) > 0);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(fclose(file) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    struct stat status;
    CHECK(stat("data", &status) == 0 && (status.st_mode & 0777) == (rank % 2 ? 0600 : 0644));
    file = fopen("data", "r");
    CHECK(file && fscanf(file, "%d", &found) == 1 && found == rank);
    fclose(file);
    check_ok("working directory");
    MPI_Finalize();
    return 0;
}
