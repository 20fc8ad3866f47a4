/*
 * A small reader of 64-bit little-endian ELF programs and libraries, for `orrery check`.
 *
 * Nothing in the file is trusted: every offset and string is checked against the file's size
 * before use, so any bytes give an answer or an error, never a fault. Nothing is executed.
 */
#ifndef CLI_ELF_H
#define CLI_ELF_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Where a table lies in the file. */
struct cli_elf_range {
    size_t offset, size;
};

/* Plain value; pointers are into the file, valid until cli_elf_close. */
struct cli_elf {
    const unsigned char *data;
    size_t size;
    int mapped;            /* data is ours to unmap */
    uint16_t type;         /* ET_EXEC, ET_DYN */
    uint64_t segments;     /* offset, count and size of program headers, checked */
    unsigned segment_count, segment_size;
    const char *interpreter; /* PT_INTERP, NULL: static program or library */
    const char *soname, *rpath, *runpath; /* NULL: none */
    int is_pie;            /* DF_1_PIE */
    struct cli_elf_range dynamic, strings, symbols;
    uint64_t writable_bytes; /* data a program can change: PT_LOAD with PF_W, without RELRO */
    uint64_t tls_bytes;
};

struct cli_elf_symbol {
    const char *name;
    int defined, weak;
};

/* Reads from memory, which is borrowed. ERR_INPUT with a text that continues "the file ...": a
 * script, not ELF, 32-bit, for another machine, damaged. */
int cli_elf_parse(struct cli_elf *, const void *data, size_t size, struct err *);

/* Maps a file and reads it. ERR_SYSTEM if it cannot be read, else as cli_elf_parse; on failure
 * nothing is held. */
int cli_elf_open(struct cli_elf *, const char *path, struct err *);
void cli_elf_close(struct cli_elf *);

/* The i-th library the file needs, or NULL after the last. O(i). */
const char *cli_elf_needed(const struct cli_elf *, size_t i);

/* Dynamic symbols by number. cli_elf_symbol returns 0 for entries without a proper name. */
size_t cli_elf_symbol_count(const struct cli_elf *);
int cli_elf_symbol(const struct cli_elf *, size_t i, struct cli_elf_symbol *out);

#endif
