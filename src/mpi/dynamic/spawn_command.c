/*
 * spawn_command.c - finds the program of an MPI_Comm_spawn command, and how many ranks it may get.
 *
 * A command with a slash is a file; others are searched in the directories of the info key "path",
 * in the working directory, and on PATH. All ranks of a run share one program, so it must be the
 * running one: the same file, under any name.
 */
#include <stdlib.h>
#include <string.h>

#include "base/sys.h"
#include "mpi/dynamic/spawn.h"

#define NAME_LONGEST 4096

/* ---- soft ---- */

/* Parses a number a, a range a:b or a range with a step a:b:c, and advances. 0 if it is none of
 * these. */
static int read_triplet(const char **at, long triplet[3])
{
    char *end;
    int n = 0;

    triplet[2] = 1;
    do {
        triplet[n] = strtol(*at + (n > 0), &end, 10);
        if (end == *at + (n > 0))
            return 0;
        *at = end;
        n++;
    } while (n < 3 && **at == ':');
    if (n == 1)
        triplet[1] = triplet[0];
    while (**at == ' ')
        ++*at;
    return triplet[2] != 0;
}

/* The largest of a, a + c, ... b that is from 0 to most; -1: none. */
static long largest(const long triplet[3], long most)
{
    long a = triplet[0], b = triplet[1], c = triplet[2], steps;

    if (c < 0) { /* count up from the other end */
        if (a < b)
            return -1;
        steps = (a - b) / -c;
        b = a;
        a += steps * c;
        c = -c;
    }
    if (b > most)
        b = most;
    if (a > b)
        return -1;
    b = a + (b - a) / c * c;
    return b >= 0 ? b : -1;
}

int32_t spawn_soft(const char *soft, int32_t all, int32_t most)
{
    long best = all <= most ? all : -1, triplet[3], found;

    while (*soft && read_triplet(&soft, triplet)) {
        found = largest(triplet, most < all ? most : all);
        if (found > best)
            best = found;
        soft += *soft == ',';
    }
    return (int32_t)best;
}

int spawn_soft_valid(const char *soft)
{
    long triplet[3];

    for (;;) {
        if (!read_triplet(&soft, triplet))
            return 0;
        if (!*soft)
            return 1;
        if (*soft++ != ',')
            return 0;
    }
}

/* ---- the program ---- */

static int is_program(const char *path, struct stat *st)
{
    return sys_stat(path, st) == 0 && S_ISREG(st->st_mode) && sys_may_execute(path);
}

/* dir/command; relative directories are in `wdir`. */
static int is_in(const char *dir, size_t length, const char *command, const char *wdir,
                 struct stat *st)
{
    struct buf path;
    int there;

    buf_init(&path);
    if (wdir && (length == 0 || dir[0] != '/'))
        buf_addf(&path, "%s/", wdir);
    if (length)
        buf_addf(&path, "%.*s/", (int)length, dir);
    buf_adds(&path, command);
    there = path.len < NAME_LONGEST && is_program(buf_str(&path), st);
    buf_fini(&path);
    return there;
}

static int is_on(const char *path, const char *command, const char *wdir, struct stat *st)
{
    while (path && *path) {
        size_t length = strcspn(path, ":");

        if (is_in(path, length, command, wdir, st))
            return 1;
        path += length + (path[length] == ':');
    }
    return 0;
}

static int find(const char *command, const char *path, const char *wdir, struct stat *st)
{
    if (strlen(command) >= NAME_LONGEST)
        return 0;
    if (command[0] == '/')
        return is_program(command, st);
    if (is_on(path, command, wdir, st) || (wdir && is_in("", 0, command, wdir, st)) ||
        is_program(command, st))
        return 1;
    return !strchr(command, '/') && is_on(getenv("PATH"), command, NULL, st);
}

int spawn_is_this_program(const char *command, const char *path, const char *wdir, struct buf *why)
{
    struct stat st, mine;

    if (mpi_world.opt->app_count > 1) {
        buf_adds(why, "a run of several programs cannot spawn ranks");
        return 0;
    }
    if (!find(command, path, wdir, &st)) {
        buf_addf(why, "there is no program '%s'", command);
        return 0;
    }
    if (sys_stat("/proc/self/exe", &mine) == 0 && st.st_dev == mine.st_dev &&
        st.st_ino == mine.st_ino)
        return 1;
    buf_addf(why,
             "'%s' is not the program that runs: all ranks of a run share one program, and "
             "can only spawn more of it (%s)",
             command, mpi_world.opt->program);
    return 0;
}
