/*
 * namer.c - finds names with libdw of elfutils. Each file is opened once, by itself, as if it were
 * loaded at 0: addresses are those within the file. If a file is gone, its name and the address
 * stand for the function.
 */
#include "cli/namer.h"

#include <elfutils/libdwfl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "library/library.h"

struct cli_namer_file {
    char *path;
    Dwfl *dwfl;
    Dwfl_Module *module; /* NULL: it cannot be read */
};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static struct cli_namer_file open_file(const char *path)
{
    static char *debug_path; /* the usual one */
    static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_build_id_find_elf,
                                             .find_debuginfo = dwfl_standard_find_debuginfo,
                                             .debuginfo_path = &debug_path};
    struct cli_namer_file file = {.path = mem_strdup(path)};
    if (library_load(LIBRARY_libdw, NULL) != 0)
        return file;
    file.dwfl = dwfl_begin(&callbacks);
    if (!file.dwfl)
        return file;
    dwfl_report_begin(file.dwfl);
    file.module = dwfl_report_elf(file.dwfl, path, path, -1, 0, false);
    dwfl_report_end(file.dwfl, NULL, NULL);
    return file;
}

static struct cli_namer_file *find_file(struct cli_namer *n, const char *path)
{
    struct err err;
    for (size_t i = 0; i < n->count; i++)
        if (strcmp(n->files[i].path, path) == 0)
            return &n->files[i];
    if (n->count == 0 && library_load(LIBRARY_libdw, &err) != 0)
        log_warn("functions are not named: %s", err.text);
    n->files = mem_realloc(n->files, (n->count + 1) * sizeof *n->files);
    n->files[n->count] = open_file(path);
    return &n->files[n->count++];
}

/* "solve (cg.c:120)", or "cg+0x1234" where there is no symbol. */
static int add_frame(struct cli_namer *n, const char *path, uint64_t address, int with_line,
                     const char *before, struct buf *out)
{
    struct cli_namer_file *file = find_file(n, path);
    const char *name = file->module ? dwfl_module_addrname(file->module, address) : NULL;
    int number = 0;
    if (name && strcmp(name, "_start") == 0)
        return 0; /* calls main */
    buf_adds(out, before);
    if (!name) {
        buf_addf(out, "%s+0x%" PRIx64, base_name(path), address);
        return 1;
    }
    buf_adds(out, name);
    Dwfl_Line *line = with_line ? dwfl_module_getsrc(file->module, address) : NULL;
    const char *source = line ? dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL) : NULL;
    if (source && number > 0)
        buf_addf(out, " (%s:%d)", base_name(source), number);
    return 1;
}

static void name(struct trace_namer *namer, const char *addresses, int is_site, struct buf *out)
{
    struct cli_namer *n = (struct cli_namer *)namer;
    char *copy = mem_strdup(addresses), *at = copy;
    const char *before = "";
    while (*at == '@') {
        char *next = strstr(at + 1, "@/"), *plus;
        if (next)
            *next = '\0';
        plus = strrchr(at, '+');
        if (plus) {
            *plus = '\0';
            if (add_frame(n, at + 1, strtoull(plus + 1, NULL, 16), is_site, before, out))
                before = " < ";
        }
        if (!next)
            break;
        *next = '@';
        at = next;
    }
    mem_free(copy);
}

void cli_namer_init(struct cli_namer *n)
{
    *n = (struct cli_namer){.namer = {.name = name}};
    unsetenv("DEBUGINFOD_URLS"); /* nothing is fetched */
}

void cli_namer_fini(struct cli_namer *n)
{
    for (size_t i = 0; i < n->count; i++) {
        if (n->files[i].dwfl)
            dwfl_end(n->files[i].dwfl);
        mem_free(n->files[i].path);
    }
    mem_free(n->files);
}
