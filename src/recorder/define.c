/*
 * define.c - local definitions: what the numbers of a rank's objects mean.
 *
 * Communicators, which several ranks share, also have an identity that is the same on all of them:
 * a hash of the members, and of the number of earlier communicators with the same members, which
 * all of them know.
 */
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "recorder/recorder_internal.h"
#include "trace/definitions.h"
#include "trace/payload.h"

/* ---- payloads ---- */

int64_t *recorder_ranks(const int *ranks, int count)
{
    int64_t *copy = mem_alloc(((size_t)count + 1) * sizeof *copy);
    for (int i = 0; i < count; i++)
        copy[i] = ranks[i];
    return copy;
}

static void add_members(struct buf *out, struct mpi_rank *self, uint64_t handle, int other,
                        uint32_t count)
{
    int64_t *ranks = mem_alloc((count + 1) * sizeof *ranks);
    for (uint32_t i = 0; i < count; i++)
        ranks[i] = recorder_mpi->member(self, handle, other, i);
    trace_write_array(out, ranks, count);
    mem_free(ranks);
}

/* Times are those of the events that define something, so that they do not depend on when a record
 * is written. */
void recorder_define_local(struct recorder_rank *r, enum trace_head kind, int64_t t,
                           struct buf *payload)
{
    trace_other(&r->locals, kind, t > r->locals.last ? t : r->locals.last, payload->data,
                payload->len);
    buf_fini(payload);
}

/* ---- what they mean ---- */

uint64_t recorder_mix(uint64_t a, uint64_t b)
{
    uint64_t state = a * RNG_SPLITMIX_STEP ^ b;
    return rng_splitmix(&state);
}

/* A hash of the members in order; the sides of an intercommunicator may be swapped. */
static uint64_t members_hash(const struct recorder_comm *c)
{
    if (!c->is_inter)
        return recorder_mix(c->hash, c->size);
    return c->hash < c->other_hash ? recorder_mix(recorder_mix(c->hash, c->other_hash), 1)
                                   : recorder_mix(recorder_mix(c->other_hash, c->hash), 1);
}

/* One member writes the list of members; of an intercommunicator, one of the side whose first rank
 * is lower. */
static void define_members(const struct recorder_comm *c, struct mpi_rank *self, uint64_t handle,
                           uint64_t identity)
{
    struct buf out;
    if (c->rank != 0 || (c->is_inter && recorder_mpi->member(self, handle, 1, 0) <
                                            recorder_mpi->member(self, handle, 0, 0)))
        return;
    buf_init(&out);
    buf_add(&out, &identity, sizeof identity);
    trace_write_varint(&out, c->is_inter ? TRACE_COMM_INTER : TRACE_COMM_INTRA);
    add_members(&out, self, handle, 0, c->size);
    add_members(&out, self, handle, 1, c->others);
    recorder_mpi->define(TRACE_COMM, out.data, out.len);
    buf_fini(&out);
}

static void define_comm(struct recorder_rank *r, struct mpi_rank *self, uint64_t handle,
                        struct buf *out)
{
    struct recorder_comm c = {0};
    struct recorder_neighbours n;
    uint64_t identity = 0;
    int has_topology = recorder_mpi->neighbours(self, handle, &n);
    if (recorder_mpi->comm(self, handle, &c)) {
        uint64_t hash = members_hash(&c), *before = map_insert(&r->comms, hash, NULL);
        identity = recorder_mix(hash, ++*before) & ~(UINT64_C(1) << 63);
        define_members(&c, self, handle, identity);
    }
    buf_add(out, &identity, sizeof identity);
    trace_write_varint(out, (c.is_inter ? TRACE_COMM_INTER : TRACE_COMM_INTRA) |
                                (has_topology ? TRACE_COMM_TOPOLOGY : 0));
    trace_write_number(out, c.rank);
    trace_write_varint(out, c.size);
    trace_write_varint(out, c.others);
    if (!has_topology)
        return;
    trace_write_array(out, n.sources, n.in);
    trace_write_array(out, n.destinations, n.out);
    mem_free(n.sources);
    mem_free(n.destinations);
}

static void define_type(struct mpi_rank *self, uint64_t handle, struct buf *out)
{
    struct recorder_type type;
    recorder_mpi->type(self, handle, &type);
    trace_write_varint(out, type.size);
    trace_write_number(out, type.lower);
    trace_write_number(out, type.extent);
    buf_adds(out, type.name);
}

static void define_group(struct mpi_rank *self, uint64_t handle, struct buf *out)
{
    uint32_t count;
    int64_t *ranks = recorder_mpi->group(self, handle, &count);
    trace_write_array(out, ranks, count);
    mem_free(ranks);
}

static void define_op(struct mpi_rank *self, uint64_t handle, struct buf *out)
{
    static const struct {
        MPI_Op op;
        const char *name;
    } names[] = {
        {MPI_MAX, "MPI_MAX"},         {MPI_MIN, "MPI_MIN"},       {MPI_SUM, "MPI_SUM"},
        {MPI_PROD, "MPI_PROD"},       {MPI_LAND, "MPI_LAND"},     {MPI_BAND, "MPI_BAND"},
        {MPI_LOR, "MPI_LOR"},         {MPI_BOR, "MPI_BOR"},       {MPI_LXOR, "MPI_LXOR"},
        {MPI_BXOR, "MPI_BXOR"},       {MPI_MINLOC, "MPI_MINLOC"}, {MPI_MAXLOC, "MPI_MAXLOC"},
        {MPI_REPLACE, "MPI_REPLACE"}, {MPI_NO_OP, "MPI_NO_OP"},
    };
    trace_write_varint(out, (uint64_t)recorder_mpi->op_commutes(self, handle));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].op == (MPI_Op)handle)
            buf_adds(out, names[i].name);
}

/* The kind of definition by role; 0: numbers alone. */
static enum trace_head kind_of(unsigned role)
{
    switch (role) {
    case MPI_ROLE_COMM:
        return TRACE_DEFINE_COMM;
    case MPI_ROLE_DATATYPE:
        return TRACE_DEFINE_TYPE;
    case MPI_ROLE_GROUP:
        return TRACE_DEFINE_GROUP;
    case MPI_ROLE_OP:
        return TRACE_DEFINE_OP;
    default:
        return 0;
    }
}

void recorder_define_object(struct recorder_rank *r, struct mpi_rank *self, unsigned role,
                            uint64_t handle, uint32_t number)
{
    enum trace_head kind = kind_of(role);
    struct buf out;
    if (!kind)
        return;
    buf_init(&out);
    trace_write_varint(&out, number);
    switch (role) {
    case MPI_ROLE_COMM:
        define_comm(r, self, handle, &out);
        break;
    case MPI_ROLE_DATATYPE:
        define_type(self, handle, &out);
        break;
    case MPI_ROLE_GROUP:
        define_group(self, handle, &out);
        break;
    default:
        define_op(self, handle, &out);
    }
    recorder_define_local(r, kind, r->now, &out);
}

/* ---- windows and files ---- */

/* The first argument of a call with this role and name (NULL: any), or -1. */
static int find_arg(const struct mpi_signature *s, unsigned role, const char *name)
{
    for (unsigned i = 0; i < s->count; i++)
        if (s->args[i].role == role && (!name || strcmp(s->args[i].name, name) == 0))
            return (int)i;
    return -1;
}

void recorder_define_win(struct recorder_rank *r, struct mpi_rank *self,
                         const struct recorder_call *call, uint32_t number)
{
    const struct mpi_signature *s = &mpi_fn_signature[call->fn];
    int comm = find_arg(s, MPI_ROLE_COMM, NULL), size = find_arg(s, MPI_ROLE_SIZE, "size"),
        unit = find_arg(s, MPI_ROLE_SIZE, "disp_unit");
    struct buf out;
    buf_init(&out);
    trace_write_varint(&out, number);
    trace_write_varint(&out, comm < 0 ? 0
                                      : (uint64_t)recorder_number(r, self, MPI_ROLE_COMM,
                                                                  (uint32_t)call->args[comm]));
    trace_write_number(&out, size < 0 ? 0 : recorder_word(&s->args[size], call->args[size]));
    trace_write_number(&out, unit < 0 ? 1 : recorder_word(&s->args[unit], call->args[unit]));
    recorder_define_local(r, TRACE_DEFINE_WIN, r->now, &out);
}

void recorder_define_file(struct recorder_rank *r, const struct recorder_call *call,
                          uint32_t number)
{
    int name = find_arg(&mpi_fn_signature[call->fn], MPI_ROLE_TEXT, NULL);
    struct buf out;
    buf_init(&out);
    trace_write_varint(&out, number);
    if (name >= 0 && call->args[name])
        buf_add(&out, (const char *)(uintptr_t)call->args[name],
                strnlen((const char *)(uintptr_t)call->args[name], RECORDER_TEXT_MOST));
    recorder_define_local(r, TRACE_DEFINE_FILE, r->now, &out);
}
