/*
 * remote_check.c - whether a process on another computer has all that is private where the
 * simulator's processes have it: the program, libraries, the heap, arguments, stacks; and whether
 * those are the same files. Of a process of another program: whether it has this library and the
 * shared memory there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/sys.h"
#include "vp/remote.h"
#include "vp/vp_internal.h"

#define LINE 512
#define SHARED "shared memory "
#define LIBRARY "'liborrery-"

static void add_text(struct remote_bytes *out, const char *text)
{
    size_t n = strlen(text);

    memcpy(remote_extend(out, n), text, n);
}

/* Of the first page of a file in memory, which has its headers and usually its build id. */
static unsigned long sum_of(const char *page)
{
    unsigned long sum = 5381;

    for (size_t i = 0; i < REMOTE_PAGE; i++)
        sum = sum * 33 + (unsigned char)page[i];
    return sum;
}

static void describe_mapping(struct remote_bytes *out, const char *line)
{
    unsigned long start, end, offset;
    char rights[8], path[256] = "", text[LINE];
    const char *name;

    if (sscanf(line, "%lx-%lx %7s %lx %*s %*u %255[^\n]", &start, &end, rights, &offset, path) < 4)
        return;
    name = strrchr(path, '/');
    name = name ? name + 1 : path;
    if (strcmp(path, "[heap]") == 0)
        snprintf(text, sizeof text, "%s at %lx\n", path, start);
    else if (rights[3] == 's')
        snprintf(text, sizeof text, SHARED "at %lx to %lx (%s)\n", start, end, rights);
    else if (path[0] == '/' && rights[3] == 'p')
        snprintf(text, sizeof text, "'%s' at %lx to %lx (%s, %lx, %lx)\n", name, start, end, rights,
                 offset, offset || rights[0] != 'r' ? 0 : sum_of((const char *)start));
    else
        return;
    add_text(out, text);
}

void remote_describe(struct remote_bytes *out)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char text[LINE] = "", *line = NULL;
    size_t room = 0;

    if (!maps)
        log_fatal("cannot read '/proc/self/maps'");
    out->len = 0;
    gethostname(text, sizeof text - 2);
    add_text(out, strcat(text, "\n"));
    while (getline(&line, &room, maps) > 0)
        describe_mapping(out, line);
    free(line);
    fclose(maps);
    snprintf(text, sizeof text, "arguments at %p, environment at %p, stack at %p\n",
             (void *)vp_program.argv, (void *)vp_program.envp,
             (void *)vp_process_host.stack_top(NULL));
    add_text(out, text);
}

/* The next line, without its end, or NULL; moves *at behind it. */
static const char *next_line(const char **at, const char *end, size_t *length)
{
    const char *line = *at, *stop = line < end ? memchr(line, '\n', (size_t)(end - line)) : NULL;

    if (!stop)
        return NULL;
    *length = (size_t)(stop - line);
    *at = stop + 1;
    return line;
}

/* The next one that must be the same. */
static const char *next_needed(const char **at, const char *end, size_t *length, int is_other)
{
    const char *line;

    do
        line = next_line(at, end, length);
    while (line && is_other && strncmp(line, SHARED, sizeof SHARED - 1) != 0 &&
           strncmp(line, LIBRARY, sizeof LIBRARY - 1) != 0);
    return line;
}

int remote_agrees(const struct remote_bytes *theirs, int is_other, char *why, size_t n)
{
    struct remote_bytes ours = {0};
    const char *a = theirs->data, *b, *x, *y;
    size_t na = 0, nb = 0;

    remote_describe(&ours);
    b = ours.data;
    next_line(&a, theirs->data + theirs->len, &na);
    next_line(&b, ours.data + ours.len, &nb);
    do {
        x = next_needed(&a, theirs->data + theirs->len, &na, is_other);
        y = next_needed(&b, ours.data + ours.len, &nb, is_other);
    } while (x && y && na == nb && memcmp(x, y, na) == 0);
    if (!x && !y)
        return 1;
    snprintf(why, n, "it has '%.*s' where the simulator has '%.*s': both %s", x ? (int)na : 0,
             x ? x : "", y ? (int)nb : 0, y ? y : "",
             is_other ? "programs need the same Orrery, before all other libraries"
                      : "computers need the same system, the same Orrery and the same program");
    return 0;
}
