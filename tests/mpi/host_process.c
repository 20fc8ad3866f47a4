/* test: n=1,2,5,16 native=4 host=process
 * What only ranks that are processes can do: replace standard output, fork a child, run a command;
 * and a megabyte of static data that every rank changes. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static int table[1 << 18];

static void test_static_data(int rank, int size)
{
    long sum = 0;

    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 1 << 18; i += 64)
            table[i] += rank + i;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int i = 0; i < 1 << 18; i += 64)
        sum += table[i] - 3L * (rank + i);
    CHECK(sum == 0);
    (void)size;
}

static void test_child(void)
{
    int status, ends[2], value = 0;
    pid_t pid;

    CHECK(pipe(ends) == 0);
    pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        value = 42;
        _exit(write(ends[1], &value, sizeof value) == sizeof value ? 3 : 4);
    }
    CHECK(read(ends[0], &value, sizeof value) == sizeof value && value == 42);
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 3);
    CHECK(system("exit 5") >> 8 == 5);
}

/* A child becomes another program, through each function with a list of arguments. */
static void test_exec(void)
{
    static char set[] = "WORD=three", *const environment[] = {set, NULL};
    int status;

    for (int form = 0; form < 3; form++) {
        pid_t pid = fork();

        if (pid == 0 && form == 0)
            execl("/bin/sh", "sh", "-c", "exit $#", "name", "one", "two", (char *)NULL);
        if (pid == 0 && form == 1)
            execlp("sh", "sh", "-c", "exit $#", "name", "one", (char *)NULL);
        if (pid == 0 && form == 2)
            execle("/bin/sh", "sh", "-c", "exit ${#WORD}", (char *)NULL, environment);
        if (pid == 0)
            _exit(127);
        CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
        CHECK(WEXITSTATUS(status) == (form == 0 ? 2 : form == 1 ? 1 : 5));
    }
}

static void test_redirection(void)
{
    char name[] = "/tmp/orrery-host-XXXXXX", text[32] = "";
    int fd = mkstemp(name), kept = dup(1);

    CHECK(fd >= 0 && dup2(fd, 1) == 1);
    CHECK(write(1, "aside\n", 6) == 6);
    CHECK(pread(fd, text, sizeof text - 1, 0) == 6 && strcmp(text, "aside\n") == 0);
    close(fd);
    unlink(name);
    (void)kept;
}

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    test_static_data(rank, size);
    test_child();
    test_exec();
    if (rank == 0)
        puts("ok");
    fflush(stdout);
    test_redirection();
    MPI_Finalize();
    return 0;
}
