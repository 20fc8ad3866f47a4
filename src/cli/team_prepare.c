/*
 * team_prepare.c - what the processes of a run need to find each other: the native MPI, and which
 * process has which rank.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/env.h"
#include "base/mem.h"
#include "cli/team.h"
#include "engine/rank_map.h"
#include "partition/placement.h"
#include "program/libsearch.h"
#include "program/program.h"
#include "run/share.h"

#define NATIVE_LIBRARY "libmpich.so.12"

static int find_native(struct cli_run *run, struct err *err)
{
    const char *given = getenv(ENV_NATIVE_MPI);
    struct program_libsearch_from none = {0};
    struct program_libsearch search;
    size_t size = sizeof run->opt.native_path;
    int found;

    if (given && *given) {
        snprintf(run->opt.native_path, size, "%s", given);
        return access(given, R_OK) == 0 ? 0
                                        : err_set(err, ERR_SYSTEM, "%s: cannot read '%s': %s",
                                                  ENV_NATIVE_MPI, given, strerror(errno));
    }
    program_libsearch_init(&search);
    found = program_libsearch_find(&search, NATIVE_LIBRARY, &none, &none, program_is_elf,
                                   run->opt.native_path, size);
    program_libsearch_fini(&search);
    return found
               ? 0
               : err_set(err, ERR_SYSTEM,
                         "cannot find %s, the native MPI that --procs needs: install mpich, or set "
                         "%s",
                         NATIVE_LIBRARY, ENV_NATIVE_MPI);
}

/* Opens the table that the starter computed; 0 if that is on another machine. */
static int open_list(struct cli_run *run)
{
    const char *path = getenv(ENV_PLACEMENT);
    int fd = path ? open(path, O_RDONLY) : -1;

    if (fd >= 0)
        run->opt.rank_map_fd = fd;
    return fd >= 0;
}

static int make_list(struct cli_run *run, struct err *err)
{
    size_t bytes = (size_t)run->opt.ranks * sizeof(uint32_t);
    uint32_t *owner = MAP_FAILED;
    int fd = memfd_create("orrery-placement", 0), rc;

    if (fd >= 0 && ftruncate(fd, (off_t)bytes) == 0)
        owner = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (owner == MAP_FAILED)
        return err_set(err, ERR_SYSTEM, "cannot make room for the placement: %s", strerror(errno));
    rc = partition_mincut(run->mincut, run->opt.ranks, run->opt.procs, owner, err);
    munmap(owner, bytes);
    run->opt.rank_map_fd = fd;
    return rc;
}

/* Would execvp find the command? */
static int is_installed(const char *command)
{
    const char *path = getenv("PATH");
    char file[4096];

    if (strchr(command, '/'))
        return access(command, X_OK) == 0;
    for (path = path ? path : "/bin:/usr/bin"; *path; path += *path == ':') {
        size_t n = strcspn(path, ":");

        snprintf(file, sizeof file, "%.*s/%s", (int)n, path, command);
        if (access(file, X_OK) == 0)
            return 1;
        path += n;
    }
    return 0;
}

/* --procs auto uses one process if several cannot be started. */
static void choose_procs(struct cli_run *run)
{
    struct err ignored;

    run->opt.procs = run_share_choose(run->opt.ranks, run_share_cores(), mem_available());
    if (run->opt.procs > 1 &&
        ((!run->launcher && !is_installed(CLI_TEAM_LAUNCHER)) || find_native(run, &ignored) != 0))
        run->opt.procs = 1;
}

int cli_team_prepare(struct cli_run *run, struct err *err)
{
    int rc;

    uint64_t most = run_room(&run->opt);

    if (run->procs_auto && !run->opt.asan)
        choose_procs(run);
    if (run->opt.procs > most) /* a process without a rank would be useless */
        run->opt.procs = (uint32_t)most;
    if (run->opt.procs <= 1)
        return run->opt.live ? find_native(run, err) : 0;
    rc = find_native(run, err);
    if (rc == 0 && run->opt.placement == RANK_MAP_LIST && !(run->worker && open_list(run)))
        rc = make_list(run, err);
    return rc;
}
