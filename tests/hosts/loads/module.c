/* A library with all kinds of data. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { LARGE = 1 << 20 };

int needed_call(void);
int program_notes(const char *name);
int module_call(int add);

static int number = 5, constructed;
static int *pointer = &number;
static __thread int local = 3;
static char large[LARGE];
static void (*note)(void);

static void at_exit(void)
{
    printf("  exit handler of the module, number %d\n", number);
}

__attribute__((constructor)) static void construct(void)
{
    constructed++;
    program_notes("module");
    atexit(at_exit);
}

__attribute__((destructor)) static void destruct(void)
{
    printf("  module ends with %d, %d\n", number, local);
}

/* Other ranks run between the changes of this one's data. */
int module_call(int add)
{
    *pointer += add;
    local += 2 * add;
    large[LARGE / 2] = (char)(large[LARGE / 2] + add);
    note = at_exit;
    MPI_Barrier(MPI_COMM_WORLD);
    return number + 100 * local + 10000 * large[LARGE / 2] + 1000000 * constructed +
           10000000 * needed_call() + (note != at_exit);
}
