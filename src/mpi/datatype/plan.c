/* plan.c - builds plans (plan.h): simplifies nested loops and merges neighbours.
 * 
 * Only rewrites that keep the order of bytes in the stream are made, so overlapping and backward
 * layouts need no care. Sums of displacements cannot overflow: the constructors have checked that
 * all data of the type lies within 63 bits. */
#include "mpi/datatype/plan.h"

#include <stddef.h>

#include "base/array.h"

struct type_plan *plan_create(uint32_t capacity)
{
    struct type_plan *plan = mem_alloc(sizeof *plan + (size_t)capacity * sizeof(struct type_part));
    *plan = (struct type_plan){.capacity = capacity};
    return plan;
}

void plan_destroy(struct type_plan *plan)
{
    while (plan) {
        struct type_plan *next = plan->owned;
        mem_free(plan);
        plan = next;
    }
}

/* A run repeated without gaps is one longer run. */
static void fuse_dense(struct type_part *part)
{
    if (!part->child && part->count > 1 && part->stride == (int64_t)part->unit) {
        part->unit *= part->count;
        part->count = 1;
    }
    if (part->count <= 1)
        part->stride = 0;
}

void plan_part_init(struct type_part *part, int64_t disp, uint64_t count, int64_t stride,
                    const struct type_plan *child)
{
    *part = (struct type_part){disp, stride, child->size ? count : 0, child->size, 0, child};
    if (part->count && child->nparts == 1) {
        const struct type_part *only = &child->parts[0];
        int continues = stride == (int64_t)((uint64_t)only->stride * only->count);
        if (only->count == 1) {
            part->disp += only->disp;
            part->child = only->child;
        } else if (count == 1 || continues) {
            *part = (struct type_part){disp + only->disp,
                                       only->stride,
                                       count * only->count,
                                       only->unit,
                                       0,
                                       only->child};
        }
    }
    fuse_dense(part);
}

/* Extend `last` by `next`, which follows it in the stream, if both are one loop or one run. */
static int merge(struct type_part *last, const struct type_part *next)
{
    if (last->child != next->child)
        return 0;
    if (!last->child && last->count == 1 && next->count == 1 &&
        (uint64_t)last->disp + last->unit == (uint64_t)next->disp) {
        last->unit += next->unit;
        return 1;
    }
    if (last->unit != next->unit)
        return 0;
    int64_t stride = last->count > 1 ? last->stride : next->disp - last->disp;
    uint64_t end = (uint64_t)last->disp + last->count * (uint64_t)stride;
    int follows = (uint64_t)next->disp == end;
    if (!follows || (next->count > 1 && next->stride != stride))
        return 0;
    last->stride = stride;
    last->count += next->count;
    return 1;
}

void plan_append(struct type_plan **plan, int64_t disp, uint64_t count, int64_t stride,
                 const struct type_plan *child)
{
    struct type_part part;
    plan_part_init(&part, disp, count, stride, child);
    if (!part.count)
        return;
    struct type_plan *p = *plan;
    part.start = p->size;
    p->size += part.unit * part.count;
    if (p->nparts && merge(&p->parts[p->nparts - 1], &part))
        return;
    if (p->nparts == p->capacity) {
        p->capacity = (uint32_t)array_room(p->capacity, (size_t)p->nparts + 1, 4);
        p = *plan = mem_realloc(p, sizeof *p + (size_t)p->capacity * sizeof part);
    }
    p->parts[p->nparts++] = part;
}

struct type_plan *plan_loop(int64_t disp, uint64_t count, int64_t stride,
                            const struct type_plan *child, struct type_plan *owned)
{
    struct type_plan *plan = plan_create(1);
    plan_append(&plan, disp, count, stride, child);
    if (owned && (!plan->nparts || plan->parts[0].child != owned)) {
        plan->owned = owned->owned;
        mem_free(owned);
    } else {
        plan->owned = owned;
    }
    return plan;
}
