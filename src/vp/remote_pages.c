/*
 * remote_pages.c - which pages of shared memory a process on another computer has. The process and
 * its proxy have such a table each.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/log.h"
#include "base/sys.h"
#include "vp/remote.h"

#define SLOTS ((size_t)1 << 22) /* room; only what is used takes memory */

/* ---- regions ---- */

/* Memory that is shared by fork, and memory files of the command. */
static int is_shared(const char *line)
{
    char rights[8] = "", name[256] = "";

    if (sscanf(line, "%*x-%*x %7s %*x %*s %*u %255[^\n]", rights, name) < 1)
        return 0;
    return strcmp(rights, "rw-s") == 0 &&
           (strncmp(name, "/dev/zero", 9) == 0 || strncmp(name, "/memfd:orrery", 13) == 0);
}

static void add_region(struct remote_pages *p, const char *line)
{
    struct remote_region *r = &p->regions[p->region_count];
    unsigned long start, end;

    if (sscanf(line, "%lx-%lx", &start, &end) != 2)
        return;
    if (p->region_count++ == REMOTE_REGIONS)
        log_fatal("processes share more memory than expected");
    r->start = r->view = (char *)start;
    r->end = (char *)end;
    r->slots = remote_map((end - start) / REMOTE_PAGE * sizeof *r->slots);
}

void remote_pages_open(struct remote_pages *p)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char *line = NULL;
    size_t room = 0;

    if (!maps)
        log_fatal("cannot read '/proc/self/maps'");
    while (getline(&line, &room, maps) > 0)
        if (is_shared(line))
            add_region(p, line);
    free(line);
    fclose(maps);
    p->slots = remote_map(SLOTS * sizeof *p->slots);
    p->free = remote_map(SLOTS * sizeof *p->free);
    p->copies = remote_map(SLOTS * REMOTE_PAGE);
}

struct remote_region *remote_region_of(struct remote_pages *p, const char *at)
{
    for (unsigned i = 0; i < p->region_count; i++)
        if (at >= p->regions[i].start && at < p->regions[i].end)
            return &p->regions[i];
    return NULL;
}

static uint32_t *place(struct remote_pages *p, const char *page)
{
    struct remote_region *r = remote_region_of(p, page);

    if (!r)
        log_fatal("another computer asks for memory that processes do not share");
    return &r->slots[(size_t)(page - r->start) / REMOTE_PAGE];
}

char *remote_view(struct remote_pages *p, const char *at)
{
    struct remote_region *r = remote_region_of(p, at);

    if (!r)
        log_fatal("another computer changes memory that processes do not share");
    return r->view + (at - r->start);
}

/* ---- slots ---- */

static char *page_of(char *at)
{
    return (char *)((uintptr_t)at & ~(uintptr_t)(REMOTE_PAGE - 1));
}

struct remote_slot *remote_find(struct remote_pages *p, const char *page)
{
    uint32_t number = *place(p, page);

    return number ? &p->slots[number - 1] : NULL;
}

struct remote_slot *remote_add(struct remote_pages *p, char *page)
{
    uint32_t number = p->spares ? p->free[--p->spares] : p->top++;

    if (number >= SLOTS)
        log_fatal("too much memory in use by a process on another computer");
    p->slots[number] = (struct remote_slot){.page = page, .used = p->turn};
    p->in_use++;
    *place(p, page) = number + 1;
    return &p->slots[number];
}

void remote_remove(struct remote_pages *p, struct remote_slot *s)
{
    *place(p, s->page) = 0;
    s->page = NULL;
    p->free[p->spares++] = (uint32_t)(s - p->slots);
    p->in_use--;
}

char *remote_copy(struct remote_pages *p, const struct remote_slot *s)
{
    return p->copies + (size_t)(s - p->slots) * REMOTE_PAGE;
}

/* ---- changes ---- */

static void add_run(struct remote_bytes *out, char *at, const char *data, size_t bytes)
{
    struct remote_run head = {at, bytes};
    char *to = remote_extend(out, sizeof head + bytes);

    memcpy(to, &head, sizeof head);
    memcpy(to + sizeof head, data, bytes);
}

void remote_add_changes(struct remote_pages *p, struct remote_slot *s, struct remote_bytes *out)
{
    char *copy = remote_copy(p, s);
    const char *now = remote_view(p, s->page);
    size_t at = 0, from;

    if (memcmp(copy, now, REMOTE_PAGE) == 0)
        return;
    s->used = p->turn;
    while (at < REMOTE_PAGE) {
        for (from = at; at < REMOTE_PAGE && memcmp(copy + at, now + at, REMOTE_WORD) != 0;
             at += REMOTE_WORD)
            memcpy(copy + at, now + at, REMOTE_WORD);
        if (at > from) /* from the copy: others may be changing the page */
            add_run(out, s->page + from, copy + from, at - from);
        else
            at += REMOTE_WORD;
    }
}

void remote_add_drop(struct remote_slot *s, struct remote_bytes *out)
{
    add_run(out, s->page, s->page, 0);
}

void remote_apply(struct remote_pages *p, const struct remote_bytes *in,
                  void (*drop)(struct remote_pages *, struct remote_slot *))
{
    const char *at = in->data, *end = at + in->len;
    struct remote_run head;

    for (; at < end; at += sizeof head + head.bytes) {
        struct remote_slot *s;

        memcpy(&head, at, sizeof head);
        s = remote_find(p, page_of(head.at));
        if (head.bytes)
            memcpy(remote_view(p, head.at), at + sizeof head, head.bytes);
        if (!s)
            continue;
        s->used = p->turn;
        if (head.bytes)
            memcpy(remote_copy(p, s) + (head.at - s->page), at + sizeof head, head.bytes);
        else
            drop(p, s);
    }
}
