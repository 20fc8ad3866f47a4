/* flow_rate.h - rates of flows, which the solver does not export. */
#ifndef FLOW_RATE_H
#define FLOW_RATE_H

#include "net/flow_solver.c"

/* The rate of a flow from now on. All flows that end now have been taken. */
static inline double flow_rate(struct flow_solver *s, const struct flow *f)
{
    update(s);
    assert(!is_first_end_now(s));
    return f->bundle->rate;
}

#endif
