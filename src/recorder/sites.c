/*
 * sites.c - finds the call site of a call, and numbers it (see sites.h).
 *
 * Addresses are looked up once for each call path. An address is recorded as a file and an offset
 * in it, which do not depend on where the file was loaded; functions and lines are found when parts
 * are merged.
 */
#include "recorder/sites.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/rng.h"
#include "recorder/recorder_internal.h"
#include "recorder/regions.h"
#include "trace/definitions.h"

#define FRAMES_ALL 20 /* with those of the recorder and of MPI */
#define FRAMES_KEPT 4
#define FRAME_TEXT 1024
#define IDENTITY_BITS 42 /* six bytes in a record */

static struct {
    struct map by_frames; /* identities */
} sites;

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t state = a * RNG_SPLITMIX_STEP ^ b;
    return rng_splitmix(&state);
}

/* Frames between the program and the recorder, or below its main function. */
static int is_between(const char *text)
{
    static const char *const files[] = {"/liborrery-", "/libmpich", "/libmpi.so", "/libc.so",
                                        "/ld-linux"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        if (strstr(text, files[i]))
            return 1;
    return 0;
}

static uint64_t define(void *const *frames, int count)
{
    char *text = mem_alloc(sizeof(uint64_t) + FRAMES_KEPT * FRAME_TEXT);
    char *at = text + sizeof(uint64_t);
    uint64_t identity = 1;
    int kept = 0;
    for (int i = 0; i < count && kept < FRAMES_KEPT; i++) {
        /* The address of the call itself, not of the instruction after it. */
        if (!recorder_address((const char *)frames[i] - 1, at, FRAME_TEXT) || is_between(at))
            continue;
        at += strlen(at);
        kept++;
    }
    for (const char *c = text + sizeof(uint64_t); c < at; c++)
        identity = mix(identity, (uint8_t)*c);
    identity &= (UINT64_C(1) << IDENTITY_BITS) - 1;
    memcpy(text, &identity, sizeof identity);
    if (kept)
        recorder_mpi->define(TRACE_SITE, text, (size_t)(at - text));
    mem_free(text);
    return kept ? identity : 0;
}

/* The first backtrace loads a library. */
void recorder_sites_init(void)
{
    void *frames[4];
    map_init(&sites.by_frames);
    backtrace(frames, 4);
}

/* Ranks that share the sites may be of several programs, which have other code at an address. */
static uint64_t program(void)
{
    uint64_t hash = 5381;
    for (const char *c = (const char *)getauxval(AT_EXECFN); c && *c; c++)
        hash = hash * 33 + (uint8_t)*c;
    return hash;
}

uint64_t recorder_site(void)
{
    void *frames[FRAMES_ALL];
    int count = backtrace(frames, FRAMES_ALL), is_new;
    uint64_t hash = mix((uint64_t)count, program());
    for (int i = 0; i < count; i++)
        hash = mix(hash, (uintptr_t)frames[i]);
    uint64_t *identity = map_insert(&sites.by_frames, hash, &is_new);
    if (is_new)
        *identity = define(frames, count);
    return *identity;
}
