/*
 * witness.c - reports that a simulator of `orrery hybrid` was killed (see witness.h).
 */
#define _GNU_SOURCE 1
#include "launch/witness.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sys.h"
#include "native/status.h"

#define NAME "orrery-witness"

_Noreturn static void stand_by(pid_t simulator)
{
    sigset_t set;
    prctl(PR_SET_NAME, NAME);
    close_range(0, ~0u, 0); /* others wait for the end of our streams */
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    prctl(PR_SET_PDEATHSIG, SIGUSR1);
    while (getppid() == simulator)
        sigwaitinfo(&set, NULL);
    native_status_kill(getenv(NATIVE_STATUS), (int)simulator);
    sys_exit(0);
}

pid_t launch_witness_start(void)
{
    sigset_t all, before;
    pid_t simulator = getpid();
    if (!native_status_is_here(getenv(NATIVE_STATUS)))
        return 0;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    pid_t pid = fork();
    if (pid == 0)
        stand_by(simulator);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return pid > 0 ? pid : 0;
}

void launch_witness_end(pid_t pid)
{
    if (!pid)
        return;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}
