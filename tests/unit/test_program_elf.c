/*
 * The ELF reader: on this test's own executable, on crafted headers, and on damage everywhere.
 */
#include "program/elf.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/rng.h"
#include "tap.h"

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#define FOREIGN EM_AARCH64
#else
#define MACHINE EM_AARCH64
#define FOREIGN EM_X86_64
#endif

static struct program_elf elf;
static struct err err;

/* Touches everything a file can make the reader touch; returns the number of named symbols. */
static size_t exercise(const struct program_elf *e)
{
    size_t names = 0, bytes = 0;
    struct program_elf_symbol symbol;
    const char *needed;
    for (size_t i = 0; (needed = program_elf_needed(e, i)) != NULL; i++)
        bytes += strlen(needed);
    for (size_t i = 0; i < program_elf_symbol_count(e); i++) {
        if (program_elf_symbol(e, i, &symbol)) {
            bytes += strlen(symbol.name);
            names++;
        }
    }
    bytes += e->interpreter ? strlen(e->interpreter) : 0;
    bytes += e->rpath ? strlen(e->rpath) : 0;
    bytes += e->runpath ? strlen(e->runpath) : 0;
    return bytes ? names : 0;
}

static void test_self(void)
{
    struct program_elf_symbol symbol;
    int needs_libc = 0, imports_getpid = 0;
    const char *needed;
    is_int(program_elf_open(&elf, "/proc/self/exe", &err), 0, "our own executable opens");
    ok(elf.interpreter && strstr(elf.interpreter, "ld-linux"), "it has an interpreter");
    ok(elf.writable_bytes > 0 && elf.writable_bytes < 1 << 24, "it has some writable data");
    for (size_t i = 0; (needed = program_elf_needed(&elf, i)) != NULL; i++)
        needs_libc |= strcmp(needed, "libc.so.6") == 0;
    for (size_t i = 0; i < program_elf_symbol_count(&elf); i++) {
        if (program_elf_symbol(&elf, i, &symbol) && strcmp(symbol.name, "getppid") == 0)
            imports_getpid = !symbol.defined;
    }
    ok(needs_libc, "it needs libc");
    ok(imports_getpid && getppid() > 0, "it imports a function that it calls");
    program_elf_close(&elf);
    ok(elf.data == NULL, "closed");
}

static void refuse(const void *data, size_t size, const char *says)
{
    int rc = program_elf_parse(&elf, data, size, &err);
    if (!ok(rc == ERR_INPUT && strstr(err.text, says), "refused: %s", says))
        diag("code %d text '%s'", rc, err.text);
}

static void test_headers(void)
{
    Elf64_Ehdr eh = {.e_type = ET_DYN, .e_machine = MACHINE, .e_phentsize = sizeof(Elf64_Phdr)};
    memcpy(eh.e_ident, ELFMAG, SELFMAG);
    eh.e_ident[EI_CLASS] = ELFCLASS64;
    eh.e_ident[EI_DATA] = ELFDATA2LSB;
    is_int(program_elf_parse(&elf, &eh, sizeof eh, &err), 0, "a bare header is a static program");
    ok(!elf.interpreter && program_elf_symbol_count(&elf) == 0 && !program_elf_needed(&elf, 0),
       "without interpreter, symbols and libraries");
    refuse("", 0, "is empty");
    refuse("#!/bin/sh\necho\n", 15, "is a script (for /bin/sh)");
    refuse("#! /usr/bin/env python3\n", 24, "is a script (for /usr/bin/env python3)");
    refuse("#!", 2, "is a script");
    refuse("hello, world, this is no ELF file", 30, "not a program in ELF format");
    refuse(&eh, 20, "damaged");
    refuse(&eh, 5, "not a program in ELF format");
    eh.e_phnum = 1;
    eh.e_phoff = 16;
    refuse(&eh, sizeof eh, "bad program headers");
    eh.e_phoff = UINT64_MAX - 8;
    refuse(&eh, sizeof eh, "bad program headers");
    eh.e_machine = FOREIGN;
    refuse(&eh, sizeof eh, "is for another machine");
    eh.e_machine = MACHINE;
    eh.e_type = ET_REL;
    refuse(&eh, sizeof eh, "an object file");
    eh.e_type = ET_CORE;
    refuse(&eh, sizeof eh, "another kind");
    eh.e_ident[EI_CLASS] = ELFCLASS32;
    refuse(&eh, sizeof eh, "32-bit");
}

static void test_files(void)
{
    is_int(program_elf_open(&elf, "/nonexistent/file", &err), ERR_SYSTEM, "a missing file");
    ok(strstr(err.text, "No such file"), "says so");
    is_int(program_elf_open(&elf, "/", &err), ERR_SYSTEM, "a directory");
    ok(strstr(err.text, "is a directory"), "says so");
    is_int(program_elf_open(&elf, "/dev/null", &err), ERR_SYSTEM, "a device");
}

/* Every truncation and many random changes of a real file: no fault (run this under ASan). */
static void test_damage(uint64_t seed)
{
    struct rng rng;
    size_t good = 0, trials = 0;
    is_int(program_elf_open(&elf, "/proc/self/exe", &err), 0, "a real file");
    size_t size = elf.size < 1 << 20 ? elf.size : 1 << 20;
    size_t names = exercise(&elf);
    ok(names > 5, "has symbols");
    rng_seed(&rng, seed);
    diag("seed %llu", (unsigned long long)seed);
    for (int i = 0; i < 400; i++, trials++) {
        size_t length = i < 200 ? rng_below(&rng, size) : size;
        unsigned char *copy = malloc(length + 1);
        struct program_elf broken;
        memcpy(copy, elf.data, length);
        for (int n = 0; i >= 200 && n < 4; n++)
            copy[rng_below(&rng, rng_below(&rng, 2) ? 1024 : size)] = (unsigned char)rng_next(&rng);
        if (program_elf_parse(&broken, copy, length, &err) == 0)
            good += exercise(&broken) < (size_t)-1;
        free(copy);
    }
    program_elf_close(&elf);
    ok(trials == 400 && good > 0 && good < trials, "damage is refused or survived, not fatal");
}

int main(void)
{
    plan_auto();
    test_self();
    test_headers();
    test_files();
    test_damage(11);
    return done_testing();
}
