/*
 * check.c - the checksum of frames.
 */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "trace/format.h"

uint64_t trace_check(const struct trace_frame *frame, const void *payload)
{
    uint64_t seed = XXH3_64bits(frame, offsetof(struct trace_frame, check));
    return XXH3_64bits_withSeed(payload, frame->stored, seed);
}
