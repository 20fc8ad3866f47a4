/*
 * orrery.h - what a program may tell the Orrery simulator. Optional: programs need no change to
 * be simulated.
 *
 * The functions below are weak references. Under `orrery run` they reach the simulator; elsewhere
 * they do nothing, so the same binary runs natively too, and there is no library to link with:
 *
 *     #include <orrery.h>
 *
 *     orrery_compute(1.5e-3);    // this step takes 1.5 ms on the simulated machine
 *
 * For C and C++ (gcc, clang). From Fortran, put the calls into a small C file, or declare
 * interfaces with bind(c) to the two wrappers that a C file of yours defines:
 *
 *     // hooks.c
 *     #include <orrery.h>
 *     void app_compute(double seconds) { orrery_compute(seconds); }
 *
 *     ! Fortran
 *     interface
 *       subroutine app_compute(seconds) bind(c)
 *         use iso_c_binding, only: c_double
 *         real(c_double), value :: seconds
 *       end subroutine
 *     end interface
 *
 * Call them between MPI_Init and MPI_Finalize only. In a program linked statically, or compiled by
 * clang as position-dependent code (-no-pie), the linker decides that they are absent.
 */
#ifndef ORRERY_H
#define ORRERY_H

/* Through the GOT, also without -fPIE: other references to a missing symbol become 0 for good. */
#if defined(__has_attribute)
#if __has_attribute(noplt)
#define ORRERY_WEAK __attribute__((weak, noplt))
#endif
#endif
#ifndef ORRERY_WEAK
#define ORRERY_WEAK __attribute__((weak))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Lets `seconds` of virtual time pass for the calling rank, as if it had computed so long. Adds to
 * what --compute charges; with --compute none it is the only compute time. Negative values and
 * NaN count as 0.
 */
extern void orrery_compute(double seconds) ORRERY_WEAK;

/*
 * Lets ranks with earlier clocks go first; costs the setting mpi.test_cost. For loops that wait for
 * something other than MPI.
 */
extern void orrery_yield(void) ORRERY_WEAK;

/*
 * The calling rank does so many (floating-point) operations: takes operations / (nodes.gigaflops *
 * 10^9 * speed of its node) seconds.
 */
extern void orrery_flops(double operations) ORRERY_WEAK;

/*
 * A part of the program with a name, for `orrery run --compute table` and `--sample`:
 *
 *     if (orrery_region("solve"))
 *         solve();
 *     orrery_region_end();
 *
 * Returns 1 if the part is to be run, always so without the simulator; 0 if its time has been
 * charged from samples and the program may leave it out. Regions may be nested, up to 16 deep.
 */
extern int orrery_region(const char *name) ORRERY_WEAK;
extern void orrery_region_end(void) ORRERY_WEAK;

/*
 * A buffer without content, of any size: messages sent from it have their size and take their time,
 * but carry nothing; what is received into it is dropped. It may be passed to MPI wherever data is
 * sent, received, reduced or exposed in a window, but not to MPI-IO. Offsets may be added to it; it
 * must not be read or written. In a collective either all ranks pass such buffers or none.
 * NULL without the simulator.
 */
extern void *orrery_hollow(void) ORRERY_WEAK;

static inline void orrery_compute_if_simulated(double seconds)
{
    if (orrery_compute)
        orrery_compute(seconds);
}

static inline void orrery_yield_if_simulated(void)
{
    if (orrery_yield)
        orrery_yield();
}

static inline void orrery_flops_if_simulated(double operations)
{
    if (orrery_flops)
        orrery_flops(operations);
}

static inline int orrery_region_if_simulated(const char *name)
{
    return orrery_region ? orrery_region(name) : 1;
}

static inline void orrery_region_end_if_simulated(void)
{
    if (orrery_region_end)
        orrery_region_end();
}

static inline void *orrery_hollow_if_simulated(void)
{
    return orrery_hollow ? orrery_hollow() : 0;
}

#ifdef __cplusplus
}
#endif

/* Calls by the plain names are safe without the simulator. */
#define orrery_compute(seconds) orrery_compute_if_simulated(seconds)
#define orrery_yield() orrery_yield_if_simulated()
#define orrery_flops(operations) orrery_flops_if_simulated(operations)
#define orrery_region(name) orrery_region_if_simulated(name)
#define orrery_region_end() orrery_region_end_if_simulated()
#define orrery_hollow() orrery_hollow_if_simulated()

#endif
