/*
 * backtrace.c - turns addresses into functions and lines with libdw of elfutils, which also finds
 * separate debug files. This is done in the command's process: the program may be damaged, and must
 * not get libraries that it does not know.
 */
#define _GNU_SOURCE 1
#include "launch/backtrace.h"

#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/output_book.h"
#include "launch/workers.h"
#include "library/library.h"

#define OURS "liborrery-mpi.so"

/* ---- addresses ---- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int is_ours(Dwfl *dwfl, Dwarf_Addr pc)
{
    Dwfl_Module *module = dwfl_addrmodule(dwfl, pc);
    const char *name = module ? dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL, NULL)
                              : NULL;
    return name && strcmp(base_name(name), OURS) == 0;
}

/* " (solve.c:17)" */
static void add_line(Dwfl_Module *module, Dwarf_Addr pc, struct buf *out)
{
    Dwfl_Line *line = dwfl_module_getsrc(module, pc);
    int number = 0;
    const char *file = line ? dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL) : NULL;
    if (file && number > 0)
        buf_addf(out, " (%s:%d)", base_name(file), number);
}

/* `pc` is an address within the instruction in question, `shown` the address to print. */
static void add_frame(Dwfl *dwfl, Dwarf_Addr pc, Dwarf_Addr shown, struct buf *out)
{
    Dwfl_Module *module = dwfl_addrmodule(dwfl, pc);
    GElf_Sym symbol;
    GElf_Off offset = 0;
    Dwarf_Addr start = 0;
    if (!module) {
        buf_addf(out, "0x%" PRIx64 ", where there is no code", (uint64_t)shown);
        return;
    }
    const char *file = dwfl_module_info(module, NULL, &start, NULL, NULL, NULL, NULL, NULL);
    const char *name = dwfl_module_addrinfo(module, pc, &offset, &symbol, NULL, NULL, NULL);
    if (name)
        buf_addf(out, "%s+0x%" PRIx64 " in %s", name, (uint64_t)(offset + (shown - pc)),
                 base_name(file));
    else
        buf_addf(out, "0x%" PRIx64 " in %s", (uint64_t)(shown - start), base_name(file));
    add_line(module, pc, out);
}

/* Deep recursion is printed as one line and a count. */
static void add_frames(Dwfl *dwfl, const struct run_question *q, uint32_t from, uint32_t to,
                       struct buf *out)
{
    struct buf line, last;
    unsigned shown = 0, repeated = 0;
    buf_init(&line);
    buf_init(&last);
    for (uint32_t i = from; i < to; i++) {
        Dwarf_Addr pc = q->frames[i];
        buf_clear(&line);
        add_frame(dwfl, pc - !(i == 0 && q->exact), pc, &line);
        if (shown && strcmp(buf_str(&line), buf_str(&last)) == 0) {
            repeated++;
            continue;
        }
        if (repeated)
            buf_addf(out, "        (%u times)\n", repeated + 1);
        repeated = 0;
        buf_addf(out, "    #%u %s\n", shown++, buf_str(&line));
        buf_clear(&last);
        buf_add(&last, line.data, line.len);
    }
    if (repeated)
        buf_addf(out, "        (%u times and more)\n", repeated + 1);
    buf_fini(&line);
    buf_fini(&last);
}

/* Text lines for the addresses of another process: function, file and line where there is debug
 * information, else function and offset, else the offset in the file. Frames of the simulator at
 * either end are left out. */
static void describe_trace(const struct run_question *q, struct buf *out)
{
    static char *debug_path; /* the default */
    static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_linux_proc_find_elf,
                                             .find_debuginfo = dwfl_standard_find_debuginfo,
                                             .debuginfo_path = &debug_path};
    uint32_t from = 0, to = q->count < RUN_FRAMES ? q->count : RUN_FRAMES;
    struct err err;
    Dwfl *dwfl;

    if (library_load(LIBRARY_libdw, &err) != 0) {
        buf_addf(out, "    no backtrace: %s\n", err.text);
        return;
    }
    unsetenv("DEBUGINFOD_URLS"); /* fetch nothing */
    dwfl = dwfl_begin(&callbacks);
    if (!dwfl)
        return;
    if (dwfl_linux_proc_report(dwfl, q->pid) == 0)
        dwfl_report_end(dwfl, NULL, NULL);
    while (from < to && is_ours(dwfl, q->frames[from] - (from > 0 || !q->exact)))
        from++;
    while (to > from && is_ours(dwfl, q->frames[to - 1] - 1))
        to--;
    if (from == to) { /* the simulator itself */
        from = 0;
        to = q->count < RUN_FRAMES ? q->count : RUN_FRAMES;
    }
    add_frames(dwfl, q, from, to, out);
    dwfl_end(dwfl);
}

/* ---- requests ---- */

static void answer_trace(struct run_question *q)
{
    struct buf text;
    buf_init(&text);
    describe_trace(q, &text);
    snprintf(q->answer, sizeof q->answer, "%s", buf_str(&text));
    buf_fini(&text);
}

/* Opens the program's file of older output, too, before the program may die. */
static void open_spill(struct launch_page *page, pid_t program)
{
    char path[64];
    int fd = atomic_load(&page->book->spill_fd) - 1;
    if (fd < 0 || page->spill >= 0)
        return;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)program, fd);
    page->spill = open(path, O_RDONLY | O_CLOEXEC);
    if (page->is_slot)
        launch_worker_show_spill(page->spill);
}

void launch_backtrace_answer(struct launch_page *page, pid_t program)
{
    struct run_question *q = &page->page->ask;
    uint32_t what = __atomic_load_n(&q->what, __ATOMIC_ACQUIRE);
    if (what == RUN_ASK_NOTHING)
        return;
    if (what == RUN_ASK_BACKTRACE)
        answer_trace(q);
    else if (page->book)
        open_spill(page, program);
    __atomic_store_n(&q->what, RUN_ASK_NOTHING, __ATOMIC_RELEASE);
    syscall(SYS_futex, &q->what, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* ---- output ---- */

uint64_t launch_backtrace_recover(const struct launch_page *page)
{
    struct output_config cfg = {.labels = page->page->opt.labels};
    struct output out;
    uint64_t count;
    if (!page->book || page->is_slot)
        return 0;
    output_init(&out, &cfg);
    count = output_recover(page->book, OUTPUT_BOOK_BYTES, page->spill, &out);
    output_finish(&out);
    output_fini(&out);
    return count;
}
