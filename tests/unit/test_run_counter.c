/* Counters: the one that every machine has, and what is said where there is none. */
#include "run/counter.h"

#include <string.h>
#include <unistd.h>

#include "tests/tap.h"

int main(void)
{
    struct err err;
    int fd;

    plan_auto();
    is_int(run_counter_open("wishes", &fd, &err), ERR_INPUT, "an unknown counter");
    ok(strstr(err.text, "expected instructions, cycles or task-clock"), "what there is");
    if (run_counter_open("instructions", &fd, &err) == 0) {
        ok(1, "hardware counts instructions here");
        close(fd);
    } else {
        ok(strstr(err.text, "--compute counters:task-clock") ||
               strstr(err.text, "perf_event_paranoid"),
           "no hardware counters: %s", err.text);
    }
    if (run_counter_open("task-clock", &fd, &err) == 0) {
        ok(1, "the task clock");
        close(fd);
    } else {
        ok(!strstr(err.text, "counters:task-clock"), "no advice to use what failed: %s", err.text);
    }
    return done_testing();
}
