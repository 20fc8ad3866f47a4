/*
 * workers_prepare.c - what the processes of a run need to find each other: the native MPI, and
 * which process has which rank.
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
#include "engine/rank_map.h"
#include "launch/native.h"
#include "launch/workers.h"
#include "partition/placement.h"
#include "program/libsearch.h"
#include "program/program.h"
#include "run/share.h"

#define NATIVE_LIBRARY "libmpich.so.12"

static int find_native(struct launch_job *job, struct err *err)
{
    const char *given = getenv(ENV_NATIVE_MPI);
    struct program_libsearch_from none = {0};
    struct program_libsearch search;
    size_t size = sizeof job->opt.native_path;
    int found;

    if (given && *given) {
        snprintf(job->opt.native_path, size, "%s", given);
        return access(given, R_OK) == 0 ? 0
                                        : err_set(err, ERR_SYSTEM, "%s: cannot read '%s': %s",
                                                  ENV_NATIVE_MPI, given, strerror(errno));
    }
    program_libsearch_init(&search);
    found = program_libsearch_find(&search, NATIVE_LIBRARY, &none, &none, program_is_elf,
                                   job->opt.native_path, size);
    program_libsearch_fini(&search);
    return found ? 0
                 : err_set(err, ERR_SYSTEM,
                           "cannot find %s, the native MPI that --procs and several programs need: "
                           "install mpich, or set %s",
                           NATIVE_LIBRARY, ENV_NATIVE_MPI);
}

/* Opens the table that the starter computed; 0 if that is on another machine. */
static int open_list(struct launch_job *job)
{
    const char *path = getenv(ENV_PLACEMENT);
    int fd = path ? open(path, O_RDONLY) : -1;

    if (fd >= 0)
        job->opt.rank_map_fd = fd;
    return fd >= 0;
}

static int make_list(struct launch_job *job, struct err *err)
{
    size_t bytes = (size_t)job->opt.ranks * sizeof(uint32_t);
    uint32_t *owner = MAP_FAILED;
    int fd = memfd_create("orrery-placement", 0), rc;

    if (fd >= 0 && ftruncate(fd, (off_t)bytes) == 0)
        owner = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (owner == MAP_FAILED)
        return err_set(err, ERR_SYSTEM, "cannot make room for the placement: %s", strerror(errno));
    rc = partition_mincut(job->mincut, job->opt.ranks, job->opt.procs, owner, err);
    munmap(owner, bytes);
    job->opt.rank_map_fd = fd;
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
static void choose_procs(struct launch_job *job)
{
    struct err ignored;

    job->opt.procs = run_share_choose(job->opt.ranks, run_share_cores(), mem_available());
    if (job->opt.procs > 1 && ((!job->launcher && !is_installed(LAUNCH_WORKERS_LAUNCHER)) ||
                               find_native(job, &ignored) != 0))
        job->opt.procs = 1;
}

/* Which program a process runs, by its number. */
static int find_app(struct run_options *o, struct err *err)
{
    int number = launch_native_number();
    uint32_t next = 0;

    for (o->app = 0; o->app < o->app_count; o->app++) {
        next += o->apps[o->app].procs;
        if (number >= 0 && (uint32_t)number < next)
            return 0;
    }
    o->app = 0;
    return err_set(err, ERR_INPUT,
                   "--launcher: it does not tell processes their numbers in a variable such as "
                   "PMI_RANK, and each must know which of the programs it is to run");
}

/* `orrery emulate`: one simulator has all ranks, and the first program. Processes of the others
 * connect to it, as those on other computers do (remote.h). */
static int assign_emulated(struct launch_job *job, struct err *err)
{
    struct run_options *o = &job->opt;
    uint64_t first = job->apps.at[0].ranks;

    for (uint32_t i = 0; i < o->app_count; i++)
        o->apps[i] = (struct run_app){.ranks = (uint32_t)job->apps.at[i].ranks, .procs = 1};
    if (!job->launcher)
        o->remote_count = (uint32_t)(o->ranks - first);
    else if (o->ranks - o->remote_count > first)
        return err_set(err, ERR_INPUT,
                       "--local: of several programs, only ranks of the first one can be on this "
                       "computer if --launcher is given, here %llu",
                       (unsigned long long)first);
    return 0;
}

int launch_workers_assign(struct launch_job *job, struct err *err)
{
    struct run_options *o = &job->opt;

    o->app_count = (uint32_t)job->apps.count;
    if (o->app_count <= 1)
        return 0;
    if (o->factor > 0)
        return assign_emulated(job, err);
    if (o->placement == RANK_MAP_LIST)
        return err_set(err, ERR_INPUT,
                       "--placement mincut: of several programs each has its own processes: use "
                       "block or cyclic");
    if (job->procs_auto)
        choose_procs(job);
    job->procs_auto = 0;
    if (o->procs < o->app_count)
        o->procs = o->app_count;
    if (o->procs > o->ranks)
        o->procs = (uint32_t)o->ranks;
    for (uint32_t i = 0; i < o->app_count; i++)
        o->apps[i].ranks = (uint32_t)job->apps.at[i].ranks;
    run_share_apps(o->apps, o->app_count, o->procs);
    return job->worker ? find_app(o, err) : 0;
}

int launch_workers_prepare(struct launch_job *job, struct err *err)
{
    int rc;

    uint64_t most = run_room(&job->opt);

    if (job->procs_auto && !job->opt.asan)
        choose_procs(job);
    if (job->opt.procs > most) /* a process without a rank would be useless */
        job->opt.procs = (uint32_t)most;
    if (job->opt.procs <= 1)
        return job->opt.live ? find_native(job, err) : 0;
    rc = find_native(job, err);
    if (rc == 0 && job->opt.placement == RANK_MAP_LIST && !(job->worker && open_list(job)))
        rc = make_list(job, err);
    return rc;
}
