/*
 * search.c - the global and the local search.
 *
 * A fixed number of searchers work independently: controlled random search (CRS2) with its own
 * seed, then Subplex from the best point found, as it can handle errors that are not smooth. So the
 * result does not depend on how many run at a time.
 */
#include <math.h>
#include <nlopt.h>
#include <string.h>

#include "base/mem.h"
#include "library/library.h"
#include "tune/tune_internal.h"

#define SEARCHERS 4
#define GLOBAL_PART 0.6 /* of the evaluations */
#define FIRST_STEP 0.05 /* of the local search */
#define PRECISION 1e-4  /* in positions: when it ends */

/* ---- evaluations ---- */

double tune_value(const struct tune_parameter *p, double position)
{
    double value = p->is_log ? p->low * pow(p->high / p->low, position)
                             : p->low + position * (p->high - p->low);
    value = tune_round(p->is_whole ? nearbyint(value) : value);
    return value < p->low ? p->low : value > p->high ? p->high : value;
}

static double position_of(const struct tune_parameter *p, double value)
{
    double position = p->is_log ? log(value / p->low) / log(p->high / p->low)
                                : (value - p->low) / (p->high - p->low);
    return position < 0 ? 0 : position > 1 ? 1 : position;
}

int tune_is_stopped(const struct search *s)
{
    return s->problem->stop && atomic_load(s->problem->stop);
}

/* Among positions with the same error, the choice does not depend on which was evaluated first. */
static int is_better(const struct search *s, const double *position, double error)
{
    if (error != s->error)
        return error < s->error;
    for (size_t i = 0; i < s->problem->count; i++)
        if (position[i] != s->best[i])
            return position[i] < s->best[i];
    return 0;
}

static void note(struct search *s, const double *position, double error, int repeated)
{
    struct tune_result *r = s->result;
    pthread_mutex_lock(&s->lock);
    r->evaluations += !repeated;
    r->repeated += repeated;
    if (is_better(s, position, error)) {
        s->error = error;
        memcpy(s->best, position, s->problem->count * sizeof *position);
    }
    if (s->problem->progress)
        s->problem->progress(s->problem->owner, r->evaluations + r->repeated, s->most, s->error);
    pthread_mutex_unlock(&s->lock);
}

double tune_error_at(struct search *s, const double *position)
{
    const struct tune_problem *p = s->problem;
    double values[TUNE_PARAMETERS_MAX], error;
    for (size_t i = 0; i < p->count; i++)
        values[i] = tune_value(&p->parameters[i], position[i]);
    int repeated = tune_log_find(p->log, values, &error);
    if (!repeated) {
        sem_wait(&s->free);
        error = tune_is_stopped(s) ? NAN : p->evaluate(p->owner, values);
        sem_post(&s->free);
        if (tune_is_stopped(s))
            return TUNE_FAILED; /* it may have been interrupted */
        struct err err = {0};
        if (tune_log_add(p->log, values, error, &err) != 0 && s->err.code == 0)
            s->err = err;
    }
    if (!isfinite(error))
        error = TUNE_FAILED;
    note(s, position, error, repeated);
    return error;
}

/* ---- threads ---- */

struct thread {
    pthread_t id;
    struct search *search;
    size_t number;
    void (*work)(struct search *, size_t, void *);
    void *context;
};

static void *run_thread(void *argument)
{
    struct thread *t = argument;
    t->work(t->search, t->number, t->context);
    return NULL;
}

void tune_in_threads(struct search *s, size_t count,
                     void (*work)(struct search *, size_t i, void *context), void *context)
{
    struct thread *threads = mem_zalloc((count + 1) * sizeof *threads);
    size_t started = 0;
    for (; started < count; started++) {
        threads[started] = (struct thread){0, s, started, work, context};
        if (pthread_create(&threads[started].id, NULL, run_thread, &threads[started]) != 0)
            break;
    }
    for (size_t i = started; i < count; i++)
        work(s, i, context); /* no more threads: one after the other */
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i].id, NULL);
    mem_free(threads);
}

/* ---- searchers ---- */

struct searcher {
    struct search *search;
    nlopt_opt opt;
    double best[TUNE_PARAMETERS_MAX], error;
};

static double objective(unsigned count, const double *position, double *gradient, void *context)
{
    struct searcher *searcher = context;
    (void)gradient;
    double error = tune_error_at(searcher->search, position);
    if (tune_is_stopped(searcher->search))
        nlopt_force_stop(searcher->opt);
    if (error < searcher->error) {
        searcher->error = error;
        memcpy(searcher->best, position, count * sizeof *position);
    }
    return error;
}

static void optimise(struct searcher *searcher, nlopt_algorithm algorithm, unsigned evaluations)
{
    const struct tune_problem *p = searcher->search->problem;
    double at[TUNE_PARAMETERS_MAX], least;
    if (!evaluations || tune_is_stopped(searcher->search))
        return;
    memcpy(at, searcher->best, sizeof at);
    searcher->opt = nlopt_create(algorithm, (unsigned)p->count);
    nlopt_set_lower_bounds1(searcher->opt, 0);
    nlopt_set_upper_bounds1(searcher->opt, 1);
    nlopt_set_min_objective(searcher->opt, objective, searcher);
    nlopt_set_maxeval(searcher->opt, (int)evaluations);
    nlopt_set_xtol_abs1(searcher->opt, PRECISION);
    nlopt_set_initial_step1(searcher->opt, FIRST_STEP);
    nlopt_set_population(searcher->opt, (unsigned)(5 * (p->count + 1)));
    nlopt_optimize(searcher->opt, at, &least);
    nlopt_destroy(searcher->opt);
}

static void start_at(struct searcher *searcher, size_t number)
{
    const struct tune_problem *p = searcher->search->problem;
    for (size_t i = 0; i < p->count; i++) {
        double position = position_of(&p->parameters[i], p->parameters[i].start);
        /* the first searcher starts at the given values, the others elsewhere */
        searcher->best[i] = fmod(position + (double)number / SEARCHERS, 1.0);
    }
    searcher->error = INFINITY;
}

static void search(struct search *s, size_t number, void *context)
{
    unsigned share = s->problem->evaluations / SEARCHERS, global = (unsigned)(GLOBAL_PART * share);
    struct searcher searcher = {.search = s};
    (void)context;
    start_at(&searcher, number);
    nlopt_srand((unsigned long)number + 1);
    optimise(&searcher, NLOPT_GN_CRS2_LM, global);
    optimise(&searcher, NLOPT_LN_SBPLX, share - global);
}

int tune_search(const struct tune_problem *p, struct tune_result *result, struct err *err)
{
    struct search s = {.problem = p, .result = result, .error = INFINITY};
    *result = (struct tune_result){0};
    if (library_load(LIBRARY_nlopt, err) != 0)
        return ERR_SYSTEM;
    s.most = p->evaluations / SEARCHERS * SEARCHERS;
    sem_init(&s.free, 0, p->jobs ? p->jobs : 1);
    pthread_mutex_init(&s.lock, NULL);
    tune_in_threads(&s, SEARCHERS, search, NULL);
    int rc = s.error < TUNE_FAILED ? 0
                                   : err_set(err, ERR_INPUT, "no values within the bounds work");
    for (size_t i = 0; rc == 0 && i < p->count; i++)
        result->values[i] = tune_value(&p->parameters[i], s.best[i]);
    result->error = s.error;
    if (rc == 0 && !tune_is_stopped(&s))
        tune_find_widths(&s);
    result->is_stopped = tune_is_stopped(&s);
    if (rc == 0 && s.err.code)
        rc = err_set(err, s.err.code, "%s", s.err.text);
    pthread_mutex_destroy(&s.lock);
    sem_destroy(&s.free);
    return rc;
}
