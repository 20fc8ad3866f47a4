/*
 * load.h - libraries that only some commands need.
 *
 * Loading all of them would take most of the time that a short command takes. So none is linked
 * with; whoever is about to use one loads it, and then calls its functions as usual (stubs.S).
 */
#ifndef LOAD_LOAD_H
#define LOAD_LOAD_H

#include "base/err.h"

/* L(NAME, title): the list in stubs.S, the file in meson.build and the constant LOAD_NAME; what
 * messages call it. */
#define LOAD_LIBRARIES(L) \
    L(expat, "Expat")     \
    L(libdw, "libdw")     \
    L(metis, "METIS")     \
    L(nlopt, "NLopt")     \
    L(otf2, "OTF2")       \
    L(yajl, "yajl")       \
    L(zlib, "zlib")       \
    L(zstd, "zstd")

enum load_name {
#define L(name, title) LOAD_##name,
    LOAD_LIBRARIES(L)
#undef L
};

/* Loads the library, unless it is there already; ERR_SYSTEM says what is missing. Any thread may
 * call it. */
int load_library(enum load_name, struct err *);

#endif
