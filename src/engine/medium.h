/*
 * medium.h - a network with contention, as the engine sees it.
 */
#ifndef ENGINE_MEDIUM_H
#define ENGINE_MEDIUM_H

#include <stdint.h>

#include "base/vtime.h"

struct engine_msg;

/*
 * How a message is submitted to the medium. It accompanies the message to the process that has the
 * medium.
 */
struct engine_call {
    uint64_t load;   /* its size in bytes for the medium, whatever it carries */
    uint64_t cookie; /* what the notice returns to the sender; 0: no notice */
    /* Messages with the same number between the same two entities do not overtake each other; those
     * of one sender and number are submitted in an order that does not depend on the schedule. 0:
     * no order is kept. */
    uint64_t order;
    /* Of messages with order 0 between the same two entities at the same time: which goes first. It
     * does not depend on the schedule, as their submission may. A medium with substreams lets
     * messages overtake each other whose ties differ, whatever their order, except those without a
     * tie. */
    uint64_t tie;
};

/*
 * The medium: a network with contention, which messages share. It acts like one more entity, whose
 * events are decisions. It exists on process 0 only, or with `place` on every process, for a part
 * of the messages, and all parts advance in the same steps. A message submitted at time t (its
 * `arrival`) comes out through engine_emerge, at a time after its last event plus the lookahead,
 * whoever sends it to whom; a notice (engine_notify) comes out at the time of an event, or later,
 * without the lookahead.
 */
struct engine_medium {
    void *owner;
    /* Takes a message; any context. */
    void (*submit)(void *owner, struct engine_msg *, const struct engine_call *);
    /* The time of its next event; VTIME_NEVER: there is none. */
    vtime (*next)(void *owner);
    /* How many notices are pending. */
    uint64_t (*notices)(void *owner);
    /* All messages submitted at or before `limit` are known, and those caused by what comes out now
     * will be submitted later than that. Handles all events up to `limit` that are due at `first`
     * (its next event) or less than the lookahead later, but none later than one that emits a
     * notice. Returns the time of the last of them, before which nothing may be submitted any
     * more. */
    vtime (*advance)(void *owner, vtime first, vtime limit);
    /* NULL: the medium is part of the simulation, and only `advance` moves it. Otherwise it has its
     * own clock, driven from outside in real time, and of the functions above only `submit` is
     * used. Called in scheduler context when no entity is ready. Sleeps until something has come
     * out or its clock has reached `due`. Returns a time before which nothing more comes out;
     * VTIME_NEVER: nothing more will. One process only. */
    vtime (*wait)(void *owner, vtime due);
    /* NULL: it exists on process 0 only. Otherwise the process whose part takes the message. */
    uint32_t (*place)(void *owner, const struct engine_msg *);
};

#endif
