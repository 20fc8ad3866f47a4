/*
 * check.c - the checksum of frames.
 */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "trace/format.h"

static uint64_t seed_of(const struct trace_frame *frame)
{
    return XXH3_64bits(frame, offsetof(struct trace_frame, check));
}

uint64_t trace_check(const struct trace_frame *frame, const void *payload)
{
    return XXH3_64bits_withSeed(payload, frame->stored, seed_of(frame));
}

uint64_t trace_check_spans(const struct trace_frame *frame, const struct trace_span *spans,
                           size_t count)
{
    XXH3_state_t state = {0};
    XXH3_64bits_reset_withSeed(&state, seed_of(frame));
    for (size_t i = 0; i < count; i++)
        if (spans[i].bytes)
            XXH3_64bits_update(&state, spans[i].data, spans[i].bytes);
    return XXH3_64bits_digest(&state);
}
