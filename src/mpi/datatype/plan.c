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
    struct type_plan *plan = mem_alloc(sizeof *plan + (size_t)capacity * sizeof(struct type_loop));
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
static void fuse_dense(struct type_loop *loop)
{
    if (!loop->child && loop->count > 1 && loop->stride == (int64_t)loop->unit) {
        loop->unit *= loop->count;
        loop->count = 1;
    }
    if (loop->count <= 1)
        loop->stride = 0;
}

void plan_loop_init(struct type_loop *loop, int64_t disp, uint64_t count, int64_t stride,
                    const struct type_plan *child)
{
    *loop = (struct type_loop){disp, stride, child->size ? count : 0, child->size, 0, child};
    if (loop->count && child->nloops == 1) {
        const struct type_loop *only = &child->loops[0];
        int continues = stride == (int64_t)((uint64_t)only->stride * only->count);
        if (only->count == 1) {
            loop->disp += only->disp;
            loop->child = only->child;
        } else if (count == 1 || continues) {
            *loop = (struct type_loop){disp + only->disp,
                                       only->stride,
                                       count * only->count,
                                       only->unit,
                                       0,
                                       only->child};
        }
    }
    fuse_dense(loop);
}

/* Extend `last` by `next`, which follows it in the stream, if both are one loop or one run. */
static int merge(struct type_loop *last, const struct type_loop *next)
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
    struct type_loop loop;
    plan_loop_init(&loop, disp, count, stride, child);
    if (!loop.count)
        return;
    struct type_plan *p = *plan;
    loop.start = p->size;
    p->size += loop.unit * loop.count;
    if (p->nloops && merge(&p->loops[p->nloops - 1], &loop))
        return;
    if (p->nloops == p->capacity) {
        p->capacity = (uint32_t)array_room(p->capacity, (size_t)p->nloops + 1, 4);
        p = *plan = mem_realloc(p, sizeof *p + (size_t)p->capacity * sizeof loop);
    }
    p->loops[p->nloops++] = loop;
}

struct type_plan *plan_loop(int64_t disp, uint64_t count, int64_t stride,
                            const struct type_plan *child, struct type_plan *owned)
{
    struct type_plan *plan = plan_create(1);
    plan_append(&plan, disp, count, stride, child);
    if (owned && (!plan->nloops || plan->loops[0].child != owned)) {
        plan->owned = owned->owned;
        mem_free(owned);
    } else {
        plan->owned = owned;
    }
    return plan;
}
