/* plan.h - the compiled form of a datatype: what to copy, in stream order.
 * 
 * A plan is a list of loops. A loop stands for, `count` times, at disp + i * stride, either one run
 * of `unit` contiguous bytes (child NULL) or the whole of a child plan. Adjacent runs are merged
 * and regular sequences become one loop, so a vector is one loop whatever its length, and a dense
 * type is one run:
 * 
 *     vector(4, 2, 5, MPI_INT)      [count 4, stride 20, unit 8]
 *     struct {int; double} x        [disp 0, unit 4] [disp 8, unit 8]
 *     contiguous(3, that struct)    [count 3, stride 16, child: the above]
 * 
 * `start` is the position of a loop in the packed stream, so that a range begins with a binary
 * search. A loop with count 1 has stride 0; no loop is empty; a loop never loops over a child of
 * one loop with count 1 (it takes the child's place). */
#ifndef ORRERY_MPI_DATATYPE_PLAN_H
#define ORRERY_MPI_DATATYPE_PLAN_H

#include <stdint.h>

struct type_loop {
    int64_t disp;
    int64_t stride;
    uint64_t count;
    uint64_t unit;  /* stream bytes of one iteration */
    uint64_t start; /* stream bytes before this loop */
    const struct type_plan *child;
};

struct type_plan {
    uint64_t size; /* stream bytes in all */
    uint32_t nloops;
    uint32_t capacity;
    struct type_plan *owned; /* inner plan that is freed with this one, or NULL */
    struct type_loop loops[];
};

/* The loop that holds stream byte `at`, which the plan has. */
static inline uint32_t plan_find_loop(const struct type_plan *plan, uint64_t at)
{
    uint32_t low = 0, high = plan->nloops;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (plan->loops[middle].start <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* An empty plan with room for `capacity` loops. Destroy with plan_destroy. */
struct type_plan *plan_create(uint32_t capacity);

/* Free a plan and the chain of plans it owns. NULL is allowed. */
void plan_destroy(struct type_plan *plan);

/* Append a loop over `child` (borrowed; must outlive the plan). The plan may move. */
void plan_append(struct type_plan **plan, int64_t disp, uint64_t count, int64_t stride,
                 const struct type_plan *child);

/* A new plan that loops over `child`. If `owned` is not NULL it is `child`, and becomes property of
 * the new plan, or is destroyed if no longer needed. */
struct type_plan *plan_loop(int64_t disp, uint64_t count, int64_t stride,
                            const struct type_plan *child, struct type_plan *owned);

/* Fill `loop` with the simplest loop equal to `count` times `child`; its start is 0, and its count
 * is 0 if there is no data. */
void plan_loop_init(struct type_loop *loop, int64_t disp, uint64_t count, int64_t stride,
                    const struct type_plan *child);

#endif
