/*
 * launch.c - starts the program: shared page, environment, fork and exec.
 *
 *     LD_PRELOAD       the library, before the previous value
 *     LD_BIND_NOW      lazy binding would be resolved again by every rank
 *     LD_LIBRARY_PATH  compat/ holds a libmpi.so.12 for programs that ask for that name
 *     ORRERY_RUN_FD    the shared page
 *
 * Address space randomisation is switched off so that two runs are the same to the last pointer;
 * where the system forbids that, runs differ only in the addresses that a program may print.
 */
#define _GNU_SOURCE 1
#include "launch/launch.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/env.h"
#include "base/log_module.h"
#include "base/sys.h"
#include "engine/output_book.h"
#include "launch/workers.h"
#include "program/host.h"

#if defined(__x86_64__)
#define MULTIARCH "x86_64-linux-gnu"
#elif defined(__aarch64__)
#define MULTIARCH "aarch64-linux-gnu"
#endif

/* The file for pending output. A run works without it, unless the program dies without a report. */
static void add_book(struct launch_page *out)
{
    struct rlimit limit;
    void *map;
    out->book = NULL;
    out->spill = -1;
    out->book_at = 0;
    out->book_fd = launch_worker_slot(&out->book_at);
    out->is_slot = out->book_fd >= 0;
    if (!out->is_slot) {
        if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < OUTPUT_BOOK_BYTES)
            return; /* trying would raise a signal */
        out->book_fd = memfd_create("orrery-output", 0);
        if (out->book_fd < 0 || ftruncate(out->book_fd, (off_t)OUTPUT_BOOK_BYTES) != 0)
            return;
    }
    map = mmap(NULL, OUTPUT_BOOK_BYTES, PROT_READ, MAP_SHARED, out->book_fd, out->book_at);
    if (map != MAP_FAILED)
        out->book = map;
}

int launch_page_init(struct launch_page *out, struct err *err)
{
    size_t size = sizeof(struct run_page);
    int fd = memfd_create("orrery-run", 0);
    if (fd < 0)
        return err_set(err, ERR_SYSTEM, "cannot create the run page: %s", strerror(errno));
    void *map = MAP_FAILED;
    if (ftruncate(fd, (off_t)size) == 0)
        map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED) {
        err_set(err, ERR_SYSTEM, "cannot map the run page: %s%s", strerror(errno),
                errno == EFBIG ? "; see 'ulimit -f'" : "");
        close(fd);
        return ERR_SYSTEM;
    }
    out->page = map;
    out->fd = fd;
    out->page->magic = RUN_MAGIC;
    out->page->size = (uint32_t)size;
    out->page->watcher = (int32_t)getpid();
    add_book(out);
    return 0;
}

void launch_page_fini(struct launch_page *page)
{
    if (page->book)
        munmap((void *)(uintptr_t)page->book, OUTPUT_BOOK_BYTES);
    if (page->book_fd >= 0)
        close(page->book_fd);
    if (page->spill >= 0)
        close(page->spill);
    munmap(page->page, sizeof *page->page);
    close(page->fd);
}

/* ---- where the library is ---- */

static int has_library(const char *directory)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/%s", directory, LAUNCH_LIBRARY);
    return n > 0 && (size_t)n < sizeof path && access(path, R_OK) == 0;
}

/* ld.so splits LD_PRELOAD at spaces and colons, and has no escape. */
static int check_libdir(const char *directory, struct err *err)
{
    if (strpbrk(directory, " :"))
        return err_set(err, ERR_SYSTEM,
                       "cannot preload from '%s': the path has a space or a colon; move Orrery, "
                       "or set ORRERY_LIBDIR to a link without them",
                       directory);
    return 0;
}

int launch_libdir(char *out, size_t size, struct err *err)
{
    static const char *const beside[] = {".", "../lib/" MULTIARCH "/orrery", "../lib/orrery",
                                         "../lib64/orrery"};
    const char *given = getenv("ORRERY_LIBDIR");
    char self[PATH_MAX], trial[PATH_MAX + 64];
    if (given && *given) {
        if (!has_library(given))
            return err_set(err, ERR_SYSTEM, "cannot find '%s' in ORRERY_LIBDIR '%s'",
                           LAUNCH_LIBRARY, given);
        snprintf(out, size, "%s", given);
        return check_libdir(out, err);
    }
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length < 0)
        return err_set(err, ERR_SYSTEM, "cannot read '/proc/self/exe': %s", strerror(errno));
    self[length] = 0;
    *strrchr(self, '/') = 0;
    for (size_t i = 0; i < sizeof beside / sizeof beside[0]; i++) {
        snprintf(trial, sizeof trial, "%s/%s", self, beside[i]);
        char *real = has_library(trial) ? realpath(trial, NULL) : NULL;
        if (!real)
            continue;
        snprintf(out, size, "%s", real);
        free(real);
        return check_libdir(out, err);
    }
    return err_set(err, ERR_SYSTEM,
                   "cannot find '%s' beside '%s/orrery' or in '../lib/orrery': run 'make' or "
                   "install Orrery, or set ORRERY_LIBDIR",
                   LAUNCH_LIBRARY, self);
}

/* ---- the child ---- */

/* Prepends text to an environment variable. */
static int prepend(const char *name, const char *text, char separator)
{
    const char *old = getenv(name);
    char *joined;
    if (!old || !*old)
        return setenv(name, text, 1);
    if (asprintf(&joined, "%s%c%s", text, separator, old) < 0)
        return -1;
    int rc = setenv(name, joined, 1);
    free(joined);
    return rc;
}

static int set_environment(const char *libdir, const struct launch_page *page,
                           const struct run_options *opt)
{
    char path[PATH_MAX + 64], number[16];

    if (setenv(ENV_HOST, run_host_kind(opt->host)->word, 1) != 0 ||
        (run_host_kind(opt->host)->processes && setenv("OMP_WAIT_POLICY", "passive", 0) != 0))
        return -1;
    /* AddressSanitizer should be loaded first, but works without that */
    if (opt->asan && prepend("ASAN_OPTIONS", "verify_asan_link_order=0", ':') != 0)
        return -1;
    snprintf(path, sizeof path, "%s/%s", libdir, LAUNCH_LIBRARY);
    if (prepend("LD_PRELOAD", path, ':') != 0)
        return -1;
    snprintf(path, sizeof path, "%s/compat", libdir);
    snprintf(number, sizeof number, "%d", page->fd);
    return prepend("LD_LIBRARY_PATH", path, ':') | setenv("LD_BIND_NOW", "1", 1) |
           setenv("GFORTRAN_UNBUFFERED_PRECONNECTED", "y", 1) | setenv(ENV_RUN_FD, number, 1);
}

void launch_become(const struct launch_page *page, const struct run_options *opt,
                   const char *libdir, const char *path, char **argv)
{
    int old = personality(0xffffffff);
    if (old >= 0)
        personality((unsigned long)old | ADDR_NO_RANDOMIZE);
    if (set_environment(libdir, page, opt) == 0)
        execv(path, argv);
}

/* Never returns: runs the program, or writes errno to the pipe. */
_Noreturn static void become(const struct launch_page *page, const char *libdir, const char *path,
                             char **argv, const sigset_t *mask, pid_t parent, int report)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        sys_exit(3);
    sigprocmask(SIG_SETMASK, mask, NULL);
    signal(SIGXFSZ, SIG_DFL);
    launch_become(page, &page->page->opt, libdir, path, argv);
    int error = errno;
    sys_write_all(report, &error, sizeof error);
    sys_exit(2);
}

int launch_start(const struct launch_page *page, const char *libdir, const char *path, char **argv,
                 const sigset_t *mask, pid_t *pid, struct err *err)
{
    int report[2], error = 0;
    pid_t self = getpid();
    if (pipe2(report, O_CLOEXEC) != 0)
        return err_set(err, ERR_SYSTEM, "cannot create a pipe: %s", strerror(errno));
    pid_t child = fork();
    if (child == 0)
        become(page, libdir, path, argv, mask, self, report[1]);
    int fork_error = errno;
    close(report[1]);
    ssize_t got = child < 0 ? 0 : TEMP_FAILURE_RETRY(read(report[0], &error, sizeof error));
    close(report[0]);
    if (child < 0)
        return err_set(err, ERR_SYSTEM, "cannot start a process: %s", strerror(fork_error));
    if (got > 0) {
        waitpid(child, NULL, 0);
        return err_set(err, ERR_SYSTEM, "cannot execute '%s': %s", path, strerror(error));
    }
    LOG_LINE(LAUNCH, INFO, LOG_NO_RANK, VTIME_NEVER, "'%s' is process %ld of the system", path,
             (long)child);
    *pid = child;
    return 0;
}
