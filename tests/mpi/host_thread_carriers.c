/* test: n=2,3 native=2 host=threads flags="-pthread -lm" schedules=3 measured=yes
 * Threads of a rank that take turns at short calls are run by any of the system's threads. What
 * belongs to a thread of the program stays with it: its identity, thread-local data, signal mask,
 * rounding mode, mutexes. A thread can end anywhere, be cancelled and be sent signals. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fenv.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

enum { THREADS = 4, GENERATIONS = 6, MORE = 200 };

static int rank;
static MPI_Win window;
static atomic_int moved; /* a thread runs where another one began */
static atomic_int ended; /* destructors of thread-local data that have run */
static pthread_key_t key;
static __thread int local;

/* The number of the system's thread, from the system itself. */
static long carrier(void)
{
    char text[64] = {0};

    CHECK(readlink("/proc/thread-self", text, sizeof text - 1) > 0);
    return atol(strrchr(text, '/') + 1);
}

static int can_move(void)
{
#if defined(__x86_64__)
    return check_virtual() && (getauxval(AT_HWCAP2) & 2) != 0; /* FSGSBASE */
#else
    return 0;
#endif
}

static void call(void)
{
    int one = 1, before;

    MPI_Fetch_and_op(&one, &before, MPI_INT, rank, 0, MPI_SUM, window);
    MPI_Win_flush(rank, window);
}

/* Short calls, until some thread has moved, and a few more. */
static void take_turns(long first)
{
    do {
        for (int i = 0; i < 100; i++)
            call();
        if (!can_move() || carrier() != first)
            moved = 1;
    } while (!moved);
    for (int i = 0; i < MORE; i++)
        call();
}

static void count_end(void *value)
{
    CHECK(*(int *)value == local);
    call();
    ended++;
}

/* As C++ does for thread-local objects. */
int __cxa_thread_atexit_impl(void (*)(void *), void *, void *);
extern void *__dso_handle;

static void destroy(void *object)
{
    CHECK(object == &local);
    call();
    ended++;
}

/* ---- what belongs to a thread ---- */

static const int rounding[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};

static void lock_own(pthread_mutex_t *m)
{
    pthread_mutexattr_t recursive;

    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(m, &recursive);
    pthread_mutex_lock(m);
}

/* The only thread of a forked process is its first. */
static void check_child(void)
{
    pid_t child = fork();
    int status;

    if (child == 0)
        _exit(syscall(SYS_gettid) == syscall(SYS_getpid) ? 42 : 1);
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 42);
}

static void *keep(void *arg)
{
    int id = *(int *)arg;
    pthread_t self = pthread_self();
    long tid = syscall(SYS_gettid);
    pthread_mutex_t own;
    sigset_t mask;

    local = id;
    pthread_setspecific(key, &local);
    __cxa_thread_atexit_impl(destroy, &local, &__dso_handle);
    sigemptyset(&mask);
    sigaddset(&mask, SIGRTMIN + id);
    pthread_sigmask(SIG_BLOCK, &mask, NULL);
    fesetround(rounding[id]);
    lock_own(&own);
    take_turns(carrier());
    errno = 100 + id;
    call();
    CHECK(errno == 100 + id && local == id && pthread_equal(self, pthread_self()));
    CHECK(syscall(SYS_gettid) == tid);
    CHECK(fegetround() == rounding[id]);
    CHECK(pthread_mutex_lock(&own) == 0 && pthread_mutex_unlock(&own) == 0);
    CHECK(pthread_mutex_unlock(&own) == 0 && pthread_mutex_unlock(&own) == EPERM);
    check_child();
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    for (int i = 0; i < THREADS; i++)
        CHECK(sigismember(&mask, SIGRTMIN + i) == (i == id));
    if (id % 2)
        pthread_exit(arg);
    return arg;
}

/* ---- some end while others call on; what libc asks the system about itself ---- */

static atomic_int away;

static void *outlast(void *arg)
{
    int id = *(int *)arg, policy;
    struct sched_param param;
    pthread_attr_t attributes;

    take_turns(carrier());
    if (id < 2)
        return arg;
    while (away < 2)
        call();
    for (int i = 0; i < MORE; i++)
        call();
    CHECK(pthread_getattr_np(pthread_self(), &attributes) == 0);
    pthread_attr_destroy(&attributes);
    CHECK(pthread_getschedparam(pthread_self(), &policy, &param) == 0);
    CHECK(pthread_setschedparam(pthread_self(), policy, &param) == 0);
    return arg;
}

static void run(void *(*what)(void *))
{
    pthread_t threads[THREADS];
    int ids[THREADS];
    void *result;

    moved = away = 0;
    for (int i = 0; i < THREADS; i++) {
        ids[i] = i;
        CHECK(pthread_create(&threads[i], NULL, what, &ids[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], &result) == 0);
        CHECK(result == &ids[i]);
        away++;
    }
}

static int tasks(void)
{
    DIR *dir = opendir("/proc/self/task");
    int count = 0;

    for (struct dirent *e; (e = readdir(dir));)
        count += e->d_name[0] != '.';
    closedir(dir);
    return count;
}

static void test_kept(void)
{
    int before = tasks();

    ended = 0;
    for (int i = 0; i < GENERATIONS; i++)
        run(keep);
    CHECK(ended == 2 * GENERATIONS * THREADS);
    if (check_virtual())
        CHECK(tasks() == before);
}

/* ---- detached ---- */

static sem_t gone;

static void *leave(void *unused)
{
    take_turns(carrier());
    sem_post(&gone);
    return unused;
}

static void test_detached(void)
{
    pthread_attr_t detached;
    pthread_t thread;

    moved = 0;
    sem_init(&gone, 0, 0);
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&thread, &detached, leave, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        while (sem_wait(&gone) != 0)
            ;
}

/* ---- some compute, some end, while others take turns ---- */

static void *mix(void *arg)
{
    int id = *(int *)arg;
    volatile double x = 1;

    for (int round = 0; round < 20; round++) {
        take_turns(carrier());
        for (int i = 0; i < 20000 * id * (round % 3); i++)
            x = x * 1.0000001;
    }
    return x > 0 ? arg : NULL;
}

/* ---- handlers run only in threads that do not block their signal ---- */

static atomic_int callers;

static void on_alarm(int sig)
{
    CHECK(sig == SIGALRM && local % 2 == 1);
}

static void *block_some(void *arg)
{
    sigset_t alarm;

    local = *(int *)arg;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    if (local % 2)
        pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
    for (int i = 0; i < 10 * MORE; i++)
        call();
    callers--;
    return arg;
}

static void *send_alarms(void *unused)
{
    struct timespec pause = {0, 1000000};

    while (callers > 0) {
        syscall(SYS_kill, syscall(SYS_getpid), SIGALRM);
        syscall(SYS_nanosleep, &pause, NULL);
    }
    return unused;
}

static void test_blocked(void)
{
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    pthread_t sender;
    sigset_t alarm;

    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm, NULL);
    sigaction(SIGALRM, &action, NULL);
    callers = THREADS;
    CHECK(pthread_create(&sender, NULL, send_alarms, NULL) == 0);
    run(block_some);
    CHECK(pthread_join(sender, NULL) == 0);
    signal(SIGALRM, SIG_IGN);
}

/* ---- a mutex with priority inheritance, made when threads have moved ---- */

static pthread_mutex_t inherits;
static pthread_once_t made = PTHREAD_ONCE_INIT;

static void make_inherits(void)
{
    pthread_mutexattr_t attributes;

    pthread_mutexattr_init(&attributes);
    CHECK(pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT) == 0);
    CHECK(pthread_mutex_init(&inherits, &attributes) == 0);
}

static void *contend(void *arg)
{
    struct timespec pause = {0, 10000};

    take_turns(carrier());
    pthread_once(&made, make_inherits);
    for (int i = 0; i < MORE; i++) {
        CHECK(pthread_mutex_lock(&inherits) == 0);
        if (i % 16 == 0)
            syscall(SYS_nanosleep, &pause, NULL);
        CHECK(pthread_mutex_unlock(&inherits) == 0);
    }
    return arg;
}

/* ---- signals; from the first on, threads do not move any more ---- */

static pthread_t target;
static atomic_int handled;
static atomic_int ready;

static void on_signal(int sig)
{
    CHECK(sig == SIGUSR1 && pthread_equal(pthread_self(), target));
    handled++;
}

/* The third waits for a message, the fourth in the system. */
static void *receive_signals(void *arg)
{
    int id = *(int *)arg, value = 0;
    struct timespec second = {1, 0};

    if (id == 2)
        target = pthread_self();
    take_turns(carrier());
    ready++;
    if (id == 2) {
        MPI_Recv(&value, 1, MPI_INT, rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        while (handled < 2)
            nanosleep(&second, NULL);
    } else if (id == 3) {
        pause();
        CHECK(0);
    }
    return arg;
}

static void test_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    pthread_t threads[THREADS];
    int ids[THREADS], value = 1;
    void *result;

    moved = 0;
    sigaction(SIGUSR1, &action, NULL);
    for (int i = 0; i < THREADS; i++) {
        ids[i] = i;
        CHECK(pthread_create(&threads[i], NULL, receive_signals, &ids[i]) == 0);
    }
    while (ready < THREADS)
        sched_yield();
    CHECK(pthread_kill(threads[2], SIGUSR1) == 0);
    while (handled < 1)
        sched_yield();
    CHECK(pthread_sigqueue(threads[2], SIGUSR1, (union sigval){.sival_int = 1}) == 0);
    CHECK(pthread_cancel(threads[3]) == 0);
    MPI_Send(&value, 1, MPI_INT, rank, 7, MPI_COMM_WORLD);
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], &result) == 0);
        CHECK(result == (i == 3 ? PTHREAD_CANCELED : &ids[i]));
    }
}

int main(int argc, char **argv)
{
    int level, *cell;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    CHECK(level == MPI_THREAD_MULTIPLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pthread_key_create(&key, count_end);
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cell, &window);
    *cell = 0;
    MPI_Win_lock_all(0, window);
    test_kept();
    run(outlast);
    run(contend);
    if (check_virtual()) /* else MPI has threads of its own */
        test_blocked();
    test_detached();
    run(mix);
    test_signals();
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    check_ok("carriers");
    MPI_Finalize();
    return 0;
}
