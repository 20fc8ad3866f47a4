/*
 * Ranks load libraries while they run: not all of them, and not at the same time. Each has its own
 * data in them, fresh when it loads them, and again when it has closed them. Arguments: what to
 * do, and the path of a library.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int program_notes(const char *name);

static int rank, notes;

int program_notes(const char *name)
{
    return notes += name[0] == 'm';
}

static void *open_it(const char *name, int mode)
{
    void *library = dlopen(name, mode);

    if (!library) {
        printf("rank %d: %s\n", rank, dlerror() ? "refused" : "not loaded");
        fflush(stdout);
    }
    return library;
}

static void call(void *library, int add)
{
    int (*function)(int) = (int (*)(int))dlsym(library, "module_call");

    printf("rank %d: %d, %d notes\n", rank, function(add), notes);
}

/* Rank 0 never loads it, the odd ones do so after the others have changed their data. */
static void modules(const char *path)
{
    void *library = NULL, *again;

    if (rank && rank % 2 == 0)
        library = open_it("libmodule.so", RTLD_NOW);
    if (library)
        call(library, rank);
    else
        MPI_Barrier(MPI_COMM_WORLD);
    if (rank % 2)
        library = open_it("libmodule.so", RTLD_LAZY);
    if (!rank)
        open_it("libmodule.so", RTLD_NOW | RTLD_NOLOAD);
    if (library)
        call(library, 1);
    else
        MPI_Barrier(MPI_COMM_WORLD);
    if (rank < 2)
        return;
    again = open_it("libmodule.so", RTLD_NOW | RTLD_NOLOAD);
    dlclose(again);
    printf("rank %d: closed, %d\n", rank, dlclose(library));
    if (rank == 2)
        open_it("libmodule.so", RTLD_NOW | RTLD_NOLOAD);
    library = open_it(rank % 3 ? "libmodule.so" : path, RTLD_NOW);
    printf("rank %d: opened again, %d notes\n", rank, notes);
    if (rank % 3 == 0)
        dlclose(library);
}

/* Of those that loaded it twice and of the others. */
static void calls_again(void)
{
    void *library = rank ? dlopen("libmodule.so", RTLD_NOW | RTLD_NOLOAD) : NULL;

    if (library)
        call(library, 2);
    else
        MPI_Barrier(MPI_COMM_WORLD);
}

static void streams(void)
{
    void *library = rank == 3 ? NULL : open_it("libstreams.so", RTLD_NOW);
    void (*function)(int) = library ? (void (*)(int))dlsym(library, "streams_call") : NULL;

    if (function)
        function(rank);
    else
        MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(argv[1], "modules") == 0) {
        modules(argv[2]);
        calls_again();
    } else if (strcmp(argv[1], "streams") == 0) {
        streams();
        streams();
    } else if (strcmp(argv[1], "global") == 0) {
        open_it("libmodule.so", RTLD_NOW | RTLD_GLOBAL);
    } else if (strcmp(argv[1], "early") == 0) {
        open_it("libearly.so", RTLD_NOW);
    }
    MPI_Finalize();
    return 0;
}
