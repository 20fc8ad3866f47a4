/* test: n=1,3 native=3 args="{tmp}" schedules=3
 * Commands of ranks: a command gets the directory, environment, umask, ignored signals and streams
 * of the rank that starts it, and the rank gets its status, as with system(3) and pclose(3). */
#define _GNU_SOURCE
#include "check.h"

#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank;

/* The first line that the command prints, and its status. */
static int ask(const char *command, char *line, size_t size)
{
    FILE *from = popen(command, "r");

    line[0] = '\0';
    CHECK(from != NULL);
    if (!from || !fgets(line, (int)size, from))
        line[0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    return from ? pclose(from) : -1;
}

static void check_status(void)
{
    int status = system("exit 11");

    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 11);
    status = system("kill -USR1 $$");
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR1);
    status = system("no-such-command-at-all 2>/dev/null");
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 127);
    CHECK(system(NULL) != 0);
    errno = 0;
    CHECK(popen("true", "x") == NULL && errno == EINVAL);
}

/* All ranks are in their own directory when the first command runs. */
static void check_surroundings(void)
{
    char name[32], line[200], wanted[40];

    snprintf(name, sizeof name, "here.%d", rank);
    CHECK(mkdir(name, 0777) == 0 && chdir(name) == 0);
    snprintf(wanted, sizeof wanted, "value %d", rank);
    setenv("OF_A_RANK", wanted, 1);
    umask(rank % 2 ? 027 : 077);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(ask("basename \"$(pwd)\"", line, sizeof line) == 0);
    CHECK(strcmp(line, name) == 0);
    CHECK(ask("echo \"$OF_A_RANK\"", line, sizeof line) == 0);
    CHECK(strcmp(line, wanted) == 0);
    CHECK(ask("umask", line, sizeof line) == 0);
    CHECK(strtol(line, NULL, 8) == (rank % 2 ? 027 : 077));
    CHECK(system("mkdir -p made && cd made && echo in >file") == 0);
    CHECK(access("made/file", R_OK) == 0);
    CHECK(system("rm -r made") == 0);
}

/* A rank that ignores a signal starts commands that ignore it. */
static void check_signals(void)
{
    int status;

    status = system("kill -PIPE $$; exit 5");
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE);
    status = system("kill -TERM $$; exit 5");
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    if (rank % 2)
        return;
    signal(SIGTERM, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    status = system("kill -TERM $$; kill -PIPE $$; exit 5");
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 5);
    signal(SIGTERM, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
}

static void check_streams(void)
{
    char line[100] = "", name[32];
    FILE *to[2];

    for (int i = 0; i < 2; i++) { /* two at a time */
        snprintf(line, sizeof line, "cat >copy.%d; exit %d", i, i + 1);
        to[i] = popen(line, "w");
        CHECK(to[i] != NULL);
    }
    for (int i = 0; i < 2; i++)
        fprintf(to[i], "text %d of %d\n", i, rank);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 2; i++)
        CHECK(WEXITSTATUS(pclose(to[i])) == i + 1);
    CHECK(ask("cat copy.1", line, sizeof line) == 0);
    snprintf(name, sizeof name, "text 1 of %d", rank);
    CHECK(strcmp(line, name) == 0);
}

/* The input is that of rank 0; some real launchers leave that of the others open. */
static void check_input(void)
{
    char line[100];

    if (rank > 0 && check_virtual())
        CHECK(ask("cat; echo end", line, sizeof line) == 0 && strcmp(line, "end") == 0);
}

static void check_reopened(void)
{
    char line[100] = "";
    FILE *file;

    CHECK(freopen("stdout.file", "w", stdout) != NULL);
    CHECK(system("echo to the file of the rank") == 0);
    fflush(stdout);
    file = fopen("stdout.file", "r");
    CHECK(file && fgets(line, sizeof line, file) && !strcmp(line, "to the file of the rank\n"));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    rank = check_rank();
    CHECK(argc == 2 && chdir(argv[1]) == 0);
    check_status();
    check_surroundings();
    check_signals();
    check_streams();
    check_input();
    check_ok("commands");
    check_reopened();
    MPI_Finalize();
    return 0;
}
