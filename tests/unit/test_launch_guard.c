/*
 * A command and all its descendants end: by themselves, when they are asked to, when their starter
 * or their guard is killed or stopped. Descendants that left the session and ignore signals
 * included.
 *
 * All of them hold an end of a pipe, so its other end tells when the last of them is gone.
 */
#include "launch/guard.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/sys.h"
#include "launch/proctree.h"
#include "tap.h"

#define LIMIT_MS 60000 /* until something counts as hung */

enum how { STAY, STUBBORN, LEAVE };

static int alive[2]; /* held open by all descendants */

/* A grandchild that nobody knows of any more. */
static void leave_orphan(void)
{
    if (fork() != 0)
        return;
    setsid();
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    if (fork() != 0)
        sys_exit(0);
    for (;;)
        pause();
}

static void command(void *context)
{
    enum how how = *(enum how *)context;

    close(alive[0]);
    leave_orphan();
    if (how == STUBBORN)
        signal(SIGTERM, SIG_IGN);
    (void)!write(alive[1], "s", 1); /* the orphan's parent is there */
    if (how == LEAVE)
        sys_exit(7);
    for (;;)
        pause();
}

static int start(struct launch_guard *guard, enum how how)
{
    struct err err;
    char byte;

    if (pipe(alive) != 0 || launch_guard_start(guard, command, &how, &err) != 0)
        return 0;
    close(alive[1]);
    return read(alive[0], &byte, 1) == 1;
}

/* Have all descendants ended? */
static int all_gone(void)
{
    struct pollfd fd = {.fd = alive[0], .events = POLLIN};
    char byte;
    int gone = poll(&fd, 1, LIMIT_MS) == 1 && read(alive[0], &byte, 1) == 0;

    close(alive[0]);
    return gone;
}

static void test_ends_by_itself(void)
{
    struct launch_guard guard;
    int status = -1;

    ok(start(&guard, LEAVE), "a command that ends by itself");
    ok(launch_guard_take(&guard, &status) && WIFEXITED(status) && WEXITSTATUS(status) == 7,
       "its status");
    launch_guard_end(&guard);
    ok(all_gone(), "its orphans are gone");
}

static void test_asked(enum how how, const char *what)
{
    struct launch_guard guard;

    ok(start(&guard, how), "%s", what);
    launch_guard_end(&guard);
    ok(all_gone(), "nothing is left");
    ok(waitpid(-1, NULL, WNOHANG) < 0, "we have no children");
}

static void test_guard_hurt(int sig, const char *what)
{
    struct launch_guard guard;

    ok(start(&guard, STAY), "%s", what);
    kill(guard.pid, sig);
    launch_guard_end(&guard);
    ok(all_gone(), "nothing is left");
    ok(waitpid(-1, NULL, WNOHANG) < 0, "we have no children");
}

static void test_guard_killed_unasked(void)
{
    struct launch_guard guard;
    int status;

    ok(start(&guard, STAY), "the guard is killed");
    kill(guard.pid, SIGKILL);
    ok(!launch_guard_take(&guard, &status), "it is noticed");
    launch_guard_end(&guard);
    ok(all_gone(), "nothing is left");
}

static void test_starter_killed(void)
{
    char byte;
    pid_t starter;

    if (pipe(alive) != 0)
        return;
    starter = fork();
    if (starter == 0) {
        struct launch_guard guard;
        struct err err;
        enum how how = STUBBORN;

        launch_guard_start(&guard, command, &how, &err);
        close(alive[1]);
        for (;;)
            pause();
    }
    close(alive[1]);
    ok(read(alive[0], &byte, 1) == 1, "the starter is killed");
    kill(starter, SIGKILL);
    waitpid(starter, NULL, 0);
    ok(all_gone(), "nothing is left");
}

static void nothing(void *context)
{
    (void)context;
}

static void test_no_exec(void)
{
    struct launch_guard guard;
    struct err err;
    int status = -1;

    ok(launch_guard_start(&guard, nothing, NULL, &err) == 0, "a command that cannot be executed");
    ok(launch_guard_take(&guard, &status) && WEXITSTATUS(status) == 127, "status 127");
    launch_guard_end(&guard);
}

static void test_proc(void)
{
    struct launch_proc self, *below;
    pid_t child = fork();

    if (child == 0)
        for (;;)
            pause();
    ok(launch_proc_read(getpid(), &self) == 0 && self.parent == getppid() && self.state == 'R',
       "our own process");
    is_str(self.name, "test_launch_gua", "its name");
    ok(launch_proc_below(getpid(), &below) == 1 && below[0].pid == child, "our only child");
    mem_free(below);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    ok(launch_proc_read(child, &self) != 0, "a process that is gone");
}

int main(void)
{
    plan_auto();
    test_proc();
    test_ends_by_itself();
    test_asked(STAY, "a command that obeys");
    test_asked(STUBBORN, "a command that ignores SIGTERM");
    test_guard_hurt(SIGKILL, "a guard that was killed");
    test_guard_hurt(SIGSTOP, "a guard that was stopped");
    test_guard_killed_unasked();
    test_starter_killed();
    test_no_exec();
    return done_testing();
}
