/*
 * session.c - sessions (MPI-4.0 11.3): how a rank may use MPI without MPI_Init.
 *
 * Each rank numbers its own sessions, as in real processes; ranks without sessions have no table.
 * There are two process sets: mpi://WORLD, all ranks, and mpi://SELF. Otherwise sessions change
 * nothing: groups and communicators are the same objects, whichever session they came from. A
 * handle is 0xb8000000 + number, as in MPICH.
 */
#include "mpi/main/session.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "mpi/attr.h"
#include "mpi/comm/check.h"
#include "mpi/comm/errhandler_internal.h"
#include "mpi/info.h"
#include "mpi/p2p/tags.h"
#include "mpi/state.h"
#include "mpi_impl.h"

#define SESSION_HANDLE 0xb8000000u
#define HANDLE_CLASS 0xfc000000u
#define HANDLE_INDEX 0x03ffffffu

static const char pset_world[] = "mpi://WORLD", pset_self[] = "mpi://SELF";
static const char *const psets[] = {pset_world, pset_self};
#define PSETS ((int)(sizeof psets / sizeof psets[0]))

/* The sessions of one rank. */
struct own_sessions {
    uint32_t count;       /* entries of thread_level */
    uint32_t live;        /* sessions not finalized */
    int8_t *thread_level; /* of each session, -1: finalized */
    uint8_t world_phase;  /* enum mpi_phase, while there are sessions */
};

static int is_held(const struct mpi_rank *self, MPI_Session session)
{
    const struct own_sessions *own = mpi_state_sessions(self);
    uint32_t bits = (uint32_t)session, i = bits & HANDLE_INDEX;

    return own && (bits & HANDLE_CLASS) == SESSION_HANDLE && i < own->count &&
           own->thread_level[i] >= 0;
}

/* ---- beside MPI_Init and MPI_Finalize ---- */

enum mpi_phase mpi_world_phase(const struct mpi_rank *self)
{
    const struct own_sessions *own = mpi_state_sessions(self);

    return (enum mpi_phase)(own && own->live ? own->world_phase : self->phase);
}

void mpi_world_phase_set(struct mpi_rank *self, enum mpi_phase phase)
{
    struct own_sessions *own = mpi_state_sessions(self);

    if (own && own->live)
        own->world_phase = (uint8_t)phase;
    else
        self->phase = (uint8_t)phase;
}

/* ---- starting and ending ---- */

/* A number for a new session; the first one opens MPI. */
static uint32_t open_session(struct mpi_rank *self, int thread_level)
{
    struct own_sessions *own = mpi_state_make(self, MPI_STATE_sessions, sizeof *own);
    uint32_t i = 0;

    if (!own->live) {
        own->world_phase = self->phase;
        self->phase = MPI_PHASE_ACTIVE;
    }
    while (i < own->count && own->thread_level[i] >= 0)
        i++;
    if (i == own->count)
        own->thread_level = mem_realloc(own->thread_level, ++own->count);
    own->thread_level[i] = (int8_t)thread_level;
    own->live++;
    return i;
}

static const char *const level_names[] = {
    [MPI_THREAD_SINGLE] = "MPI_THREAD_SINGLE",
    [MPI_THREAD_FUNNELED] = "MPI_THREAD_FUNNELED",
    [MPI_THREAD_SERIALIZED] = "MPI_THREAD_SERIALIZED",
    [MPI_THREAD_MULTIPLE] = "MPI_THREAD_MULTIPLE",
};

/* The thread level that the info requests, else the highest. */
static int level_wanted(MPI_Info info)
{
    const char *text = mpi_info_lookup(info, "thread_level");

    for (int i = 0; text && i < MPI_THREAD_MULTIPLE; i++)
        if (strcmp(text, level_names[i]) == 0)
            return i;
    return MPI_THREAD_MULTIPLE;
}

int mpi_session_init(struct mpi_rank *self, MPI_Info info, MPI_Errhandler errhandler,
                     MPI_Session *session)
{
    int rc = MPI_SUCCESS, level;
    MPI_Session made;

    if (info != MPI_INFO_NULL && !mpi_info_exists(info))
        rc = mpi_raise(self, MPI_COMM_NULL, MPI_ERR_INFO, "0x%08x is not an info object",
                       (unsigned)info);
    if (!rc)
        rc = errhandler_check(self, MPI_COMM_NULL, errhandler, FOR_SESSION);
    if (rc)
        return rc;
    level = level_wanted(info);
    if (self->phase != MPI_PHASE_ACTIVE)
        self->thread_level = (uint8_t)level;
    made = (MPI_Session)(SESSION_HANDLE | open_session(self, level));
    errhandler_set_own(self, made, errhandler);
    *session = made;
    return MPI_SUCCESS;
}

static int check_session(struct mpi_rank *self, MPI_Session session)
{
    if (is_held(self, session))
        return MPI_SUCCESS;
    return mpi_raise_session(self, session, MPI_ERR_SESSION, "0x%08x is not a session of this rank",
                             (unsigned)session);
}

int mpi_session_finalize(struct mpi_rank *self, MPI_Session *session)
{
    struct own_sessions *own;
    int rc = check_session(self, *session);
    if (rc)
        return rc;
    own = mpi_state_sessions(self);
    if (own->live == 1 && own->world_phase != MPI_PHASE_ACTIVE)
        mpi_finish_sends(self);
    mpi_errhandler_session_freed(self, *session);
    own->thread_level[(uint32_t)*session & HANDLE_INDEX] = -1;
    if (--own->live == 0)
        self->phase = own->world_phase;
    *session = MPI_SESSION_NULL;
    return MPI_SUCCESS;
}

/* ---- queries ---- */

static int check_ptr(struct mpi_rank *self, MPI_Session session, const void *p, const char *what)
{
    return p ? MPI_SUCCESS
             : mpi_raise_session(self, session, MPI_ERR_ARG, "the argument '%s' is a null pointer",
                                 what);
}

int mpi_session_get_info(struct mpi_rank *self, MPI_Session session, MPI_Info *info_used)
{
    int rc = check_session(self, session), level;

    if (rc)
        return rc;
    level = mpi_state_sessions(self)->thread_level[(uint32_t)session & HANDLE_INDEX];
    *info_used = mpi_info_make();
    mpi_info_put(*info_used, "thread_level", level_names[level]);
    return MPI_SUCCESS;
}

int mpi_session_get_num_psets(struct mpi_rank *self, MPI_Session session, MPI_Info info,
                              int *npset_names)
{
    int rc = check_session(self, session);

    (void)info;
    if (!rc)
        *npset_names = PSETS;
    return rc;
}

/* The length includes the terminating null; 0 requests it. */
int mpi_session_get_nth_pset(struct mpi_rank *self, MPI_Session session, MPI_Info info, int n,
                             int *pset_len, char *pset_name)
{
    int rc = check_session(self, session);

    (void)info;
    if (!rc && *pset_len > 0)
        rc = check_ptr(self, session, pset_name, "pset_name");
    if (rc)
        return rc;
    if (n < 0 || n >= PSETS)
        return mpi_raise_session(self, session, MPI_ERR_ARG, "there is no process set %d (of %d)",
                                 n, PSETS);
    if (*pset_len > 0)
        snprintf(pset_name, (size_t)*pset_len, "%s", psets[n]);
    else
        *pset_len = (int)strlen(psets[n]) + 1;
    return MPI_SUCCESS;
}

/* The group of a process set with a ref for the caller, or NULL. Case does not matter, as in
 * MPICH. */
static struct mpi_group *pset_group(const struct mpi_rank *self, const char *name)
{
    if (strcasecmp(name, pset_world) == 0)
        return mpi_group_ref(mpi_comm_get(MPI_COMM_WORLD)->group);
    return strcasecmp(name, pset_self) == 0 ? mpi_group_make_range(mpi_rank_id(self), 1, 1) : NULL;
}

static int check_pset(struct mpi_rank *self, MPI_Session session, const char *name,
                      struct mpi_group **g)
{
    int rc = check_session(self, session);

    if (rc)
        return rc;
    *g = pset_group(self, name);
    return *g ? MPI_SUCCESS
              : mpi_raise_session(self, session, MPI_ERR_ARG, "there is no process set '%s'", name);
}

int mpi_session_get_pset_info(struct mpi_rank *self, MPI_Session session, const char *pset_name,
                              MPI_Info *info)
{
    struct mpi_group *g;
    int rc = check_pset(self, session, pset_name, &g);
    char size[16];

    if (rc)
        return rc;
    snprintf(size, sizeof size, "%u", g->size);
    mpi_group_unref(g);
    *info = mpi_info_make();
    mpi_info_put(*info, "mpi_size", size);
    return MPI_SUCCESS;
}

int mpi_group_from_session_pset(struct mpi_rank *self, MPI_Session session, const char *pset_name,
                                MPI_Group *newgroup)
{
    struct mpi_group *g;
    int rc = check_pset(self, session, pset_name, &g);

    if (!rc)
        *newgroup = mpi_group_publish(g);
    return rc;
}
