/*
 * symbols.c - looks into an ELF file's .symtab. The file is mapped read-only and every access is
 * checked against its size: a program may have been replaced while it runs.
 */
#include "vp/symbols.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/sys.h"

struct image {
    const char *at;
    size_t size;
};

static const void *part(const struct image *f, uint64_t offset, uint64_t bytes)
{
    return offset <= f->size && bytes <= f->size - offset ? f->at + offset : NULL;
}

static const Elf64_Shdr *section(const struct image *f, const Elf64_Ehdr *head, unsigned i)
{
    return part(f, head->e_shoff + (uint64_t)i * sizeof(Elf64_Shdr), sizeof(Elf64_Shdr));
}

/* The offset into the function, its name copied; -1 if it is not in this table. */
static int64_t search(const struct image *f, const Elf64_Shdr *table, const Elf64_Shdr *strings,
                      uint64_t offset, char *name, size_t n)
{
    uint64_t count = table->sh_size / sizeof(Elf64_Sym);

    for (uint64_t i = 0; i < count; i++) {
        const Elf64_Sym *s = part(f, table->sh_offset + i * sizeof *s, sizeof *s);
        const char *text;

        if (!s || ELF64_ST_TYPE(s->st_info) != STT_FUNC || offset < s->st_value ||
            offset >= s->st_value + s->st_size || s->st_name >= strings->sh_size)
            continue;
        text = part(f, strings->sh_offset + s->st_name, 1);
        if (!text)
            return -1;
        snprintf(name, n, "%.*s", (int)strnlen(text, f->size - (size_t)(text - f->at)), text);
        return (int64_t)(offset - s->st_value);
    }
    return -1;
}

static int64_t find(const struct image *f, uint64_t offset, char *name, size_t n)
{
    const Elf64_Ehdr *head = part(f, 0, sizeof *head);

    if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
        head->e_ident[EI_CLASS] != ELFCLASS64)
        return -1;
    for (unsigned i = 0; i < head->e_shnum; i++) {
        const Elf64_Shdr *table = section(f, head, i), *strings;

        if (!table || table->sh_type != SHT_SYMTAB)
            continue;
        strings = section(f, head, table->sh_link);
        return strings ? search(f, table, strings, offset, name, n) : -1;
    }
    return -1;
}

int64_t vp_symbol_find(const char *path, uint64_t offset, char *name, size_t n)
{
    struct image f = {0};
    struct stat st;
    int fd = sys_open(path, O_RDONLY, 0);
    int64_t into = -1;
    void *map;

    if (fd < 0)
        return -1;
    if (fstat(fd, &st) == 0 && st.st_size > 0) {
        map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (map != MAP_FAILED) {
            f = (struct image){map, (size_t)st.st_size};
            into = find(&f, offset, name, n);
            munmap(map, f.size);
        }
    }
    sys_close(fd);
    return into;
}
