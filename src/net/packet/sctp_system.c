/*
 * sctp_system.c - what the SCTP stack calls instead of the system (sctp_symbols.txt): virtual time,
 * timers in the heap of the network, random numbers from its seed, and memory of its own. So a run
 * of the stack is determined by the run, and all its memory can be freed at once.
 */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/time.h>

#include "base/mem.h"
#include "net/packet/sctp.h"

#define EPOCH 1000000000 /* seconds; the stack takes 0 for "not set" */

/* struct sctp_callout of the stack */
#define ACTIVE 2
#define PENDING 4

/* For whom the stack runs. It is one for the whole process, like the stack's variable. */
static struct {
    struct sctp_host *host; /* whose state is in the stack's variable; NULL: nobody's */
    struct sctp_end *end;
    int saved_errno; /* the program's */
} current;

/* All state of the stack. */
extern char system_base_info[SCTP_BASE_SIZE];

void sctp_system_enter(struct sctp_host *host, struct sctp_end *end)
{
    current.saved_errno = errno;
    current.end = end;
    if (current.host == host)
        return;
    if (current.host)
        memcpy(current.host->base, system_base_info, SCTP_BASE_SIZE);
    memcpy(system_base_info, host->base, SCTP_BASE_SIZE);
    current.host = host;
}

void sctp_system_leave(void)
{
    current.end = NULL;
    errno = current.saved_errno;
}

struct sctp_end *sctp_system_end(void)
{
    return current.end;
}

const struct sctp_host *sctp_system_host(void)
{
    return current.host;
}

static vtime now(void)
{
    return current.host->state->net->now;
}

/* ---- memory ---- */

/* The size is before each block, and all are aligned to 16 bytes. */
struct sctp_block {
    struct sctp_block *next, *prev; /* of large ones */
    uint64_t unused;
    uint64_t size; /* with its head */
    char data[];
};
#define SMALL_HEAD 16 /* its last 8 bytes are the size, too */
#define LARGE_HEAD sizeof(struct sctp_block)

static struct sctp_memory *memory(void)
{
    return &current.host->state->memory;
}

static void link_large(struct sctp_memory *m, struct sctp_block *b)
{
    b->prev = NULL;
    b->next = m->large;
    if (b->next)
        b->next->prev = b;
    m->large = b;
}

static void unlink_large(struct sctp_memory *m, struct sctp_block *b)
{
    if (b->next)
        b->next->prev = b->prev;
    if (b->prev)
        b->prev->next = b->next;
    else
        m->large = b->next;
}

void *sctp_own_malloc(size_t size);
void *sctp_own_malloc(size_t size)
{
    struct sctp_memory *m = memory();
    size_t is_small = size + SMALL_HEAD <= POOL_MAX, head = is_small ? SMALL_HEAD : LARGE_HEAD,
           all = size + head;
    char *block = pool_alloc(&m->pool, all);

    m->bytes += all;
    ((uint64_t *)(block + head))[-1] = all;
    if (!is_small)
        link_large(m, (struct sctp_block *)block);
    return block + head;
}

void *sctp_own_calloc(size_t count, size_t size);
void *sctp_own_calloc(size_t count, size_t size)
{
    return memset(sctp_own_malloc(count * size), 0, count * size);
}

void sctp_own_free(void *ptr)
{
    struct sctp_memory *m = memory();
    uint64_t all;
    char *block;

    if (!ptr)
        return;
    all = ((uint64_t *)ptr)[-1];
    block = (char *)ptr - (all <= POOL_MAX ? SMALL_HEAD : LARGE_HEAD);
    m->bytes -= all;
    if (all > POOL_MAX)
        unlink_large(m, (struct sctp_block *)block);
    pool_free(&m->pool, block, all);
}

void sctp_system_fini(struct sctp_state *state)
{
    struct sctp_memory *m = &state->memory;

    if (current.host && current.host->state == state)
        current.host = NULL;
    for (struct sctp_block *b; (b = m->large);) {
        unlink_large(m, b);
        pool_free(&m->pool, b, b->size);
    }
    pool_fini(&m->pool);
}

/* ---- time and chance ---- */

int sctp_own_gettimeofday(struct timeval *, void *zone);
int sctp_own_gettimeofday(struct timeval *t, void *zone)
{
    vtime at = now();

    (void)zone;
    t->tv_sec = EPOCH + at / VTIME_S;
    t->tv_usec = at % VTIME_S / VTIME_US;
    return 0;
}

int sctp_calculate_rto(void *association, void *its, void *path, struct timeval *sent, int kind);
int sctp_own_sctp_calculate_rto(void *association, void *its, void *path, struct timeval *sent,
                                int kind);

/* A packet that was sent then has been answered now. */
int sctp_own_sctp_calculate_rto(void *association, void *its, void *path, struct timeval *sent,
                                int kind)
{
    vtime at = (sent->tv_sec - EPOCH) * VTIME_S + sent->tv_usec * VTIME_US;

    if (current.end && at >= 0)
        packet_stream_rtt(&current.end->base, now(), now() - at);
    return sctp_calculate_rto(association, its, path, sent, kind);
}

uint32_t sctp_own_sctp_get_tick_count(void);
uint32_t sctp_own_sctp_get_tick_count(void)
{
    return (uint32_t)(now() / VTIME_MS);
}

void sctp_own_read_random(void *buf, size_t size);
void sctp_own_read_random(void *buf, size_t size)
{
    for (size_t i = 0; i < size; i += 8) {
        uint64_t bits = rng_next(&current.host->state->rng);

        memcpy((char *)buf + i, &bits, size - i < 8 ? size - i : 8);
    }
}

/* ---- timers ---- */

/* Removes it from the list of its end. */
static void unlink_timer(struct sctp_timer *timer)
{
    struct sctp_timer **at = &current.end->timers;

    while (*at != timer)
        at = &(*at)->next;
    *at = timer->next;
    timer->flags &= ~PENDING;
}

/* Timers of a node as a whole change the keys of its cookies: no program notices that, and they
 * would never end. */
int sctp_own_sctp_os_timer_start(struct sctp_timer *, uint32_t ticks, void (*expired)(void *),
                                 void *argument);
int sctp_own_sctp_os_timer_start(struct sctp_timer *timer, uint32_t ticks, void (*expired)(void *),
                                 void *argument)
{
    struct sctp_end *end = current.end;
    struct sctp_timer **last;
    int was_pending = timer->flags & PENDING;

    if (!end)
        return 0;
    if (was_pending)
        unlink_timer(timer);
    *timer = (struct sctp_timer){.at = vtime_add(now(), (ticks ? ticks : 1) * VTIME_MS),
                                 .argument = argument,
                                 .expired = expired,
                                 .flags = ACTIVE | PENDING};
    for (last = &end->timers; *last;)
        last = &(*last)->next;
    *last = timer;
    packet_stream_timer(current.host->state->net, &end->base, timer->at);
    return was_pending != 0;
}

int sctp_own_sctp_os_timer_stop(struct sctp_timer *);
int sctp_own_sctp_os_timer_stop(struct sctp_timer *timer)
{
    int was_pending = timer->flags & PENDING;

    if (was_pending)
        unlink_timer(timer);
    timer->flags = 0;
    return was_pending != 0;
}

/* The first that is due next, in the order of their starts; NULL: none is pending. */
static struct sctp_timer *first_timer(const struct sctp_end *end)
{
    struct sctp_timer *first = end->timers;

    for (struct sctp_timer *t = first; t; t = t->next)
        if (t->at < first->at)
            first = t;
    return first;
}

void sctp_system_expire(struct sctp_end *end, vtime t)
{
    struct sctp_timer *timer;

    sctp_system_enter(end->endpoint->host, end);
    while ((timer = first_timer(end)) && timer->at <= t) {
        unlink_timer(timer);
        timer->expired(timer->argument);
    }
    if (timer)
        packet_stream_timer(end->endpoint->host->state->net, &end->base, timer->at);
    sctp_system_leave();
}

/* ---- what there is none of: interfaces, threads, locks ---- */

extern const struct in6_addr sctp_own_in6addr_any;
const struct in6_addr sctp_own_in6addr_any = {0};

int sctp_own_getifaddrs(void **list);
int sctp_own_getifaddrs(void **list)
{
    *list = NULL;
    return 0;
}

#define NOTHING(name)          \
    int sctp_own_##name(void); \
    int sctp_own_##name(void)  \
    {                          \
        return 0;              \
    }
NOTHING(freeifaddrs)
NOTHING(init_random)
NOTHING(finish_random)
NOTHING(sctp_startup_iterator)
NOTHING(pthread_mutex_init)
NOTHING(pthread_mutex_destroy)
NOTHING(pthread_mutex_lock)
NOTHING(pthread_mutex_trylock)
NOTHING(pthread_mutex_unlock)
