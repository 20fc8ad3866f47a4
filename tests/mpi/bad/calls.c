/*
 * Calls that a rank which shares its process cannot make, by argument 1.
 *   system    starts a shell
 *   alarm     a handler runs a second of real time later
 *   dup2      replaces descriptor 1 by a file, and restores it
 *   exec      becomes another program
 *   close     closes all descriptors, then writes
 *   unclosed  writes to a file that it does not close
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t rung;

static void ring(int sig)
{
    rung = sig;
}

static void redirect(int rank)
{
    char name[32];
    int first = dup(1), file;

    snprintf(name, sizeof name, "log.%d", rank);
    file = open(name, O_CREAT | O_TRUNC | O_WRONLY, 0644);
    if (dup2(file, 1) != 1)
        return;
    printf("rank %d to a file\n", rank);
    fflush(stdout);
    dup2(first, 1);
}

static void call(const char *how, int rank)
{
    if (!strcmp(how, "system")) {
        if (system("exit 3") != 3 << 8)
            puts("no shell");
    } else if (!strcmp(how, "alarm")) {
        sigset_t none, blocked;

        sigemptyset(&none);
        blocked = none;
        sigaddset(&blocked, SIGALRM);
        sigprocmask(SIG_BLOCK, &blocked, NULL);
        signal(SIGALRM, ring);
        alarm(1);
        sigsuspend(&none);
        puts(rung ? "rung" : "silence");
    } else if (!strcmp(how, "dup2")) {
        redirect(rank);
    } else if (!strcmp(how, "exec")) {
        execl("/bin/true", "true", (char *)NULL);
        puts("still here");
    } else if (!strcmp(how, "close")) {
        close_range(0, ~0u, 0);
        puts("open");
    } else if (!strcmp(how, "unclosed")) {
        char name[32];
        FILE *out;

        snprintf(name, sizeof name, "file.%d", rank);
        out = fopen(name, "w");
        fprintf(out, "rank %d\n", rank);
    }
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    call(argv[1], rank);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("rank %d is done\n", rank);
    MPI_Finalize();
    return 0;
}
