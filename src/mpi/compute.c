/*
 * compute.c - binds the processor models (src/processor/) to the ranks of the virtual MPI, and
 * provides the functions by which programs declare compute time.
 */
#include "base/log.h"
#include "mpi/clock.h"
#include "mpi/entry.h"
#include "mpi/error.h"
#include "mpi/ext.h"
#include "mpi/hollow.h"
#include "processor/processor.h"

/* The name of what ended a slice: a function, or the reading of a clock (MPI_FN_COUNT). */
static const char *call_name(unsigned call)
{
    return call == MPI_FN_COUNT ? "clock" : mpi_fn_name[call];
}

static int call_polls(unsigned call)
{
    return call == MPI_FN_COUNT || (mpi_fn_flags[call] & MPI_FNFLAG_POLLS) != 0;
}

static struct processor_state **state(uint32_t index, int make)
{
    struct mpi_rank *r = &mpi_world.ranks[index];

    return mpi_rare_find(r) || make ? &mpi_rare_get(r)->processor : NULL;
}

static void fail(uint32_t index, const char *why)
{
    mpi_abort_run(&mpi_world.ranks[index], 2, why);
}

/* ---- recording (--record-compute) ---- */

static void on_slice(struct mpi_rank *self, vtime t, const struct mpi_seen_slice *s)
{
    (void)t;
    if (!s->declared)
        processor_record(mpi_rank_index(self), s->fn, s->host);
}

static const struct mpi_observer recorder = {.name = "compute times", .slice = on_slice};

void mpi_compute_init(void)
{
    static struct processor_host host = {
        .calls = MPI_FN_COUNT + 1,
        .call_name = call_name,
        .call_polls = call_polls,
        .state = state,
        .fail = fail,
    };
    struct err err;

    host.options = mpi_world.opt;
    host.machine = &mpi_world.machine;
    host.nodes = &mpi_world.net.nodes;
    host.map = mpi_rank_map();
    if (processor_init(&host, &err))
        log_fatal_input("%s", err.text);
    mpi_world.measured = processor_is_measured();
    if (processor_is_recording())
        mpi_observer_attach(&recorder);
    mpi_world.plain = processor_is_plain() && !(mpi_world.observed & MPI_SEES(slice));
    mpi_world.slice_clock = processor_clock();
}

/* ---- functions for programs ---- */

ORR_EXPORT void orrery_compute_real(double seconds) __asm__("orrery_compute");
ORR_EXPORT int orrery_region_real(const char *name) __asm__("orrery_region");
ORR_EXPORT void orrery_region_end_real(void) __asm__("orrery_region_end");
ORR_EXPORT void orrery_flops_real(double operations) __asm__("orrery_flops");
ORR_EXPORT void *orrery_hollow_real(void) __asm__("orrery_hollow");

static void declare(struct mpi_rank *self, double seconds)
{
    struct mpi_seen_slice s = {.fn = MPI_FN_COUNT,
                               .declared = 1,
                               .host = vtime_from_seconds(seconds)};

    s.charged = processor_declare(mpi_rank_index(self), self->ent.clock, s.host);
    mpi_clock_add(self, s.charged);
    mpi_observe_slice(self, &s);
}

void orrery_compute_real(double seconds)
{
    struct mpi_rank *self = mpi_self();

    if (!self || !(seconds > 0))
        return;
    mpi_clock_begin(self);
    declare(self, seconds);
    mpi_clock_end();
}

int orrery_region_real(const char *name)
{
    struct mpi_rank *self = mpi_self();
    vtime dt;
    int run;

    if (!self || !name)
        return 1;
    mpi_clock_begin(self);
    mpi_observe_region(self, name);
    run = processor_region_enter(mpi_rank_index(self), self->ent.clock, name, &dt);
    if (dt) {
        mpi_clock_add(self, dt);
        mpi_observe_slice(self, &(struct mpi_seen_slice){.fn = MPI_FN_COUNT,
                                                         .declared = 1,
                                                         .host = dt,
                                                         .charged = dt});
    }
    mpi_clock_end();
    return run;
}

void orrery_region_end_real(void)
{
    struct mpi_rank *self = mpi_self();

    if (!self)
        return;
    mpi_clock_begin(self);
    processor_region_leave(mpi_rank_index(self));
    mpi_observe_region(self, NULL);
    mpi_clock_end();
}

void orrery_flops_real(double operations)
{
    struct mpi_rank *self = mpi_self();
    double rate = mpi_world.machine.config.nodes_gigaflops * 1e9;

    if (!self || !(operations > 0))
        return;
    mpi_clock_begin(self);
    if (!processor_is_muted(mpi_rank_index(self)))
        declare(self, operations / rate / processor_speed(mpi_rank_index(self)));
    mpi_clock_end();
}

void *orrery_hollow_real(void)
{
    return MPI_HOLLOW;
}
