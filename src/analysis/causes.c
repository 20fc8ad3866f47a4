/*
 * causes.c - lanes in order of time, and the result.
 */
#include "analysis/causes.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/memory.h"
#include "analysis/causes_internal.h"
#include "base/array.h"
#include "base/mem.h"

#define SUMS_BYTES ((size_t)256 << 20) /* of all ranks by all places */
#define PLACES_LEAST 16u
#define PLACES_MOST 512u

static inline int due_before(const struct due *a, const struct due *b)
{
    if (a->time != b->time)
        return a->time < b->time;
    if (a->bump != b->bump)
        return a->bump < b->bump;
    return a->lane < b->lane;
}
HEAP_FUNCTIONS(due_heap, struct due, 4, 1024, due_before, HEAP_UNTRACKED);

/* ---- one lane ---- */

/* Reads the next record that matters; 0: there is none. */
static int advance(struct causes *r, struct lane *l)
{
    struct err err;
    int more;
    while ((more = trace_cursor_next(&l->cursor, &l->event, &err)) != 0) {
        if (more < 0) {
            if (!r->warning.code)
                r->warning = err;
            continue;
        }
        unsigned head = l->event.head;
        if (head == TRACE_CALL || head == TRACE_REGION_ENTER || head == TRACE_REGION_LEAVE ||
            head == TRACE_OPEN)
            return 1;
    }
    return 0;
}

static uint32_t region_of(const struct lane *l)
{
    return l->region_count ? l->regions[l->region_count - 1] : 0;
}

/* A call that did not end begins before the time of its record. */
static int64_t event_begin(const struct lane *l)
{
    uint64_t fn, time;
    const struct trace_event *e = &l->event;
    const uint8_t *end = e->payload + e->bytes, *at;
    if (e->head != TRACE_OPEN)
        return e->enter;
    at = trace_varint_get(e->payload, end, &fn);
    return at && trace_varint_get(at, end, &time) && time <= (uint64_t)e->leave
               ? e->leave - (int64_t)time
               : e->leave;
}

/* The lane has left its call. */
static void leave_call(struct causes *r, struct lane *l)
{
    if (l->blocked) {
        l->blocked->is_current = 0;
        if (--l->blocked->refs == 0)
            pool_free(&r->pool, l->blocked, sizeof *l->blocked);
        l->blocked = NULL;
    }
    l->awaiting = 0;
    l->meeting_count = l->settled = 0;
    l->peeks.is_on = 0;
    if (r->has_delays)
        delays_spend(&l->sums, l->place, l->leave - l->enter - l->waited);
    if (r->has_path)
        path_add(&l->path, l->place, l->leave - l->path_from);
    if (l->is_file)
        l->ideal.files += l->leave - l->enter - l->waited;
    l->is_file = 0;
    l->waited = 0;
}

/* The lane has computed since its last call; within a region the next call does not matter. */
static void compute(struct causes *r, struct lane *l, int64_t until, uint32_t place)
{
    int64_t ticks = until - l->leave;
    if (ticks <= 0)
        return;
    if (r->has_path)
        path_add(&l->path, place, ticks);
    /* A rank that was spawned exists from its first call on. */
    if (!l->is_begun && r->lanes[l->rank].handles.world.comm != HANDLES_WORLD)
        return;
    l->ideal.all += ticks;
    l->ideal.files += ticks;
    if (r->has_delays)
        delays_spend(&l->sums, place, ticks);
}

/* Regions have no function; the number after the last one stands for that. */
static uint32_t region_place(struct causes *r, const struct lane *l)
{
    return places_find(&r->places, region_of(l), r->trace.header.schema->count, 0);
}

static void take_region(struct causes *r, struct lane *l)
{
    uint64_t number;
    const struct trace_event *e = &l->event;
    const struct handles *h = &r->lanes[l->rank].handles;
    compute(r, l, e->enter, region_place(r, l));
    l->enter = l->leave = l->path_from = e->enter > l->leave ? e->enter : l->leave;
    if (e->head == TRACE_REGION_LEAVE) {
        l->region_count -= l->region_count > 0;
        return;
    }
    ARRAY_RESERVE(l->regions, l->region_room, l->region_count + 1, 4);
    l->regions[l->region_count++] = trace_varint_get(e->payload, e->payload + e->bytes, &number) &&
                                            number < h->region_count
                                        ? h->regions[number]
                                        : 0;
}

static void take_call(struct causes *r, struct lane *l)
{
    const struct trace_event *e = &l->event;
    uint64_t fn = e->fn;
    if (e->head == TRACE_OPEN)
        trace_varint_get(e->payload, e->payload + e->bytes, &fn);
    if (fn >= r->trace.header.schema->count)
        fn = r->trace.header.schema->count;
    uint32_t region = region_of(l);
    uint32_t place = places_find(&r->places, region, (uint32_t)fn,
                                 e->head == TRACE_CALL ? e->site : 0);
    int64_t enter = event_begin(l);
    if (enter < l->leave)
        enter = l->leave;
    compute(r, l, enter, region ? region_place(r, l) : place);
    l->enter = l->path_from = enter;
    l->leave = e->leave > enter ? e->leave : enter;
    l->place = place + 1;
    l->is_file = e->head == TRACE_CALL && r->shapes[e->fn].kind == MPI_DOES_FILE;
    if (e->head == TRACE_CALL && r->shapes[e->fn].kind != MPI_DOES_LOCAL)
        causes_call(r, l);
}

static void take(struct causes *r, struct lane *l)
{
    r->progress++;
    leave_call(r, l);
    l->enter = l->leave; /* the call is attributed already */
    if (l->event.head == TRACE_REGION_ENTER || l->event.head == TRACE_REGION_LEAVE)
        take_region(r, l);
    else
        take_call(r, l);
    l->is_begun = 1;
}

static void end_lane(struct causes *r, struct lane *l)
{
    leave_call(r, l);
    l->enter = l->path_from = l->leave;
    trace_cursor_close(&l->cursor);
    if (l == &r->lanes[l->rank])
        match_end(r, l);
    l->is_over = 1;
}

/* ---- all of them ---- */

/* Whether the lane's next record does not concern other ranks. */
static int is_private(const struct causes *r, const struct lane *l)
{
    return l->awaiting == 0 &&
           (l->event.head != TRACE_CALL || r->shapes[l->event.fn].kind == MPI_DOES_LOCAL);
}

static int another_is_due(const struct due_heap *h)
{
    for (uint32_t i = 1; i <= 4 && i < h->len; i++)
        if (h->at[i].time == h->at[0].time)
            return 1;
    return 0;
}

/* At equal times, lanes that wait for nothing come first, then those that may have waited in vain,
 * for instance in a send that no rank receives yet. */
static uint32_t patience(const struct lane *l)
{
    return l->awaiting > l->settled ? 1 + (l->blocked && l->blocked->must_wait) : 0;
}

/* The next turn of a lane: without more records it may still learn what it waited for. */
static struct due next_turn(const struct lane *l, uint32_t number)
{
    int64_t time = l->has_more && !l->settles ? event_begin(l) : l->leave;
    return (struct due){time, patience(l), number};
}

static void run(struct causes *r)
{
    while (r->due.len) {
        struct due due = r->due.at[0];
        struct lane *l = &r->lanes[due.lane];
        causes_ahead(r);
        if (l->awaiting && l->bumped != r->progress && another_is_due(&r->due)) {
            l->bumped = r->progress;
            due.bump++;
            due_heap_replace(&r->due, 0, due);
            continue;
        }
        if (l->settles) {
            l->settled = coll_settle(r, l);
            l->settles = 0;
            due_heap_replace(&r->due, 0, next_turn(l, due.lane));
            continue;
        }
        if (!l->has_more) {
            due_heap_pop(&r->due);
            end_lane(r, l);
            continue;
        }
        do {
            take(r, l);
            l->has_more = (uint8_t)advance(r, l);
        } while (l->has_more && is_private(r, l));
        l->settles = l->meeting_count > 0;
        due_heap_replace(&r->due, 0, next_turn(l, due.lane));
    }
}

/* ---- beginning and end ---- */

static void open_lane(struct causes *r, uint32_t number, uint64_t rank, unsigned thread)
{
    struct lane *l = &r->lanes[number];
    l->rank = (uint32_t)rank;
    l->path.rank = (uint32_t)rank;
    trace_cursor_open(&l->cursor, &r->trace, rank, thread, TRACE_RECORDS);
    if (!advance(r, l)) {
        trace_cursor_close(&l->cursor);
        l->is_over = 1;
        return;
    }
    r->is_there[number] = l->has_more = 1;
    due_heap_append(&r->due, (struct due){event_begin(l), 0, number});
}

static void open_lanes(struct causes *r)
{
    uint64_t ranks = r->trace.header.ranks;
    uint32_t more = 0;
    for (uint64_t i = 0; i < ranks; i++) {
        unsigned threads = trace_threads(&r->trace, i);
        more += threads > 1 ? threads - 1 : 0;
    }
    r->ranks = (uint32_t)ranks;
    r->lane_count = (uint32_t)ranks + more;
    r->lanes = mem_zalloc((r->lane_count + 1) * sizeof *r->lanes);
    r->is_there = mem_zalloc((r->lane_count + 1) * sizeof *r->is_there);
    for (uint32_t i = 0, next = r->ranks; i < r->ranks; i++) {
        handles_read(&r->lanes[i].handles, &r->book, i);
        map_init(&r->lanes[i].requests);
        map_init(&r->lanes[i].partitioned);
        open_lane(r, i, i, 0);
        for (unsigned thread = 1, threads = trace_threads(&r->trace, i); thread < threads; thread++)
            open_lane(r, next++, i, thread);
    }
    due_heap_build(&r->due);
    r->begin = r->due.len ? r->due.at[0].time : 0;
    for (uint32_t i = 0; i < r->lane_count; i++)
        r->lanes[i].enter = r->lanes[i].leave = r->lanes[i].path_from = r->begin;
}

static uint32_t places_most(uint64_t ranks)
{
    size_t most = SUMS_BYTES / sizeof(struct delay_cell) / 2 / (ranks ? ranks : 1);
    return most < PLACES_LEAST ? PLACES_LEAST : most > PLACES_MOST ? PLACES_MOST : (uint32_t)most;
}

struct causes *causes_run(const char *path, const struct analysis_options *o, struct err *err)
{
    struct causes *r = mem_zalloc(sizeof *r);
    if (trace_open(&r->trace, path, err) != 0) {
        mem_free(r);
        return NULL;
    }
    r->groups = o->groups;
    r->watch = o->watch;
    r->has_path = (o->groups & 1u << ANALYSIS_PATH) != 0;
    r->has_delays = (o->groups & 1u << ANALYSIS_DELAYS) != 0;
    handles_book_init(&r->book, &r->trace);
    r->shapes = calls_of(r->trace.header.schema);
    pool_init(&r->pool, "analysis");
    map_init(&r->channels);
    map_init(&r->partitioned);
    places_init(&r->places, r->trace.header.schema->count + 1, places_most(r->trace.header.ranks));
    delays_init(&r->delays);
    pairs_init(&r->pairs, o->pairs_most, &r->delays);
    open_lanes(r);
    path_init(&r->path, r->lane_count);
    run(r);
    return r;
}

/* ---- the result ---- */

static void place_result(const struct causes *r, struct analysis *a, double second)
{
    const struct trace_schema *schema = r->trace.header.schema;
    a->place_count = 2 * (size_t)r->places.count;
    a->place = analysis_keep(a, (a->place_count + 1) * sizeof *a->place);
    for (size_t i = 0; i < a->place_count; i++) {
        const struct place_key *key = &r->places.keys[i / 2];
        const char *site = i >= 2 && key->site
                               ? trace_definitions_site(&r->trace.definitions, key->site)
                               : NULL;
        struct analysis_place *p = &a->place[i];
        *p = (struct analysis_place){
            .region = analysis_keep_text(a, i >= 2 ? r->book.regions[key->region] : ""),
            .function = analysis_keep_text(a, i >= 2 && key->fn < schema->count
                                                  ? schema->fns[key->fn].name
                                                  : ""),
            .site = analysis_keep_text(a, site ? site : ""),
            .is_compute = i % 2 == 0,
            .is_file = i >= 2 && i % 2 && key->fn < schema->count &&
                       r->shapes[key->fn].kind == MPI_DOES_FILE,
        };
        if (i < r->delays.count) {
            p->delay_direct = r->delays.direct[i] * second;
            p->delay_indirect = r->delays.indirect[i] * second;
        }
        for (unsigned k = 0; i < r->place_count && k < ANALYSIS_WAIT_KINDS; k++)
            p->waits[k] = (double)r->place_waits[i][k] * second;
    }
    a->delay_known = r->delays.known * second;
    a->delay_unknown = r->delays.unknown * second;
}

static void add_function_waits(struct analysis *a)
{
    for (size_t i = 0; i < a->place_count; i++)
        for (size_t k = 0; k < a->function_count; k++) {
            if (strcmp(a->place[i].function, a->function[k].name) != 0)
                continue;
            for (unsigned w = 0; w < ANALYSIS_WAIT_KINDS; w++)
                a->function[k].waits += a->place[i].waits[w];
        }
}

/* The critical path is the path of the rank that ends last. */
static void path_result(struct causes *r, struct analysis *a, double second)
{
    struct lane *last = NULL;
    size_t count;
    for (uint32_t i = 0; i < r->lane_count; i++)
        if (r->is_there[i] && (!last || r->lanes[i].leave > last->leave))
            last = &r->lanes[i];
    if (!last || !r->has_path)
        return;
    struct path_entry *entries = path_take(&r->path, &last->path, &count, &a->path_hops);
    for (size_t i = 0; i < count; i++) {
        double time = (double)entries[i].ticks * second;
        a->rank[entries[i].rank].path += time;
        if (entries[i].place < a->place_count)
            a->place[entries[i].place].path += time;
        if (entries[i].place % 2)
            a->path_mpi += time;
        else
            a->path_compute += time;
        if (entries[i].place < a->place_count && a->place[entries[i].place].is_file)
            a->path_file += time;
    }
    mem_free(entries);
}

static void rank_result(const struct causes *r, struct analysis *a, double second)
{
    struct ideal ideal = {0, 0};
    for (uint32_t i = 0; i < r->ranks; i++)
        for (unsigned k = 0; k < ANALYSIS_WAIT_KINDS; k++) {
            a->rank[i].waits[k] = (double)r->lanes[i].waits[k] * second;
            a->waits[k] += a->rank[i].waits[k];
        }
    for (unsigned k = 0; k < ANALYSIS_WAIT_KINDS; k++)
        a->wait_counts[k] = r->wait_counts[k];
    for (uint32_t i = 0; i < r->lane_count; i++) {
        a->rank[r->lanes[i].rank].delay_cost += r->lanes[i].delay_cost * second;
        ideal_reach(&ideal, r->lanes[i].ideal);
    }
    a->efficiency.ideal = (double)ideal.files * second;
    a->efficiency.ideal_without_files = (double)ideal.all * second;
}

static void causes_free(struct causes *r)
{
    for (uint32_t i = 0; i < r->lane_count; i++) {
        struct lane *l = &r->lanes[i];
        for (uint32_t k = 0; k < l->comm_count; k++) {
            mem_free(l->comms[k].then);
            hood_free(r, l->comms[k].hood);
            epoch_free(l->comms[k].win);
        }
        mem_free(l->comms);
        mem_free(l->meetings);
        mem_free(l->world);
        mem_free(l->regions);
        mem_free(l->sums.cells);
        path_end_fini(&l->path);
        handles_fini(&l->handles);
        if (i < r->ranks) {
            map_fini(&l->requests);
            map_fini(&l->partitioned);
        }
    }
    mem_free(r->lanes);
    mem_free(r->is_there);
    mem_free(r->due.at);
    mem_free(r->place_waits);
    mem_free(r->shapes);
    places_fini(&r->places);
    map_fini(&r->partitioned);
    path_fini(&r->path);
    pairs_fini(&r->pairs);
    delays_fini(&r->delays);
    pool_fini(&r->pool);
    handles_book_fini(&r->book);
    trace_close(&r->trace);
    mem_free(r);
}

void causes_result(struct causes *r, struct analysis *a)
{
    double second = (double)r->trace.header.tick / 1e12;
    channels_fini(r);
    coll_fini(r);
    a->unmatched_sends = (double)r->unmatched_sends;
    a->unmatched_receives = (double)r->unmatched_receives;
    rank_result(r, a, second);
    place_result(r, a, second);
    path_result(r, a, second);
    add_function_waits(a);
    if (a->groups & 1u << ANALYSIS_PAIRS)
        pairs_result(&r->pairs, second, a);
    causes_free(r);
}
