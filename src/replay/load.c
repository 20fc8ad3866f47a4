/*
 * load.c - the replayer is linked with the one library it needs. Libraries that are loaded on
 * demand (load/load.h) keep their functions in static data, which every virtual rank has its own
 * copy of.
 */
#include "load/load.h"

int load_library(enum load_name which, struct err *err)
{
    return which == LOAD_zstd ? 0 : err_set(err, ERR_INTERNAL, "the replayer has no such library");
}
