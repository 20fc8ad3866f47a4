/*
 * elf.c - the ELF reader (System V ABI, chapters 4 and 5). Structures are copied out of the file by
 * read_at, which checks bounds and needs no alignment; strings must end inside their table.
 *
 * The file does not give the size of the dynamic symbol table. It is taken from the section headers
 * if there are any, else from DT_HASH, else from the fact that all linkers put the string table
 * right after it; invalid entries are skipped, since they have no valid name.
 */
#include "program/elf.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sys.h"

#if defined(__x86_64__)
#define OUR_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OUR_MACHINE EM_AARCH64
#else
#error "unknown machine: add its ELF number here"
#endif

static int in_file(const struct program_elf *elf, uint64_t offset, uint64_t size)
{
    return offset <= elf->size && size <= elf->size - offset;
}

static int read_at(const struct program_elf *elf, uint64_t offset, void *out, size_t size)
{
    if (!in_file(elf, offset, size))
        return 0;
    memcpy(out, elf->data + offset, size);
    return 1;
}

/* The string at `at` of a table, if it ends inside. */
static const char *string_at(const struct program_elf *elf, struct program_elf_range table,
                             uint64_t at)
{
    if (at >= table.size)
        return NULL;
    const char *text = (const char *)elf->data + table.offset + at;
    return memchr(text, 0, table.size - (size_t)at) ? text : NULL;
}

static int segment(const struct program_elf *elf, unsigned i, Elf64_Phdr *out)
{
    return i < elf->segment_count &&
           read_at(elf, elf->segments + (uint64_t)i * elf->segment_size, out, sizeof *out);
}

/* File range of the loaded address range [address, address + size); size 0: to the end of what
 * the file holds of its segment. */
static int locate(const struct program_elf *elf, uint64_t address, uint64_t size,
                  struct program_elf_range *out)
{
    Elf64_Phdr ph;
    for (unsigned i = 0; segment(elf, i, &ph); i++) {
        if (ph.p_type != PT_LOAD || address < ph.p_vaddr || address - ph.p_vaddr >= ph.p_filesz)
            continue;
        uint64_t skip = address - ph.p_vaddr, room = ph.p_filesz - skip;
        if (!in_file(elf, ph.p_offset, ph.p_filesz) || size > room)
            return 0;
        out->offset = (size_t)(ph.p_offset + skip);
        out->size = (size_t)(size ? size : room);
        return 1;
    }
    return 0;
}

static int dynamic_entry(const struct program_elf *elf, size_t i, Elf64_Dyn *out)
{
    if (i >= elf->dynamic.size / sizeof *out)
        return 0;
    return read_at(elf, elf->dynamic.offset + i * sizeof *out, out, sizeof *out) &&
           out->d_tag != DT_NULL;
}

static int dynamic_value(const struct program_elf *elf, int64_t tag, uint64_t *out)
{
    Elf64_Dyn entry;
    for (size_t i = 0; dynamic_entry(elf, i, &entry); i++) {
        if (entry.d_tag == tag) {
            *out = entry.d_un.d_val;
            return 1;
        }
    }
    return 0;
}

static const char *dynamic_string(const struct program_elf *elf, int64_t tag)
{
    uint64_t at;
    return dynamic_value(elf, tag, &at) ? string_at(elf, elf->strings, at) : NULL;
}

/* ---- the header ---- */

static const char *machine_name(unsigned machine)
{
    switch (machine) {
    case EM_X86_64:
        return "x86-64";
    case EM_AARCH64:
        return "aarch64";
    case EM_386:
        return "i386";
    case EM_ARM:
        return "32-bit ARM";
    case EM_PPC64:
        return "ppc64";
    case EM_RISCV:
        return "RISC-V";
    case EM_S390:
        return "s390";
    default:
        return "unknown";
    }
}

static int refuse_foreign(const unsigned char *data, size_t size, struct err *err)
{
    if (size == 0)
        return err_set(err, ERR_INPUT, "is empty: give an MPI program");
    if (size >= 2 && data[0] == '#' && data[1] == '!') {
        int length = 0;
        while ((size_t)length + 2 < size && length < 60 && data[length + 2] >= ' ')
            length++;
        return err_set(err, ERR_INPUT,
                       "is a script (for%s%.*s): give the MPI program that it starts",
                       length && data[2] == ' ' ? "" : " ", length, (const char *)data + 2);
    }
    return err_set(err, ERR_INPUT, "is not a program in ELF format: give an MPI program");
}

static int read_header(struct program_elf *elf, struct err *err)
{
    Elf64_Ehdr eh;
    if (elf->size < EI_NIDENT || memcmp(elf->data, ELFMAG, SELFMAG) != 0)
        return refuse_foreign(elf->data, elf->size, err);
    if (elf->data[EI_CLASS] == ELFCLASS32)
        return err_set(err, ERR_INPUT, "is a 32-bit program: rebuild it for 64 bits");
    if (elf->data[EI_CLASS] != ELFCLASS64 || !read_at(elf, 0, &eh, sizeof eh))
        return err_set(err, ERR_INPUT, "is a damaged ELF file: its header is cut off or wrong");
    if (elf->data[EI_DATA] != ELFDATA2LSB || eh.e_machine != OUR_MACHINE)
        return err_set(err, ERR_INPUT, "is for another machine (%s): rebuild it for %s",
                       machine_name(eh.e_machine), machine_name(OUR_MACHINE));
    if (eh.e_type != ET_EXEC && eh.e_type != ET_DYN)
        return err_set(err, ERR_INPUT, "is not a program but %s",
                       eh.e_type == ET_REL ? "an object file: link it"
                                           : "another kind of ELF file");
    if (eh.e_phentsize < sizeof(Elf64_Phdr) ||
        !in_file(elf, eh.e_phoff, (uint64_t)eh.e_phnum * eh.e_phentsize))
        return err_set(err, ERR_INPUT, "is a damaged ELF file: bad program headers");
    elf->type = eh.e_type;
    elf->segments = eh.e_phoff;
    elf->segment_count = eh.e_phnum;
    elf->segment_size = eh.e_phentsize;
    return 0;
}

/* ---- segments and dynamic section ---- */

static int read_segment(struct program_elf *elf, const Elf64_Phdr *ph, uint64_t *relro)
{
    struct program_elf_range range = {(size_t)ph->p_offset, (size_t)ph->p_filesz};
    switch (ph->p_type) {
    case PT_LOAD:
        if (ph->p_flags & PF_W)
            elf->writable_bytes += ph->p_memsz;
        return in_file(elf, ph->p_offset, ph->p_filesz);
    case PT_INTERP:
        if (!in_file(elf, ph->p_offset, ph->p_filesz))
            return 0;
        elf->interpreter = string_at(elf, range, 0);
        return elf->interpreter != NULL;
    case PT_DYNAMIC:
        elf->dynamic = range;
        return in_file(elf, ph->p_offset, ph->p_filesz);
    case PT_GNU_RELRO:
        *relro += ph->p_memsz;
        return 1;
    case PT_TLS:
        elf->tls_bytes += ph->p_memsz;
        return 1;
    default:
        return 1;
    }
}

static int read_segments(struct program_elf *elf, struct err *err)
{
    Elf64_Phdr ph;
    uint64_t relro = 0;
    for (unsigned i = 0; segment(elf, i, &ph); i++) {
        if (!read_segment(elf, &ph, &relro))
            return err_set(err, ERR_INPUT, "is a damaged ELF file: segment %u is cut off", i);
    }
    elf->writable_bytes -= relro < elf->writable_bytes ? relro : elf->writable_bytes;
    return 0;
}

/* Symbol table size by the section headers; 0: they do not tell. */
static uint64_t symbols_by_section(const struct program_elf *elf, size_t offset)
{
    Elf64_Ehdr eh;
    Elf64_Shdr sh;
    if (!read_at(elf, 0, &eh, sizeof eh) || eh.e_shentsize < sizeof sh)
        return 0;
    for (unsigned i = 0; i < eh.e_shnum; i++) {
        uint64_t at = eh.e_shoff + (uint64_t)i * eh.e_shentsize;
        if (at < eh.e_shoff || !read_at(elf, at, &sh, sizeof sh))
            return 0;
        if (sh.sh_type == SHT_DYNSYM && sh.sh_offset == offset)
            return sh.sh_size;
    }
    return 0;
}

static uint64_t symbols_by_hash(const struct program_elf *elf)
{
    uint64_t address;
    struct program_elf_range table;
    uint32_t counts[2]; /* buckets, symbols */
    if (!dynamic_value(elf, DT_HASH, &address) || !locate(elf, address, sizeof counts, &table) ||
        !read_at(elf, table.offset, counts, sizeof counts))
        return 0;
    return (uint64_t)counts[1] * sizeof(Elf64_Sym);
}

static void size_symbols(struct program_elf *elf)
{
    uint64_t size = symbols_by_section(elf, elf->symbols.offset);
    if (!size)
        size = symbols_by_hash(elf);
    if (!size && elf->strings.offset > elf->symbols.offset)
        size = elf->strings.offset - elf->symbols.offset;
    if (size < elf->symbols.size)
        elf->symbols.size = (size_t)size;
}

static int read_dynamic(struct program_elf *elf, struct err *err)
{
    uint64_t strings, size, symbols, flags;
    if (!elf->dynamic.size)
        return 0;
    if (!dynamic_value(elf, DT_STRTAB, &strings) || !dynamic_value(elf, DT_STRSZ, &size) || !size ||
        !locate(elf, strings, size, &elf->strings))
        return err_set(err, ERR_INPUT, "is a damaged ELF file: bad dynamic string table");
    if (!dynamic_value(elf, DT_SYMTAB, &symbols) || !locate(elf, symbols, 0, &elf->symbols))
        return err_set(err, ERR_INPUT, "is a damaged ELF file: bad dynamic symbol table");
    size_symbols(elf);
    elf->soname = dynamic_string(elf, DT_SONAME);
    elf->rpath = dynamic_string(elf, DT_RPATH);
    elf->runpath = dynamic_string(elf, DT_RUNPATH);
    elf->is_pie = dynamic_value(elf, DT_FLAGS_1, &flags) && (flags & DF_1_PIE);
    return 0;
}

int program_elf_parse(struct program_elf *elf, const void *data, size_t size, struct err *err)
{
    memset(elf, 0, sizeof *elf);
    elf->data = data;
    elf->size = size;
    int rc = read_header(elf, err);
    if (rc == 0)
        rc = read_segments(elf, err);
    if (rc == 0)
        rc = read_dynamic(elf, err);
    return rc;
}

/* ---- files ---- */

static int map_file(int fd, const void **data, size_t *size, struct err *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return err_set(err, ERR_SYSTEM, "cannot be read: %s", strerror(errno));
    if (S_ISDIR(st.st_mode))
        return err_set(err, ERR_SYSTEM, "is a directory: give a program");
    if (!S_ISREG(st.st_mode))
        return err_set(err, ERR_SYSTEM, "is not a regular file: give a program");
    if (st.st_size == 0)
        return refuse_foreign(NULL, 0, err);
    void *map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map == MAP_FAILED)
        return err_set(err, ERR_SYSTEM, "cannot be read: %s", strerror(errno));
    *data = map;
    *size = (size_t)st.st_size;
    return 0;
}

int program_elf_open(struct program_elf *elf, const char *path, struct err *err)
{
    const void *data = NULL;
    size_t size = 0;
    int fd = sys_open(path, O_RDONLY | O_NONBLOCK, 0);
    if (fd < 0)
        return err_set(err, ERR_SYSTEM, "cannot be read: %s", strerror(errno));
    int rc = map_file(fd, &data, &size, err);
    sys_close(fd);
    if (rc)
        return rc;
    rc = program_elf_parse(elf, data, size, err);
    elf->mapped = 1;
    if (rc)
        program_elf_close(elf);
    return rc;
}

void program_elf_close(struct program_elf *elf)
{
    if (elf->mapped)
        munmap((void *)elf->data, elf->size);
    memset(elf, 0, sizeof *elf);
}

/* ---- names ---- */

const char *program_elf_needed(const struct program_elf *elf, size_t i)
{
    Elf64_Dyn entry;
    for (size_t at = 0; dynamic_entry(elf, at, &entry); at++) {
        if (entry.d_tag != DT_NEEDED)
            continue;
        const char *name = string_at(elf, elf->strings, entry.d_un.d_val);
        if (name && i-- == 0)
            return name;
    }
    return NULL;
}

size_t program_elf_symbol_count(const struct program_elf *elf)
{
    return elf->symbols.size / sizeof(Elf64_Sym);
}

int program_elf_symbol(const struct program_elf *elf, size_t i, struct program_elf_symbol *out)
{
    Elf64_Sym symbol;
    if (i >= program_elf_symbol_count(elf) ||
        !read_at(elf, elf->symbols.offset + i * sizeof symbol, &symbol, sizeof symbol))
        return 0;
    const char *name = string_at(elf, elf->strings, symbol.st_name);
    if (!name || !*name)
        return 0;
    out->name = name;
    out->defined = symbol.st_shndx != SHN_UNDEF;
    out->weak = ELF64_ST_BIND(symbol.st_info) == STB_WEAK;
    return 1;
}
