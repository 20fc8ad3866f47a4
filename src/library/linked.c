/*
 * linked.c - for programs that are linked with the libraries they need: nothing is loaded. Stubs
 * keep functions in static data, which every virtual rank has its own copy of; so what runs in the
 * simulator has none.
 */
#include "library/library.h"

int library_load(enum library_name which, struct err *err)
{
    return which == LIBRARY_zstd ? 0 : err_set(err, ERR_INTERNAL, "no such library is linked");
}
