/*
 * verify.c - findings of --check: summed up while the program runs, merged and printed at the end.
 *
 * Similar findings are merged into one with a count; the one with the smallest numbers is
 * described, so that the report depends neither on the schedule nor on the number of processes.
 */
#include "mpi/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/units.h"
#include "mpi/check/verify_internal.h"
#include "mpi/comm/comm.h"
#include "mpi/datatype/datatype.h"
#include "mpi/op/op.h"

#define FINDINGS_MAX 200 /* different ones; more are only counted */

static struct buf found; /* struct mpi_finding */
static uint64_t others;  /* beyond FINDINGS_MAX */

static int is_of_coll(const struct mpi_finding *f)
{
    return f->kind >= MPI_FINDING_CALL && f->kind <= MPI_FINDING_ABSENT;
}

/* Do both belong on one line? */
static int is_like(const struct mpi_finding *a, const struct mpi_finding *b)
{
    if (a->kind != b->kind || a->fn[0] != b->fn[0] || strcmp(a->comm, b->comm) != 0)
        return 0;
    return is_of_coll(a) ||
           (a->fn[1] == b->fn[1] && a->value[0] == b->value[0] && a->value[1] == b->value[1]);
}

// clang-format off
#define ORDER(x, y)               \
    if ((x) != (y))               \
        return (x) < (y) ? -1 : 1
// clang-format on

/* Which of two similar findings is described, and the order of lines. */
static int compare(const struct mpi_finding *a, const struct mpi_finding *b)
{
    ORDER(a->kind, b->kind);
    ORDER(a->serial, b->serial);
    ORDER(a->world[0], b->world[0]);
    ORDER(a->world[1], b->world[1]);
    ORDER(a->fn[0], b->fn[0]);
    ORDER(a->fn[1], b->fn[1]);
    ORDER(a->tag, b->tag);
    ORDER(a->amount[0], b->amount[0]);
    ORDER(a->amount[1], b->amount[1]);
    ORDER(a->value[0], b->value[0]);
    ORDER(a->value[1], b->value[1]);
    return strcmp(a->comm, b->comm);
}

void mpi_verify_found(const struct mpi_finding *f)
{
    struct mpi_finding *at = (struct mpi_finding *)found.data;
    size_t n = found.len / sizeof *at;

    for (size_t i = 0; i < n; i++) {
        uint64_t count = at[i].count + f->count;

        if (!is_like(&at[i], f))
            continue;
        if (compare(f, &at[i]) < 0)
            at[i] = *f;
        at[i].count = count;
        return;
    }
    if (n < FINDINGS_MAX)
        buf_add(&found, f, sizeof *f);
    else
        others += f->count;
}

void mpi_verify_name(const struct mpi_rank *self, const struct mpi_comm *c, char *out, size_t n)
{
    const char *name = mpi_comm_name_for(self, c->handle);
    char made[96];

    memset(out, 0, n);
    if (*name)
        snprintf(out, n, "%s", name);
    else
        snprintf(out, n, "communicator (%s)", mpi_comm_made(c, made, sizeof made));
}

/* ---- the end of the run: count, findings, collectives ---- */

void mpi_verify_collect(struct buf *out)
{
    uint64_t head[2] = {others, found.len / sizeof(struct mpi_finding)};

    buf_add(out, head, sizeof head);
    if (found.len)
        buf_add(out, found.data, found.len);
    found.len = 0;
    others = 0;
    verify_coll_collect(out);
}

void mpi_verify_merge(const void *part, size_t bytes)
{
    const char *at = part;
    uint64_t head[2];
    struct mpi_finding f;

    memcpy(head, at, sizeof head);
    at += sizeof head;
    others += head[0];
    for (uint64_t i = 0; i < head[1]; i++, at += sizeof f) {
        memcpy(&f, at, sizeof f);
        mpi_verify_found(&f);
    }
    mpi_verify_learn(at, bytes - (size_t)(at - (const char *)part));
}

static int by_order(const void *a, const void *b)
{
    return compare(a, b);
}

uint32_t mpi_verify_conclude(int complete)
{
    size_t n;

    verify_coll_conclude(complete);
    n = found.len / sizeof(struct mpi_finding);
    if (n)
        qsort(found.data, n, sizeof(struct mpi_finding), by_order);
    return (uint32_t)n;
}

/* ---- in words ---- */

static void add_rank(struct buf *b, const struct mpi_finding *f, int side)
{
    buf_addf(b, "rank %d", f->rank[side]);
    if (f->rank[side] != (int32_t)f->world[side])
        buf_addf(b, " (world rank %u)", f->world[side]);
}

/* "10 MPI_INT". Pairs count as two elements. */
static void add_data(struct buf *b, const struct mpi_finding *f, int side)
{
    const struct mpi_type *t = f->value[side] ? mpi_type_get(f->value[side]) : NULL;
    unsigned long long n = f->amount[side];

    if (n == 0)
        buf_addf(b, "nothing");
    else if (t)
        buf_addf(b, "%llu %s", t->nelems > 1 ? n / t->nelems : n, mpi_type_name(t));
    else
        buf_addf(b, "%llu elements of several types", n);
}

static void add_op(struct buf *b, int32_t op)
{
    static const char *const name[MPI_OP_KINDS] = {"a function", "MPI_MAX",     "MPI_MIN",
                                                   "MPI_SUM",    "MPI_PROD",    "MPI_LAND",
                                                   "MPI_BAND",   "MPI_LOR",     "MPI_BOR",
                                                   "MPI_LXOR",   "MPI_BXOR",    "MPI_MINLOC",
                                                   "MPI_MAXLOC", "MPI_REPLACE", "MPI_NO_OP"};

    buf_addf(b, "%s", name[op]);
}

static void add_value(struct buf *b, const struct mpi_finding *f, int side)
{
    switch (f->kind) {
    case MPI_FINDING_CALL:
        buf_addf(b, "calls %s", mpi_fn_name[f->fn[side]]);
        break;
    case MPI_FINDING_ROOT:
        buf_addf(b, "has root %d", f->value[side]);
        break;
    case MPI_FINDING_OP:
        buf_addf(b, "has ");
        if (side && f->value[0] == f->value[1])
            buf_addf(b, "another function");
        else
            add_op(b, f->value[side]);
        break;
    default:
        buf_addf(b, "has ");
        add_data(b, f, side);
        break;
    }
}

static void add_types(struct buf *b, const struct mpi_finding *f)
{
    add_rank(b, f, 0);
    buf_addf(b, " sends ");
    add_data(b, f, 0);
    buf_addf(b, " (%s), ", mpi_fn_name[f->fn[0]]);
    add_rank(b, f, 1);
    buf_addf(b, " receives them as ");
    add_data(b, f, 1);
    buf_addf(b, " (%s)", mpi_fn_name[f->fn[1]]);
    if (f->tag >= 0)
        buf_addf(b, ", tag %d", f->tag);
}

static void add_target(struct buf *b, const struct mpi_finding *f)
{
    buf_addf(b, "%s: ", mpi_fn_name[f->fn[0]]);
    add_rank(b, f, 0);
    buf_addf(b, " has ");
    add_data(b, f, 0);
    buf_addf(b, " for ");
    add_data(b, f, 1);
    buf_addf(b, " at ");
    add_rank(b, f, 1);
}

static void add_parts(struct buf *b, const struct mpi_finding *f)
{
    char size[UNITS_TEXT_MAX];

    add_rank(b, f, 0);
    buf_addf(b, " sends %s in partitions (%s), ",
             units_format_bytes(size, sizeof size, f->amount[0]), mpi_fn_name[f->fn[0]]);
    add_rank(b, f, 1);
    buf_addf(b, " receives %s (%s), tag %d", units_format_bytes(size, sizeof size, f->amount[1]),
             mpi_fn_name[f->fn[1]], f->tag);
}

static void add_coll(struct buf *b, const struct mpi_finding *f)
{
    if (f->kind != MPI_FINDING_CALL)
        buf_addf(b, "%s: ", mpi_fn_name[f->fn[0]]);
    if (f->kind == MPI_FINDING_ABSENT) {
        buf_addf(b, "only %d of %d ranks call it, such as ", f->value[0], f->value[1]);
        add_rank(b, f, 0);
    } else if (f->kind == MPI_FINDING_OWN) {
        add_rank(b, f, 0);
        buf_addf(b, " sends ");
        add_data(b, f, 0);
        buf_addf(b, " and receives ");
        add_data(b, f, 1);
    } else {
        add_rank(b, f, 0);
        buf_addf(b, " ");
        add_value(b, f, 0);
        buf_addf(b, ", ");
        add_rank(b, f, 1);
        buf_addf(b, " ");
        add_value(b, f, 1);
    }
    buf_addf(b, ", collective call %u", f->serial + 1);
}

static void format(struct buf *b, const struct mpi_finding *f)
{
    char count[UNITS_TEXT_MAX];

    if (is_of_coll(f))
        add_coll(b, f);
    else if (f->kind == MPI_FINDING_TARGET)
        add_target(b, f);
    else if (f->kind == MPI_FINDING_PARTS)
        add_parts(b, f);
    else
        add_types(b, f);
    buf_addf(b, "%s%s", is_of_coll(f) ? " on " : ", ", f->comm);
    if (f->count > 1)
        buf_addf(b, "; %s like it", units_format_count(count, sizeof count, f->count));
}

void mpi_verify_print(void)
{
    const struct mpi_finding *f = (const struct mpi_finding *)found.data;

    for (size_t i = 0; i < found.len / sizeof *f; i++) {
        struct buf line;

        buf_init(&line);
        format(&line, &f[i]);
        log_warn("check: %s", buf_str(&line));
        buf_fini(&line);
    }
    if (others)
        log_warn("check: ... and %llu more", (unsigned long long)others);
}

void mpi_verify_json(struct json *j)
{
    static const char *const kind[MPI_FINDING_KINDS] = {"types",     "call",   "root",
                                                        "operation", "data",   "own data",
                                                        "absent",    "target", "partitions"};
    const struct mpi_finding *f = (const struct mpi_finding *)found.data;

    json_key(j, "findings");
    json_array_begin(j);
    for (size_t i = 0; i < found.len / sizeof *f; i++) {
        struct buf line;

        buf_init(&line);
        format(&line, &f[i]);
        json_object_begin(j);
        json_key(j, "kind");
        json_string(j, kind[f[i].kind]);
        json_key(j, "text");
        json_string(j, buf_str(&line));
        json_key(j, "count");
        json_uint(j, f[i].count);
        json_object_end(j);
        buf_fini(&line);
    }
    json_array_end(j);
}
