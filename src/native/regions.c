/*
 * regions.c - regions of the program: orrery_region, MPI_Pcontrol, and functions compiled with
 * -finstrument-functions.
 */
#include "recorder/regions.h"

#include "native/native.h"

/* Before MPI is initialised, it is not known whether anything will be recorded. */
static void tell(const char *name)
{
    if (!native.is_open || native.is_over)
        return;
    struct native_lane *lane = native_own_lane();
    int64_t now = native_now();
    pthread_mutex_lock(&native.lock);
    if (!native.is_over)
        recorder_region(&native.rank, lane->recorder, now, name);
    pthread_mutex_unlock(&native.lock);
}

void native_pcontrol(struct native_lane *lane, const struct native_call *c, int64_t now)
{
    char name[RECORDER_NAME_MOST];
    int what = recorder_pcontrol((int)c->args[0], c->more, name);
    if (what)
        recorder_region(&native.rank, lane->recorder, now, what > 0 ? name : NULL);
}

ORR_EXPORT int orrery_region(const char *name)
{
    if (name)
        tell(name);
    return 1;
}

ORR_EXPORT void orrery_region_end(void)
{
    tell(NULL);
}

ORR_EXPORT void __cyg_profile_func_enter(void *function, void *site);
ORR_EXPORT void __cyg_profile_func_exit(void *function, void *site);

void __cyg_profile_func_enter(void *function, void *site)
{
    (void)site;
    if (!native.is_open || native.is_over)
        return;
    struct native_lane *lane = native_own_lane();
    if (lane->recorder->depth) /* a callback is part of its call */
        return;
    int64_t now = native_now();
    pthread_mutex_lock(&native.lock);
    if (!native.is_over)
        recorder_function(&native.rank, lane->recorder, now, function);
    pthread_mutex_unlock(&native.lock);
}

void __cyg_profile_func_exit(void *function, void *site)
{
    (void)function, (void)site;
    if (native.is_open && !native.is_over && !native_own_lane()->recorder->depth)
        tell(NULL);
}
