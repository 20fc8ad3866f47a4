/*
 * quiescence.c - no entity is ready: what may be decided now, how far the medium advances, and
 * whether the run is over. engine.c gives an overview.
 *
 * Every process takes the same step, since all of it depends on the status of all (engine->all)
 * only.
 */
#include <assert.h>

#include "base/hostile.h"
#include "base/units.h"
#include "engine/engine_internal.h"
#include "engine/state.h"

#define AUDIT_MOST HOSTILE(4096, 0) /* entities that are audited at each quiescence */

void engine_status_merge(struct engine_status *into, const struct engine_status *from)
{
    if (engine_due_before(&from->first, &into->first))
        into->first = from->first;
    if (engine_due_before(&from->abort, &into->abort))
        into->abort = from->abort;
    if (from->medium < into->medium)
        into->medium = from->medium;
    into->notices += from->notices;
    into->carried += from->carried;
    into->offers += from->offers;
    if (from->last_progress > into->last_progress)
        into->last_progress = from->last_progress;
    into->done += from->done;
    into->spawned += from->spawned;
    into->progressed |= from->progressed;
    into->busy += from->busy;
    into->away += from->away;
    into->led += from->led;
    if (from->away_clock < into->away_clock)
        into->away_clock = from->away_clock;
}

/* The entities that are away: how many are led, and the smallest clock of the others. */
static void status_away(const struct engine *e, struct engine_status *s)
{
    for (uint64_t i = 0; i < e->known; i++) {
        const struct engine_entity *x = engine_entity_at(e, (uint32_t)i);

        s->led += x->state == ENGINE_SURELY_LED;
        if (x->state == ENGINE_AWAY && x->clock < s->away_clock)
            s->away_clock = x->clock;
    }
}

/* The status of this process; resets `progressed`. */
static void status(struct engine *e, struct engine_status *s)
{
    *s = (struct engine_status){.first = {VTIME_NEVER, UINT32_MAX},
                                .abort = e->abort,
                                .medium = VTIME_NEVER,
                                .last_progress = e->last_progress,
                                .done = e->done,
                                .spawned = e->spawned,
                                .progressed = (uint64_t)e->progressed,
                                .busy = e->busy,
                                .away = e->away,
                                .offers = e->offers,
                                .away_clock = VTIME_NEVER};
    if (e->away)
        status_away(e, s);
    if (e->decisions.len)
        s->first = (struct engine_due){e->decisions.at[0].due,
                                       rank_map_number(&e->cfg.map, e->decisions.at[0].id)};
    if (e->cfg.medium && !e->cfg.medium->wait) {
        s->medium = e->cfg.medium->next(e->cfg.medium->owner);
        assert(s->medium >= e->medium_at); /* it handles no event in its past */
        s->notices = e->cfg.medium->notices(e->cfg.medium->owner);
        s->carried = e->carried;
    }
}

/* May the search for a livelock be skipped? */
static int may_idle(const struct engine *e, const struct engine_status *s)
{
    return e->cfg.idle_limit <= 0 || s->first.due == VTIME_NEVER || s->medium != VTIME_NEVER ||
           s->busy > 0 || s->away > 0 || engine_is_outside(e);
}

void engine_status_complete(const struct engine *e, struct engine_status *all)
{
    all->idle_since = all->progressed && !may_idle(e, all) ? all->first.due : e->idle_since;
}

/* Are all entities of all processes blocked or done, and no message in flight? If so, e->all is the
 * status of all. */
static int quiescent(struct engine *e)
{
    struct engine_status mine;

    status(e, &mine);
    if (e->cfg.peers)
        return e->cfg.peers->settle(e->cfg.peers->owner, &mine, &e->all);
    engine_status_complete(e, &mine);
    e->all = mine;
    e->progressed = 0;
    return 1;
}

/* Nothing is due. Only busy entities can cause anything: wakes them to look. */
static void wake_busy(struct engine *e)
{
    for (uint64_t i = 0; e->busy > 0 && i < e->known; i++) {
        struct engine_entity *x = engine_entity_at(e, (uint32_t)i);

        if (engine_is_busy(x))
            engine_make_ready(e, x, (uint32_t)i, ENGINE_WAKE_LOOK);
    }
}

static void wake_first(struct engine *e)
{
    uint32_t id = e->decisions.at[0].id;

    engine_make_ready(e, engine_entity_at(e, id), id, ENGINE_WAKE_DECIDE);
}

/* Lookahead 0: only the entity with the first decision may take it. */
static void grant_one(struct engine *e)
{
    const struct engine_due *first = &e->all.first;

    if (!rank_map_is_here(&e->cfg.map, first->id))
        return;
    assert(e->decisions.len && e->decisions.at[0].due == first->due &&
           rank_map_number(&e->cfg.map, e->decisions.at[0].id) == first->id);
    e->granted = e->decisions.at[0].id;
    e->granted_due = first->due;
    wake_first(e);
}

static void grant_until(struct engine *e, vtime safe)
{
    if (safe > e->safe_until)
        e->safe_until = safe;
    while (e->decisions.len && e->decisions.at[0].due < e->safe_until)
        wake_first(e);
}

void engine_learn(struct engine *e, vtime safe_until, vtime reached)
{
    if (reached > e->reached)
        e->reached = reached;
    if (safe_until > e->safe_until)
        grant_until(e, safe_until);
}

/* How far the medium advances in this step: by events of up to one lookahead, none after
 * `first`. */
static void reach(struct engine *e, vtime medium, vtime first)
{
    vtime ahead = medium < first ? vtime_add(medium, e->cfg.lookahead) : first;

    if (ahead > first)
        ahead = first;
    if (ahead > e->reached)
        e->reached = ahead;
}

/* Waits for a medium with its own clock. What is due up to that clock may be decided. */
static int attend(struct engine *e)
{
    vtime past = e->cfg.medium->wait(e->cfg.medium->owner, e->all.first.due);

    assert(e->all.medium == VTIME_NEVER && e->all.notices == 0);
    e->rounds++;
    grant_until(e, past);
    return past != VTIME_NEVER || engine_ready(e) > 0;
}

__attribute__((cold)) static void say_step(const struct engine *e, vtime medium, vtime first)
{
    char what[2][UNITS_TEXT_MAX];

    log_module_line(LOG_ENGINE, LOG_NO_RANK, e->safe_until,
                    "quiescence %llu: the first decision is due at %s, the network's next event at "
                    "%s, notices %llu",
                    (unsigned long long)e->rounds + 1,
                    units_format_time(what[0], sizeof what[0], first),
                    units_format_time(what[1], sizeof what[1], medium),
                    (unsigned long long)e->all.notices);
}

static void advance_medium(struct engine *e, vtime from, vtime limit)
{
    vtime at = e->cfg.medium->advance(e->cfg.medium->owner, from, limit);

    assert(at >= e->medium_at && at >= from && at <= limit);
    e->medium_at = at;
}

/* How far decisions may be taken if the medium stays where it is. */
static vtime grant_limit(const struct engine *e, const struct engine_status *s, vtime first)
{
    vtime safe = vtime_add(first, e->cfg.lookahead);

    return s->notices && s->medium < safe ? s->medium : safe;
}

/*
 * Lets the medium advance up to `limit`, if it moves, and wakes all that may decide now.
 *
 * Let d be the first due decision, m the medium's next event, L the lookahead. What decisions cause
 * is submitted at d or later. What is in the medium comes out at m + L or later, notices at m. So
 * if m <= d, everything that the medium may handle up to d is known, and nothing comes out, or is
 * caused by what comes out, before m + L, or m if there are notices. If d < m, the medium stays
 * where it is, and what decisions cause comes out at d + L or later. (For notices of what is
 * submitted from now on: invariant 7.)
 */
static void advance(struct engine *e, vtime first, int moves, vtime limit)
{
    vtime medium = e->all.medium;

    assert(first != VTIME_NEVER || moves);
    if (LOG_WANTS(ENGINE, DEBUG))
        say_step(e, medium, first);
    e->rounds++;
    if (moves) {
        /* what a notice causes comes at the time of its event, which ends the medium's step */
        reach(e, medium, e->all.notices ? medium : limit);
        if (e->cfg.medium)
            advance_medium(e, medium, limit);
        if (e->medium_at > e->reached)
            e->reached = e->medium_at;
        if (!e->all.notices)
            grant_until(e, vtime_add(medium, e->cfg.lookahead));
        return;
    }
    reach(e, VTIME_NEVER, first);
    if (e->cfg.lookahead <= 0)
        grant_one(e);
    else
        grant_until(e, grant_limit(e, &e->all, first));
}

/* Returns 0 when nothing is due at all. */
static int grant(struct engine *e)
{
    vtime first = e->all.first.due, medium = e->all.medium;

    e->granted_due = -1;
    engine_forget_asking(e);
    if (engine_is_outside(e))
        return attend(e);
    if (first == VTIME_NEVER && medium == VTIME_NEVER)
        return 0;
    advance(e, first, medium <= first, first);
    return 1;
}

/* Decisions keep falling due, but nothing has happened since the first of them was due. (Not since
 * the last progress: an entity may have computed for a long time since then.) */
static int is_livelock(const struct engine *e, const struct engine_status *s)
{
    return !may_idle(e, s) && s->first.due > vtime_add(s->idle_since, e->cfg.idle_limit) &&
           s->first.due > vtime_add(s->last_progress, e->cfg.idle_limit);
}

int engine_abort(struct engine *e, uint32_t id, vtime when)
{
    struct engine_due d = {when, rank_map_number(&e->cfg.map, id)};

    engine_progress(e, when); /* for every abort: which one comes first here is arbitrary */
    if (!engine_due_before(&d, &e->abort))
        return 0;
    e->abort = d;
    return 1;
}

void engine_abort_elsewhere(struct engine *e, struct engine_due d)
{
    if (engine_due_before(&d, &e->abort))
        e->abort = d;
}

/* Does nothing follow from the status, and do all that are away wait for others? */
static int is_standstill(const struct engine_status *s)
{
    return s->led == s->away && s->first.due == VTIME_NEVER && s->medium == VTIME_NEVER &&
           s->busy == 0;
}

/* Does the status of all say that the run is over, whatever is due? Else ENGINE_END_GOES_ON. */
static enum engine_end is_over(const struct engine *e, const struct engine_status *s)
{
    assert(s->done <= e->cfg.map.world + s->spawned && s->led <= s->away);
    if (s->done == e->cfg.map.world + s->spawned)
        return ENGINE_END_DONE;
    if (s->away && s->abort.due != VTIME_NEVER)
        return ENGINE_END_ABORTED; /* what is outside ends with it */
    if (s->forced == ENGINE_FORCED_END && is_standstill(s))
        return ENGINE_END_DEADLOCK;
    /* has everything due before the abort happened? */
    if (s->abort.due != VTIME_NEVER && engine_due_before(&s->abort, &s->first) &&
        s->abort.due < s->medium)
        return ENGINE_END_ABORTED;
    return is_livelock(e, s) ? ENGINE_END_LIVELOCK : ENGINE_END_GOES_ON;
}

static void grant_below(struct engine *e);

/* How the run ends according to the status of all; ENGINE_END_GOES_ON: some entities continue. */
static enum engine_end conclude(struct engine *e)
{
    enum engine_end end = is_over(e, &e->all);

    e->idle_since = e->all.idle_since;
    if (end == ENGINE_END_GOES_ON && e->all.away) {
        grant_below(e);
        return end;
    }
    if (end != ENGINE_END_GOES_ON || grant(e))
        return end;
    if (e->all.busy == 0)
        return ENGINE_END_DEADLOCK;
    wake_busy(e);
    return ENGINE_END_GOES_ON;
}

/* With a medium all take part, since most of their messages wait for it. */
int engine_status_skips(const struct engine *e, const struct engine_status *all,
                        const struct engine_status *part)
{
    if (e->cfg.medium || part->busy || all->away || all->first.due == VTIME_NEVER ||
        is_over(e, all) != ENGINE_END_GOES_ON)
        return 0;
    if (e->cfg.lookahead <= 0)
        return part->first.id != all->first.id;
    return part->first.due >= vtime_add(all->first.due, e->cfg.lookahead);
}

/* ---- entities that are away ---- */

static int is_forced(const struct engine_status *s)
{
    return s->forced == ENGINE_FORCED_DECISION;
}

/* What is the first thing to happen, with that clock as one more decision? */
static vtime first_below(const struct engine_status *s)
{
    return is_forced(s) || s->first.due < s->away_clock ? s->first.due : s->away_clock;
}

/*
 * May the medium handle its next event? What an entity that is away does next is submitted at its
 * clock or later: in time for events at that clock, if they wait, as they would for an entity that
 * is ready. And if something is forced, a medium that carries nothing brings nothing: its events
 * are timers, which would only move time.
 */
static int medium_may(const struct engine *e, const struct engine_status *s)
{
    if (is_forced(s))
        return s->medium <= s->first.due && (s->carried || s->notices);
    return s->medium <= s->first.due &&
           (s->medium < s->away_clock || (e->cfg.ops->pace && s->medium == s->away_clock));
}

int engine_status_waits(const struct engine *e, const struct engine_status *s)
{
    vtime first = first_below(s), due = s->first.due;

    if (!s->away || is_over(e, s) != ENGINE_END_GOES_ON)
        return 0;
    if (s->forced == ENGINE_FORCED_LOOK)
        return s->busy == 0;
    if (s->forced == ENGINE_FORCED_OFFERS)
        return s->offers == 0;
    if (due == VTIME_NEVER && s->medium == VTIME_NEVER)
        return 1;
    return !medium_may(e, s) && (e->cfg.lookahead > 0 ? due >= grant_limit(e, s, first)
                                                      : !is_forced(s) && due >= s->away_clock);
}

/* As `grant`, with that clock as one more decision. */
static void grant_below(struct engine *e)
{
    vtime first = first_below(&e->all),
          closed = is_forced(&e->all) || e->cfg.ops->pace ? VTIME_NEVER : e->all.away_clock;

    if (e->all.forced == ENGINE_FORCED_LOOK) {
        wake_busy(e);
        return;
    }
    if (e->all.forced == ENGINE_FORCED_OFFERS) {
        e->cfg.ops->let_go(e->cfg.owner);
        return;
    }
    if (is_forced(&e->all))
        e->is_forced = 1;
    if (engine_status_waits(e, &e->all))
        return;
    e->forced += (uint64_t)is_forced(&e->all);
    e->granted_due = -1;
    engine_forget_asking(e);
    advance(e, first, medium_may(e, &e->all), first > 0 && first == closed ? first - 1 : first);
}

int engine_let_go(struct engine *e)
{
    if (e->offers == 0)
        return 0;
    e->cfg.ops->let_go(e->cfg.owner);
    return 1;
}

int engine_force(struct engine *e)
{
    status(e, &e->all);
    e->all.forced = ENGINE_FORCED_DECISION;
    if (engine_status_waits(e, &e->all))
        return 0;
    grant_below(e);
    return 1;
}

int engine_look(struct engine *e)
{
    if (e->busy == 0)
        return 0;
    wake_busy(e);
    return 1;
}

int engine_give_up(struct engine *e)
{
    status(e, &e->all);
    e->all.forced = ENGINE_FORCED_END;
    return is_over(e, &e->all) != ENGINE_END_GOES_ON;
}

/* What is due at the time that `pace` has reached happens. */
static enum engine_end keep_pace(struct engine *e)
{
    enum engine_end end;
    vtime next, now;

    status(e, &e->all);
    engine_status_complete(e, &e->all);
    e->progressed = 0;
    end = e->away > 0 && e->abort.due != VTIME_NEVER ? ENGINE_END_ABORTED : is_over(e, &e->all);
    e->idle_since = e->all.idle_since;
    next = e->all.medium < e->all.first.due ? e->all.medium : e->all.first.due;
    if (end == ENGINE_END_GOES_ON && next == VTIME_NEVER && e->away == 0)
        end = ENGINE_END_DEADLOCK;
    if (end != ENGINE_END_GOES_ON)
        return end;
    now = e->cfg.ops->pace(e->cfg.owner, next);
    e->all.away_clock = now;
    /* without lookahead, more may come at that time */
    if (next < now || (next == now && (e->cfg.lookahead > 0 || e->all.medium == now)))
        grant_below(e);
    return ENGINE_END_GOES_ON;
}

/* One process: what follows from its status, or a wait for those outside. */
static enum engine_end await_away(struct engine *e)
{
    enum engine_end end;

    status(e, &e->all);
    end = is_over(e, &e->all);
    if (end != ENGINE_END_GOES_ON)
        return end;
    if (!engine_status_waits(e, &e->all)) {
        grant_below(e);
        return ENGINE_END_GOES_ON;
    }
    e->cfg.ops->await(e->cfg.owner);
    return is_over(e, &e->all); /* it may have given up */
}

enum engine_end engine_quiesce(struct engine *e)
{
    assert(engine_ready(e) == 0 && e->out == 0 && e->next_new == e->cfg.map.count);
    if (e->known <= AUDIT_MOST)
        engine_audit(e);
    if (e->cfg.ops->pace)
        return keep_pace(e);
    if (e->away > 0 && !e->cfg.peers)
        return await_away(e);
    return quiescent(e) ? conclude(e) : ENGINE_END_GOES_ON;
}
