/*
 * start.c - how the library takes the process over.
 *
 *     ld.so         maps the program and us, relocates, runs our constructor before all others
 *                   (we are linked with -z initfirst): the base image is taken here
 *     constructors  of the libraries run once in process context; their effect on private data is
 *                   undone by vp_image_reset, and they run again in every rank
 *     _start        of the program calls __libc_start_main, which is ours: libc starts up as
 *                   usual, with vp_takeover instead of main
 *     vp_takeover   runs the simulation; each rank calls the program's main
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/env.h"
#include "vp/vp_internal.h"

VP_OWN struct vp_program vp_program;

static int active;
static VP_OWN char *argv_block;
static VP_OWN size_t argv_bytes;

/* argv in one block of our own, so that a rank's changes to it are private data. */
static void copy_argv(int argc, char **argv)
{
    size_t bytes = ((size_t)argc + 1) * sizeof(char *);
    char **out, *text;

    for (int i = 0; i < argc; i++)
        bytes += strlen(argv[i]) + 1;
    argv_block = mem_zalloc_private(bytes);
    argv_bytes = bytes;
    out = (char **)argv_block;
    text = argv_block + ((size_t)argc + 1) * sizeof(char *);
    for (int i = 0; i < argc; i++) {
        out[i] = text;
        text = stpcpy(text, argv[i]) + 1;
    }
    vp_program.argc = argc;
    vp_program.argv = out;
}

__attribute__((constructor)) static void before_all_others(int argc, char **argv, char **envp)
{
    const char *host = NULL;

    (void)argc;
    (void)argv;
    for (char **e = envp; *e; e++) {
        active |= strncmp(*e, ENV_RUN_FD "=", sizeof ENV_RUN_FD) == 0;
        if (strncmp(*e, ENV_HOST "=", sizeof ENV_HOST) == 0)
            host = *e + sizeof ENV_HOST;
    }
    if (!active)
        return;
    if (host)
        vp_host_load(host);
    vp_libc_early();
    vp_image_capture();
}

static int takeover_main(int argc, char **argv, char **envp)
{
    copy_argv(argc, argv);
    vp_program.envp = envp;
    vp_image_add(argv_block, argv_bytes);
    unsetenv("LD_PRELOAD");
    unsetenv("LD_BIND_NOW");
    unsetenv(ENV_HOST);
    return vp_takeover();
}

static void no_constructors(void)
{
}

typedef int (*main_fn)(int, char **, char **);
typedef int (*start_fn)(main_fn, int, char **, void (*)(void), void (*)(void), void (*)(void),
                        void *);

VP_EXPORT int __libc_start_main(main_fn program_main, int argc, char **argv, void (*init)(void),
                                void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
    start_fn real = (start_fn)vp_real("__libc_start_main");

    if (!active)
        return real(program_main, argc, argv, init, fini, rtld_fini, stack_end);
    vp_program.main = program_main;
    return real(takeover_main, argc, argv, no_constructors, NULL, rtld_fini, stack_end);
}
