/*
 * host.c - the table of hosts, and the code that all hosts share (see host.h).
 */
#include "vp/host.h"

#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "vp/crash.h"
#include "vp/pack.h"
#include "vp/vp_internal.h"

static const struct vp_host *const hosts[] = {&vp_fibre_host, &vp_process_host};

struct vp_private vp_private = {.host = &vp_fibre_host};
const struct vp_hooks *vp_hooks;
struct pool vp_pool;
int64_t vp_epoch;

static int exit_status; /* of the rank that has ended most recently */

void vp_host_load(const char *name)
{
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++)
        if (strcmp(hosts[i]->name, name) == 0) {
            vp_private.host = hosts[i];
            vp_private.host->load();
            return;
        }
    log_fatal("there is no host '%s'; check the installation", name);
}

int vp_init(const struct vp_config *cfg, struct err *err)
{
    char *strands;

    vp_stack_init(cfg->stack_size, vp_objects_exec_stack());
    vp_hooks = cfg->hooks;
    vp_epoch = cfg->epoch;
    vp_entropy_init(cfg->entropy_real, cfg->entropy_seed);
    pool_init(&vp_pool, "stacks and private data");
    strands = vp_stack_map(err);
    if (!strands)
        return ERR_MEMORY;
    vp_strand_init(strands);
    vp_crash_init();
    vp_image_exclude_copies();
    vp_libc_init();
    vp_image_reset();
    return vp_private.host->init(cfg, err);
}

void vp_expect(uint64_t ranks)
{
    vp_private.host->expect(ranks);
}

/* ---- turns ---- */

int vp_host_resume(struct vp_rank *f)
{
    if (f->started)
        return vp_private.host->resume(f);
    f->started = 1;
    return vp_private.host->start(f);
}

int vp_thread_pin(void)
{
    return vp_private.host->pin_thread();
}

int vp_threads_are_pinned(void)
{
    return vp_private.host->threads_are_pinned();
}

void vp_threads_unpin(void)
{
    vp_private.host->unpin_threads();
}

void vp_suspend_computing(uint32_t waiting)
{
    if (vp_private.host->suspend_computing)
        vp_private.host->suspend_computing(waiting);
    else
        vp_private.host->suspend();
}

void vp_request_turn(void)
{
    vp_private.host->request_turn();
}

void vp_withdraw_request(void)
{
    vp_private.host->withdraw_request();
}

void vp_await_request(int64_t ns)
{
    vp_private.host->await_request(ns);
}

void vp_go_out(void)
{
    vp_private.host->go_out();
}

void vp_come_back(void)
{
    vp_private.host->come_back();
}

void vp_help(void (*fn)(void))
{
    vp_private.host->help(fn);
}

int vp_pass_turn(void)
{
    return vp_private.host->pass_turn();
}

void vp_await_turn(void)
{
    vp_private.host->await_turn();
}

struct vp_rank *vp_next_request(void)
{
    return vp_private.host->next_request ? vp_private.host->next_request() : NULL;
}

void vp_call(void (*fn)(void))
{
    vp_private.host->call(fn);
}

/* ---- a rank's life ---- */

void vp_rank_main(void)
{
    struct vp_program mine = vp_program;

    if (vp_hooks->starting)
        vp_hooks->starting(vp_private.current, &mine.argc, &mine.argv);
    vp_objects_run(0, &mine);
    exit(mine.main(mine.argc, mine.argv, mine.envp));
}

void vp_rank_exit(int status)
{
    struct vp_rank *f = vp_private.current;

    vp_hooks->exiting(f, status, 0);
    vp_handlers_run(status);
    if (!f->finishing) { /* a destructor may call exit, too */
        f->finishing = 1;
        vp_objects_run(1, &vp_program);
    }
    vp_streams_end();
    vp_rank_end(status);
}

void vp_rank_end(int status)
{
    struct vp_rank *f = vp_private.current;

    vp_hooks->exiting(f, status, 1);
    exit_status = status;
    f->ended = 1;
    vp_private.host->end();
}

int vp_exit_status(void)
{
    return exit_status;
}

/* ---- the end of a run ---- */

void vp_leave(void (*fn)(void))
{
    vp_private.host->leave(fn);
}

void vp_kill(void)
{
    vp_private.host->kill();
}

void vp_check(void)
{
    vp_private.host->check();
}

int vp_is_rank_running(void)
{
    return vp_private.host->is_running();
}

int vp_ask_where(const struct vp_rank *f)
{
    return vp_private.host->ask_where(f);
}

/* ---- queries ---- */

int vp_ranks_are_processes(void)
{
    return vp_private.host->own_process;
}

int vp_passes_turns(void)
{
    return vp_private.host->passes_turns;
}

void *vp_peer_memory(size_t bytes)
{
    return vp_private.host->peer_memory(bytes);
}

/* Called at every turn; inlined for the case without processes. */
int32_t vp_rank_pid(const struct vp_rank *f)
{
    return vp_private.host->own_process ? vp_private.host->pid(f) : 0;
}

int32_t vp_starter_pid(void)
{
    return vp_private.host->starter();
}

void vp_rank_prefetch(const struct vp_rank *f)
{
    if (f->state) {
        __builtin_prefetch(f->state);
        __builtin_prefetch((char *)f->state + 64);
    }
}

void vp_rank_prefetch_rest(const struct vp_rank *f)
{
    if (vp_private.host == &vp_fibre_host && f->state && !f->own_stack)
        vp_pack_prefetch(f->state);
}

const struct vp_stats *vp_stats(void)
{
    static struct vp_stats stats;

    memset(&stats, 0, sizeof stats);
    vp_private.host->stats(&stats);
    vp_image_stats(&stats);
    return &stats;
}

/* ---- defaults for most hosts ---- */

void vp_host_nothing(void)
{
}

void *vp_host_peer_memory(size_t bytes)
{
    return mem_try_alloc(bytes, 1);
}
