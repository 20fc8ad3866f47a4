/* The requests of a replay, against a list of them that is searched. */
#include "base/rng.h"
#include "replay/replay.h"
#include "tap.h"

#define MOST 300

/* What a number means, as requests.c should have it. */
struct model {
    int64_t number, origin;
    int handle; /* 0: MPI_REQUEST_NULL */
    int is_drawn;
};

static struct model list[MOST];
static unsigned count;

void replay_unnamed_set(struct replay_rank *k, int64_t request, MPI_Comm comm)
{
    (void)k, (void)request, (void)comm;
}

void replay_persistent_forget(struct replay_rank *k, int64_t number)
{
    (void)k, (void)number;
}

static struct model *look(int64_t number)
{
    for (unsigned i = 0; i < count; i++)
        if (list[i].number == number)
            return &list[i];
    return NULL;
}

static void forget(struct model *m)
{
    *m = list[--count];
}

static int agrees(struct replay_rank *k, int64_t number)
{
    const struct model *m = look(number);
    const struct replay_request *r = replay_request_find(k, number);
    if (replay_request_is_drawn(k, number) != (m && m->is_drawn))
        return 0;
    if (!m || m->is_drawn)
        return r == NULL;
    return r && r->origin == m->origin && (int)r->handle == m->handle;
}

static int all_agree(struct replay_rank *k, int64_t below)
{
    int same = k->request_count == count;
    for (int64_t i = -1; i < below; i++)
        same &= agrees(k, i);
    return same;
}

static void complete(struct replay_rank *k, struct model *m, int is_persistent)
{
    if (!m->is_drawn && !is_persistent) {
        replay_request_find(k, m->number)->handle = MPI_REQUEST_NULL;
        m->handle = (int)MPI_REQUEST_NULL;
    }
}

static void step(struct replay_rank *k, struct rng *rng, int64_t *next)
{
    struct model *m = count ? &list[rng_below(rng, count)] : NULL;
    unsigned what = (unsigned)rng_below(rng, 8);
    if (!m || (what < 4 && count < MOST)) { /* numbers grow, some are left out */
        *next += 1 + (int64_t)(rng_below(rng, 10) == 0) * 40;
        if (what == 3) {
            replay_request_never(k, *next);
            list[count++] = (struct model){*next, 0, (int)MPI_REQUEST_NULL, 1};
            return;
        }
        replay_request_add(k, *next, (MPI_Request)(1000 + *next), 0, 0);
        list[count++] = (struct model){*next, *next, (int)(1000 + *next), 0};
    } else if (what < 6) {
        complete(k, m, what == 5);
        replay_request_done(k, m->number);
        if (!m->is_drawn && m->handle == (int)MPI_REQUEST_NULL)
            forget(m);
    } else if (what == 6 && !m->is_drawn) {
        complete(k, m, rng_below(rng, 2) == 0);
        replay_request_draw(k, m->number);
        m->is_drawn = 1;
    } else if (m->is_drawn) {
        replay_request_undraw(k, m->number);
        m->is_drawn = 0;
        if (m->handle == (int)MPI_REQUEST_NULL)
            forget(m);
    } else {
        struct model *other = &list[rng_below(rng, count)], was = *m;
        replay_request_swap(k, m->number, other->number);
        *m = (struct model){was.number, other->origin, other->handle, other->is_drawn};
        *other = (struct model){other->number, was.origin, was.handle, was.is_drawn};
    }
}

int main(void)
{
    struct replay replay = {0};
    plan_auto();
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct replay_rank k = {.replay = &replay};
        struct rng rng;
        int64_t next = 0;
        int same = 1;
        rng_seed(&rng, seed);
        count = 0;
        for (int i = 0; i < 400; i++) {
            step(&k, &rng, &next);
            same &= all_agree(&k, next + 2);
        }
        ok(same, "seed %llu: %u requests are left, as in the list", (unsigned long long)seed,
           count);
        replay_requests_free(&k);
    }
    return done_testing();
}
