/*
 * hints.c - hints on objects: MPI_Comm_set_info and similar calls (MPI-4.0 7.4.4).
 *
 * An object knows some keys, each with a default. Other keys are ignored, as the standard allows;
 * none of the known ones affects the simulation. Hints belong to the rank that set them: its state
 * maps a handle to an info object.
 */
#include <string.h>

#include "mpi/comm/check.h"
#include "mpi/info.h"
#include "mpi/state.h"
#include "mpi_impl.h"

static int is_truth(const char *value)
{
    return strcmp(value, "true") == 0 || strcmp(value, "false") == 0;
}

void mpi_hints_keep(MPI_Info *kept, MPI_Info given, const struct mpi_hint *known, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *value = mpi_info_lookup(given, known[i].key);

        if (!value || (is_truth(known[i].value) && !is_truth(value)))
            continue;
        if (*kept == MPI_INFO_NULL)
            *kept = mpi_info_make();
        mpi_info_put(*kept, known[i].key, value);
    }
}

MPI_Info mpi_hints_tell(MPI_Info kept, const struct mpi_hint *known, size_t n)
{
    MPI_Info made = mpi_info_make();

    for (size_t i = 0; i < n; i++) {
        const char *value = mpi_info_lookup(kept, known[i].key);

        mpi_info_put(made, known[i].key, value ? value : known[i].value);
    }
    return made;
}

static MPI_Info own(const struct mpi_rank *self, int handle)
{
    const uint64_t *at = mpi_state_find(self, MPI_STATE_hints, (uint32_t)handle);

    return at ? (MPI_Info)*at : MPI_INFO_NULL;
}

void mpi_hints_set(struct mpi_rank *self, int handle, MPI_Info given, const struct mpi_hint *known,
                   size_t n)
{
    MPI_Info before = own(self, handle), kept = before;

    mpi_hints_keep(&kept, given, known, n);
    if (kept != before)
        *mpi_state_insert(self, MPI_STATE_hints, (uint32_t)handle) = (uint32_t)kept;
}

MPI_Info mpi_hints_get(const struct mpi_rank *self, int handle, const struct mpi_hint *known,
                       size_t n)
{
    return mpi_hints_tell(own(self, handle), known, n);
}

void mpi_hints_forget(struct mpi_rank *self, int handle)
{
    const uint64_t *at = mpi_state_find(self, MPI_STATE_hints, (uint32_t)handle);

    if (!at)
        return;
    mpi_info_drop((MPI_Info)*at);
    mpi_state_remove(self, MPI_STATE_hints, (uint32_t)handle);
}

/* ---- communicators ---- */

static const struct mpi_hint comm_hints[] = {
    {"mpi_assert_no_any_tag", "false"},
    {"mpi_assert_no_any_source", "false"},
    {"mpi_assert_exact_length", "false"},
    {"mpi_assert_allow_overtaking", "false"},
};
#define COMM_HINTS (sizeof comm_hints / sizeof comm_hints[0])

MPI_Info mpi_comm_hints_take(MPI_Info given)
{
    MPI_Info kept = MPI_INFO_NULL;

    mpi_hints_keep(&kept, given, comm_hints, COMM_HINTS);
    return kept;
}

void mpi_comm_hints_give(struct mpi_rank *self, MPI_Comm comm, MPI_Info hints)
{
    if (hints != MPI_INFO_NULL)
        *mpi_state_insert(self, MPI_STATE_hints, (uint32_t)comm) = (uint32_t)hints;
}

int mpi_comm_set_info(struct mpi_rank *self, MPI_Comm comm, MPI_Info info)
{
    struct mpi_comm *c;
    int rc = mpi_check_comm(self, comm, &c);

    if (rc)
        return rc;
    if (info == MPI_INFO_NULL)
        return mpi_raise(self, comm, MPI_ERR_ARG, "the info object is MPI_INFO_NULL");
    if (!mpi_info_exists(info))
        return mpi_raise(self, comm, MPI_ERR_INFO, "0x%08x is not an info object", (unsigned)info);
    mpi_hints_set(self, comm, info, comm_hints, COMM_HINTS);
    return MPI_SUCCESS;
}

int mpi_comm_get_info(struct mpi_rank *self, MPI_Comm comm, MPI_Info *info_used)
{
    struct mpi_comm *c;
    int rc = mpi_check_comm(self, comm, &c);

    if (!rc)
        *info_used = mpi_hints_get(self, comm, comm_hints, COMM_HINTS);
    return rc;
}
