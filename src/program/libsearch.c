/*
 * libsearch.c - the library search of ld.so(8), without its cache: the cache is built from the
 * directories of /etc/ld.so.conf, which we read instead. $ORIGIN and $LIB are expanded in RPATH and
 * RUNPATH.
 */
#include "program/libsearch.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/mem.h"

#if defined(__x86_64__)
#define MULTIARCH "x86_64-linux-gnu"
#elif defined(__aarch64__)
#define MULTIARCH "aarch64-linux-gnu"
#endif

#define PATH_SIZE 4096
#define CONF_DEPTH_MAX 8

static void add_directory(struct program_libsearch *search, const char *path)
{
    ARRAY_EXTEND(search->directories, search->count);
    search->directories[search->count++] = mem_strdup(path);
}

static void read_conf(struct program_libsearch *search, const char *path, int depth);

static void include_conf(struct program_libsearch *search, const char *pattern, int depth)
{
    char full[PATH_SIZE];
    glob_t found;
    snprintf(full, sizeof full, "%s%s", pattern[0] == '/' ? "" : "/etc/", pattern);
    if (glob(full, 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++)
            read_conf(search, found.gl_pathv[i], depth + 1);
        globfree(&found);
    }
}

static void read_conf(struct program_libsearch *search, const char *path, int depth)
{
    char line[PATH_SIZE];
    FILE *file = depth < CONF_DEPTH_MAX ? fopen(path, "re") : NULL;
    if (!file)
        return;
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "#\n")] = 0;
        char *text = line + strspn(line, " \t"), *end = text + strlen(text);
        while (end > text && (end[-1] == ' ' || end[-1] == '\t'))
            *--end = 0;
        if (strncmp(text, "include ", 8) == 0)
            include_conf(search, text + 8 + strspn(text + 8, " \t"), depth);
        else if (text[0] == '/')
            add_directory(search, text);
    }
    fclose(file);
}

void program_libsearch_init(struct program_libsearch *search)
{
    static const char *const defaults[] =
        {"/lib/" MULTIARCH, "/usr/lib/" MULTIARCH, "/lib64", "/usr/lib64", "/lib", "/usr/lib"};
    memset(search, 0, sizeof *search);
    read_conf(search, "/etc/ld.so.conf", 0);
    for (size_t i = 0; i < sizeof defaults / sizeof defaults[0]; i++)
        add_directory(search, defaults[i]);
}

void program_libsearch_fini(struct program_libsearch *search)
{
    for (size_t i = 0; i < search->count; i++)
        mem_free(search->directories[i]);
    mem_free(search->directories);
    memset(search, 0, sizeof *search);
}

/* "$NAME" or "${NAME}" at text: its length, or 0. */
static size_t variable(const char *text, const char *name)
{
    size_t length = strlen(name);
    if (strncmp(text + 1, name, length) == 0)
        return 1 + length;
    if (text[1] == '{' && strncmp(text + 2, name, length) == 0 && text[2 + length] == '}')
        return 3 + length;
    return 0;
}

static void expand(struct buf *out, const char *text, size_t length, const char *origin)
{
    const char *slash = origin ? strrchr(origin, '/') : NULL;
    for (const char *end = text + length; text < end;) {
        size_t skip;
        if (*text == '$' && (skip = variable(text, "ORIGIN"))) {
            buf_add(out, slash ? origin : ".", slash ? (size_t)(slash - origin) : 1);
        } else if (*text == '$' && (skip = variable(text, "LIB"))) {
            buf_adds(out, "lib/" MULTIARCH);
        } else {
            buf_addc(out, *text);
            skip = 1;
        }
        text += skip;
    }
}

struct query {
    const char *name;
    int (*accept)(const char *path);
    char *out;
    size_t size;
};

static int try_directory(const struct query *query, const char *directory)
{
    int n = snprintf(query->out, query->size, "%s/%s", directory, query->name);
    return n > 0 && (size_t)n < query->size && access(query->out, R_OK) == 0 &&
           query->accept(query->out);
}

/* A list of directories separated by colons; an empty one is the current directory. */
static int try_list(const struct query *query, const char *list, const char *origin)
{
    int found = 0;
    while (list && *list && !found) {
        size_t length = strcspn(list, ":");
        struct buf directory;
        buf_init(&directory);
        expand(&directory, list, length, origin);
        found = try_directory(query, length ? buf_str(&directory) : ".");
        buf_fini(&directory);
        list += length + (list[length] == ':');
    }
    return found;
}

int program_libsearch_find(const struct program_libsearch *search, const char *name,
                           const struct program_libsearch_from *from,
                           const struct program_libsearch_from *main,
                           int (*accept)(const char *path), char *out, size_t size)
{
    struct query query = {name, accept, out, size};
    if (strchr(name, '/')) {
        int n = snprintf(out, size, "%s", name);
        return n > 0 && (size_t)n < size && access(out, R_OK) == 0 && accept(out);
    }
    if (!from->runpath && (try_list(&query, from->rpath, from->path) ||
                           (!main->runpath && try_list(&query, main->rpath, main->path))))
        return 1;
    if (try_list(&query, getenv("LD_LIBRARY_PATH"), NULL) ||
        try_list(&query, from->runpath, from->path))
        return 1;
    for (size_t i = 0; i < search->count; i++) {
        if (try_directory(&query, search->directories[i]))
            return 1;
    }
    return 0;
}
