/*
 * conduit.c - rings of bytes between processes on the same machine (see conduit.h).
 *
 * Invariants 1. Only the writer changes `written`, after it has written the bytes; only the reader
 * changes `read`, after it has copied them. Both only grow, and differ by at most the capacity. 2.
 * After writing, the writer sets its bit and, if it was not set, rings. The reader hears the ring,
 * takes all bits, and then looks at the conduits. So it sees everything written before a bit that
 * it saw. 3. Heads and data start at multiples of UNIT: a head never wraps around.
 *
 * A writer that lacks room sets `wanting` in the conduit, and the reader rings when it has made
 * room. The two may just miss each other, so a process with waiting messages sleeps only for short
 * times.
 */
#include "engine/conduit.h"

#include <assert.h>
#include <string.h>

#include "base/hostile.h"
#include "base/mem.h"
#include "engine/proc_link.h"

#define UNIT 16
/* bytes of one conduit, powers of two */
#define CAPACITY_MAX HOSTILE((uint32_t)256, (uint32_t)256 << 10)
#define CAPACITY_MIN HOSTILE((uint32_t)256, (uint32_t)8 << 10)
#define CAPACITY_ALL ((uint64_t)64 << 20) /* bytes of all conduits of a machine, if possible */
#define WAITING_NS 200000                 /* the longest sleep while a message waits for room */
#define LINE 64

struct conduit {
    _Alignas(LINE) uint64_t written;
    _Alignas(LINE) uint64_t read;
    uint32_t wanting; /* the writer waits for room */
    _Alignas(LINE) char data[];
};

struct conduit_head {
    uint64_t bytes;
    int64_t tag;
};

_Static_assert(sizeof(struct conduit_head) == UNIT, "a head is one unit");

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
    return sizeof(struct conduit) + capacity;
}

static size_t room_of(uint32_t count)
{
    return (size_t)count * count * stride(capacity_of(count));
}

static struct conduit *conduit_at(const struct conduits *l, uint32_t from, uint32_t to)
{
    size_t index = (size_t)to * l->bells.count + from;

    return (struct conduit *)((char *)l->bells.room + index * stride(l->capacity));
}

static void init(struct conduits *l)
{
    uint32_t count = l->bells.count, mine = l->bells.mine;

    l->capacity = capacity_of(count);
    assert(l->capacity % UNIT == 0 && !(l->capacity & (l->capacity - 1)) && mine < count);
    l->in = mem_zalloc(count * sizeof *l->in);
    l->out = mem_zalloc(count * sizeof *l->out);
    for (uint32_t q = 0; q < count; q++) {
        l->in[q].conduit = conduit_at(l, q, mine);
        l->out[q].conduit = conduit_at(l, mine, q);
        l->out[q].last = &l->out[q].first;
    }
}

void conduits_make(struct conduits *l, uint32_t count, struct bell_address *address)
{
    memset(l, 0, sizeof *l);
    bells_make(&l->bells, count, room_of(count), address);
    if (l->bells.at)
        init(l);
}

int conduits_join(struct conduits *l, uint32_t count, uint32_t mine,
                  const struct bell_address *address)
{
    memset(l, 0, sizeof *l);
    if (!bells_join(&l->bells, count, mine, room_of(count), address))
        return 0;
    init(l);
    return 1;
}

static void item_free(struct conduit_out *o)
{
    struct conduit_item *item = o->first;

    o->first = item->next;
    if (!o->first)
        o->last = &o->first;
    proc_link_free(item->data);
    mem_free(item);
}

void conduits_leave(struct conduits *l)
{
    for (uint32_t q = 0; q < l->bells.count; q++) {
        while (l->out[q].first)
            item_free(&l->out[q]);
        proc_link_free(l->in[q].data);
    }
    mem_free(l->in);
    mem_free(l->out);
    bells_leave(&l->bells);
    memset(l, 0, sizeof *l);
}

/* ---- showing ---- */

/* The conduit of a process to itself carries no messages. */
void conduits_show(struct conduits *l, uint64_t word)
{
    __atomic_store_n(&conduit_at(l, l->bells.mine, l->bells.mine)->written, word, __ATOMIC_RELEASE);
}

uint64_t conduits_shown(const struct conduits *l, uint32_t which)
{
    return __atomic_load_n(&conduit_at(l, which, which)->written, __ATOMIC_ACQUIRE);
}

/* ---- sending ---- */

static uint64_t room(const struct conduits *l, const struct conduit_out *o)
{
    assert_hot(o->written >= o->read && o->written - o->read <= l->capacity); /* invariant 1 */
    return l->capacity - (o->written - o->read);
}

/* Is there room for that many bytes? Reads the reader's position only if there seems to be none. */
static int has_room(const struct conduits *l, struct conduit_out *o, uint64_t bytes)
{
    if (room(l, o) < bytes)
        o->read = __atomic_load_n(&o->conduit->read, __ATOMIC_ACQUIRE);
    return room(l, o) >= bytes;
}

/* Copies bytes for which there is room. */
static void put(const struct conduits *l, struct conduit_out *o, const void *data, uint64_t bytes)
{
    uint64_t at = o->written & (l->capacity - 1), straight = l->capacity - at;

    assert_hot(at % UNIT == 0 && padded(bytes) <= room(l, o)); /* invariant 3 */
    if (straight > bytes)
        straight = bytes;
    memcpy(o->conduit->data + at, data, straight);
    memcpy(o->conduit->data, (const char *)data + straight, bytes - straight);
    o->written += padded(bytes);
}

static void publish(struct conduit_out *o)
{
    __atomic_store_n(&o->conduit->written, o->written, __ATOMIC_RELEASE);
}

static void tell(struct conduits *l, uint32_t to)
{
    uint64_t bit = (uint64_t)1 << l->bells.mine % 64;
    uint64_t *word = &l->bells.at[to].from[l->bells.mine / 64 % BELL_WORDS];

    if (!(__atomic_fetch_or(word, bit, __ATOMIC_SEQ_CST) & bit))
        bells_ring(&l->bells, to);
}

/* Writes the first waiting message to the conduit, as far as there is room. Returns 1 when it is
 * complete. */
static int put_item(const struct conduits *l, struct conduit_out *o)
{
    struct conduit_item *item = o->first;
    struct conduit_head head = {item->bytes, item->tag};
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
    assert(item->sent <= item->bytes);
    return item->sent == item->bytes;
}

static void push_to(struct conduits *l, uint32_t to)
{
    struct conduit_out *o = &l->out[to];
    uint64_t before = o->written;

    while (o->first && put_item(l, o))
        item_free(o);
    if (o->first)
        __atomic_store_n(&o->conduit->wanting, 1, __ATOMIC_SEQ_CST);
    if (o->written == before)
        return;
    publish(o);
    tell(l, to);
}

int conduits_push(struct conduits *l)
{
    uint32_t left = l->waiting;

    assert(l->waiting < l->bells.count);
    for (uint32_t q = 0; left > 0 && q < l->bells.count; q++) {
        if (!l->out[q].first)
            continue;
        left--;
        push_to(l, q);
        l->waiting -= !l->out[q].first;
    }
    return l->waiting > 0;
}

static void enqueue(struct conduits *l, uint32_t to, int tag, void *data, size_t bytes)
{
    struct conduit_item *item = mem_alloc(sizeof *item);
    struct conduit_out *o = &l->out[to];

    *item = (struct conduit_item){.data = data, .bytes = bytes, .tag = tag};
    l->waiting += !o->first;
    *o->last = item;
    o->last = &item->next;
    push_to(l, to);
    l->waiting -= !o->first;
}

void conduits_send(struct conduits *l, uint32_t to, int tag, void *data, size_t bytes)
{
    struct conduit_out *o = &l->out[to];
    struct conduit_head head = {bytes, tag};

    assert(to != l->bells.mine);
    if (o->first || !has_room(l, o, UNIT + padded(bytes))) {
        enqueue(l, to, tag, data, bytes);
        return;
    }
    put(l, o, &head, UNIT);
    put(l, o, data, bytes);
    publish(o);
    tell(l, to);
    proc_link_free(data);
}

/* ---- receiving ---- */

static void get(const struct conduits *l, struct conduit_in *in, void *data, uint64_t bytes)
{
    uint64_t at = in->read & (l->capacity - 1), straight = l->capacity - at;

    assert_hot(at % UNIT == 0 && bytes <= l->capacity);
    if (straight > bytes)
        straight = bytes;
    memcpy(data, in->conduit->data + at, straight);
    memcpy((char *)data + straight, in->conduit->data, bytes - straight);
    in->read += padded(bytes);
}

/* Takes what has arrived of the present message. Returns 1 when it is complete. */
static int get_message(const struct conduits *l, struct conduit_in *in)
{
    uint64_t written = __atomic_load_n(&in->conduit->written, __ATOMIC_ACQUIRE), part;
    struct conduit_head head;

    assert_hot(written >= in->read && written - in->read <= l->capacity);
    if (!in->data) {
        if (written == in->read)
            return 0;
        get(l, in, &head, UNIT);
        in->data = proc_link_alloc(head.bytes);
        in->bytes = head.bytes;
        in->got = 0;
        in->tag = (int)head.tag;
    }
    part = in->bytes - in->got;
    if (part > written - in->read)
        part = written - in->read;
    get(l, in, (char *)in->data + in->got, part);
    in->got += part;
    assert(in->got <= in->bytes);
    return in->got == in->bytes;
}

static int take_from(struct conduits *l, uint32_t q)
{
    struct conduit_in *in = &l->in[q];
    uint64_t before = in->read;
    int complete = get_message(l, in);

    if (in->read == before)
        return complete;
    __atomic_store_n(&in->conduit->read, in->read, __ATOMIC_RELEASE);
    if (__atomic_load_n(&in->conduit->wanting, __ATOMIC_RELAXED)) {
        __atomic_store_n(&in->conduit->wanting, 0, __ATOMIC_RELAXED);
        bells_ring(&l->bells, q);
    }
    return complete;
}

/* Collects the processes that may have written since the last look. Returns 0 if there are none. */
static int take_bits(struct conduits *l)
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
static int take_word(struct conduits *l, uint32_t w, uint32_t *from)
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

int conduits_recv(struct conduits *l, uint32_t *from, int *tag, void **data, size_t *bytes)
{
    if (l->waiting)
        conduits_push(l);
    do {
        for (uint32_t w = 0; w < BELL_WORDS; w++) {
            struct conduit_in *in;

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

void conduits_sleep(struct conduits *l, uint64_t ns)
{
    if (l->waiting && ns > WAITING_NS)
        ns = WAITING_NS;
    bells_sleep(&l->bells, l->heard, ns);
}
