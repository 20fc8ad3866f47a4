/*
 * Fuzz target: the ELF reader on arbitrary bytes. Whatever it accepts, all that it offers must be
 * readable.
 */
#include <stdlib.h>
#include <string.h>

#include "program/elf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct program_elf elf;
    struct program_elf_symbol symbol;
    struct err err = {0};
    const char *name;
    if (program_elf_parse(&elf, data, size, &err)) {
        require(err.code == ERR_INPUT && err.text[0]);
        return 0;
    }
    const char *strings[] = {elf.interpreter, elf.soname, elf.rpath, elf.runpath};
    for (size_t i = 0; i < 4; i++)
        require(!strings[i] || strlen(strings[i]) < size);
    for (size_t i = 0; i < 1000 && (name = program_elf_needed(&elf, i)) != NULL; i++)
        require(strlen(name) < size);
    for (size_t i = 0; i < program_elf_symbol_count(&elf); i++) {
        if (program_elf_symbol(&elf, i, &symbol))
            require(strlen(symbol.name) < size);
    }
    return 0;
}
