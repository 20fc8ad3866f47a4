/*
 * log_module.h - lines about what a module does, for people who debug Orrery: ORRERY_LOG chooses
 * modules and levels. Lines go where messages go (log.h), whether or not warnings are left out:
 *
 *     orrery: engine: process 1: 51.2 us: rank 3: blocks, a decision is due at 60 us
 *
 * The choice is state of the process, set once at its start. While a line is not wanted it costs
 * the test of one bit. No function here allocates or switches.
 */
#ifndef BASE_LOG_MODULE_H
#define BASE_LOG_MODULE_H

#include <stdint.h>

#include "base/err.h"
#include "base/vtime.h"

/* Modules, and what their lines are about. */
#define LOG_MODULE_LIST(X)                                                       \
    X(ENGINE, "engine", "states of ranks, decisions, quiescence")                \
    X(MPI, "mpi", "messages that wait, matches, steps of the protocol")          \
    X(NET, "net", "messages in networks with contention, packets that are lost") \
    X(LAUNCH, "launch", "processes that are started, watched and end")           \
    X(TRACE, "trace", "recorders, parts of traces, merging")
#define X(name, word, what) LOG_##name,
enum log_module { LOG_MODULE_LIST(X) LOG_MODULES };
#undef X

/* A level includes those before it. */
enum log_level { LOG_INFO = 0, LOG_DEBUG, LOG_LEVELS };

#define LOG_NO_RANK UINT64_MAX

/* Bit LOG_LEVELS * module + level: that line is wanted. Read by LOG_WANTS alone. */
extern uint32_t log_wanted;

#define LOG_WANTS(module, level) \
    __builtin_expect(log_wanted >> (LOG_LEVELS * LOG_##module + LOG_##level) & 1, 0)

/* A line of a module about a rank (LOG_NO_RANK: none) at a virtual time (VTIME_NEVER: none), with a
 * format. Arguments are evaluated only if it is wanted. */
#define LOG_LINE(module, level, rank, time, ...)                    \
    do {                                                            \
        if (LOG_WANTS(module, level))                               \
            log_module_line(LOG_##module, rank, time, __VA_ARGS__); \
    } while (0)

void log_module_line(enum log_module, uint64_t rank, vtime, const char *fmt, ...)
    __attribute__((format(printf, 4, 5), cold));

/* Takes the choice from the environment: "MODULE:LEVEL,...", where 'all' is every module. ERR_INPUT
 * lists what there is, and then nothing is wanted. */
int log_modules_init(struct err *err);

/* From now on lines name the process; there are others. */
void log_modules_process(uint32_t number);

#endif
