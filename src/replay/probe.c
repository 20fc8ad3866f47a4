/*
 * probe.c - probes, and the receives of what they found.
 *
 * A probe with wildcards may find another message than in the recording. The program would then
 * receive that one: the next receive of the recorded source and tag gets those that were found, and
 * the one that would have got these gets what is left. So which receive gets which message is a
 * permutation, whatever many probes find. As with tests (complete.c), a probe that had failed may
 * succeed, one that had succeeded waits.
 */
#include "base/array.h"
#include "replay/replay.h"

int replay_probe_receive(struct replay_rank *k, int64_t comm, int64_t *source, int64_t *tag)
{
    for (uint32_t i = 0; i < k->probed_count; i++) {
        struct replay_probed *p = &k->probed[i];
        if (p->comm != comm || p->from.source != *source || p->from.tag != *tag)
            continue;
        *source = p->to.source;
        *tag = p->to.tag;
        k->probed[i] = k->probed[--k->probed_count];
        return 1;
    }
    return 0;
}

/* Receives of `from` get `to`. */
static void add_probed(struct replay_rank *k, int64_t comm, struct replay_kind from,
                       struct replay_kind to)
{
    ARRAY_EXTEND(k->probed, k->probed_count);
    k->probed[k->probed_count++] = (struct replay_probed){comm, from, to};
}

static int is_kind(struct replay_kind a, struct replay_kind b)
{
    return a.source == b.source && a.tag == b.tag;
}

/* The next receive of `from` gets what was found, and the receive that would have got that gets
 * what was left to it. */
static void remap(struct replay_rank *k, int64_t comm, struct replay_kind from,
                  struct replay_kind found)
{
    uint32_t mine = k->probed_count, other = k->probed_count;
    for (uint32_t i = k->probed_count; i-- > 0;) {
        mine = k->probed[i].comm == comm && is_kind(k->probed[i].from, from) ? i : mine;
        other = k->probed[i].comm == comm && is_kind(k->probed[i].to, found) ? i : other;
    }
    int is_mapped = mine < k->probed_count;
    struct replay_kind left = is_mapped ? k->probed[mine].to : from;
    if (is_kind(left, found))
        return; /* it gets that already */
    if (other < k->probed_count)
        k->probed[other].to = left;
    else
        add_probed(k, comm, found, left);
    if (is_mapped)
        k->probed[mine].to = found;
    else
        add_probed(k, comm, from, found);
}

/* What was found, against what the record says. */
static void found(struct replay_rank *k, const struct replay_fn *fn, const MPI_Status *actual,
                  int succeeded)
{
    int64_t comm = replay_arg(k, fn->comm)->number;
    struct trace_value *v = replay_arg(k, fn->status);
    struct trace_status *status = replay_scratch(k, sizeof *status);
    const struct trace_status *had = v ? v->statuses : NULL;
    *status = replay_status(k, comm, actual);
    if (had && had->is_set && had->source >= 0 && fn->message < 0) {
        int64_t source = replay_comm_rank(k, comm, had->source);
        if (source != actual->MPI_SOURCE || had->tag != actual->MPI_TAG)
            k->replay->counts.remapped++;
        remap(k, comm, (struct replay_kind){source, had->tag},
              (struct replay_kind){actual->MPI_SOURCE, actual->MPI_TAG});
    }
    if (had && succeeded)
        status->is_set = had->is_set; /* the program may not have asked for it */
    if (v)
        v->statuses = status;
}

/* The source and tag to probe for: in deterministic mode those that were found. */
static void asked(struct replay_rank *k, const struct replay_fn *fn, int64_t *source, int64_t *tag)
{
    const struct trace_value *v = replay_arg(k, fn->status);
    *source = replay_arg(k, fn->source)->number;
    *tag = replay_arg(k, fn->tag)->number;
    if (!k->replay->options.deterministic || !v || !v->statuses->is_set)
        return;
    *source = replay_comm_rank(k, replay_arg(k, fn->comm)->number, v->statuses->source);
    *tag = v->statuses->tag;
}

static void take_message(struct replay_rank *k, const struct replay_fn *fn, MPI_Message message)
{
    const struct trace_value *v = replay_arg(k, fn->message);
    if (!v)
        return;
    replay_handle_set(k, MPI_ROLE_MESSAGE, v->number, (uint64_t)(uint32_t)message);
    replay_message_comm(k, v->number, replay_arg(k, fn->comm)->number);
}

static struct replay_drawn_probe *find_drawn(struct replay_rank *k, const struct replay_fn *fn)
{
    for (uint32_t i = 0; i < k->drawn_probe_count; i++) {
        struct replay_drawn_probe *p = &k->drawn_probes[i];
        if (p->comm == replay_arg(k, fn->comm)->number &&
            p->source == replay_arg(k, fn->source)->number &&
            p->tag == replay_arg(k, fn->tag)->number)
            return p;
    }
    return NULL;
}

/* Its completion has been moved forward: the record is left out. */
static int already(struct replay_rank *k, const struct replay_fn *fn, struct replay_drawn_probe *p)
{
    const struct trace_value *flag = replay_arg(k, fn->flag);
    k->replay->counts.removed++;
    if (flag && flag->number == 0)
        return 0;
    found(k, fn, &p->status, 1);
    take_message(k, fn, p->message);
    *p = k->drawn_probes[--k->drawn_probe_count];
    return 0;
}

static void draw(struct replay_rank *k, const struct replay_fn *fn, MPI_Message message,
                 const MPI_Status *status)
{
    k->replay->counts.drawn++;
    ARRAY_EXTEND(k->drawn_probes, k->drawn_probe_count);
    k->drawn_probes[k->drawn_probe_count++] =
        (struct replay_drawn_probe){.comm = replay_arg(k, fn->comm)->number,
                                    .source = replay_arg(k, fn->source)->number,
                                    .tag = replay_arg(k, fn->tag)->number,
                                    .message = message,
                                    .status = *status};
}

int replay_probe_is_here(struct replay_rank *k, const struct replay_fn *fn)
{
    int64_t source, tag, comm = replay_arg(k, fn->comm)->number;
    int is_here = 0;
    if (find_drawn(k, fn))
        return 1;
    asked(k, fn, &source, &tag);
    replay_check(k,
                 MPI_Iprobe((int)source, (int)tag, (MPI_Comm)replay_handle(k, MPI_ROLE_COMM, comm),
                            &is_here, MPI_STATUS_IGNORE));
    return is_here;
}

int replay_probe(struct replay_rank *k, const struct replay_fn *fn)
{
    struct trace_value *flag = replay_arg(k, fn->flag);
    int succeeded = !flag || flag->number != 0, done = 0;
    int64_t source, tag, comm = replay_arg(k, fn->comm)->number;
    struct replay_drawn_probe *drawn = find_drawn(k, fn);
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    if (drawn)
        return already(k, fn, drawn);
    asked(k, fn, &source, &tag);
    MPI_Comm handle = (MPI_Comm)replay_handle(k, MPI_ROLE_COMM, comm);
    if (flag && (succeeded || !k->replay->options.deterministic)) {
        if (fn->message >= 0)
            replay_check(k, MPI_Improbe((int)source, (int)tag, handle, &done, &message, &status));
        else
            replay_check(k, MPI_Iprobe((int)source, (int)tag, handle, &done, &status));
    }
    if (!done && succeeded) {
        k->replay->counts.forced += flag != NULL;
        if (fn->message >= 0)
            replay_check(k, MPI_Mprobe((int)source, (int)tag, handle, &message, &status));
        else
            replay_check(k, MPI_Probe((int)source, (int)tag, handle, &status));
        done = 1;
    }
    if (flag)
        flag->number = done;
    if (!done)
        return 1;
    found(k, fn, &status, succeeded);
    if (succeeded)
        take_message(k, fn, message);
    else
        draw(k, fn, message, &status);
    return 1;
}
