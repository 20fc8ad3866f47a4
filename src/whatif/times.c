/*
 * times.c - hypotheses about computing: scale, set and balance a region, speed up ranks.
 *
 * The time of a region is what its rank computes in it, in regions inside of it too, but not in MPI
 * calls. A visit begins when the region is entered from outside. The time of a call site is what is
 * computed before the calls from there; every call is a visit.
 */
#include <string.h>

#include "base/array.h"
#include "whatif/whatif.h"

/* ---- where a rank is ---- */

struct inside {
    uint32_t depth; /* regions entered since, this one included; 0: outside */
    int64_t visits; /* that began */
};

/* Whether the gap before this record belongs to the region: call it before `passed`. */
static int is_inside(const struct inside *in)
{
    return in->depth > 0;
}

/* 1: a visit begins with this record, -1: it ends. */
static int passed(struct inside *in, const struct whatif_stage *s, const struct trace_event *e)
{
    if (e->head == TRACE_REGION_ENTER) {
        if (in->depth > 0) {
            in->depth++;
        } else if (whatif_matches(s->what->subject, whatif_region(s->rank, e))) {
            in->depth = 1;
            in->visits++;
            return 1;
        }
    } else if (e->head == TRACE_REGION_LEAVE && in->depth > 0 && --in->depth == 0) {
        return -1;
    }
    return 0;
}

static int is_site(const struct whatif_stage *s, const struct trace_event *e)
{
    const char *text = e->head == TRACE_CALL && e->site
                           ? trace_definitions_site(&s->rank->trace->definitions, e->site)
                           : NULL;
    return text && whatif_matches(s->what->subject, text);
}

/* Whether the hypothesis is about this visit; if so, counts a hit. */
static int applies(struct whatif_stage *s, int64_t visit)
{
    int is_meant = whatif_is_about(s->what, s->rank->trace, s->rank->rank) &&
                   whatif_in(&s->what->visits, visit);
    s->hits += (uint64_t)is_meant;
    return is_meant;
}

static int64_t times(int64_t time, double factor)
{
    return (int64_t)((double)time * factor + 0.5);
}

/* ---- speed: of everything that some ranks compute ---- */

static int next_speed(struct whatif_stage *s, struct whatif_item *item, struct err *err)
{
    int more = whatif_next(s->before, item, err);
    if (more > 0 && whatif_is_about(s->what, s->rank->trace, s->rank->rank)) {
        item->gap = times(item->gap, 1 / s->what->factor);
        s->hits++;
    }
    return more;
}

const struct whatif_kind whatif_speed = {"speed", .bytes = sizeof(struct whatif_stage),
                                         .next = next_speed};

/* ---- scale ---- */

struct scale {
    struct whatif_stage stage;
    struct inside in;
};

static int next_scale(struct whatif_stage *s, struct whatif_item *item, struct err *err)
{
    struct scale *scale = (struct scale *)s;
    int more = whatif_next(s->before, item, err);
    if (more <= 0)
        return more;
    int here = s->what->is_site ? is_site(s, item->event) && ++scale->in.visits
                                : is_inside(&scale->in);
    if (here && applies(s, scale->in.visits - 1))
        item->gap = times(item->gap, s->what->factor);
    if (!s->what->is_site)
        passed(&scale->in, s, item->event);
    return more;
}

const struct whatif_kind whatif_scale = {"scale", .bytes = sizeof(struct scale),
                                         .next = next_scale};

/* ---- set and balance: every visit gets a time ---- */

struct fixed {
    struct whatif_stage stage;
    struct inside in, ahead;
    int64_t total; /* the old time of the visit */
    int64_t left;  /* what is left of its new time */
    int64_t wanted;
    int is_changed;
};

/* The time of the visit that begins here; reads ahead to its end. */
static int64_t read_visit(struct whatif_stage *s, struct inside *in)
{
    struct whatif_item item;
    struct err err;
    int64_t total = 0;
    int has_begun = 0, step;
    while (whatif_next(s->ahead, &item, &err) > 0) {
        if (has_begun)
            total += item.gap;
        step = passed(in, s, item.event);
        if (step > 0)
            has_begun = 1;
        else if (step < 0)
            break;
    }
    return total;
}

/* Times of visits over all ranks: for balance. */
struct means {
    double *sum;
    uint32_t *count;
    size_t visits, room;
};

static int64_t wanted_of(const struct whatif_stage *s, int64_t visit)
{
    const struct means *m = s->what->facts;
    if (!m)
        return s->what->time;
    return (uint64_t)visit < m->visits && m->count[visit]
               ? (int64_t)(m->sum[visit] / m->count[visit] + 0.5)
               : 0;
}

/* Scales a part of the old time to the new one, so that the sum is exact. */
static int64_t share(struct fixed *f, int64_t gap)
{
    int64_t part = f->total > 0 ? times(gap, (double)f->wanted / (double)f->total) : 0;
    if (part > f->left)
        part = f->left;
    f->left -= part;
    return part;
}

static int next_fixed(struct whatif_stage *s, struct whatif_item *item, struct err *err)
{
    struct fixed *f = (struct fixed *)s;
    int more = whatif_next(s->before, item, err);
    if (more <= 0)
        return more;
    if (s->what->is_site) {
        if (is_site(s, item->event) && applies(s, f->in.visits++))
            item->gap = wanted_of(s, f->in.visits - 1);
        return more;
    }
    if (is_inside(&f->in) && f->is_changed)
        item->gap = share(f, item->gap);
    int step = passed(&f->in, s, item->event);
    if (step > 0) {
        f->total = read_visit(s, &f->ahead);
        f->is_changed = applies(s, f->in.visits - 1);
        f->wanted = f->left = f->is_changed ? wanted_of(s, f->in.visits - 1) : 0;
    } else if (step < 0 && f->is_changed) {
        item->gap += f->left; /* what rounding left, or all if it had computed nothing */
        f->left = f->is_changed = 0;
    }
    return more;
}

const struct whatif_kind whatif_set_time = {"set", .bytes = sizeof(struct fixed), .looks_ahead = 1,
                                            .next = next_fixed};

/* ---- balance ---- */

static void add_visit(struct means *m, int64_t visit, int64_t time)
{
    if ((uint64_t)visit >= m->visits) {
        size_t room = m->room; /* of both arrays */
        ARRAY_RESERVE_ZERO(m->sum, room, (size_t)visit + 1, 16);
        ARRAY_RESERVE_ZERO(m->count, m->room, (size_t)visit + 1, 16);
        m->visits = (size_t)visit + 1;
    }
    m->sum[visit] += (double)time;
    m->count[visit]++;
}

/* All visits of a thread, as the hypotheses before this one leave them. */
static void add_thread(struct whatif *what, struct whatif_rank *rank, size_t number)
{
    struct whatif_stage probe = {.what = what, .rank = rank};
    struct whatif_stage *s = whatif_open(rank, number);
    struct whatif_item item;
    struct inside in = {0};
    struct err err;
    int64_t total = 0;
    while (whatif_next(s, &item, &err) > 0) {
        if (what->is_site) {
            if (is_site(&probe, item.event))
                add_visit(what->facts, in.visits++, item.gap);
            continue;
        }
        if (is_inside(&in))
            total += item.gap;
        int step = passed(&in, &probe, item.event);
        if (step > 0)
            total = 0;
        else if (step < 0)
            add_visit(what->facts, in.visits - 1, total);
    }
    whatif_close(s);
}

static int learn_means(struct whatif *what, struct trace *t, const struct whatif_list *list,
                       size_t number, struct err *err)
{
    (void)err;
    what->facts = mem_zalloc(sizeof(struct means));
    for (uint64_t rank = 0; rank < t->header.ranks; rank++) {
        struct trace_local locals;
        if (!whatif_is_about(what, t, rank))
            continue;
        trace_local_read(&locals, t, rank);
        for (unsigned thread = 0; thread < trace_threads(t, rank); thread++) {
            struct whatif_rank r = whatif_rank_of(list, t, rank, thread, &locals);
            add_thread(what, &r, number);
        }
        trace_local_fini(&locals);
    }
    return 0;
}

static void forget_means(struct whatif *what)
{
    struct means *m = what->facts;
    if (!m)
        return;
    mem_free(m->sum);
    mem_free(m->count);
    mem_free(m);
}

const struct whatif_kind whatif_balance = {"balance",
                                           .bytes = sizeof(struct fixed),
                                           .learn = learn_means,
                                           .forget = forget_means,
                                           .looks_ahead = 1,
                                           .next = next_fixed};
