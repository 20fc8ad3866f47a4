/*
 * elf.h - a small reader of 64-bit little-endian ELF programs and libraries, for `orrery check`.
 *
 * Nothing in the file is trusted: every offset and string is checked against the file's size
 * before use, so any bytes give an answer or an error, never a fault. Nothing is executed.
 */
#ifndef PROGRAM_ELF_H
#define PROGRAM_ELF_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* The location of a table in the file. */
struct program_elf_range {
    size_t offset, size;
};

/* Plain value; pointers are into the file, valid until program_elf_close. */
struct program_elf {
    const unsigned char *data;
    size_t size;
    int mapped;        /* we must unmap data */
    uint16_t type;     /* ET_EXEC, ET_DYN */
    uint64_t segments; /* offset, count and size of program headers, checked */
    unsigned segment_count, segment_size;
    const char *interpreter;              /* PT_INTERP, NULL: static program or library */
    const char *soname, *rpath, *runpath; /* NULL: none */
    int is_pie;                           /* DF_1_PIE */
    struct program_elf_range dynamic, strings, symbols;
    uint64_t writable_bytes; /* data a program can change: PT_LOAD with PF_W, without RELRO */
    uint64_t tls_bytes;
};

struct program_elf_symbol {
    const char *name;
    int defined, weak;
};

/* Reads from memory, which is borrowed. ERR_INPUT with a text that continues "the file ...": a
 * script, not ELF, 32-bit, for another machine, damaged. */
int program_elf_parse(struct program_elf *, const void *data, size_t size, struct err *);

/* Maps a file and reads it. ERR_SYSTEM if it cannot be read, else as program_elf_parse; on failure
 * nothing is held. */
int program_elf_open(struct program_elf *, const char *path, struct err *);
void program_elf_close(struct program_elf *);

/* The i-th library the file needs, or NULL after the last. O(i). */
const char *program_elf_needed(const struct program_elf *, size_t i);

/* Dynamic symbols by number. program_elf_symbol returns 0 for entries without a valid name. */
size_t program_elf_symbol_count(const struct program_elf *);
int program_elf_symbol(const struct program_elf *, size_t i, struct program_elf_symbol *out);

#endif
