/*
 * dumpi_handles.c - from DUMPI's numbers of handles to local ones, and statuses. DUMPI reuses the
 * numbers of requests; here each request gets a number of its own.
 */
#include <string.h>

#include "base/array.h"
#include "formats/dumpi_in.h"
#include "mpi_roles.h"
#include "trace/definitions.h"
#include "trace/local.h"

/* ---- values of a record ---- */

const struct dumpi_raw *dumpi_record_value(const struct dumpi_layout *l,
                                           const struct dumpi_record *r, const char *name)
{
    for (unsigned i = l->count; i > 0; i--)
        if (l->fields[i - 1].name && r->values[i - 1].is_there &&
            strcmp(l->fields[i - 1].name, name) == 0)
            return &r->values[i - 1];
    return NULL;
}

int64_t dumpi_record_number(const struct dumpi_layout *l, const struct dumpi_record *r,
                            const char *name, int64_t otherwise)
{
    const struct dumpi_raw *v = dumpi_record_value(l, r, name);
    return v ? v->number : otherwise;
}

int64_t dumpi_record_comm(const struct dumpi_layout *l, const struct dumpi_record *r)
{
    static const char *const names[] = {"comm", "comm_old", "local_comm", "intercomm"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (dumpi_record_value(l, r, names[i]))
            return dumpi_record_value(l, r, names[i])->number;
    return 0;
}

int64_t dumpi_record_new_comm(const struct dumpi_layout *l, const struct dumpi_record *r)
{
    static const char *const names[] = {"newcomm", "comm_cart", "comm_graph", "newintercomm",
                                        "newintracomm"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (dumpi_record_value(l, r, names[i]))
            return dumpi_record_value(l, r, names[i])->number;
    return 0;
}

/* ---- handles ---- */

static int64_t rank_in(const struct dumpi_comm *c, uint64_t rank)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->ranks[i] == (int64_t)rank)
            return (int64_t)i;
    return -1;
}

/* A communicator whose members are not known. */
static int64_t unknown_comm(struct dumpi_in *in, int64_t number)
{
    uint64_t identity = (in->rank + 1) << 32 ^ in->next_creation << 16 ^ (uint64_t)number;
    format_note(in->notes, "not known: members of communicators");
    return format_local_comm(&in->build, (identity | UINT64_C(1) << 62) & ~(UINT64_C(1) << 63),
                             TRACE_COMM_INTRA, -1, 0, 0);
}

void dumpi_make_comm(struct dumpi_in *in, int64_t number)
{
    const struct dumpi_rank_creations *own = &in->comms.by_rank[in->rank];
    const struct dumpi_creation *c = in->next_creation < own->count ? &own->items[in->next_creation]
                                                                    : NULL;
    in->next_creation++;
    if (number <= 1)
        return;
    uint64_t *local = map_insert(&in->local[MPI_ROLE_COMM], (uint64_t)number, NULL);
    map_remove(&in->comm_of, (uint64_t)number);
    if (!c || c->comm < 0) {
        *local = (uint64_t)unknown_comm(in, number) + 1;
        return;
    }
    const struct dumpi_comm *comm = &in->comms.comms[c->comm];
    *map_insert(&in->comm_of, (uint64_t)number, NULL) = (uint64_t)c->comm + 1;
    *local = (uint64_t)format_local_comm(&in->build, comm->identity, TRACE_COMM_INTRA,
                                         rank_in(comm, in->rank), comm->count, 0) +
             1;
}

static int64_t comm_handle(struct dumpi_in *in, int64_t number)
{
    if (number <= 1)
        return -1;
    if (number <= 3)
        return number == 2 ? TRACE_LOCAL_WORLD : TRACE_LOCAL_SELF;
    uint64_t *local = map_insert(&in->local[MPI_ROLE_COMM], (uint64_t)number, NULL);
    if (!*local)
        *local = (uint64_t)unknown_comm(in, number) + 1;
    return (int64_t)*local - 1;
}

static int64_t type_handle(struct dumpi_in *in, int64_t number)
{
    const char *name = dumpi_type_name((unsigned)number);
    uint64_t size = (size_t)number < in->file.size_count ? in->file.sizes[number]
                                                         : dumpi_type_size((unsigned)number);
    if (number <= 1)
        return -1;
    if (name)
        return format_local_type(&in->build, name, size, 0, (int64_t)size);
    uint64_t *local = map_insert(&in->local[MPI_ROLE_DATATYPE], (uint64_t)number, NULL);
    if (!*local)
        *local = (uint64_t)format_local_own_type(&in->build, size) + 1;
    return (int64_t)*local - 1;
}

static int64_t op_handle(struct dumpi_in *in, int64_t number)
{
    const char *name = dumpi_op_name((unsigned)number);
    if (number == 0 || number == 14)
        return -1;
    if (name)
        return format_local_op(&in->build, name, 1);
    uint64_t *local = map_insert(&in->local[MPI_ROLE_OP], (uint64_t)number, NULL);
    if (!*local)
        *local = (uint64_t)format_local_own_op(&in->build, 1) + 1;
    return (int64_t)*local - 1;
}

/* Groups, windows, files: each that a call returns is a new one. */
static int64_t other_handle(struct dumpi_in *in, const struct dumpi_layout *l,
                            const struct dumpi_record *r, const struct dumpi_field *f,
                            int64_t number, int is_new)
{
    if (number <= (f->role == MPI_ROLE_GROUP))
        return -1;
    uint64_t *local = map_insert(&in->local[f->role], (uint64_t)number, NULL);
    if (*local && !is_new)
        return (int64_t)*local - 1;
    if (f->role == MPI_ROLE_GROUP) {
        *local = (uint64_t)format_local_group(&in->build, NULL, 0) + 1;
        format_note(in->notes, "not known: members of groups");
    } else if (f->role == MPI_ROLE_WIN) {
        *local = (uint64_t)format_local_win(&in->build, comm_handle(in, dumpi_record_comm(l, r)),
                                            dumpi_record_number(l, r, "size", 0),
                                            dumpi_record_number(l, r, "disp_unit", 1)) +
                 1;
    } else {
        const struct dumpi_raw *name = dumpi_record_value(l, r, "filename");
        char *text = mem_alloc(name ? name->count + 1 : 1);
        memcpy(text, name ? name->text : "", name ? name->count : 0);
        text[name ? name->count : 0] = '\0';
        *local = (uint64_t)format_local_file(&in->build, text) + 1;
        mem_free(text);
    }
    return (int64_t)*local - 1;
}

static int64_t request_handle(struct dumpi_in *in, const struct dumpi_layout *l,
                              const struct dumpi_record *r, int64_t number, int is_new)
{
    if (number <= 1)
        return -1;
    uint64_t *at = map_insert(&in->requests, (uint64_t)(uint32_t)number, NULL);
    if (!*at || is_new) {
        const struct mpi_effect *shape = &in->shapes[l->fn];
        if (!is_new)
            format_note(in->notes, "requests are completed that were not started");
        ARRAY_EXTEND(in->request_items, in->request_count);
        in->request_items[in->request_count++] = (struct dumpi_request){in->next_request++,
                                                                        dumpi_record_comm(l, r),
                                                                        shape->kind ==
                                                                            MPI_DOES_RECEIVE};
        *at = in->request_count;
    }
    return in->request_items[*at - 1].number;
}

int64_t dumpi_handle(struct dumpi_in *in, const struct dumpi_layout *l,
                     const struct dumpi_record *r, const struct dumpi_field *f,
                     const struct trace_arg *arg, int64_t number)
{
    int is_new = arg->is_out && !arg->is_in;
    switch (f->role) {
    case MPI_ROLE_COMM:
        return comm_handle(in, number);
    case MPI_ROLE_DATATYPE:
        return type_handle(in, number);
    case MPI_ROLE_OP:
        return op_handle(in, number);
    case MPI_ROLE_REQUEST:
        return request_handle(in, l, r, number, is_new);
    default:
        return other_handle(in, l, r, f, number, is_new);
    }
}

/* ---- statuses ---- */

/* The world rank of a source in a communicator. */
static int64_t world_rank(const struct dumpi_in *in, int64_t comm, int64_t source)
{
    const uint64_t *at = map_find(&in->comm_of, (uint64_t)comm);
    if (comm == 2)
        return source;
    if (comm == 3)
        return (int64_t)in->rank;
    if (!at)
        return -1;
    const struct dumpi_comm *c = &in->comms.comms[*at - 1];
    return source >= 0 && (size_t)source < c->count ? c->ranks[source] : -1;
}

/* The request that status k of a call belongs to; NULL: the call itself, or not known. */
static const struct dumpi_request *request_of(const struct dumpi_in *in,
                                              const struct dumpi_layout *l,
                                              const struct dumpi_record *r, size_t k)
{
    const struct dumpi_raw *all = dumpi_record_value(l, r, "array_of_requests"),
                           *one = dumpi_record_value(l, r, "request"),
                           *indices = dumpi_record_value(l, r, "array_of_indices"),
                           *index = dumpi_record_value(l, r, "indx");
    int64_t number = one ? one->number : 0;
    if (all) {
        int64_t at = indices ? k < indices->count ? in->file.items[indices->first + k] : -1
                     : index ? index->number
                             : (int64_t)k;
        number = at >= 0 && (size_t)at < all->count ? in->file.items[all->first + (size_t)at] : 0;
    }
    const uint64_t *known = map_find(&in->requests, (uint64_t)(uint32_t)number);
    return number > 1 && known ? &in->request_items[*known - 1] : NULL;
}

struct trace_status dumpi_status_in(const struct dumpi_in *in, const struct dumpi_layout *l,
                                    const struct dumpi_record *r, size_t k,
                                    const struct dumpi_status *s)
{
    const struct dumpi_request *q = request_of(in, l, r, k);
    int has_request = in->shapes[l->fn].request >= 0;
    int64_t comm = q ? q->comm : dumpi_record_comm(l, r);
    if (s->is_cancelled)
        return (struct trace_status){s->source, s->tag, 0, 1, 1};
    if ((has_request && (!q || !q->is_recv)) || s->source < 0)
        return (struct trace_status){0};
    return (struct trace_status){(int32_t)world_rank(in, comm, s->source), s->tag, s->bytes, 1, 0};
}
