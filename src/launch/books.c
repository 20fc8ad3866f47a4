/*
 * books.c - see books.h. The file is large and sparse: a slot has address space for all possible
 * pending output, but takes memory only for what is pending.
 */
#define _GNU_SOURCE 1
#include "launch/books.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/mem.h"
#include "engine/output_ledger.h"
#include "launch/workers_internal.h"

void launch_books_make(struct launch_books *b, uint32_t slots)
{
    struct rlimit limit;
    off_t size;

    *b = (struct launch_books){.fd = -1};
    if (slots > WORKERS_MAX)
        slots = WORKERS_MAX;
    size = (off_t)(slots * OUTPUT_SLOT_BYTES);
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < (rlim_t)size)
        return; /* trying would raise a signal */
    b->fd = memfd_create("orrery-books", MFD_CLOEXEC);
    if (b->fd >= 0 && ftruncate(b->fd, size) != 0) {
        close(b->fd);
        b->fd = -1;
    }
    if (b->fd < 0)
        return;
    b->slots = slots;
    b->spills = mem_alloc(slots * sizeof *b->spills);
    for (uint32_t i = 0; i < slots; i++)
        b->spills[i] = -1;
}

void launch_books_close(struct launch_books *b)
{
    for (uint32_t i = 0; i < b->slots; i++)
        if (b->spills[i] >= 0)
            close(b->spills[i]);
    mem_free(b->spills);
    if (b->fd >= 0)
        close(b->fd);
}

void launch_books_spill(struct launch_books *b, uint32_t slot, pid_t worker, int fd)
{
    char path[64];

    if (slot >= b->slots || b->spills[slot] >= 0)
        return;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)worker, fd);
    b->spills[slot] = open(path, O_RDONLY | O_CLOEXEC);
}

/* Reads the slots that can be mapped. */
static void show(char **slots, const int *spills, size_t count, const struct run_options *o)
{
    struct output_config cfg = {.labels = o->labels, .only_error = o->only_error};
    struct output out;

    output_init(&out, &cfg);
    if (output_recover_all(slots, spills, count, &out)) {
        signal(SIGPIPE, SIG_IGN);
        output_finish(&out);
    }
    output_fini(&out);
}

void launch_books_show(const struct launch_books *b, const struct run_options *o)
{
    char **slots = mem_alloc((b->slots + 1) * sizeof *slots);
    int *spills = mem_alloc((b->slots + 1) * sizeof *spills);
    size_t count = 0;

    for (uint32_t i = 0; i < b->slots; i++) {
        void *map = mmap(NULL, OUTPUT_SLOT_BYTES, PROT_READ, MAP_SHARED, b->fd,
                         (off_t)(i * OUTPUT_SLOT_BYTES));

        if (map == MAP_FAILED)
            continue;
        slots[count] = map;
        spills[count++] = b->spills[i];
    }
    show(slots, spills, count, o);
    for (size_t i = 0; i < count; i++)
        munmap(slots[i], OUTPUT_SLOT_BYTES);
    mem_free(slots);
    mem_free(spills);
}
