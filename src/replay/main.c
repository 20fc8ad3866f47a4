/*
 * main.c - the replayer. It is started by `orrery replay`:
 *
 *     orrery-replay-mpi TRACE [--output FILE] [--what-if WHAT]... [--deterministic] [--busy sleep]
 *                       [--idle-limit PICOSECONDS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/log.h"
#include "base/mem.h"
#include "replay/replay.h"
#include "run/own.h"

#define ROOM ((size_t)1 << 36) /* of messages; only what is used takes memory */

/* ---- errors ---- */

static void say(const char *text)
{
    log_error("%s", text);
}

void replay_stop(const char *text)
{
    int is_ready = 0;
    say(text);
    PMPI_Initialized(&is_ready);
    if (!is_ready && replay_is_simulated())
        exit(2); /* the other ranks do, too; nothing has begun */
    if (!is_ready)
        PMPI_Init(NULL, NULL); /* all ranks are to end */
    PMPI_Abort(MPI_COMM_WORLD, 2);
    exit(2);
}

static void fail(struct replay_rank *k, const char *why)
{
    char text[400];
    const struct trace_schema *schema = k->replay->trace.header.schema;
    snprintf(text, sizeof text, "'%s': cannot replay %s of rank %llu at %.9f s: %s",
             k->replay->options.trace, schema->fns[k->event->fn].name, (unsigned long long)k->rank,
             (double)k->event->enter * (double)k->replay->trace.header.tick / 1e12, why);
    replay_stop(text);
}

static void failed(struct replay_rank *k, int rc)
{
    char why[MPI_MAX_ERROR_STRING] = "";
    int length, class;
    PMPI_Error_class(rc, &class);
    if (k->may_fail && (class == MPI_ERR_TRUNCATE || class == MPI_ERR_IN_STATUS)) {
        k->event->failed = class;
        return;
    }
    PMPI_Error_string(rc, why, &length);
    fail(k, why);
}

static const struct replay_program program = {fail, failed};

/* ---- beginning and end ---- */

/* The value of an option that ranks that were spawned have for themselves; -1: none. */
static int64_t own_option(const char *name, int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return strtoll(argv[i + 1], NULL, 10);
    return -1;
}

static int read_options(struct replay_options *o, int argc, char **argv)
{
    o->program = argv[0];
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--output") == 0 && i + 1 < argc)
            o->output = argv[++i];
        else if (strcmp(argv[i], "--busy") == 0 && i + 1 < argc)
            o->busy_sleep = strcmp(argv[++i], "sleep") == 0;
        else if (strcmp(argv[i], REPLAY_IDLE_LIMIT) == 0 && i + 1 < argc)
            o->idle_limit = strtoll(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--what-if") == 0 && i + 1 < argc && o->what_count < REPLAY_WHATS)
            o->whats[o->what_count++] = argv[++i];
        else if ((strcmp(argv[i], REPLAY_FIRST) == 0 || strcmp(argv[i], REPLAY_EPOCH) == 0) &&
                 i + 1 < argc)
            i++; /* own_option */
        else if (strcmp(argv[i], "--deterministic") == 0)
            o->deterministic = 1;
        else if (argv[i][0] != '-' && !o->trace)
            o->trace = argv[i];
        else
            return -1;
    }
    return o->trace ? 0 : -1;
}

static char *make_room(void)
{
    void *at = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                    -1, 0);
    if (at == MAP_FAILED)
        replay_stop("cannot reserve memory for messages");
    return (char *)at + ROOM / 4; /* datatypes may have negative bounds */
}

static void close_all(void *memory)
{
    struct replay *r = memory;
    for (struct replay_rank *k = r->ranks; k; k = k->next) {
        replay_threads_spill(k);
        replay_output_end(k);
    }
    replay_output_close(r);
    trace_close(&r->trace);
    whatif_fini(&r->whats);
}

static int is_foreign(const struct trace_header *header)
{
    const char *recorder = trace_header_get(header, "recorder");
    return !recorder ||
           (strcmp(recorder, "orrery run") != 0 && strcmp(recorder, "orrery record") != 0);
}

/* Not inlined, nor is what follows: main's stack is copied whenever its rank blocks. */
static __attribute__((noinline)) void open_all(struct replay *r, unsigned process)
{
    struct err err;
    if (trace_open(&r->trace, r->options.trace, &err) != 0)
        replay_stop(err.text);
    for (size_t i = 0; i < r->options.what_count; i++)
        if (whatif_parse(&r->whats, r->options.whats[i], &err) != 0)
            replay_stop(err.text);
    if (whatif_learn(&r->whats, &r->trace, &err) != 0)
        replay_stop(err.text);
    r->program = &program;
    if (replay_functions_init(r, &err) != 0 || replay_output_open(r, process, &err) != 0)
        replay_stop(err.text);
    r->is_foreign = is_foreign(&r->trace.header);
    replay_threads_init(r);
    r->is_plain = !r->is_foreign && !r->is_threaded && r->whats.count == 0;
    r->send_room = orrery_hollow ? orrery_hollow() : make_room();
    r->receive_room = orrery_hollow ? r->send_room : make_room();
    r->is_ready = 1;
}

static __attribute__((noinline)) struct replay_rank *begin(struct replay *r, uint64_t rank)
{
    struct replay_rank *k = mem_zalloc(sizeof *k);
    k->replay = r;
    k->rank = rank;
    k->next = r->ranks;
    if (k->next)
        k->next->before = k;
    map_init(&k->created);
    map_init(&k->drawn_wins);
    trace_local_read(&k->locals, &r->trace, rank);
    k->is_spawned = trace_local_find(&k->locals, TRACE_DEFINE_COMM, TRACE_LOCAL_WORLD)->identity !=
                    TRACE_COMM_WORLD;
    k->changed = (struct whatif_rank){.trace = &r->trace,
                                      .locals = &k->locals,
                                      .rank = rank,
                                      .list = &r->whats,
                                      .byte_type = r->whats.count ? replay_byte_type(k) : -1};
    k->records = whatif_open(&k->changed, r->whats.count);
    k->ahead = r->options.deterministic ? whatif_open(&k->changed, r->whats.count) : NULL;
    k->got.keeps_all = 1;
    replay_output_begin(k);
    r->ranks = k;
    return k;
}

static void end(struct replay_rank *k)
{
    if (k->next)
        k->next->before = k->before;
    if (k->before)
        k->before->next = k->next;
    else
        k->replay->ranks = k->next;
    replay_output_end(k);
    whatif_close(k->records);
    whatif_close(k->ahead);
    whatif_got_fini(&k->got);
    trace_local_fini(&k->locals);
    replay_handles_free(k);
    replay_scratch_free(k);
    replay_requests_free(k);
    replay_persistent_free(k);
    map_fini(&k->created);
    map_fini(&k->drawn_wins);
    mem_free(k->drawn_probes);
    mem_free(k->probed);
    mem_free(k->unnamed);
    mem_free(k);
}

/* ---- the records of a rank ---- */

/* MPI is there. Communicators inherit their error handlers: errors are those of an event. */
static void begun(struct replay_rank *k)
{
    k->is_begun = 1;
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    PMPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

static void begin_own(struct replay_rank *k)
{
    replay_check(k, PMPI_Init(NULL, NULL));
    k->is_own = 1;
    begun(k);
}

/* The members are those of the recording, wherever ranks are now. */
static void split_type(struct replay_rank *k, const struct replay_fn *fn)
{
    const struct trace_fn *names = &k->replay->trace.header.schema->fns[k->event->fn];
    int64_t key = 0, made = -1;
    for (unsigned i = 0; i < k->event->argc; i++) {
        if (strcmp(names->args[i].name, "key") == 0)
            key = k->event->args[i].number;
        if (strcmp(names->args[i].name, "newcomm") == 0)
            made = k->event->args[i].number;
    }
    int color = made < 0 ? MPI_UNDEFINED : (int)replay_first_member(k, made);
    MPI_Comm comm = (MPI_Comm)replay_handle(k, MPI_ROLE_COMM, replay_arg(k, fn->comm)->number);
    replay_check(k, MPI_Comm_split(comm, color, (int)key, &comm));
    replay_handle_set(k, MPI_ROLE_COMM, made, (uint32_t)comm);
}

/* Other tools do not record the arguments of all calls. */
static int is_unknown(struct replay_rank *k, const struct replay_fn *fn)
{
    const struct trace_value *comm = replay_arg(k, fn->comm);
    return k->replay->is_foreign && comm && comm->number < 0;
}

/* What follows is inlined: after a switch each return to a caller costs as much as many
 * instructions, as the processor expects another one. */
#define INLINE static inline __attribute__((always_inline))

/* Makes the call; 1: its record stays. */
INLINE int act(struct replay_rank *k, const struct replay_fn *fn, int64_t duration)
{
    switch ((enum replay_how)fn->how) {
    case REPLAY_REFUSED:
        replay_fail(k, "such calls cannot be replayed");
    case REPLAY_TIME:
        k->replay->counts.timed += fn->is_timed;
        /* fall through */
    case REPLAY_END:
        replay_until(k, k->last + duration);
        return 1;
    case REPLAY_CALL:
        if (is_unknown(k, fn) || (fn->request >= 0 && !fn->begins && replay_is_freed(k, fn)))
            return replay_until(k, k->last + duration), 1;
        if (k->is_own && (fn->is_init || fn->is_finalize))
            return replay_until(k, k->last + duration), 1;
        if (!k->is_begun && !fn->is_init)
            begin_own(k); /* a program with sessions makes calls before MPI_Init, or without it */
        if (fn->starts && k->ahead)
            replay_persistent_start(k, fn);
        replay_words(k, fn);
        replay_check(k, fn->invoke(k->words));
        replay_results(k, fn);
        if (fn->is_persistent && k->ahead && fn->receives)
            replay_persistent_add(k, fn);
        if (fn->is_init) { /* what starts a program is not replayed */
            begun(k);
            replay_until(k, k->last + duration);
        }
        return 1;
    case REPLAY_SPLIT_TYPE:
        split_type(k, fn);
        return 1;
    case REPLAY_WIN_DYNAMIC:
        replay_win_dynamic(k, fn);
        return 1;
    case REPLAY_CANCEL:
        k->was_free = 1;
        replay_words(k, fn);
        replay_check(k, fn->invoke(k->words));
        return 1;
    case REPLAY_DYNAMIC:
        replay_dynamic(k, fn);
        return 1;
    case REPLAY_PROBE:
    case REPLAY_IPROBE:
        k->was_free = k->is_changed = 1;
        return replay_probe(k, fn);
    case REPLAY_WAIT:
    case REPLAY_WAITALL:
        if (replay_wait_usual(k, fn))
            return 1;
        k->is_changed = 1;
        return replay_complete(k, fn);
    default:
        k->is_changed = 1;
        return replay_complete(k, fn);
    }
}

INLINE void count(struct replay_rank *k)
{
    k->replay->counts.events++;
    k->may_fail = k->event->failed;
    k->is_changed = k->event->failed != 0;
    k->event->failed = 0;
}

void replay_count(struct replay_rank *k)
{
    count(k);
}

INLINE int act_on_event(struct replay_rank *k, const struct replay_fn *fn)
{
    if (trace_event_is_done(k->event)) {
        count(k);
        return act(k, fn, k->duration);
    }
    k->replay->counts.events++;
    k->is_changed = 1;
    replay_until(k, k->last + k->duration);
    return 1;
}

int replay_act(struct replay_rank *k, const struct replay_fn *fn)
{
    return act_on_event(k, fn);
}

/* The message is gone, or the collective: so is what completes it. */
static void drop(struct replay_rank *k, const struct replay_fn *fn)
{
    k->replay->counts.removed++;
    if (fn->begins && replay_arg(k, fn->request))
        replay_request_never(k, replay_arg(k, fn->request)->number);
}

INLINE void begin_item(struct replay_rank *k, const struct whatif_item *item)
{
    k->event = item->event;
    k->duration = item->duration;
    if (item->gap > 0) {
        k->last += item->gap;
        replay_until(k, k->last);
    }
}

void replay_item_begin(struct replay_rank *k, const struct whatif_item *item)
{
    begin_item(k, item);
}

INLINE void end_item(struct replay_rank *k, int64_t began, int stays)
{
    k->last = replay_now(k);
    if (stays)
        replay_output_event(k, began, k->last);
    replay_scratch_reset(k);
}

void replay_item_end(struct replay_rank *k, int64_t began, int stays)
{
    end_item(k, began, stays);
}

INLINE void replay_one(struct replay_rank *k, const struct whatif_item *item)
{
    const struct replay_fn *fn = &k->replay->fns[item->event->fn];
    begin_item(k, item);
    if (item->event->head != TRACE_CALL) {
        replay_output_event(k, k->last, k->last);
        return;
    }
    if (item->is_dropped) {
        drop(k, fn);
        return;
    }
    if (item->gap > 0 || k->threads || !replay_is_simulated()) /* else no time has passed */
        k->last = replay_now(k);
    if (__builtin_expect(k->watch != NULL, 0))
        replay_stuck_step(k);
    int stays = act_on_event(k, fn);
    if (__builtin_expect(k->watch != NULL, 0))
        replay_stuck_step(k);
    end_item(k, k->last, stays);
}

void replay_item(struct replay_rank *k, const struct whatif_item *item)
{
    replay_one(k, item);
}

/* The records of a rank with one thread. */
static void replay_records(struct replay_rank *k)
{
    struct whatif_item item;
    struct err *err = &k->replay->err; /* not on the stack, which is copied when the rank blocks */
    int more;
    for (int is_first = k->is_spawned; (more = whatif_next(k->records, &item, err)) > 0;
         is_first = 0) {
        if (is_first) /* it began when it was spawned, not with the trace */
            item.gap = 0;
        replay_one(k, &item);
    }
    if (more < 0)
        replay_stop(err->text);
}

/* The program may have ended without MPI_Finalize, or the trace before the program. */
static void finish(struct replay_rank *k)
{
    int is_over = 0;
    if (!k->is_begun)
        return;
    PMPI_Finalized(&is_over);
    if (is_over)
        return;
    k->replay->counts.unfinished += !k->is_own;
    replay_check(k, PMPI_Finalize());
}

static void replay_rank(struct replay_rank *k)
{
    if (!replay_is_simulated() || k->replay->is_foreign) {
        begin_own(k);
        if (k->replay->is_foreign)
            replay_create_comms(k);
        if (!k->is_spawned)
            replay_synchronise(k);
    }
    if (!replay_is_simulated())
        replay_stuck_begin(k);
    if (k->is_spawned)
        k->last = replay_now(k);
    if (k->replay->is_threaded)
        replay_threads(k);
    else
        replay_records(k);
    if (k->watch)
        replay_stuck_step(k);
    finish(k);
    replay_stuck_end(k);
}

/* The rank in MPI_COMM_WORLD, before MPI_Init: as launchers say it. */
static uint64_t own_rank(void)
{
    static const char *const names[] = {"PMI_RANK", "PMIX_RANK", "SLURM_PROCID"};
    if (orrery_own_rank)
        return (uint64_t)orrery_own_rank();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (getenv(names[i]))
            return strtoull(getenv(names[i]), NULL, 10);
    replay_stop(
        "cannot tell which rank this is: the launcher sets none of PMI_RANK, PMIX_RANK, SLURM_PROCID");
}

int main(int argc, char **argv)
{
    /* not static: the simulator would save and load static data at each switch */
    struct replay *r = orrery_own_common ? orrery_own_common(sizeof *r, close_all)
                                         : mem_zalloc(sizeof *r);
    int64_t first = own_option(REPLAY_FIRST, argc, argv);
    uint64_t rank = own_rank() + (uint64_t)(first > 0 ? first : 0);
    if (r->is_tried && !r->is_ready)
        return 2; /* another rank has said why */
    r->is_tried = 1;
    if (!r->is_ready) {
        if (read_options(&r->options, argc, argv) != 0)
            replay_stop(
                "usage: " REPLAY_NAME
                " TRACE [--output FILE] [--what-if WHAT]... [--deterministic] [--busy sleep]");
        open_all(r, orrery_own_process ? orrery_own_process() : (unsigned)rank);
    }
    struct replay_rank *k = begin(r, rank);
    if (k->is_spawned && !replay_is_simulated())
        k->epoch = own_option(REPLAY_EPOCH, argc, argv);
    replay_rank(k);
    end(k);
    if (!orrery_own_common) {
        close_all(r);
        mem_free(r);
    }
    return 0;
}
