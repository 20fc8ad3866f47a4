/*
 * touched.c - finds the pages of zero-filled data that have been used (see touched.h).
 *
 * /proc/self/pagemap has a word for each page: 0 if the page has never been touched, else its
 * location in memory or swap. Without privileges the location is hidden, but not the fact that
 * there is one.
 */
#include "vp/touched.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/auxv.h>

#include "base/mem.h"
#include "base/sys.h"

#define IN_USE ((uint64_t)3 << 62) /* bits: present, swapped */
#define WORDS ((size_t)8192)       /* read in one call */

struct walk {
    char *at, *end;
    size_t page;
    void (*fn)(char *, size_t, void *);
    void *arg;
};

/* The end of the page at p, or of the range. */
static char *page_end(const struct walk *w, char *p)
{
    size_t left = w->page - (uintptr_t)p % w->page;

    return (size_t)(w->end - p) <= left ? w->end : p + left;
}

/* Reports which of the next n pages are in use. */
static void report(struct walk *w, const uint64_t *words, size_t n)
{
    char *from = NULL;

    for (size_t i = 0; i < n && w->at < w->end; i++) {
        int used = (words[i] & IN_USE) != 0;

        if (used && !from)
            from = w->at;
        if (!used && from) {
            w->fn(from, (size_t)(w->at - from), w->arg);
            from = NULL;
        }
        w->at = page_end(w, w->at);
    }
    if (from)
        w->fn(from, (size_t)(w->at - from), w->arg);
}

void vp_touched(char *addr, size_t len, void (*fn)(char *from, size_t len, void *arg), void *arg)
{
    struct walk w = {addr, addr + len, getauxval(AT_PAGESZ), fn, arg};
    int fd = sys_open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC, 0);
    uint64_t *words = mem_alloc(WORDS * sizeof *words);

    while (fd >= 0 && w.at < w.end) {
        size_t pages = (size_t)(w.end - w.at) / w.page + 2;
        size_t bytes = (pages < WORDS ? pages : WORDS) * sizeof *words;
        off_t place = (off_t)((uintptr_t)w.at / w.page * sizeof *words);
        ssize_t n = sys_pread(fd, words, bytes, place);

        if (n < (ssize_t)sizeof *words)
            break;
        report(&w, words, (size_t)n / sizeof *words);
    }
    if (w.at < w.end)
        fn(w.at, (size_t)(w.end - w.at), arg);
    if (fd >= 0)
        sys_close(fd);
    mem_free(words);
}
