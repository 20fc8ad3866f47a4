/*
 * plain.h - system calls and a lock for code that must not touch thread-local data, not even errno.
 */
#ifndef BASE_PLAIN_H
#define BASE_PLAIN_H

#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Returns what the system returns: the negative number of an error. */
static inline long plain_call(long number, long a, long b, long c, long d)
{
#if defined(__x86_64__)
    register long fourth __asm__("r10") = d;
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
                     : "rcx", "r11", "memory");
    return result;
#else
    long result = syscall(number, a, b, c, d);

    return result < 0 ? -errno : result;
#endif
}

/* ---- futexes of one process ---- */

typedef _Atomic uint32_t plain_word;

/* Sleeps while the word has the value, at most for `ns` nanoseconds if that is not 0. Returns 0 if
 * that time is over. */
static inline int plain_sleep(plain_word *word, uint32_t value, long ns)
{
    struct timespec span = {.tv_nsec = ns};

    return plain_call(SYS_futex, (long)word, FUTEX_WAIT_PRIVATE, value, ns ? (long)&span : 0) !=
           -ETIMEDOUT;
}

static inline void plain_wake(plain_word *word, int count)
{
    plain_call(SYS_futex, (long)word, FUTEX_WAKE_PRIVATE, count, 0);
}

/* ---- a lock; all zero is free. Another thread may release it than the one that took it ---- */

enum { PLAIN_FREE = 0, PLAIN_TAKEN, PLAIN_AWAITED };

static inline int plain_try_lock(plain_word *lock)
{
    uint32_t was = PLAIN_FREE;

    return atomic_compare_exchange_strong(lock, &was, PLAIN_TAKEN);
}

static inline void plain_lock(plain_word *lock)
{
    if (plain_try_lock(lock))
        return;
    while (atomic_exchange(lock, PLAIN_AWAITED) != PLAIN_FREE)
        plain_sleep(lock, PLAIN_AWAITED, 0);
}

static inline void plain_unlock(plain_word *lock)
{
    if (atomic_exchange(lock, PLAIN_FREE) == PLAIN_AWAITED)
        plain_wake(lock, 1);
}

#endif
