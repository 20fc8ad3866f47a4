/*
 * hints.c - hints on communicators (MPI-4.0 7.4.4).
 *
 * A communicator knows some keys, each with a default. Other keys are ignored, as the standard
 * allows; none of the known ones affects the simulation. Hints belong to the rank that set them:
 * its state maps a handle to an info object.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/comm/check.h"
#include "mpi/info.h"
#include "mpi/state.h"
#include "mpi_impl.h"

/* The hints that communicators of MPICH know, and their default values. A default of "true" or
 * "false" can only be set to one of these, and a number to a number. */
static const struct {
    const char *key, *value;
} known[] = {
    {"mpi_assert_no_any_tag", "false"},
    {"mpi_assert_no_any_source", "false"},
    {"mpi_assert_exact_length", "false"},
    {"mpi_assert_allow_overtaking", "false"},
    {"enable_multi_nic_striping", "true"},
    {"enable_multi_nic_hashing", "true"},
    {"multi_nic_pref_nic", "-1"},
    {"sender_vci", "-1"},
    {"receiver_vci", "-1"},
    {"vci", "-1"},
};
#define KNOWN (sizeof known / sizeof known[0])

static int is_truth(const char *value)
{
    return strcmp(value, "true") == 0 || strcmp(value, "false") == 0;
}

/* Stores the known ones of the given hints in *kept: MPI_INFO_NULL at first, created when
 * needed. */
static void keep(MPI_Info *kept, MPI_Info given)
{
    for (size_t i = 0; i < KNOWN; i++) {
        const char *value = mpi_info_lookup(given, known[i].key);
        char number[16];

        if (!value || (is_truth(known[i].value) && !is_truth(value)))
            continue;
        if (!is_truth(known[i].value)) {
            snprintf(number, sizeof number, "%d", atoi(value)); /* as MPICH does */
            value = number;
        }
        if (*kept == MPI_INFO_NULL)
            *kept = mpi_info_make();
        mpi_info_put(*kept, known[i].key, value);
    }
}

/* An object for the program with all known hints. */
static MPI_Info tell(MPI_Info kept)
{
    MPI_Info made = mpi_info_make();

    for (size_t i = 0; i < KNOWN; i++) {
        const char *value = mpi_info_lookup(kept, known[i].key);

        mpi_info_put(made, known[i].key, value ? value : known[i].value);
    }
    return made;
}

static MPI_Info own(const struct mpi_rank *self, MPI_Comm comm)
{
    const uint64_t *at = mpi_state_find(self, MPI_STATE_hints, (uint32_t)comm);

    return at ? (MPI_Info)*at : MPI_INFO_NULL;
}

void mpi_comm_hints_forget(struct mpi_rank *self, MPI_Comm comm)
{
    MPI_Info kept = own(self, comm);

    if (kept == MPI_INFO_NULL)
        return;
    mpi_info_drop(kept);
    mpi_state_remove(self, MPI_STATE_hints, (uint32_t)comm);
}

MPI_Info mpi_comm_hints_take(MPI_Info given)
{
    MPI_Info kept = MPI_INFO_NULL;

    keep(&kept, given);
    return kept;
}

void mpi_comm_hints_give(struct mpi_rank *self, MPI_Comm comm, MPI_Info hints)
{
    if (hints != MPI_INFO_NULL)
        *mpi_state_insert(self, MPI_STATE_hints, (uint32_t)comm) = (uint32_t)hints;
}

int mpi_comm_set_info(struct mpi_rank *self, MPI_Comm comm, MPI_Info info)
{
    MPI_Info kept, before;
    struct mpi_comm *c;
    int rc = mpi_check_comm(self, comm, &c);

    if (rc)
        return rc;
    if (info == MPI_INFO_NULL)
        return mpi_raise(self, comm, MPI_ERR_ARG, "the info object is MPI_INFO_NULL");
    if (!mpi_info_exists(info))
        return mpi_raise(self, comm, MPI_ERR_INFO, "0x%08x is not an info object", (unsigned)info);
    kept = before = own(self, comm);
    keep(&kept, info);
    if (kept != before)
        mpi_comm_hints_give(self, comm, kept);
    return MPI_SUCCESS;
}

int mpi_comm_get_info(struct mpi_rank *self, MPI_Comm comm, MPI_Info *info_used)
{
    struct mpi_comm *c;
    int rc = mpi_check_comm(self, comm, &c);

    if (!rc)
        *info_used = tell(own(self, comm));
    return rc;
}
