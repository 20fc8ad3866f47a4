/*
 * files.c - reads the plain text files that a platform file refers to: graphs, recorded noise,
 * lists of nodes.
 *
 * All consist of words separated by blanks, one record per line; a # begins a comment. Errors name
 * file and line.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "platform/read_internal.h"

#define WORD_MAX 64
#define WORDS_MAX 7

/* ---- files ---- */

static int read_all(int fd, const char *path, size_t most, struct buf *out, struct err *err)
{
    char *block = mem_alloc(65536);
    ssize_t n = 1;
    int rc = 0;
    while (n > 0 && rc == 0) {
        n = TEMP_FAILURE_RETRY(read(fd, block, 65536));
        if (n < 0)
            rc = err_set(err, ERR_SYSTEM, "cannot read '%s': %s", path, strerror(errno));
        else if (out->len + (size_t)n > most)
            rc = err_set(err, ERR_INPUT, "cannot read '%s': it has more than %zu MiB", path,
                         most >> 20);
        else
            buf_add(out, block, (size_t)n);
    }
    mem_free(block);
    return rc;
}

int read_whole(const char *path, size_t most, struct buf *out, struct err *err)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC), rc;
    if (fd < 0)
        return err_set(err, errno == ENOENT ? ERR_INPUT : ERR_SYSTEM, "cannot open '%s': %s", path,
                       strerror(errno));
    if (fstat(fd, &st) != 0)
        rc = err_set(err, ERR_SYSTEM, "cannot read '%s': %s", path, strerror(errno));
    else if (S_ISDIR(st.st_mode))
        rc = err_set(err, ERR_INPUT, "cannot read '%s': it is a directory", path);
    else if (!S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode))
        rc = err_set(err, ERR_INPUT, "cannot read '%s': it is not a file", path);
    else
        rc = read_all(fd, path, most, out, err);
    close(fd);
    return rc;
}

int read_path(const char *file, const char *path, char *out, size_t size, struct err *err)
{
    const char *slash = strrchr(file, '/');
    int length = slash ? (int)(slash - file) + 1 : 0;
    while (length && strncmp(path, "./", 2) == 0)
        path += 2;
    int n = path[0] == '/' ? snprintf(out, size, "%s", path)
                           : snprintf(out, size, "%.*s%s", length, file, path);
    if (n < 0 || (size_t)n >= size)
        return err_set(err, ERR_INPUT,
                       "bad path '%s': with its directory it has more than %zu "
                       "characters",
                       path, size - 1);
    return 0;
}

/* ---- lines of words ---- */

struct lines {
    const char *file, *at, *end;
    unsigned line;
    size_t count;
    char words[WORDS_MAX][WORD_MAX];
};

static int fail(const struct lines *l, struct err *err)
{
    err_prefix(err, "%s:%u", l->file, l->line);
    return ERR_INPUT;
}

static int add_word(struct lines *l, const char *word, size_t length, struct err *err)
{
    if (l->count == WORDS_MAX || length >= WORD_MAX || memchr(word, 0, length)) {
        err_set(err, ERR_INPUT, "more than %d words, or a word of more than %d characters",
                WORDS_MAX, WORD_MAX - 1);
        return fail(l, err);
    }
    memcpy(l->words[l->count], word, length);
    l->words[l->count++][length] = 0;
    return 0;
}

/* The next line that has words: 1, 0 at the end, or an error. */
static int next_line(struct lines *l, struct err *err)
{
    l->count = 0;
    while (l->at < l->end && l->count == 0) {
        const char *stop = memchr(l->at, '\n', (size_t)(l->end - l->at));
        const char *next = stop ? stop + 1 : l->end, *hash;
        stop = stop ? stop : l->end;
        hash = memchr(l->at, '#', (size_t)(stop - l->at));
        stop = hash ? hash : stop;
        l->line++;
        for (const char *at = l->at; at < stop;) {
            const char *word = at;
            while (at < stop && *at != ' ' && *at != '\t' && *at != '\r')
                at++;
            if (at > word && add_word(l, word, (size_t)(at - word), err))
                return ERR_INPUT;
            at += at < stop;
        }
        l->at = next;
    }
    return l->count > 0;
}

static void lines_init(struct lines *l, const char *file, const char *text, size_t length)
{
    memset(l, 0, sizeof *l);
    l->file = file;
    l->at = text;
    l->end = text + length;
}

static int set_field(const struct lines *l, enum platform_list_kind kind, const char *name,
                     void *item, const char *text, struct err *err)
{
    const struct list_type *type = list_type(kind);
    if (field_set(field_find(type->fields, type->count, name), item, text, err) == 0)
        return 0;
    err_prefix(err, "%s", name);
    return fail(l, err);
}

/* ---- noise ---- */

static int read_interruption(struct platform *p, const struct lines *l, struct err *err)
{
    struct platform_noise *n = platform_list_extend(p, PLATFORM_NOISE, 1);
    if (l->count != 2) {
        err_set(err, ERR_INPUT, "expected two words, start and duration, such as '15ms 40us'");
        return fail(l, err);
    }
    if (set_field(l, PLATFORM_NOISE, "start", n, l->words[0], err) ||
        set_field(l, PLATFORM_NOISE, "duration", n, l->words[1], err))
        return ERR_INPUT;
    if (n->start > VTIME_LIMIT / 4 || n->duration > VTIME_LIMIT / 4) {
        err_set(err, ERR_INPUT, "'%s %s' is too long", l->words[0], l->words[1]);
        return fail(l, err);
    }
    if (p->lists[PLATFORM_NOISE].count > 1 && n->start < n[-1].start + n[-1].duration) {
        err_set(err, ERR_INPUT, "start: '%s' is before the end of the interruption before",
                l->words[0]);
        return fail(l, err);
    }
    return 0;
}

int platform_read_noise(struct platform *p, const char *file, const char *text, size_t length,
                        struct err *err)
{
    struct lines l;
    int rc;
    lines_init(&l, file, text, length);
    platform_list_cut(p, PLATFORM_NOISE, 0);
    while ((rc = next_line(&l, err)) > 0)
        if ((rc = read_interruption(p, &l, err)))
            break;
    if (rc == 0 && p->lists[PLATFORM_NOISE].count == 0)
        rc = err_set(err, ERR_INPUT,
                     "%s: no interruption in it: expected start and duration per line", file);
    return rc;
}

/* ---- graphs ---- */

static int read_vertex(const struct lines *l, size_t word, uint32_t *out, struct err *err)
{
    const char *text = l->words[word];
    size_t digits = (text[0] == 'n' || text[0] == 's') ? strspn(text + 1, "0123456789") : 0;
    unsigned long number = digits && digits < 11 ? strtoul(text + 1, NULL, 10) : ULONG_MAX;
    if (number >= PLATFORM_SWITCH || text[1 + digits]) {
        err_set(err, ERR_INPUT,
                "%s: bad vertex '%s': expected n and a number for a node, or s and a "
                "number for a switch, such as n12 or s3",
                word ? "to" : "from", text);
        return fail(l, err);
    }
    *out = (uint32_t)number | (text[0] == 's' ? PLATFORM_SWITCH : 0);
    return 0;
}

static int read_edge(struct platform *p, struct lines *l, struct err *err)
{
    int oneway = l->count > 2 && strcmp(l->words[l->count - 1], "oneway") == 0;
    struct platform_edge *e = platform_list_extend(p, PLATFORM_EDGES, oneway ? 1 : 2);
    static const char *const fields[] = {"bandwidth", "latency", "error_rate", "mtu"};
    l->count -= (size_t)oneway;
    if (l->count < 2 || l->count > 2 + sizeof fields / sizeof fields[0]) {
        err_set(err, ERR_INPUT,
                "expected: FROM TO [BANDWIDTH [LATENCY [ERROR_RATE [MTU]]]] [oneway], such as "
                "'n0 s0 10Gbps 1us'");
        return fail(l, err);
    }
    if (read_vertex(l, 0, &e->from, err) || read_vertex(l, 1, &e->to, err))
        return ERR_INPUT;
    if (e->from == e->to) {
        err_set(err, ERR_INPUT, "to: '%s' is where the link begins", l->words[1]);
        return fail(l, err);
    }
    for (size_t i = 2; i < l->count; i++)
        if (strcmp(l->words[i], "-") != 0 &&
            set_field(l, PLATFORM_EDGES, fields[i - 2], e, l->words[i], err))
            return ERR_INPUT;
    if (!oneway) {
        e[1] = e[0];
        e[1].from = e[0].to;
        e[1].to = e[0].from;
    }
    return 0;
}

int platform_read_graph(struct platform *p, const char *file, const char *text, size_t length,
                        struct err *err)
{
    struct lines l;
    int rc;
    lines_init(&l, file, text, length);
    platform_list_cut(p, PLATFORM_EDGES, 0);
    while ((rc = next_line(&l, err)) > 0)
        if ((rc = read_edge(p, &l, err)))
            break;
    if (rc == 0 && p->lists[PLATFORM_EDGES].count == 0)
        rc = err_set(
            err, ERR_INPUT,
            "%s: no link in it: expected FROM TO [BANDWIDTH [LATENCY [ERROR_RATE [MTU]]]] per line",
            file);
    return rc;
}

/* ---- nodes of ranks ---- */

/* A line may hold any number of nodes: the words are read one by one. */
static int next_word(struct lines *l, struct err *err)
{
    l->count = 0;
    while (l->at < l->end && l->count == 0) {
        const char *word = l->at;
        while (l->at < l->end && !strchr(" \t\r\n#", *l->at))
            l->at++;
        if (l->at > word && add_word(l, word, (size_t)(l->at - word), err))
            return ERR_INPUT;
        if (l->at < l->end && *l->at == '#')
            while (l->at < l->end && *l->at != '\n')
                l->at++;
        if (l->at < l->end && l->count == 0)
            l->line += *l->at++ == '\n';
    }
    return l->count > 0;
}

int platform_read_map(struct platform *p, const char *file, const char *text, size_t length,
                      struct err *err)
{
    const struct list_type *type = list_type(PLATFORM_MAP);
    struct lines l;
    int rc;
    lines_init(&l, file, text, length);
    l.line = 1;
    platform_list_cut(p, PLATFORM_MAP, 0);
    while ((rc = next_word(&l, err)) > 0)
        if (field_set(&type->fields[0], platform_list_extend(p, PLATFORM_MAP, 1), l.words[0], err))
            return fail(&l, err);
    if (rc == 0 && p->lists[PLATFORM_MAP].count == 0)
        rc = err_set(err, ERR_INPUT, "%s: no node in it: expected the node of each rank", file);
    return rc;
}

/* ---- files named by settings ---- */

typedef int reader(struct platform *, const char *, const char *, size_t, struct err *);

static int read_named(struct platform *p, const char *key, char *path, reader *read,
                      struct err *err)
{
    struct buf text;
    char *real = realpath(path, NULL);
    int rc;
    buf_init(&text);
    rc = read_whole(path, READ_TEXT_MAX, &text, err);
    if (rc)
        err_prefix(err, "%s", key);
    else
        rc = read(p, path, buf_str(&text), text.len, err);
    if (rc == 0 && real && strlen(real) < PLATFORM_PATH_MAX) {
        memset(path, 0, PLATFORM_PATH_MAX);
        memcpy(path, real, strlen(real));
    }
    buf_fini(&text);
    free(real);
    return rc;
}

int platform_read_files(struct platform *p, struct err *err)
{
    struct platform_config *c = &p->config;
    int rc = 0;
    platform_list_cut(p, PLATFORM_NOISE, 0);
    platform_list_cut(p, PLATFORM_EDGES, 0);
    if (*c->nodes_noise_file)
        rc = read_named(p, "nodes.noise_file", c->nodes_noise_file, platform_read_noise, err);
    if (rc == 0 && *c->topo_file)
        rc = read_named(p, "net.topology.file", c->topo_file, platform_read_graph, err);
    return rc;
}
