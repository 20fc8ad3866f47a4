/*
 * stuck.h - the report of a deadlock or livelock.
 */
#ifndef ENGINE_STUCK_H
#define ENGINE_STUCK_H

#include "base/buf.h"
#include "engine/engine.h"

/* Appends what this process knows about its entities, after asking the blocked ones. Scheduler
 * context. */
void engine_stuck_collect(struct engine *, struct buf *out);

/* Writes a more readable form of engine_wait.site to `out`, or returns `site`. */
typedef const char *engine_stuck_locate(const char *site, char *out, size_t n);

/* Prints the deadlock or livelock report (log_error and log_note lines) of all parts in the buffer;
 * the numbers of entities are below `world`. */
void engine_stuck_report(enum engine_end, uint32_t world, const struct buf *parts,
                         engine_stuck_locate *locate);

#endif
