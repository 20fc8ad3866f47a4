/*
 * ti_read.c - reads time-independent traces of SimGrid (ti.h). They have only compute times, so
 * calls take no time.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/rng.h"
#include "formats/build.h"
#include "formats/table.h"
#include "formats/textfile.h"
#include "formats/ti.h"
#include "trace/local.h"

#define FILE_MOST ((size_t)1 << 31)
#define RANKS_MOST (1 << 24)
#define WORDS_MOST 65536
#define UNREADABLE "left out: lines that cannot be read"

struct line {
    uint64_t rank;
    size_t at; /* in the text */
};

struct ti_in {
    struct format_build build;
    struct format_notes *notes;
    uint64_t ranks, rank;
    int64_t now; /* picoseconds */
    char **words;
    size_t count, room;
    /* requests: the oldest of each source, destination and tag is completed first */
    struct waiting {
        uint64_t key;
        int64_t number;
    } * waiting;
    size_t waiting_count;
    int64_t next_request;
    int64_t *items;
    size_t item_count;
};

/* ---- words ---- */

static int split(struct ti_in *in, char *line)
{
    in->count = 0;
    for (char *word = strtok(line, " \t\r"); word; word = strtok(NULL, " \t\r")) {
        if (in->count == WORDS_MOST)
            return -1;
        ARRAY_RESERVE(in->words, in->room, in->count + 1, 16);
        in->words[in->count++] = word;
    }
    return 0;
}

/* "3", or "p3" of older versions; -1: neither. */
static int64_t rank_of(const char *word)
{
    char *end;
    if (*word == 'p')
        word++;
    if (*word < '0' || *word > '9')
        return -1;
    unsigned long long rank = strtoull(word, &end, 10);
    return strchr(" \t\r\n", *end) && rank < RANKS_MOST ? (int64_t)rank : -1; /* or the end */
}

static int64_t number(const struct ti_in *in, size_t at, int64_t otherwise)
{
    if (at >= in->count)
        return otherwise;
    double value = strtod(in->words[at], NULL);
    return value > -9e18 && value < 9e18 ? (int64_t)value : otherwise;
}

static int64_t type_of(struct ti_in *in, size_t at)
{
    unsigned size = 1;
    const char *name = ti_type_name((int)number(in, at, 6), &size);
    if (!name)
        format_note(in->notes, "unknown numbers of datatypes are read as bytes");
    return format_local_type(&in->build, name ? name : "MPI_BYTE", size, 0, (int64_t)size);
}

/* ---- requests ---- */

static uint64_t key_of(int64_t source, int64_t destination, int64_t tag)
{
    uint64_t state = (uint64_t)source * RNG_SPLITMIX_STEP ^ (uint64_t)destination;
    state = rng_splitmix(&state) * RNG_SPLITMIX_STEP ^ (uint64_t)tag;
    return rng_splitmix(&state);
}

static int64_t start(struct ti_in *in, int64_t source, int64_t destination, int64_t tag)
{
    ARRAY_EXTEND(in->waiting, in->waiting_count);
    in->waiting[in->waiting_count++] = (struct waiting){key_of(source, destination, tag),
                                                        in->next_request};
    return in->next_request++;
}

static int64_t finish(struct ti_in *in, uint64_t key)
{
    for (size_t i = 0; i < in->waiting_count; i++)
        if (in->waiting[i].key == key) {
            int64_t found = in->waiting[i].number;
            memmove(in->waiting + i, in->waiting + i + 1,
                    (--in->waiting_count - i) * sizeof *in->waiting);
            return found;
        }
    format_note(in->notes, "left out: waits for messages that were not started");
    return -1;
}

/* ---- actions ---- */

static void put(struct ti_in *in, struct format_call *call)
{
    format_build_call(&in->build, 0, call, in->now, in->now);
}

static void put_message(struct ti_in *in, const char *function, int is_send)
{
    struct format_call call;
    int64_t peer = number(in, 2, -1), tag = number(in, 3, 0);
    int64_t me = (int64_t)in->rank;
    struct trace_status status = {(int32_t)peer, (int32_t)tag, 0, 1, 0};
    if (!format_call_begin(&call, &in->build, function))
        return;
    format_call_number(&call, "count", number(in, 4, 0));
    format_call_number(&call, "datatype", type_of(in, 5));
    format_call_number(&call, is_send ? "dest" : "source", peer);
    format_call_number(&call, "tag", tag);
    format_call_number(&call, "comm", TRACE_LOCAL_WORLD);
    if (function[4] == 'I')
        format_call_number(&call, "request",
                           is_send ? start(in, me, peer, tag) : start(in, peer, me, tag));
    else if (!is_send) {
        unsigned size = 1;
        ti_type_name((int)number(in, 5, 6), &size);
        status.bytes = (uint64_t)number(in, 4, 0) * size;
        format_call_statuses(&call, "status", &status, 1);
    }
    put(in, &call);
}

static void put_wait(struct ti_in *in, const char *function)
{
    struct format_call call;
    int64_t source = number(in, 2, -1), destination = number(in, 3, -1), tag = number(in, 4, 0);
    if (!format_call_begin(&call, &in->build, function))
        return;
    format_call_number(&call, "request", finish(in, key_of(source, destination, tag)));
    format_call_number(&call, "flag", 1);
    put(in, &call);
}

static void put_waitall(struct ti_in *in)
{
    struct format_call call;
    if (!format_call_begin(&call, &in->build, "MPI_Waitall"))
        return;
    in->item_count = 0;
    for (size_t i = 0; i < in->waiting_count; i++) {
        ARRAY_EXTEND(in->items, in->item_count);
        in->items[in->item_count++] = in->waiting[i].number;
    }
    in->waiting_count = 0;
    format_call_number(&call, "count", (int64_t)in->item_count);
    format_call_items(&call, "array_of_requests", in->items, in->item_count);
    put(in, &call);
}

static void put_sendrecv(struct ti_in *in)
{
    struct format_call call;
    if (!format_call_begin(&call, &in->build, "MPI_Sendrecv"))
        return;
    format_call_number(&call, "sendcount", number(in, 2, 0));
    format_call_number(&call, "dest", number(in, 3, -1));
    format_call_number(&call, "recvcount", number(in, 4, 0));
    format_call_number(&call, "source", number(in, 5, -1));
    format_call_number(&call, "sendtype", type_of(in, 6));
    format_call_number(&call, "recvtype", type_of(in, 7));
    format_call_number(&call, "comm", TRACE_LOCAL_WORLD);
    put(in, &call);
}

static void set_counts(struct ti_in *in, struct format_call *call, const char *name, size_t at)
{
    in->item_count = 0;
    for (uint64_t i = 0; i < in->ranks; i++) {
        ARRAY_EXTEND(in->items, in->item_count);
        in->items[in->item_count++] = number(in, at + i, 0);
    }
    format_call_items(call, name, in->items, in->item_count);
}

static void set_types(struct ti_in *in, struct format_call *call, size_t send, size_t recv)
{
    format_call_number(call, "sendtype", type_of(in, send));
    format_call_number(call, "recvtype", type_of(in, recv));
}

static void put_coll(struct ti_in *in, const struct ti_coll *coll)
{
    struct format_call call;
    size_t n = (size_t)in->ranks;
    int64_t *both = NULL;
    if (!format_call_begin(&call, &in->build, coll->function))
        return;
    format_call_number(&call, "comm", TRACE_LOCAL_WORLD);
    format_call_number(&call, "count", number(in, 2, 0));
    switch (coll->form) {
    case TI_BARRIER:
        break;
    case TI_ROOTED:
        format_call_number(&call, "root", number(in, 3, 0));
        format_call_number(&call, "datatype", type_of(in, 4));
        break;
    case TI_REDUCE:
        format_call_number(&call, "root", number(in, 4, 0));
        format_call_number(&call, "datatype", type_of(in, 5));
        break;
    case TI_REDUCED:
        format_call_number(&call, "datatype", type_of(in, 4));
        break;
    case TI_EXCHANGE:
    case TI_GATHER:
        format_call_number(&call, "sendcount", number(in, 2, 0));
        format_call_number(&call, "recvcount", number(in, 3, 0));
        format_call_number(&call, "root", number(in, 4, 0));
        set_types(in, &call, coll->form == TI_GATHER ? 5 : 4, coll->form == TI_GATHER ? 6 : 5);
        break;
    case TI_GATHERV:
        format_call_number(&call, "sendcount", number(in, 2, 0));
        format_call_number(&call, "root", number(in, 3 + n, 0));
        if (number(in, 3 + n, 0) == (int64_t)in->rank)
            set_counts(in, &call, "recvcounts", 3);
        set_types(in, &call, 4 + n, 5 + n);
        break;
    case TI_ALLGATHERV:
        format_call_number(&call, "sendcount", number(in, 2, 0));
        set_counts(in, &call, "recvcounts", 3);
        set_types(in, &call, 3 + n, 4 + n);
        break;
    case TI_SCATTERV:
        format_call_number(&call, "recvcount", number(in, 2 + n, 0));
        format_call_number(&call, "root", number(in, 3 + n, 0));
        if (number(in, 3 + n, 0) == (int64_t)in->rank)
            set_counts(in, &call, "sendcounts", 2);
        set_types(in, &call, 4 + n, 5 + n);
        break;
    case TI_ALLTOALLV:
        both = mem_alloc(2 * n * sizeof *both);
        for (size_t i = 0; i < n; i++)
            both[i] = number(in, 3 + i, 0), both[n + i] = number(in, 4 + n + i, 0);
        format_call_items(&call, "sendcounts", both, n);
        format_call_items(&call, "recvcounts", both + n, n);
        set_types(in, &call, 4 + 2 * n, 5 + 2 * n);
        break;
    case TI_REDUCE_SCATTER:
        set_counts(in, &call, "recvcounts", 2);
        format_call_number(&call, "datatype", type_of(in, 3 + n));
        break;
    }
    put(in, &call);
    mem_free(both);
}

static void compute(struct ti_in *in, double picoseconds)
{
    if (picoseconds > 0 && picoseconds < 4e18 && in->now < INT64_C(4000000000000000000))
        in->now += (int64_t)(picoseconds + 0.5);
    else if (picoseconds != 0)
        format_note(in->notes, "left out: amounts of computing that are too large or negative");
}

static void put_line(struct ti_in *in, char *line)
{
    struct format_call call;
    if (split(in, line) != 0 || in->count < 2) {
        format_note(in->notes, UNREADABLE);
        return;
    }
    const char *action = in->words[1];
    const struct ti_coll *coll;
    for (size_t i = 0; (coll = ti_coll_at(i)); i++)
        if (strcasecmp(coll->name, action) == 0) {
            put_coll(in, coll);
            return;
        }
    if (strcasecmp(action, "compute") == 0 && in->count > 2)
        compute(in, strtod(in->words[2], NULL) * 1e3);
    else if (strcasecmp(action, "sleep") == 0 && in->count > 2)
        compute(in, strtod(in->words[2], NULL) * 1e12);
    else if (strcasecmp(action, "send") == 0)
        put_message(in, "MPI_Send", 1);
    else if (strcasecmp(action, "isend") == 0)
        put_message(in, "MPI_Isend", 1);
    else if (strcasecmp(action, "recv") == 0)
        put_message(in, "MPI_Recv", 0);
    else if (strcasecmp(action, "irecv") == 0)
        put_message(in, "MPI_Irecv", 0);
    else if (strcasecmp(action, "wait") == 0)
        put_wait(in, "MPI_Wait");
    else if (strcasecmp(action, "test") == 0)
        put_wait(in, "MPI_Test");
    else if (strcasecmp(action, "waitall") == 0)
        put_waitall(in);
    else if (strcasecmp(action, "sendrecv") == 0)
        put_sendrecv(in);
    else if (strcasecmp(action, "init") == 0 || strcasecmp(action, "finalize") == 0) {
        if (format_call_begin(&call, &in->build, *action == 'i' ? "MPI_Init" : "MPI_Finalize"))
            put(in, &call);
    } else {
        format_note(in->notes, "left out: action '%.40s' is not known", action);
    }
}

/* ---- files ---- */

static void begin_rank(struct ti_in *in, uint64_t rank)
{
    format_build_rank(&in->build, rank);
    in->rank = rank;
    in->now = in->next_request = 0;
    in->waiting_count = 0;
}

/* Reads lines, each of one rank: `rank`, or if that is -1 the one that it begins with. Counts other
 * lines. */
static void find_lines(const char *text, int64_t rank, struct line **lines, size_t *count,
                       size_t *others)
{
    for (const char *at = text, *end; *at; at = *end ? end + 1 : end) {
        end = at + strcspn(at, "\n");
        int64_t own = rank_of(at + strspn(at, " \t"));
        if (own < 0)
            *others += *at != '#' && strspn(at, " \t\r") < (size_t)(end - at);
        if (own < 0)
            continue;
        ARRAY_EXTEND(*lines, *count);
        (*lines)[(*count)++] = (struct line){rank >= 0 ? (uint64_t)rank : (uint64_t)own,
                                             (size_t)(at - text)};
    }
}

static int by_rank(const void *a, const void *b)
{
    const struct line *p = a, *q = b;
    if (p->rank != q->rank)
        return p->rank < q->rank ? -1 : 1;
    return (p->at > q->at) - (p->at < q->at);
}

static void put_lines(struct ti_in *in, char *text, const struct line *lines, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char *line = text + lines[i].at;
        if (i == 0 || lines[i].rank != lines[i - 1].rank)
            begin_rank(in, lines[i].rank);
        line[strcspn(line, "\n")] = '\0';
        put_line(in, line);
    }
}

/* Opens the file of a rank that the index names: by that name, or next to the index. */
static int read_named(struct ti_in *in, const char *index, const char *name, uint64_t rank,
                      struct buf *text)
{
    const char *slash = strrchr(index, '/'), *base = strrchr(name, '/');
    struct err err;
    if (textfile_read(name, FILE_MOST, text, &err) == 0)
        return 0;
    size_t length = strlen(index) + strlen(name) + 2;
    char *path = mem_alloc(length);
    snprintf(path, length, "%.*s%s", slash ? (int)(slash - index + 1) : 0, index, name);
    int rc = textfile_read(path, FILE_MOST, text, &err);
    if (rc != 0 && base) { /* the folder may have moved with the index */
        snprintf(path, length, "%s_files/%s", index, base + 1);
        if (strlen(index) + strlen(base) + 8 < length)
            rc = textfile_read(path, FILE_MOST, text, &err);
    }
    mem_free(path);
    if (rc != 0)
        format_note(in->notes, "rank %" PRIu64 ": %s", rank, err.text);
    return rc;
}

static void read_index(struct ti_in *in, const char *path, char *text)
{
    uint64_t rank = 0;
    for (char *at = text, *end; *at && rank < in->ranks; at = end) {
        struct buf own;
        struct line *lines = NULL;
        size_t count = 0, others = 0;
        end = at + strcspn(at, "\n");
        if (*end)
            *end++ = '\0';
        at[strcspn(at, "\r")] = '\0';
        if (!*at)
            continue;
        if (read_named(in, path, at, rank, &own) == 0) {
            find_lines(buf_str(&own), (int64_t)rank, &lines, &count, &others);
            for (size_t i = 0; i < others; i++)
                format_note(in->notes, UNREADABLE);
            put_lines(in, own.data, lines, count);
            mem_free(lines);
            buf_fini(&own);
        }
        rank++;
    }
}

static uint64_t count_lines(const char *text)
{
    uint64_t count = 0;
    for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n')
        count += strcspn(at, "\r\n") > 0;
    return count;
}

/* ---- all ---- */

static int read_traces(const char *path, const char *orr, struct format_notes *notes,
                       struct err *err)
{
    struct ti_in in = {.notes = notes};
    struct buf text;
    struct line *lines = NULL;
    size_t count = 0, others = 0;
    if (textfile_read(path, FILE_MOST, &text, err) != 0)
        return err->code;
    find_lines(buf_str(&text), -1, &lines, &count, &others);
    for (size_t i = 0; count && i < others; i++)
        format_note(notes, UNREADABLE);
    if (count) {
        qsort(lines, count, sizeof *lines, by_rank);
        in.ranks = lines[count - 1].rank + 1;
    } else {
        in.ranks = count_lines(buf_str(&text));
    }
    int rc = in.ranks && in.ranks < RANKS_MOST
                 ? 0
                 : err_set(err, ERR_INPUT, "cannot read '%s': it has no actions", path);
    if (rc == 0) {
        format_build_init(&in.build, orr, in.ranks, notes);
        trace_header_add(&in.build.header, "recorder", "SimGrid (time-independent)");
        rc = format_build_start(&in.build, err);
        if (rc == 0 && count)
            put_lines(&in, text.data, lines, count);
        else if (rc == 0)
            read_index(&in, path, text.data);
        int closed = format_build_close(&in.build, rc == 0, err);
        rc = rc != 0 ? rc : closed;
    }
    buf_fini(&text);
    mem_free(lines);
    mem_free(in.words);
    mem_free(in.waiting);
    mem_free(in.items);
    return rc;
}

/* Detects a line "0 init", or such a line in the file that it names. */
static int ti_detect(const char *path, const uint8_t *head, size_t bytes)
{
    const char *text = (const char *)head;
    size_t length = strlen(path);
    if (bytes && length > 3 && strcmp(path + length - 3, ".ti") == 0)
        return 1;
    text += *text == 'p';
    size_t digits = strspn(text, "0123456789");
    return digits && strncasecmp(text + digits, " init", 5) == 0;
}

const struct trace_format format_ti = {
    .name = "ti",
    .suffix = ".ti",
    .about = "SimGrid's time-independent traces",
    .detect = ti_detect,
    .read = read_traces,
    .write = ti_write,
};
