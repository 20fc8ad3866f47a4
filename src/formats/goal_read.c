/*
 * goal_read.c - converts a schedule (goal.h) to a program: every message is nonblocking, and waited
 * for when an operation depends on it.
 *
 * Operations of a rank begin as soon as their dependences are met. When none can begin, the program
 * waits for the messages of an operation that lacks nothing else: another message may be the answer
 * to one that the rank has not sent yet. A schedule has only compute times, so calls take no time.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/rng.h"
#include "formats/build.h"
#include "formats/goal.h"
#include "formats/table.h"
#include "formats/textfile.h"
#include "trace/local.h"

#define FILE_MOST ((size_t)1 << 31)
#define RANKS_MOST (1 << 24)

enum op_kind { OP_CALC, OP_SEND, OP_RECV };

struct op {
    enum op_kind kind;
    uint64_t amount; /* nanoseconds or bytes */
    int64_t peer, tag;
    size_t needs;   /* that are not met yet */
    size_t unbegun; /* those of them that have not begun */
    struct op_list {
        int64_t first, last;     /* -1: none */
    } users, starters, required; /* require it to be complete, or begun; those that it requires */
    int64_t request;
    uint8_t has_begun, is_done;
};

struct link {
    size_t op;
    int64_t next;
};

struct goal_in {
    struct format_build build;
    struct format_notes *notes;
    uint64_t ranks;
    struct op *ops;
    size_t count;
    struct link *links;
    size_t link_count;
    struct map labels; /* by hash: to operation + 1 */
    size_t *ready;     /* a queue: every operation is in it once */
    size_t ready_first, ready_count;
    size_t *stalled; /* operations that only lacked messages that had begun */
    size_t stalled_first, stalled_count;
    size_t *waiting; /* messages that have begun */
    size_t waiting_first, waiting_count;
    int64_t now, next_request;
};

/* ---- lines ---- */

static uint64_t hash(const char *text, size_t length)
{
    uint64_t state = length;
    for (size_t i = 0; i < length; i++) {
        state = state * RNG_SPLITMIX_STEP ^ (uint8_t)text[i];
        state = rng_splitmix(&state);
    }
    return state;
}

/* The next word; `line` advances past it. */
static size_t next_word(const char **line, const char **word)
{
    *word = *line + strspn(*line, " \t");
    size_t length = strcspn(*word, " \t\r\n");
    *line = *word + length;
    return length;
}

static int is(const char *word, size_t length, const char *name)
{
    return strlen(name) == length && strncmp(word, name, length) == 0;
}

static size_t find_label(struct goal_in *in, const char *word, size_t length)
{
    const uint64_t *at = map_find(&in->labels, hash(word, length));
    return at ? (size_t)*at - 1 : SIZE_MAX;
}

/* "send 10b to 1 tag 3 cpu 0 nic 0", "recv 10b from 1 tag 3", "calc 100". */
static int read_op(struct goal_in *in, const char *word, size_t length, const char *line)
{
    struct op op = {.users = {-1, -1}, .starters = {-1, -1}, .required = {-1, -1}, .request = -1};
    const char *value;
    if (is(word, length, "calc"))
        op.kind = OP_CALC;
    else if (is(word, length, "send"))
        op.kind = OP_SEND;
    else if (is(word, length, "recv"))
        op.kind = OP_RECV;
    else
        return -1;
    if (next_word(&line, &value) == 0 || *value < '0' || *value > '9')
        return -1;
    op.amount = strtoull(value, NULL, 10);
    while ((length = next_word(&line, &word)) > 0) {
        size_t digits = next_word(&line, &value);
        if (!digits)
            return -1;
        if (is(word, length, "to") || is(word, length, "from"))
            op.peer = strtoll(value, NULL, 10);
        else if (is(word, length, "tag"))
            op.tag = strtoll(value, NULL, 10);
        else if (!is(word, length, "cpu") && !is(word, length, "nic"))
            return -1;
        else if (*value != '0')
            format_note(in->notes, "left out: numbers of cores and network interfaces");
    }
    if (op.kind != OP_CALC &&
        (op.peer < 0 || (uint64_t)op.peer >= in->ranks || op.tag < 0 || op.tag > INT32_MAX))
        return -1;
    ARRAY_EXTEND(in->ops, in->count);
    in->ops[in->count++] = op;
    return 0;
}

static void add_link(struct goal_in *in, struct op_list *list, size_t op)
{
    ARRAY_EXTEND(in->links, in->link_count);
    in->links[in->link_count] = (struct link){op, -1};
    if (list->last >= 0)
        in->links[list->last].next = (int64_t)in->link_count;
    else
        list->first = (int64_t)in->link_count;
    list->last = (int64_t)in->link_count++;
}

/* "l2 requires l1". */
static int read_need(struct goal_in *in, const char *word, size_t length, const char *line)
{
    const char *verb, *other;
    size_t user = find_label(in, word, length), verb_length = next_word(&line, &verb);
    size_t other_length = next_word(&line, &other), needed = find_label(in, other, other_length);
    int begun = is(verb, verb_length, "irequires");
    if ((!begun && !is(verb, verb_length, "requires")) || user == SIZE_MAX || needed == SIZE_MAX)
        return -1;
    add_link(in, begun ? &in->ops[needed].starters : &in->ops[needed].users, user);
    if (!begun)
        add_link(in, &in->ops[user].required, needed);
    in->ops[user].needs++;
    in->ops[user].unbegun++;
    return 0;
}

static int read_line(struct goal_in *in, const char *line)
{
    const char *word;
    size_t length = next_word(&line, &word);
    if (length && word[length - 1] == ':') {
        const char *verb;
        size_t verb_length = next_word(&line, &verb);
        if (read_op(in, verb, verb_length, line) != 0)
            return -1;
        *map_insert(&in->labels, hash(word, length - 1), NULL) = in->count;
        return 0;
    }
    return read_op(in, word, length, line) == 0 ? 0 : read_need(in, word, length, line);
}

/* ---- the program of a rank ---- */

static void put_call(struct goal_in *in, struct format_call *call)
{
    format_build_call(&in->build, 0, call, in->now, in->now);
}

static void put_simple(struct goal_in *in, const char *function)
{
    struct format_call call;
    if (format_call_begin(&call, &in->build, function))
        put_call(in, &call);
}

/* Those in a list have one more need that has begun, or that is met. */
static void advance(struct goal_in *in, int64_t list, int has_begun, int is_met)
{
    for (int64_t at = list; at >= 0; at = in->links[at].next) {
        struct op *op = &in->ops[in->links[at].op];
        op->unbegun -= (size_t)has_begun;
        op->needs -= (size_t)is_met;
        if (op->needs == 0)
            in->ready[in->ready_count++] = in->links[at].op;
        else if (has_begun && op->unbegun == 0)
            in->stalled[in->stalled_count++] = in->links[at].op;
    }
}

static void begin(struct goal_in *in, size_t number)
{
    struct op *op = &in->ops[number];
    struct format_call call;
    op->has_begun = 1;
    advance(in, op->starters.first, 1, 1);
    if (op->kind == OP_CALC) {
        if (op->amount < UINT64_C(4000000000000000) && in->now < INT64_C(4000000000000000000))
            in->now += (int64_t)op->amount * 1000;
        else
            format_note(in->notes, "left out: computing that takes too long");
        op->is_done = 1;
        advance(in, op->users.first, 1, 1);
        return;
    }
    advance(in, op->users.first, 1, 0);
    op->request = in->next_request++;
    if (format_call_begin(&call, &in->build, op->kind == OP_SEND ? "MPI_Isend" : "MPI_Irecv")) {
        format_call_number(&call, "count", (int64_t)op->amount);
        format_call_number(&call, "datatype", format_local_type(&in->build, "MPI_BYTE", 1, 0, 1));
        format_call_number(&call, op->kind == OP_SEND ? "dest" : "source", op->peer);
        format_call_number(&call, "tag", op->tag);
        format_call_number(&call, "comm", TRACE_LOCAL_WORLD);
        format_call_number(&call, "request", op->request);
        put_call(in, &call);
    }
    in->waiting[in->waiting_count++] = number;
}

static void wait_for(struct goal_in *in, size_t number)
{
    struct op *op = &in->ops[number];
    struct trace_status status = {(int32_t)op->peer, (int32_t)op->tag, op->amount, 1, 0};
    struct format_call call;
    op->is_done = 1;
    if (format_call_begin(&call, &in->build, "MPI_Wait")) {
        format_call_number(&call, "request", op->request);
        if (op->kind == OP_RECV)
            format_call_statuses(&call, "status", &status, 1);
        put_call(in, &call);
    }
    advance(in, op->users.first, 0, 1);
}

/* The message to wait for when nothing can begin; -1: all are complete. */
static int64_t next_wait(struct goal_in *in)
{
    for (; in->stalled_first < in->stalled_count; in->stalled_first++) {
        struct op_list *list = &in->ops[in->stalled[in->stalled_first]].required;
        for (; list->first >= 0; list->first = in->links[list->first].next)
            if (!in->ops[in->links[list->first].op].is_done)
                return (int64_t)in->links[list->first].op;
    }
    for (; in->waiting_first < in->waiting_count; in->waiting_first++)
        if (!in->ops[in->waiting[in->waiting_first]].is_done)
            return (int64_t)in->waiting[in->waiting_first];
    return -1;
}

static void put_rank(struct goal_in *in, uint64_t rank)
{
    format_build_rank(&in->build, rank);
    in->now = in->next_request = 0;
    in->ready = mem_alloc((in->count + 1) * sizeof *in->ready);
    in->stalled = mem_alloc((in->count + 1) * sizeof *in->stalled);
    in->waiting = mem_alloc((in->count + 1) * sizeof *in->waiting);
    in->ready_first = in->ready_count = in->stalled_first = in->stalled_count = 0;
    in->waiting_first = in->waiting_count = 0;
    put_simple(in, "MPI_Init");
    for (size_t i = 0; i < in->count; i++)
        if (in->ops[i].needs == 0)
            in->ready[in->ready_count++] = i;
    for (int64_t message = 0; message >= 0;) {
        while (in->ready_first < in->ready_count)
            begin(in, in->ready[in->ready_first++]);
        message = next_wait(in);
        if (message >= 0)
            wait_for(in, (size_t)message);
    }
    for (size_t i = 0; i < in->count; i++)
        if (!in->ops[i].has_begun)
            format_note(in->notes,
                        "left out: operations that depend on each other, and never begin");
    put_simple(in, "MPI_Finalize");
    mem_free(in->ready);
    mem_free(in->stalled);
    mem_free(in->waiting);
}

/* ---- the file ---- */

static void end_rank(struct goal_in *in, int64_t rank)
{
    if (rank >= 0)
        put_rank(in, (uint64_t)rank);
    in->count = in->link_count = 0;
    map_fini(&in->labels);
    map_init(&in->labels);
}

static void read_ranks(struct goal_in *in, const char *text)
{
    int64_t rank = -1, last = -1;
    for (const char *at = text, *end; *at; at = *end ? end + 1 : end) {
        const char *word, *line = at;
        end = at + strcspn(at, "\n");
        size_t length = next_word(&line, &word);
        if (word >= end || length == 0 || *word == '#' || is(word, length, "num_ranks"))
            continue;
        if (is(word, length, "rank")) {
            end_rank(in, rank);
            rank = strtoll(line, NULL, 10);
            if (rank <= last || (uint64_t)rank >= in->ranks) {
                format_note(in->notes, "left out: ranks that are out of order, or too large");
                rank = -1;
            } else {
                last = rank;
            }
        } else if (*word == '}') {
            end_rank(in, rank);
            rank = -1;
        } else if (rank >= 0 && read_line(in, at) != 0) {
            format_note(in->notes, "left out: lines that cannot be read");
        }
    }
    if (rank >= 0)
        format_note(in->notes, "rank %" PRId64 ": cut off: what follows is missing", rank);
    end_rank(in, rank);
}

static int read_schedule(const char *path, const char *orr, struct format_notes *notes,
                         struct err *err)
{
    struct goal_in in = {.notes = notes};
    struct buf text;
    if (textfile_read(path, FILE_MOST, &text, err) != 0)
        return err->code;
    const char *head = strstr(buf_str(&text), "num_ranks");
    in.ranks = head ? strtoull(head + strlen("num_ranks"), NULL, 10) : 0;
    int rc = in.ranks && in.ranks < RANKS_MOST
                 ? 0
                 : err_set(err, ERR_INPUT, "cannot read '%s': no line 'num_ranks N'", path);
    if (rc == 0) {
        format_build_init(&in.build, orr, in.ranks, notes);
        trace_header_add(&in.build.header, "recorder", "GOAL");
        rc = format_build_start(&in.build, err);
        map_init(&in.labels);
        if (rc == 0)
            read_ranks(&in, buf_str(&text));
        map_fini(&in.labels);
        int closed = format_build_close(&in.build, rc == 0, err);
        rc = rc != 0 ? rc : closed;
    }
    buf_fini(&text);
    mem_free(in.ops);
    mem_free(in.links);
    return rc;
}

static int goal_detect(const char *path, const uint8_t *head, size_t bytes)
{
    (void)path, (void)bytes;
    return strstr((const char *)head, "num_ranks ") != NULL;
}

const struct trace_format format_goal = {
    .name = "goal",
    .suffix = ".goal",
    .about = "GOAL of LogGOPSim: messages and computing",
    .detect = goal_detect,
    .read = read_schedule,
    .write = goal_write,
};
