/*
 * analysis.c - runs the passes over a trace, and derives what needs both of them.
 */
#include "analysis/analysis.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/links.h"
#include "analysis/memory.h"
#include "analysis/profile.h"
#include "analysis/causes.h"
#include "base/mem.h"
#include "trace/reader.h"

const struct analysis_group_name analysis_groups[ANALYSIS_GROUPS] = {
    [ANALYSIS_OVERALL] = {"overall", "traffic and times of all ranks together"},
    [ANALYSIS_RANKS] = {"ranks", "traffic and times of each rank and each node"},
    [ANALYSIS_FUNCTIONS] = {"functions", "calls and times of MPI functions"},
    [ANALYSIS_PHASES] = {"phases", "times between collectives, by rank and phase"},
    [ANALYSIS_PAIRS] = {"pairs", "traffic and times from rank to rank and node to node"},
    [ANALYSIS_WAITS] = {"waits", "wait states: why ranks waited in calls"},
    [ANALYSIS_PATH] = {"path", "the critical path and what it consists of"},
    [ANALYSIS_DELAYS] = {"delays", "the parts of the program that made others wait"},
    [ANALYSIS_EFFICIENCY] = {"efficiency", "load balance, serialisation, transfer and files"},
    [ANALYSIS_REQUESTS] = {"requests", "how many tests requests needed"},
    [ANALYSIS_OVERLAP] = {"overlap", "computing while communication was in flight"},
    [ANALYSIS_LINKS] = {"links", "load of the links of a simulated machine over time"},
};

const char *analysis_wait_name(enum analysis_wait wait)
{
    static const char *const names[ANALYSIS_WAIT_KINDS] = {
        [ANALYSIS_LATE_SENDER] = "late-sender",
        [ANALYSIS_WRONG_ORDER] = "wrong-order",
        [ANALYSIS_LATE_RECEIVER] = "late-receiver",
        [ANALYSIS_WAIT_BARRIER] = "wait-at-barrier",
        [ANALYSIS_WAIT_NXN] = "wait-at-nxn",
        [ANALYSIS_LATE_BROADCAST] = "late-broadcast",
        [ANALYSIS_EARLY_REDUCE] = "early-reduce",
        [ANALYSIS_EARLY_SCAN] = "early-scan",
        [ANALYSIS_LATE_NEIGHBOUR] = "late-neighbour",
        [ANALYSIS_WAIT_FENCE] = "wait-at-fence",
        [ANALYSIS_LATE_POST] = "late-post",
        [ANALYSIS_EARLY_WAIT] = "early-wait",
        [ANALYSIS_LATE_COMPLETE] = "late-complete",
        [ANALYSIS_LOCK_CONTENTION] = "lock-contention",
        [ANALYSIS_WAIT_CREATE] = "wait-at-create",
        [ANALYSIS_WAIT_FREE] = "wait-at-free",
        [ANALYSIS_WAIT_FILE] = "wait-at-file",
        [ANALYSIS_WAIT_FINALIZE] = "wait-at-finalize",
        [ANALYSIS_COMPLETION] = "completion",
    };
    return names[wait];
}

/* ---- memory ---- */

struct analysis_memory {
    struct analysis_memory *next;
    max_align_t data[];
};

void *analysis_keep(struct analysis *a, size_t bytes)
{
    struct analysis_memory *m = mem_alloc(sizeof *m + bytes);
    m->next = a->memory;
    a->memory = m;
    return m->data;
}

const char *analysis_keep_text(struct analysis *a, const char *text)
{
    size_t bytes = strlen(text) + 1;
    return memcpy(analysis_keep(a, bytes), text, bytes);
}

void analysis_fini(struct analysis *a)
{
    for (struct analysis_memory *m = a->memory, *next; m; m = next) {
        next = m->next;
        mem_free(m);
    }
    mem_free(a->source);
    mem_free(a->program);
    mem_free(a->recorder);
    mem_free(a->rank);
    *a = (struct analysis){0};
}

/* ---- both passes ---- */

/* Copies what the header says, and allocates the ranks. */
static int begin(struct analysis *a, const char *path, const char *name, struct err *err)
{
    struct trace t;
    if (trace_open(&t, path, err) != 0)
        return err->code;
    const char *program = trace_header_get(&t.header, "program"),
               *recorder = trace_header_get(&t.header, "recorder");
    a->source = mem_strdup(name ? name : path);
    a->program = mem_strdup(program ? program : "");
    a->recorder = mem_strdup(recorder ? recorder : "");
    a->ranks = t.header.ranks;
    if (a->groups & 1u << ANALYSIS_LINKS)
        analysis_links_take(a, &t.definitions.network, (double)t.header.tick / 1e12, 0);
    if (t.missing.code)
        a->warning = t.missing;
    else if (!t.is_complete)
        err_set(&a->warning, ERR_INPUT,
                "'%s' has no end: it is a part, or writing it was interrupted", path);
    trace_close(&t);
    a->rank = mem_try_alloc(a->ranks ? a->ranks : 1, sizeof *a->rank);
    if (!a->rank)
        return err_set(err, ERR_MEMORY, "not enough memory for %llu ranks",
                       (unsigned long long)a->ranks);
    memset(a->rank, 0, a->ranks * sizeof *a->rank);
    return 0;
}

static double between(double value, double least, double most)
{
    return value < least ? least : value > most ? most : value;
}

static void efficiencies(struct analysis *a)
{
    struct analysis_efficiency *e = &a->efficiency;
    double most = 0, mean = a->ranks ? a->compute / (double)a->ranks : 0;
    for (uint64_t i = 0; i < a->ranks; i++)
        most = a->rank[i].compute > most ? a->rank[i].compute : most;
    if (a->runtime <= 0)
        return;
    e->parallel = mean / a->runtime;
    e->load_balance = most > 0 ? mean / most : 1;
    /* rounding must not make the ideal time shorter than the compute time of a rank */
    e->ideal_without_files = between(e->ideal_without_files, most, a->runtime);
    e->ideal = between(e->ideal, e->ideal_without_files, a->runtime);
    e->serialisation = e->ideal_without_files > 0 ? most / e->ideal_without_files : 1;
    e->transfer = e->ideal / a->runtime;
    e->communication = e->serialisation * e->transfer;
    e->file = e->ideal > 0 ? e->ideal_without_files / e->ideal : 1;
}

/* Groups that need all ranks together. */
#define CAUSES_GROUPS                                                                            \
    (1u << ANALYSIS_PAIRS | 1u << ANALYSIS_WAITS | 1u << ANALYSIS_PATH | 1u << ANALYSIS_DELAYS | \
     1u << ANALYSIS_EFFICIENCY)

struct second_pass {
    const char *path;
    const struct analysis_options *options;
    struct causes *causes;
    struct err err;
};

static void *run_second(void *pass)
{
    struct second_pass *p = pass;
    p->causes = causes_run(p->path, p->options, &p->err);
    return NULL;
}

/* Runs both passes concurrently, if the second is needed and threads are allowed. */
static int run_passes(struct analysis *a, const char *path, const struct analysis_options *o,
                      struct err *err)
{
    struct second_pass second = {path, o, NULL, {0}};
    pthread_t thread;
    int is_needed = (o->groups & CAUSES_GROUPS) != 0;
    int is_beside = is_needed && o->threads != 1 &&
                    pthread_create(&thread, NULL, run_second, &second) == 0;
    int rc = profile_run(a, path, o, err);
    if (is_beside)
        pthread_join(thread, NULL);
    else if (is_needed && rc == 0)
        run_second(&second);
    if (rc == 0 && is_needed && !second.causes) {
        *err = second.err;
        rc = err->code;
    }
    if (second.causes)
        causes_result(second.causes, a);
    return rc;
}

int analysis_run(struct analysis *a, const char *path, const struct analysis_options *options,
                 struct err *err)
{
    struct analysis_options o = options ? *options : (struct analysis_options){0};
    o.groups = o.groups ? o.groups : ANALYSIS_ALL;
    o.phase_cells = o.phase_cells ? o.phase_cells : ANALYSIS_PHASE_CELLS;
    o.pairs_most = o.pairs_most ? o.pairs_most : ANALYSIS_PAIRS_MOST;
    *a = (struct analysis){.groups = o.groups};
    int rc = begin(a, path, o.name, err);
    if (rc == 0)
        rc = run_passes(a, path, &o, err);
    if (rc != 0) {
        analysis_fini(a);
        return rc;
    }
    efficiencies(a);
    return 0;
}
