/*
 * imports.c - libc calls that a rank cannot make if it shares its process. A program that imports
 * one need not call it, so its ranks become processes only if that many processes fit. Commands
 * (system, popen) are not among them: fibres can run those.
 */
#include "program/imports.h"

#include <stddef.h>
#include <string.h>

#define PROGRAMS "the program starts other programs"
#define TIMERS "the program uses timers or waits for signals"
#define DESCRIPTORS "the program replaces descriptors"

static const struct {
    const char *name, *reason;
} calls[] = {
    {"fork", PROGRAMS},
    {"__fork", PROGRAMS},
    {"_Fork", PROGRAMS},
    {"vfork", PROGRAMS},
    {"daemon", PROGRAMS},
    {"posix_spawn", PROGRAMS},
    {"posix_spawnp", PROGRAMS},
    {"execl", PROGRAMS},
    {"execle", PROGRAMS},
    {"execlp", PROGRAMS},
    {"execv", PROGRAMS},
    {"execve", PROGRAMS},
    {"execvp", PROGRAMS},
    {"execvpe", PROGRAMS},
    {"fexecve", PROGRAMS},
    {"execveat", PROGRAMS},
    {"alarm", TIMERS},
    {"ualarm", TIMERS},
    {"setitimer", TIMERS},
    {"timer_create", TIMERS},
    {"pause", TIMERS},
    {"sigsuspend", TIMERS},
    {"dup2", DESCRIPTORS},
    {"__dup2", DESCRIPTORS},
    {"dup3", DESCRIPTORS},
    {"_gfortran_alarm_sub_i4", TIMERS},
    {"_gfortran_alarm_sub_int_i4", TIMERS},
};

const char *program_imports_process(const char *symbol)
{
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (strcmp(calls[i].name, symbol) == 0)
            return calls[i].reason;
    return NULL;
}

int program_imports_stacks(const char *symbol)
{
    return strcmp(symbol, "makecontext") == 0;
}
