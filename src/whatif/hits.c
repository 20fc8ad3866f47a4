/*
 * hits.c - refuses a hypothesis that changes nothing, which is a mistake, before the replay, and
 * says what the trace has instead.
 */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/nearest.h"
#include "whatif/whatif.h"

#define NAMES_SHOWN 8

/* ---- names of the trace ---- */

/* The names that the subject may match. */
struct names {
    struct nearest nearest;
    char best[64];    /* the text of the nearest */
    struct buf shown; /* the first few, in quotes */
    unsigned count;
    int is_known; /* one of them matches */
};

static int is_shown(const struct names *n, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = buf_str(&n->shown); (at = strstr(at, name)); at++)
        if (at[-1] == '\'' && at[length] == '\'')
            return 1;
    return 0;
}

static void offer(struct names *n, const char *name)
{
    const char *best = n->nearest.best;
    nearest_offer(&n->nearest, name);
    if (n->nearest.best != best) { /* which must outlast the rank */
        snprintf(n->best, sizeof n->best, "%s", name);
        n->nearest.best = n->best;
    }
    n->is_known |= whatif_matches(n->nearest.word, name);
    if (n->count < NAMES_SHOWN && !is_shown(n, name))
        buf_addf(&n->shown, "%s'%s'", n->count++ ? ", " : "", name);
}

static void offer_regions(struct names *n, struct trace *t)
{
    for (uint64_t rank = 0; rank < t->header.ranks && !n->is_known; rank++) {
        struct trace_local locals;
        trace_local_read(&locals, t, rank);
        const struct trace_table *table = &locals.tables[TRACE_DEFINE_NAME];
        for (size_t i = 0; i < table->count; i++)
            if (table->items[i].kind && *table->items[i].text)
                offer(n, table->items[i].text);
        trace_local_fini(&locals);
    }
}

static void offer_all(struct names *n, const char *what, struct trace *t)
{
    if (strcmp(what, "region") == 0)
        offer_regions(n, t);
    for (size_t i = 0; strcmp(what, "call site") == 0 && i < t->definitions.site_count; i++)
        offer(n, t->definitions.sites[i].text);
    for (unsigned i = 0; strcmp(what, "function") == 0 && i < t->header.schema->count; i++)
        offer(n, t->header.schema->fns[i].name);
}

int whatif_check_name(const struct whatif *what, const char *names, const char *pattern,
                      struct trace *t, struct err *err)
{
    struct names n = {.nearest.word = pattern};
    buf_init(&n.shown);
    offer_all(&n, names, t);
    int rc = 0;
    if (!n.is_known && n.nearest.best)
        rc = err_set(err, ERR_INPUT, "what-if '%s': the trace has no %s '%s': did you mean '%s'?",
                     what->text, names, pattern, n.nearest.best);
    else if (!n.is_known && n.count && strcmp(names, "function") != 0)
        rc = err_set(err, ERR_INPUT, "what-if '%s': the trace has no %s '%s', but %s", what->text,
                     names, pattern, buf_str(&n.shown));
    else if (!n.is_known)
        rc = err_set(err, ERR_INPUT, "what-if '%s': the trace has no %s '%s'", what->text, names,
                     pattern);
    buf_fini(&n.shown);
    return rc;
}

/* ---- records ---- */

static int hits_thread(const struct whatif_list *list, size_t number, struct trace *t,
                       uint64_t rank, unsigned thread)
{
    struct trace_local locals;
    struct whatif_item item;
    struct err err;
    trace_local_read(&locals, t, rank);
    struct whatif_rank r = whatif_rank_of(list, t, rank, thread, &locals);
    struct whatif_stage *s = whatif_open(&r, number + 1);
    while (!s->hits && whatif_next(s, &item, &err) > 0)
        ;
    int hits = s->hits > 0;
    whatif_close(s);
    trace_local_fini(&locals);
    return hits;
}

static int hits_rank(const struct whatif_list *list, size_t number, struct trace *t, uint64_t rank)
{
    for (unsigned thread = 0; thread < trace_threads(t, rank); thread++)
        if (hits_thread(list, number, t, rank, thread))
            return 1;
    return 0;
}

/* The first hit ends the search, so a hypothesis that is spelled correctly costs little. */
int whatif_find_hit(const struct whatif_list *list, size_t number, struct trace *t, struct err *err)
{
    const struct whatif *what = &list->items[number];
    for (uint64_t rank = 0; rank < t->header.ranks; rank++)
        if (whatif_is_about(what, t, rank) && hits_rank(list, number, t, rank))
            return 0;
    if (what->nodes.count && !t->definitions.nodes)
        return err_set(err, ERR_INPUT,
                       "what-if '%s': the trace does not say which node a rank is on", what->text);
    if (what->names && whatif_check_name(what, what->names, what->subject, t, err) != 0)
        return err->code;
    return err_set(err, ERR_INPUT, "what-if '%s': nothing in the trace matches it", what->text);
}
