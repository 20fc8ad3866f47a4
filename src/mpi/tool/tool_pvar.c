/*
 * tool_pvar.c - performance variables of the tool information interface: what a rank has sent, and
 * its clock.
 *
 * Counters run from start to stop of a handle: a handle keeps what it has counted so far and, while
 * it runs, the rank's count when it was started. The others always show their present value. All
 * depend only on the rank's own past, so they are the same in every run; lengths of queues are not
 * among them, since they depend on the order in which ranks happen to be run.
 */
#include <string.h>

#include "base/mem.h"
#include "mpi/clock.h"
#include "mpi/stats.h"
#include "mpi/tool/tool_internal.h"
#include "mpi_impl.h"

enum pvar { PVAR_MESSAGES, PVAR_BYTES, PVAR_PEERS, PVAR_TIME, PVARS };

static const struct {
    const char *name, *text;
    int class;
    int counts; /* can be started, stopped and set; else it is continuous and read-only */
} pvars[] = {
    [PVAR_MESSAGES] = {"messages_sent",
                       "messages this rank has sent, those of collectives included",
                       MPI_T_PVAR_CLASS_COUNTER, 1},
    [PVAR_BYTES] = {"bytes_sent", "bytes in the messages this rank has sent",
                    MPI_T_PVAR_CLASS_AGGREGATE, 1},
    [PVAR_PEERS] = {"peers", "ranks to which this rank has sent messages", MPI_T_PVAR_CLASS_LEVEL,
                    0},
    [PVAR_TIME] = {"virtual_time", "virtual time of this rank, in picoseconds",
                   MPI_T_PVAR_CLASS_TIMER, 0},
};

#define SESSION_LIVE 0x70736573u
#define HANDLE_LIVE 0x70686164u

struct MPIR_T_pvar_handle_s {
    uint32_t live;
    int index;
    MPI_T_pvar_session session;
    struct MPIR_T_pvar_handle_s *next;
    int running;
    unsigned long long so_far; /* counted up to the last stop or reset */
    unsigned long long since;  /* the rank's count then, while running */
};

struct MPIR_T_pvar_session_s {
    uint32_t live;
    struct MPIR_T_pvar_handle_s *handles;
};

int tool_pvar_count(void)
{
    return PVARS;
}

/* ---- values ---- */

/* The rank's count; an error if pairs are no longer kept apart by rank (stats.h). */
static int present(struct mpi_rank *self, int index, unsigned long long *out)
{
    unsigned long long messages = self->pair.messages, bytes = self->pair.bytes;

    if (index == PVAR_TIME) {
        *out = (unsigned long long)mpi_clock_read(self);
        return MPI_SUCCESS;
    }
    if (mpi_world.stats->aggregated)
        return MPI_T_ERR_NOT_SUPPORTED;
    for (uint32_t i = 0; i < self->pair_count; i++) {
        messages += self->pairs[i].messages;
        bytes += self->pairs[i].bytes;
    }
    *out = index == PVAR_MESSAGES ? messages
           : index == PVAR_BYTES  ? bytes
                                  : self->pair_count + (self->pair.messages != 0);
    return MPI_SUCCESS;
}

/* The value of the handle. */
static int value_of(struct mpi_rank *self, const struct MPIR_T_pvar_handle_s *h,
                    unsigned long long *out)
{
    unsigned long long now;
    int rc = present(self, h->index, &now);

    if (!rc)
        *out = !pvars[h->index].counts ? now : h->so_far + (h->running ? now - h->since : 0);
    return rc;
}

/* Sets the value of the handle. */
static int set_value(struct mpi_rank *self, struct MPIR_T_pvar_handle_s *h,
                     unsigned long long value)
{
    unsigned long long now;
    int rc = present(self, h->index, &now);

    if (rc)
        return rc;
    h->so_far = value;
    h->since = now;
    return MPI_SUCCESS;
}

static int set_running(struct mpi_rank *self, struct MPIR_T_pvar_handle_s *h, int running)
{
    unsigned long long value;
    int rc = value_of(self, h, &value);

    if (!rc)
        rc = set_value(self, h, value);
    if (!rc)
        h->running = running;
    return rc;
}

/* ---- listing ---- */

int mpi_t_pvar_get_num(struct mpi_rank *self, int *num_pvar)
{
    if (!tool_ready(self))
        return MPI_T_ERR_NOT_INITIALIZED;
    if (!num_pvar)
        return MPI_T_ERR_INVALID;
    *num_pvar = PVARS;
    return MPI_SUCCESS;
}

int mpi_t_pvar_get_info(struct mpi_rank *self, int pvar_index, char *name, int *name_len,
                        int *verbosity, int *var_class, MPI_Datatype *datatype,
                        MPI_T_enum *enumtype, char *desc, int *desc_len, int *bind, int *readonly,
                        int *continuous, int *atomic)
{
    if (!tool_ready(self))
        return MPI_T_ERR_NOT_INITIALIZED;
    if (pvar_index < 0 || pvar_index >= PVARS)
        return MPI_T_ERR_INVALID_INDEX;
    tool_text(pvars[pvar_index].name, name, name_len);
    tool_text(pvars[pvar_index].text, desc, desc_len);
    tool_tell(verbosity, MPI_T_VERBOSITY_USER_BASIC);
    tool_tell(var_class, pvars[pvar_index].class);
    tool_tell(datatype, MPI_UNSIGNED_LONG_LONG);
    if (enumtype)
        *enumtype = MPI_T_ENUM_NULL;
    tool_tell(bind, MPI_T_BIND_NO_OBJECT);
    tool_tell(readonly, !pvars[pvar_index].counts);
    tool_tell(continuous, !pvars[pvar_index].counts);
    tool_tell(atomic, pvars[pvar_index].counts);
    return MPI_SUCCESS;
}

int mpi_t_pvar_get_index(struct mpi_rank *self, const char *name, int var_class, int *pvar_index)
{
    if (!tool_ready(self))
        return MPI_T_ERR_NOT_INITIALIZED;
    if (!name || !pvar_index)
        return MPI_T_ERR_INVALID;
    for (int i = 0; i < PVARS; i++)
        if (pvars[i].class == var_class && strcmp(pvars[i].name, name) == 0) {
            *pvar_index = i;
            return MPI_SUCCESS;
        }
    return MPI_T_ERR_INVALID_NAME;
}

/* ---- sessions and handles ---- */

static int check_session(const struct mpi_rank *self, MPI_T_pvar_session session)
{
    if (!tool_ready(self))
        return MPI_T_ERR_NOT_INITIALIZED;
    return session && session->live == SESSION_LIVE ? MPI_SUCCESS : MPI_T_ERR_INVALID_SESSION;
}

/* One handle of the session, not all of them. */
static int check(const struct mpi_rank *self, MPI_T_pvar_session session, MPI_T_pvar_handle h)
{
    int rc = check_session(self, session);

    if (rc)
        return rc;
    return h && h != MPI_T_PVAR_ALL_HANDLES && h->live == HANDLE_LIVE && h->session == session
               ? MPI_SUCCESS
               : MPI_T_ERR_INVALID_HANDLE;
}

int mpi_t_pvar_session_create(struct mpi_rank *self, MPI_T_pvar_session *session)
{
    if (!tool_ready(self))
        return MPI_T_ERR_NOT_INITIALIZED;
    if (!session)
        return MPI_T_ERR_INVALID;
    *session = mem_alloc(sizeof **session);
    **session = (struct MPIR_T_pvar_session_s){SESSION_LIVE, NULL};
    return MPI_SUCCESS;
}

static void handle_free(struct MPIR_T_pvar_handle_s **at)
{
    struct MPIR_T_pvar_handle_s *h = *at;

    *at = h->next;
    h->live = 0;
    mem_free(h);
}

int mpi_t_pvar_session_free(struct mpi_rank *self, MPI_T_pvar_session *session)
{
    int rc = check_session(self, session ? *session : NULL);

    if (rc)
        return rc;
    while ((*session)->handles)
        handle_free(&(*session)->handles);
    (*session)->live = 0;
    mem_free(*session);
    *session = MPI_T_PVAR_SESSION_NULL;
    return MPI_SUCCESS;
}

int mpi_t_pvar_handle_alloc(struct mpi_rank *self, MPI_T_pvar_session session, int pvar_index,
                            void *obj_handle, MPI_T_pvar_handle *handle, int *count)
{
    int rc = check_session(self, session);

    (void)obj_handle;
    if (rc)
        return rc;
    if (pvar_index < 0 || pvar_index >= PVARS)
        return MPI_T_ERR_INVALID_INDEX;
    if (!handle || !count)
        return MPI_T_ERR_INVALID;
    *handle = mem_alloc(sizeof **handle);
    **handle = (struct MPIR_T_pvar_handle_s){.live = HANDLE_LIVE,
                                             .index = pvar_index,
                                             .session = session,
                                             .next = session->handles};
    session->handles = *handle;
    *count = 1;
    return MPI_SUCCESS;
}

int mpi_t_pvar_handle_free(struct mpi_rank *self, MPI_T_pvar_session session,
                           MPI_T_pvar_handle *handle)
{
    int rc = check(self, session, handle ? *handle : NULL);
    struct MPIR_T_pvar_handle_s **at;

    if (rc)
        return rc;
    for (at = &session->handles; *at != *handle; at = &(*at)->next)
        ;
    handle_free(at);
    *handle = MPI_T_PVAR_HANDLE_NULL;
    return MPI_SUCCESS;
}

/* ---- using them ---- */

enum action { START, STOP, RESET };

static int act(struct mpi_rank *self, struct MPIR_T_pvar_handle_s *h, enum action what)
{
    return what == RESET ? set_value(self, h, 0) : set_running(self, h, what == START);
}

/* With all handles, those that cannot be started or stopped are skipped. */
static int act_on(struct mpi_rank *self, MPI_T_pvar_session session, MPI_T_pvar_handle handle,
                  enum action what)
{
    int rc = check_session(self, session);

    if (!rc && handle == MPI_T_PVAR_ALL_HANDLES) {
        for (struct MPIR_T_pvar_handle_s *h = session->handles; h && !rc; h = h->next)
            if (pvars[h->index].counts)
                rc = act(self, h, what);
        return rc;
    }
    if (!rc)
        rc = check(self, session, handle);
    if (!rc && !pvars[handle->index].counts)
        rc = what == RESET ? MPI_T_ERR_PVAR_NO_WRITE : MPI_T_ERR_PVAR_NO_STARTSTOP;
    return rc ? rc : act(self, handle, what);
}

int mpi_t_pvar_start(struct mpi_rank *self, MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    return act_on(self, session, handle, START);
}

int mpi_t_pvar_stop(struct mpi_rank *self, MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    return act_on(self, session, handle, STOP);
}

int mpi_t_pvar_reset(struct mpi_rank *self, MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    return act_on(self, session, handle, RESET);
}

int mpi_t_pvar_read(struct mpi_rank *self, MPI_T_pvar_session session, MPI_T_pvar_handle handle,
                    void *buf)
{
    int rc = check(self, session, handle);

    if (rc)
        return rc;
    return buf ? value_of(self, handle, (unsigned long long *)buf) : MPI_T_ERR_INVALID;
}

int mpi_t_pvar_readreset(struct mpi_rank *self, MPI_T_pvar_session session,
                         MPI_T_pvar_handle handle, void *buf)
{
    int rc = check(self, session, handle);

    if (!rc && !pvars[handle->index].counts)
        rc = MPI_T_ERR_PVAR_NO_ATOMIC;
    if (!rc)
        rc = mpi_t_pvar_read(self, session, handle, buf);
    return rc ? rc : set_value(self, handle, 0);
}

int mpi_t_pvar_write(struct mpi_rank *self, MPI_T_pvar_session session, MPI_T_pvar_handle handle,
                     const void *buf)
{
    int rc = check(self, session, handle);

    if (!rc && !pvars[handle->index].counts)
        rc = MPI_T_ERR_PVAR_NO_WRITE;
    if (!rc && !buf)
        rc = MPI_T_ERR_INVALID;
    return rc ? rc : set_value(self, handle, *(const unsigned long long *)buf);
}
