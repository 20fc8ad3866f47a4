/*
 * turn.h - processes take turns. Each sleeps with a futex on its own word of shared memory.
 *
 *     TURN_NONE    its owner has the turn, or is about to sleep
 *     TURN_ASLEEP  its owner sleeps, or is about to: waking it takes a system call
 *     TURN_GIVEN   its owner has been given the turn
 *
 * So a process that was preempted by the one it woke neither sleeps nor has to be woken.
 */
#ifndef VP_TURN_H
#define VP_TURN_H

#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>

#include "base/sys.h"

enum { TURN_NONE = 0, TURN_GIVEN, TURN_ASLEEP };

typedef _Atomic uint32_t turn_word;

static inline void turn_wake(turn_word *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Takes the turn if it was given (returns 1), else announces that the caller is about to sleep. */
static inline int turn_take(turn_word *word)
{
    uint32_t was = TURN_NONE;

    if (atomic_compare_exchange_strong(word, &was, TURN_ASLEEP) || was == TURN_ASLEEP)
        return 0;
    atomic_store_explicit(word, TURN_NONE, memory_order_relaxed);
    return 1;
}

static inline void turn_await(turn_word *word)
{
    while (!turn_take(word))
        syscall(SYS_futex, word, FUTEX_WAIT, TURN_ASLEEP, NULL, NULL, 0);
}

static inline void turn_give(turn_word *word)
{
    if (atomic_exchange(word, TURN_GIVEN) == TURN_ASLEEP)
        turn_wake(word);
}

#endif
