/*
 * wire.c - datatypes in messages to other processes.
 *
 * A type that a program creates is an object of its process. The target needs only its layout: its
 * plan (datatype/plan.h), which is a few loops however long the data is. The image of a type is
 *
 *     struct image   bounds, the basic type
 *     plan           struct type_plan and its loops; `child` is the offset of another plan in the
 *     plan ...       image, 0 if there is none
 *
 * The first plan is the type's own. The receiver turns offsets into addresses in place. A plan that
 * several loops use is included once.
 */
#include "base/buf.h"
#include "mpi/datatype/plan.h"
#include "mpi/rma/rma_internal.h"

struct image {
    uint64_t size;
    int64_t extent, lb, true_lb, true_extent;
    MPI_Datatype elem;
    uint32_t contig;
};

int rma_type_needs_image(const struct mpi_type *t, uint32_t world)
{
    return !t->builtin && !rank_map_is_here(mpi_rank_map(), world);
}

static size_t plan_bytes(const struct type_plan *plan)
{
    return sizeof *plan + plan->nloops * sizeof plan->loops[0];
}

/* Appends the plan, then those it refers to; returns its offset. */
static uint64_t encode_plan(const struct type_plan *plan, struct buf *out, struct map *known)
{
    uint64_t at = out->len, *memo = map_find(known, (uintptr_t)plan);

    if (memo)
        return *memo;
    *map_insert(known, (uintptr_t)plan, NULL) = at;
    buf_add(out, plan, plan_bytes(plan));
    for (uint32_t i = 0; i < plan->nloops; i++) {
        uint64_t child = plan->loops[i].child ? encode_plan(plan->loops[i].child, out, known) : 0;
        struct type_plan *copy = (struct type_plan *)(out->data + at);

        copy->loops[i].child = (const struct type_plan *)(uintptr_t)child;
    }
    return at;
}

void rma_type_encode(const struct mpi_type *t, struct buf *out)
{
    struct image head = {t->size, t->extent, t->lb, t->true_lb, t->true_extent, t->elem, t->contig};
    struct map known;

    buf_add(out, &head, sizeof head);
    map_init(&known);
    if (t->plan)
        encode_plan(t->plan, out, &known);
    map_fini(&known);
    while (out->len % 16)
        buf_addc(out, 0);
}

void rma_type_decode(void *image, uint32_t bytes, struct mpi_type *t)
{
    const struct image *head = image;
    char *base = image;

    *t = (struct mpi_type){.size = head->size,
                           .extent = head->extent,
                           .lb = head->lb,
                           .true_lb = head->true_lb,
                           .true_extent = head->true_extent,
                           .elem = head->elem,
                           .contig = (uint8_t)head->contig};
    for (size_t at = sizeof *head; at + sizeof(struct type_plan) <= bytes;) {
        struct type_plan *plan = (struct type_plan *)(base + at);

        if (!t->plan)
            t->plan = plan;
        for (uint32_t i = 0; i < plan->nloops; i++)
            if (plan->loops[i].child)
                plan->loops[i].child = (const struct type_plan *)(base +
                                                                  (uintptr_t)plan->loops[i].child);
        at += plan_bytes(plan);
    }
}
