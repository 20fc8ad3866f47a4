/*
 * symbols.h - names of functions that are not exported, for backtraces.
 */
#ifndef VP_SYMBOLS_H
#define VP_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

/* Finds the function that contains `offset` (from the load address) in the file's own symbol table,
 * and copies its name; returns the offset into it, or -1 if there is none. Reads the file; may be
 * called from a signal handler. */
int64_t vp_symbol_find(const char *path, uint64_t offset, char *name, size_t n);

#endif
