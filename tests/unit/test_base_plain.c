/*
 * Tests of base/plain.h: system calls without errno, sleeping and waking, and a lock that excludes
 * others and may be released by another thread.
 */
#include "base/plain.h"

#include <pthread.h>

#include "../tap.h"

enum { THREADS = 4, ROUNDS = 100000 };

static plain_word lock, word;
static long counter;

static void test_calls(void)
{
    errno = 0;
    is_int(plain_call(SYS_getpid, 0, 0, 0, 0), getpid(), "a result");
    is_int(plain_call(SYS_close, -1, 0, 0, 0), -EBADF, "an error");
    is_int(errno, 0, "errno is not touched");
}

static void *count(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        plain_lock(&lock);
        counter = counter + 1;
        plain_unlock(&lock);
    }
    return unused;
}

static void test_exclusion(void)
{
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, count, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    is_int(counter, (long)THREADS * ROUNDS, "no step is lost");
    ok(plain_try_lock(&lock), "a free lock can be taken");
    ok(!plain_try_lock(&lock), "a taken one cannot");
}

static void *release(void *unused)
{
    plain_unlock(&lock);
    return unused;
}

/* The lock is taken. */
static void test_other_releases(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, release, NULL);
    plain_lock(&lock);
    pthread_join(thread, NULL);
    ok(1, "a thread gets what another one releases");
    plain_unlock(&lock);
}

static void *wake(void *unused)
{
    atomic_store(&word, 1);
    plain_wake(&word, 1);
    return unused;
}

static void test_sleep(void)
{
    pthread_t thread;

    ok(!plain_sleep(&word, 0, 1000), "the time is over");
    ok(plain_sleep(&word, 7, 0), "another value: no sleep");
    pthread_create(&thread, NULL, wake, NULL);
    while (!atomic_load(&word))
        plain_sleep(&word, 0, 0);
    pthread_join(thread, NULL);
    is_int(atomic_load(&word), 1, "woken");
}

int main(void)
{
    plan_auto();
    test_calls();
    test_exclusion();
    test_other_releases();
    test_sleep();
    return done_testing();
}
