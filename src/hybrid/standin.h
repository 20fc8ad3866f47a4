/*
 * standin.h - the stand-ins: an MPI program in the simulator, whose rank r does in virtual time
 * what process r of the real program does (wire.h). Arguments and objects are handled as in a
 * replay.
 *
 *     standin.c           messages of the process, the loop over its calls, answers
 *     standin_complete.c  calls that complete requests, and probes
 */
#ifndef HYBRID_STANDIN_H
#define HYBRID_STANDIN_H

#include "base/buf.h"
#include "hybrid/wire.h"
#include "replay/replay.h"

/* What has come of a call. */
struct standin_result {
    int32_t flag;
    int32_t *indices;
    uint32_t index_count, index_room;
    struct hybrid_match *matches;
    uint32_t match_count, match_room;
};

struct standin {
    struct replay_rank k;
    struct trace_decoder calls, locals;
    int64_t *wilds; /* requests: receives from any source that are not known to have a message */
    uint32_t wild_count, wild_room;
    int64_t *lasting; /* persistent ones */
    uint32_t lasting_count, lasting_room;
    struct standin_result result;
    uint64_t failures; /* calls that have failed */
    char failure[256]; /* the last one */
};

void standin_add_index(struct standin *, int32_t index);
void standin_add_match(struct standin *, int64_t request, int source, int tag);
/* A call that completes requests, or a probe. */
void standin_complete(struct standin *, const struct replay_fn *);
void standin_probe(struct standin *, const struct replay_fn *);

#endif
