/*
 * leaks.c - objects that programs did not free: recorded per rank and handle, summed up over ranks
 * at the end.
 *
 *     of a rank: (kind, handle) -> count, call that made it, call site     while the program runs
 *     (kind, call, name, call site, count per rank) -> ranks               in the end
 *
 * Requests are found in their table when the run is over, messages in the queues of their ranks.
 */
#include "mpi/leaks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/units.h"
#include "mpi/comm/comm.h"
#include "mpi/p2p/request.h"
#include "mpi/state.h"

#define FN_BITS 16
#define HANDLE_BITS 28
#define NAME_MAX_BYTES 96
#define SITE_MAX 128      /* "0x11f2 in app" */
#define WHERE_MAX 512     /* with function, file and line */
#define FOLD_ABOVE 100000 /* messages of a rank are summed up when there are this many */

enum kind {
    KIND_REQUEST = 0,
    KIND_OBJECT, /* and so on, by enum mpi_object */
    KIND_MESSAGE = KIND_OBJECT + MPI_OBJECTS,
    KINDS
};
_Static_assert(KINDS <= 16, "a kind has 4 bits");

/* One rank's leaks of one sort, or with `ranks` those of many. */
struct leak {
    uint32_t kind, fn;
    uint64_t count;    /* per rank */
    uint64_t ranks;    /* before summing up: which rank */
    uint32_t from, to; /* of the first message, in order of the ranks of receiver and sender */
    uint64_t bytes;
    const char *where; /* after merging: function, file and line of the call, or NULL */
    char name[NAME_MAX_BYTES];
    char site[SITE_MAX]; /* of the call that made it; "": not known */
};

/* A rank's state `made`: kind << HANDLE_BITS | handle -> count << FN_BITS | fn. */
static struct buf merged; /* process 0: struct leak, sorted */

static const char *const kind_name[KINDS] = {
    "request",       "communicator",  "group",  "datatype", "operation", "info object",
    "error handler", "attribute key", "window", "file",     "message",
};

/* In MPICH's handles the two highest bits are 2 for objects that programs create. Keys and files
 * differ, and the Fortran 90 types are predefined although a call returns them. */
static int is_made(enum mpi_object kind, uint64_t handle)
{
    if (kind == MPI_OBJECT_KEYVAL || kind == MPI_OBJECT_FILE)
        return handle != 0;
    if (kind == MPI_OBJECT_TYPE) {
        const struct mpi_type *t = mpi_type_get((MPI_Datatype)handle);

        return t && !t->builtin;
    }
    return handle >> 30 == 2;
}

static uint64_t key_of(enum mpi_object kind, uint64_t handle)
{
    uint64_t part = kind == MPI_OBJECT_FILE ? handle >> 4 : handle;

    return (uint64_t)(KIND_OBJECT + kind) << HANDLE_BITS |
           (part & ((UINT64_C(1) << HANDLE_BITS) - 1));
}

static uint64_t key_of_request(MPI_Request request)
{
    return (uint64_t)KIND_REQUEST << HANDLE_BITS |
           ((uint64_t)(uint32_t)request & ((UINT64_C(1) << HANDLE_BITS) - 1));
}

/* Records the call site of a new object. A request may make it in a strand, whose stack does not
 * have the program: then it is that of the call which has started the request, or is about to
 * return it; until then, the request's entry in made_at is the key of the object. */
static void add_site(struct mpi_rank *self, uint64_t key, MPI_Request request)
{
    char site[SITE_MAX];
    const uint64_t *started;

    if (!request) {
        if (vp_caller(site, sizeof site))
            *mpi_state_insert(self, MPI_STATE_made_at, key) = (uintptr_t)mpi_text_keep(site);
        return;
    }
    started = mpi_state_find(self, MPI_STATE_made_at, key_of_request(request));
    if (started)
        *mpi_state_insert(self, MPI_STATE_made_at,
                          key) = (uintptr_t)mpi_text_keep((const char *)(uintptr_t)*started);
    else
        *mpi_state_insert(self, MPI_STATE_made_at, key_of_request(request)) = key;
}

/* A handle may be returned several times: the first call is recorded. */
static void add(struct mpi_rank *self, uint64_t key, enum mpi_fn fn, MPI_Request request)
{
    uint64_t *at = mpi_state_insert(self, MPI_STATE_made, key);
    int is_new = !*at;

    *at = (is_new ? fn : *at) + (UINT64_C(1) << FN_BITS);
    if (is_new)
        add_site(self, key, request);
}

static void remove_one(struct mpi_rank *self, uint64_t key)
{
    uint64_t *at = mpi_state_find(self, MPI_STATE_made, key), *site;

    if (!at)
        return;
    *at -= UINT64_C(1) << FN_BITS;
    if (*at >> FN_BITS)
        return;
    mpi_state_remove(self, MPI_STATE_made, key);
    site = mpi_state_find(self, MPI_STATE_made_at, key);
    if (!site)
        return;
    mpi_text_drop((const char *)(uintptr_t)*site);
    mpi_state_remove(self, MPI_STATE_made_at, key);
}

static void on_made(struct mpi_rank *self, vtime t, const struct mpi_seen_object *seen)
{
    (void)t;
    if (is_made(seen->kind, seen->handle))
        add(self, key_of(seen->kind, seen->handle), seen->fn, seen->request);
}

static void on_freed(struct mpi_rank *self, vtime t, const struct mpi_seen_object *seen)
{
    (void)t;
    remove_one(self, key_of(seen->kind, seen->handle));
}

/* A persistent request starts many times, but one call has made it. */
static void start_request(struct mpi_rank *self, uint64_t key)
{
    const uint64_t *waits;
    uint64_t object;

    if (mpi_state_find(self, MPI_STATE_made, key))
        return;
    waits = mpi_state_find(self, MPI_STATE_made_at, key);
    object = waits ? *waits : 0;
    add(self, key, (enum mpi_fn)self->fn, 0);
    if (object && mpi_state_find(self, MPI_STATE_made, object))
        add_site(self, object, 0);
}

static void on_request(struct mpi_rank *self, vtime t, const struct mpi_seen_request *seen)
{
    uint64_t key = key_of_request(seen->request);

    (void)t;
    switch (seen->step) {
    case MPI_REQUEST_MADE:
    case MPI_REQUEST_START:
        start_request(self, key);
        break;
    case MPI_REQUEST_COMPLETE:
        if (!seen->persistent)
            remove_one(self, key);
        break;
    case MPI_REQUEST_FREE:
        remove_one(self, key);
        break;
    case MPI_REQUEST_UNFINISHED:
    case MPI_REQUEST_CANCEL:
        break;
    }
}

void mpi_leaks_init(void)
{
    static const struct mpi_observer leaks = {.name = "leaks",
                                              .made = on_made,
                                              .freed = on_freed,
                                              .request = on_request};

    mpi_world.own_requests = 1; /* a leaked request must know its call */
    mpi_observer_attach(&leaks);
}

/* ---- collecting ---- */

/* The name that the program gave it. */
static void find_name(struct leak *l, uint64_t key)
{
    uint32_t index = (uint32_t)(key & ((UINT64_C(1) << HANDLE_BITS) - 1));
    const char *name = "";

    if (l->kind == KIND_OBJECT + MPI_OBJECT_TYPE) {
        const struct mpi_type *t = mpi_type_get(
            (MPI_Datatype)(MPI_TYPE_CLASS_DIRECT | (index & MPI_TYPE_INDEX_MASK)));

        name = t ? mpi_type_name(t) : "";
    } else if (l->kind == KIND_OBJECT + MPI_OBJECT_COMM) {
        name = mpi_comm_name_for(&mpi_world.ranks[l->ranks],
                                 (MPI_Comm)(0x80000000u | (index & 0x0fffffffu)));
    }
    strncpy(l->name, name, sizeof l->name - 1);
}

/* Where it was made. */
static void find_site(struct leak *l, const struct mpi_rank *r, uint64_t key)
{
    const uint64_t *at = mpi_state_find(r, MPI_STATE_made_at, key);

    if (at)
        strncpy(l->site, (const char *)(uintptr_t)*at, sizeof l->site - 1);
}

static void add_objects(struct buf *out, const struct mpi_rank *r)
{
    const struct pairs *made = mpi_state_made(r);

    for (uint32_t i = 0; made && i < made->count; i++) {
        const struct pairs_item *p = &made->at[i];
        struct leak l = {.kind = (uint32_t)(p->key >> HANDLE_BITS),
                         .fn = (uint32_t)(p->val & ((1u << FN_BITS) - 1)),
                         .count = p->val >> FN_BITS,
                         .ranks = mpi_rank_index(r)};

        if (l.kind == KIND_REQUEST)
            continue; /* see add_request */
        find_name(&l, p->key);
        find_site(&l, r, p->key);
        buf_add(out, &l, sizeof l);
    }
}

static void add_request(const struct mpi_req *r, void *out)
{
    struct leak l = {.kind = KIND_REQUEST,
                     .fn = (uint32_t)mpi_req_maker(r),
                     .count = 1,
                     .ranks = r->owner};
    const struct mpi_rank *owner = &mpi_world.ranks[r->owner];
    uint64_t key = key_of_request(mpi_req_handle(r));
    const uint64_t *at = mpi_state_find(owner, MPI_STATE_made, key);

    if (at) {
        l.fn = (uint32_t)(*at & ((1u << FN_BITS) - 1));
        find_site(&l, owner, key);
    }
    buf_add(out, &l, sizeof l);
}

static int by_sort(const struct leak *a, const struct leak *b)
{
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->fn != b->fn)
        return a->fn < b->fn ? -1 : 1;
    int order = strcmp(a->name, b->name);
    return order ? order : strcmp(a->site, b->site);
}

static int by_rank(const void *x, const void *y)
{
    const struct leak *a = x, *b = y;

    if (a->ranks != b->ranks)
        return a->ranks < b->ranks ? -1 : 1;
    return by_sort(a, b);
}

static int by_count(const void *x, const void *y)
{
    const struct leak *a = x, *b = y;
    int order = by_sort(a, b);

    return order ? order : a->count < b->count ? -1 : a->count > b->count;
}

/* Of two similar messages, the one to describe. */
static void keep_first(struct leak *to, const struct leak *from)
{
    if (from->to < to->to || (from->to == to->to && from->from < to->from)) {
        to->to = from->to;
        to->from = from->from;
        to->bytes = from->bytes;
    }
}

/* Merges equal neighbours, adding their counts or ranks. */
static void fold(struct buf *b, int (*order)(const void *, const void *), int add_ranks)
{
    struct leak *l = (struct leak *)b->data;
    size_t n = b->len / sizeof *l, kept = 0;

    qsort(l, n, sizeof *l, order);
    for (size_t i = 0; i < n; i++) {
        if (kept && order(&l[kept - 1], &l[i]) == 0) {
            l[kept - 1].ranks += add_ranks ? l[i].ranks : 0;
            l[kept - 1].count += add_ranks ? 0 : l[i].count;
            keep_first(&l[kept - 1], &l[i]);
        } else {
            l[kept++] = l[i];
        }
    }
    buf_cut(b, kept * sizeof *l);
}

/* ---- messages never received ---- */

static void add_message(struct buf *out, struct mpi_rank *r, const struct mpi_msg *m)
{
    const struct mpi_comm *c = mpi_comm_of_ctx(m->ctx);
    struct leak l = {.kind = KIND_MESSAGE,
                     .fn = MPI_FN_COUNT,
                     .count = 1,
                     .ranks = mpi_rank_index(r),
                     .from = m->em.src,
                     .to = m->em.dst,
                     .bytes = m->bytes};
    char made[NAME_MAX_BYTES];
    const char *name = c ? mpi_comm_name_for(r, c->handle) : "";

    if (!mpi_msg_is_users(m))
        return;
    if (!*name)
        name = c ? mpi_comm_made(c, made, sizeof made) : "a communicator that was freed";
    snprintf(l.name, sizeof l.name, "tag %d, %s", m->tag, name);
    buf_add(out, &l, sizeof l);
}

static int add_early(struct mpi_rank *r, struct mpi_msg *m, void *out)
{
    add_message(out, r, m);
    return 0;
}

/* The run is over, so the inbox may be emptied. */
static void add_messages(struct buf *out, struct mpi_rank *r)
{
    struct engine_msg *m;

    while ((m = engine_poll(&r->ent)))
        add_message(out, r, (struct mpi_msg *)m);
    mpi_early_each(r, add_early, out);
}

static void add_ranks(struct buf *out)
{
    const struct engine *e = &mpi_world.engine;

    for (uint32_t i = 0; i < e->known; i++) {
        if (i >= e->next_new && i < mpi_rank_map()->count)
            continue; /* untouched memory */
        add_objects(out, &mpi_world.ranks[i]);
        add_messages(out, &mpi_world.ranks[i]);
        if (out->len > FOLD_ABOVE * sizeof(struct leak))
            fold(out, by_rank, 0);
    }
}

void mpi_leaks_collect(struct buf *out)
{
    struct buf own;

    buf_init(&own);
    add_ranks(&own);
    mpi_req_each_left(add_request, &own);
    if (own.len) {
        fold(&own, by_rank, 0);
        for (size_t i = 0; i < own.len / sizeof(struct leak); i++)
            ((struct leak *)own.data)[i].ranks = 1;
        fold(&own, by_count, 1);
        buf_add(out, own.data, own.len);
    }
    buf_fini(&own);
}

/* ---- the result ---- */

uint32_t mpi_leaks_merge(const struct buf *parts, mpi_leaks_describe *describe)
{
    char where[WHERE_MAX];

    buf_init(&merged);
    if (!parts->len)
        return 0;
    buf_add(&merged, parts->data, parts->len);
    fold(&merged, by_count, 1);
    uint32_t count = (uint32_t)(merged.len / sizeof(struct leak));
    for (uint32_t i = 0; i < count; i++) {
        struct leak *l = &((struct leak *)merged.data)[i];
        l->where = l->site[0] ? mpi_text_keep(describe(l->site, where, sizeof where)) : NULL;
    }
    return count;
}

/* NULL: not known, as of a request that a call of the library itself has made. */
static const char *maker_name(const struct leak *l)
{
    return l->fn < MPI_FN_COUNT ? mpi_fn_name[l->fn] : NULL;
}

static void say_message(const struct leak *l, const char *ranks, const char *count)
{
    char size[UNITS_TEXT_MAX];

    log_warn(
        "leak: %s rank%s: message never received, %s (%s each), such as %s from rank %u to rank %u",
        ranks, l->ranks == 1 ? "" : "s", l->name, count,
        units_format_bytes(size, sizeof size, l->bytes), l->from, l->to);
}

static void say_object(const struct leak *l, const char *ranks, const char *count)
{
    const char *maker = maker_name(l);

    log_warn("leak: %s rank%s: %s%s%s%s%s%s (%s each)%s%s", ranks, l->ranks == 1 ? "" : "s",
             kind_name[l->kind], l->name[0] ? " '" : "", l->name, l->name[0] ? "'" : "",
             maker ? " created by " : "", maker ? maker : "", count, l->where ? ", at " : "",
             l->where ? l->where : "");
}

void mpi_leaks_print(void)
{
    const struct leak *l = (const struct leak *)merged.data;
    char ranks[UNITS_TEXT_MAX], count[UNITS_TEXT_MAX];

    for (size_t i = 0; i < merged.len / sizeof *l; i++) {
        units_format_count(ranks, sizeof ranks, l[i].ranks);
        units_format_count(count, sizeof count, l[i].count);
        if (l[i].kind == KIND_MESSAGE)
            say_message(&l[i], ranks, count);
        else
            say_object(&l[i], ranks, count);
    }
}

void mpi_leaks_json(struct json *j)
{
    const struct leak *l = (const struct leak *)merged.data;

    json_key(j, "leaks");
    json_array_begin(j);
    for (size_t i = 0; i < merged.len / sizeof *l; i++) {
        json_object_begin(j);
        json_key(j, "kind");
        json_string(j, kind_name[l[i].kind]);
        json_key(j, "name");
        json_string(j, l[i].name);
        json_key(j, "created_by");
        json_string(j, l[i].kind == KIND_MESSAGE ? "a send" : maker_name(&l[i]));
        json_key(j, "created_at");
        json_string(j, l[i].where);
        json_key(j, "ranks");
        json_uint(j, l[i].ranks);
        json_key(j, "per_rank");
        json_uint(j, l[i].count);
        json_object_end(j);
    }
    json_array_end(j);
}
