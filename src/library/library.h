/*
 * library.h - libraries that only some commands need.
 *
 * None is linked with; whoever is about to use one loads it, and then calls its functions as usual
 * (stubs.S). So a library that is missing stops only the commands that need it, with a message that
 * names it. And short commands, of which a sweep starts thousands, do not pay for it: loading all
 * of them takes as long as everything else that `orrery version` does.
 */
#ifndef LIBRARY_LIBRARY_H
#define LIBRARY_LIBRARY_H

#include "base/err.h"

/* L(NAME, title): the list in stubs.S, the file in meson.build and the constant LIBRARY_NAME; what
 * messages call it. */
#define LIBRARY_LIST(L) \
    L(expat, "Expat")   \
    L(libdw, "libdw")   \
    L(metis, "METIS")   \
    L(nlopt, "NLopt")   \
    L(otf2, "OTF2")     \
    L(yajl, "yajl")     \
    L(zlib, "zlib")     \
    L(zstd, "zstd")

enum library_name {
#define L(name, title) LIBRARY_##name,
    LIBRARY_LIST(L)
#undef L
};

/* Loads the library, unless it is there already; ERR_SYSTEM says what is missing. Any thread may
 * call it. */
int library_load(enum library_name, struct err *);

#endif
