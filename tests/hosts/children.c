/* A rank that is a process can have children, as natively: each way to start one, and how it
 * ends. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The status of a child that writes to a pipe and ends by exit(5) or by a signal. */
static int with_child(int rank, int sig, char *text, size_t size)
{
    int ends[2], status = -1;
    ssize_t n;
    pid_t pid;

    if (pipe(ends) != 0)
        return -1;
    pid = fork();
    if (pid == 0) {
        dprintf(ends[1], "child of %d", rank);
        if (sig)
            raise(sig);
        exit(5);
    }
    close(ends[1]);
    n = read(ends[0], text, size - 1);
    text[n > 0 ? n : 0] = 0;
    close(ends[0]);
    return waitpid(pid, &status, 0) == pid ? status : -1;
}

int main(int argc, char **argv)
{
    char text[100] = "", line[100] = "";
    int rank, status, died;
    FILE *pipe;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("rank %d starts\n", rank);
    status = with_child(rank, 0, text, sizeof text);
    died = with_child(rank, SIGSEGV, line, sizeof line);
    printf("rank %d: '%s' %d, signal %d\n", rank, text, WEXITSTATUS(status),
           WIFSIGNALED(died) ? WTERMSIG(died) : 0);
    status = system("exit 4");
    pipe = popen("echo from a shell", "r");
    if (!pipe || !fgets(line, sizeof line, pipe))
        strcpy(line, "nothing\n");
    printf("rank %d: %d, %d, %s", rank, WEXITSTATUS(status), pipe ? pclose(pipe) : -1, line);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
