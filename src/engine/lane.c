/*
 * lane.c - rings of bytes between processes on the same machine (see lane.h).
 *
 * Invariants
 *  1. Only the writer changes `written`, after it has written the bytes; only the reader changes
 *     `read`, after it has copied them. Both only grow, and differ by at most the capacity.
 *  2. After writing, the writer sets its bit and, if it was not set, rings. The reader hears the
 *     ring, takes all bits, and then looks at the lanes. So it sees everything written before a bit
 *     that it saw.
 *  3. Heads and data start at multiples of UNIT: a head never wraps around.
 *
 * A writer that lacks room sets `wanting` in the lane, and the reader rings when it has made room.
 * The two may just miss each other, so a process with waiting messages sleeps only for short times.
 */
#include "engine/lane.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "engine/native.h"

#define UNIT 16
#define CAPACITY_MAX ((uint32_t)256 << 10) /* bytes of one lane ... */
#define CAPACITY_MIN ((uint32_t)8 << 10)
#define CAPACITY_ALL ((uint64_t)64 << 20) /* ... and of all lanes of a machine, if possible */
#define WAITING_NS 200000                 /* the longest sleep while a message waits for room */
#define LINE 64

struct lane {
    _Alignas(LINE) uint64_t written;
    _Alignas(LINE) uint64_t read;
    uint32_t wanting; /* the writer waits for room */
    _Alignas(LINE) char data[];
};

struct lane_head {
    uint64_t bytes;
    int64_t tag;
};

_Static_assert(sizeof(struct lane_head) == UNIT, "a head is one unit");

static uint64_t padded(uint64_t bytes)
{
    return (bytes + UNIT - 1) / UNIT * UNIT;
}

/* ---- the memory ---- */

static uint32_t capacity_of(uint32_t count)
{
    uint32_t capacity = CAPACITY_MAX;

    while (capacity > CAPACITY_MIN && (uint64_t)count * count * capacity > CAPACITY_ALL)
        capacity /= 2;
    return capacity;
}

static size_t stride(uint32_t capacity)
{
    return sizeof(struct lane) + capacity;
}

static size_t room_of(uint32_t count)
{
    return (size_t)count * count * stride(capacity_of(count));
}

static struct lane *lane_at(const struct lanes *l, uint32_t from, uint32_t to)
{
    size_t index = (size_t)to * l->bells.count + from;

    return (struct lane *)((char *)l->bells.room + index * stride(l->capacity));
}

static void init(struct lanes *l)
{
    uint32_t count = l->bells.count, mine = l->bells.mine;

    l->capacity = capacity_of(count);
    l->in = mem_zalloc(count * sizeof *l->in);
    l->out = mem_zalloc(count * sizeof *l->out);
    for (uint32_t q = 0; q < count; q++) {
        l->in[q].lane = lane_at(l, q, mine);
        l->out[q].lane = lane_at(l, mine, q);
        l->out[q].last = &l->out[q].first;
    }
}

void lanes_make(struct lanes *l, uint32_t count, struct bell_address *address)
{
    memset(l, 0, sizeof *l);
    bells_make(&l->bells, count, room_of(count), address);
    if (l->bells.at)
        init(l);
}

int lanes_join(struct lanes *l, uint32_t count, uint32_t mine, const struct bell_address *address)
{
    memset(l, 0, sizeof *l);
    if (!bells_join(&l->bells, count, mine, room_of(count), address))
        return 0;
    init(l);
    return 1;
}

static void item_free(struct lane_out *o)
{
    struct lane_item *item = o->first;

    o->first = item->next;
    if (!o->first)
        o->last = &o->first;
    native_free(item->data);
    mem_free(item);
}

void lanes_leave(struct lanes *l)
{
    for (uint32_t q = 0; q < l->bells.count; q++) {
        while (l->out[q].first)
            item_free(&l->out[q]);
        native_free(l->in[q].data);
    }
    mem_free(l->in);
    mem_free(l->out);
    bells_leave(&l->bells);
    memset(l, 0, sizeof *l);
}

/* ---- showing ---- */

/* The lane of a process to itself carries no messages. */
void lanes_show(struct lanes *l, uint64_t word)
{
    __atomic_store_n(&lane_at(l, l->bells.mine, l->bells.mine)->written, word, __ATOMIC_RELEASE);
}

uint64_t lanes_shown(const struct lanes *l, uint32_t which)
{
    return __atomic_load_n(&lane_at(l, which, which)->written, __ATOMIC_ACQUIRE);
}

/* ---- sending ---- */

static uint64_t room(const struct lanes *l, const struct lane_out *o)
{
    return l->capacity - (o->written - o->read);
}

/* Is there room for that many bytes? Reads the reader's position only if there seems to be none. */
static int has_room(const struct lanes *l, struct lane_out *o, uint64_t bytes)
{
    if (room(l, o) < bytes)
        o->read = __atomic_load_n(&o->lane->read, __ATOMIC_ACQUIRE);
    return room(l, o) >= bytes;
}

/* Copies bytes for which there is room. */
static void put(const struct lanes *l, struct lane_out *o, const void *data, uint64_t bytes)
{
    uint64_t at = o->written & (l->capacity - 1), straight = l->capacity - at;

    if (straight > bytes)
        straight = bytes;
    memcpy(o->lane->data + at, data, straight);
    memcpy(o->lane->data, (const char *)data + straight, bytes - straight);
    o->written += padded(bytes);
}

static void publish(struct lane_out *o)
{
    __atomic_store_n(&o->lane->written, o->written, __ATOMIC_RELEASE);
}

static void tell(struct lanes *l, uint32_t to)
{
    uint64_t bit = (uint64_t)1 << l->bells.mine % 64;
    uint64_t *word = &l->bells.at[to].from[l->bells.mine / 64 % BELL_WORDS];

    if (!(__atomic_fetch_or(word, bit, __ATOMIC_SEQ_CST) & bit))
        bells_ring(&l->bells, to);
}

/* Writes the first waiting message to the lane, as far as there is room. Returns 1 when it is
 * complete. */
static int put_item(const struct lanes *l, struct lane_out *o)
{
    struct lane_item *item = o->first;
    struct lane_head head = {item->bytes, item->tag};
    uint64_t part;

    if (!item->has_head) {
        if (!has_room(l, o, UNIT))
            return 0;
        put(l, o, &head, UNIT);
        item->has_head = 1;
    }
    if (!has_room(l, o, padded(item->bytes - item->sent)))
        part = room(l, o) / UNIT * UNIT;
    else
        part = item->bytes - item->sent;
    put(l, o, (char *)item->data + item->sent, part);
    item->sent += part;
    return item->sent == item->bytes;
}

static void push_to(struct lanes *l, uint32_t to)
{
    struct lane_out *o = &l->out[to];
    uint64_t before = o->written;

    while (o->first && put_item(l, o))
        item_free(o);
    if (o->first)
        __atomic_store_n(&o->lane->wanting, 1, __ATOMIC_SEQ_CST);
    if (o->written == before)
        return;
    publish(o);
    tell(l, to);
}

int lanes_push(struct lanes *l)
{
    uint32_t left = l->waiting;

    for (uint32_t q = 0; left > 0 && q < l->bells.count; q++) {
        if (!l->out[q].first)
            continue;
        left--;
        push_to(l, q);
        l->waiting -= !l->out[q].first;
    }
    return l->waiting > 0;
}

static void enqueue(struct lanes *l, uint32_t to, int tag, void *data, size_t bytes)
{
    struct lane_item *item = mem_alloc(sizeof *item);
    struct lane_out *o = &l->out[to];

    *item = (struct lane_item){.data = data, .bytes = bytes, .tag = tag};
    l->waiting += !o->first;
    *o->last = item;
    o->last = &item->next;
    push_to(l, to);
    l->waiting -= !o->first;
}

void lanes_send(struct lanes *l, uint32_t to, int tag, void *data, size_t bytes)
{
    struct lane_out *o = &l->out[to];
    struct lane_head head = {bytes, tag};

    assert(to != l->bells.mine);
    if (o->first || !has_room(l, o, UNIT + padded(bytes))) {
        enqueue(l, to, tag, data, bytes);
        return;
    }
    put(l, o, &head, UNIT);
    put(l, o, data, bytes);
    publish(o);
    tell(l, to);
    native_free(data);
}

/* ---- receiving ---- */

static void get(const struct lanes *l, struct lane_in *in, void *data, uint64_t bytes)
{
    uint64_t at = in->read & (l->capacity - 1), straight = l->capacity - at;

    if (straight > bytes)
        straight = bytes;
    memcpy(data, in->lane->data + at, straight);
    memcpy((char *)data + straight, in->lane->data, bytes - straight);
    in->read += padded(bytes);
}

/* Takes what has arrived of the present message. Returns 1 when it is complete. */
static int get_message(const struct lanes *l, struct lane_in *in)
{
    uint64_t written = __atomic_load_n(&in->lane->written, __ATOMIC_ACQUIRE), part;
    struct lane_head head;

    if (!in->data) {
        if (written == in->read)
            return 0;
        get(l, in, &head, UNIT);
        in->data = native_alloc(head.bytes);
        in->bytes = head.bytes;
        in->got = 0;
        in->tag = (int)head.tag;
    }
    part = in->bytes - in->got;
    if (part > written - in->read)
        part = written - in->read;
    get(l, in, (char *)in->data + in->got, part);
    in->got += part;
    return in->got == in->bytes;
}

static int take_from(struct lanes *l, uint32_t q)
{
    struct lane_in *in = &l->in[q];
    uint64_t before = in->read;
    int complete = get_message(l, in);

    if (in->read == before)
        return complete;
    __atomic_store_n(&in->lane->read, in->read, __ATOMIC_RELEASE);
    if (__atomic_load_n(&in->lane->wanting, __ATOMIC_RELAXED)) {
        __atomic_store_n(&in->lane->wanting, 0, __ATOMIC_RELAXED);
        bells_ring(&l->bells, q);
    }
    return complete;
}

/* Collects the processes that may have written since the last look. Returns 0 if there are none. */
static int take_bits(struct lanes *l)
{
    uint32_t heard = bells_heard(&l->bells);
    struct bell *mine = &l->bells.at[l->bells.mine];

    if (heard == l->heard)
        return 0;
    l->heard = heard;
    for (uint32_t w = 0; w < BELL_WORDS; w++)
        if (__atomic_load_n(&mine->from[w], __ATOMIC_RELAXED))
            l->todo[w] |= __atomic_exchange_n(&mine->from[w], 0, __ATOMIC_SEQ_CST);
    return 1;
}

/* The next message from the processes that one bit stands for: every (BELL_WORDS * 64)th shares
 * it. */
static int take_word(struct lanes *l, uint32_t w, uint32_t *from)
{
    while (l->todo[w]) {
        uint32_t bit = (uint32_t)__builtin_ctzll(l->todo[w]);

        for (uint32_t q = w * 64 + bit; q < l->bells.count; q += BELL_WORDS * 64)
            if (q != l->bells.mine && take_from(l, q)) {
                *from = q;
                return 1;
            }
        l->todo[w] &= l->todo[w] - 1;
    }
    return 0;
}

int lanes_recv(struct lanes *l, uint32_t *from, int *tag, void **data, size_t *bytes)
{
    if (l->waiting)
        lanes_push(l);
    do {
        for (uint32_t w = 0; w < BELL_WORDS; w++) {
            struct lane_in *in;

            if (!take_word(l, w, from))
                continue;
            in = &l->in[*from];
            *tag = in->tag;
            *data = in->data;
            *bytes = in->bytes;
            in->data = NULL;
            return 1;
        }
    } while (take_bits(l));
    return 0;
}

void lanes_sleep(struct lanes *l, uint64_t ns)
{
    if (l->waiting && ns > WAITING_NS)
        ns = WAITING_NS;
    bells_sleep(&l->bells, l->heard, ns);
}
