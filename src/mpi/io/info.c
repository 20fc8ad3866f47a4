/*
 * info.c - hints of files: kept for the rank, and returned together with those in use.
 *
 * Striping is fixed when a file is opened and used by the model of the file system. Other hints
 * control optimisations that the model does not need; they are kept, since a program may read them
 * back.
 */
#include "mpi/io/info.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/info.h"
#include "mpi_impl.h"

int64_t io_info_number(MPI_Info info, const char *key)
{
    const char *text = info == MPI_INFO_NULL ? NULL : mpi_info_lookup(info, key);
    char *end;
    long long n = text ? strtoll(text, &end, 10) : -1;

    return text && end != text && *end == '\0' ? n : -1;
}

/* Copies every pair of `from`. */
static void add_all(struct mpi_rank *self, MPI_Info to, MPI_Info from)
{
    char key[MPI_MAX_INFO_KEY + 1];
    int n = 0;

    if (from == MPI_INFO_NULL || mpi_info_get_nkeys(self, from, &n) != MPI_SUCCESS)
        return;
    for (int i = 0; i < n; i++) {
        mpi_info_get_nthkey(self, from, i, key);
        mpi_info_set(self, to, key, mpi_info_lookup(from, key));
    }
}

void io_info_take(struct mpi_rank *self, struct io_file *f, MPI_Info info)
{
    int n = 0;

    if (info == MPI_INFO_NULL || mpi_info_get_nkeys(self, info, &n) != MPI_SUCCESS || n == 0)
        return;
    if (f->hints == MPI_INFO_NULL)
        mpi_info_create(self, &f->hints);
    add_all(self, f->hints, info);
}

static void set_number(struct mpi_rank *self, MPI_Info info, const char *key, uint64_t value)
{
    char text[24];

    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    mpi_info_set(self, info, key, text);
}

int mpi_file_set_info(struct mpi_rank *self, MPI_File fh, MPI_Info info)
{
    int rc;
    struct io_file *f = io_file_get(self, fh, &rc);

    if (f) {
        io_collective(self, f);
        io_info_take(self, f, info);
    }
    return rc;
}

/* Values that ROMIO, the usual implementation, would report by default. */
int mpi_file_get_info(struct mpi_rank *self, MPI_File fh, MPI_Info *info_used)
{
    static const char *const usual[][2] = {
        {"cb_buffer_size", "16777216"},    {"romio_cb_read", "automatic"},
        {"romio_cb_write", "automatic"},   {"romio_no_indep_rw", "false"},
        {"ind_rd_buffer_size", "4194304"}, {"ind_wr_buffer_size", "524288"},
        {"romio_ds_read", "automatic"},    {"romio_ds_write", "automatic"},
    };
    int rc;
    struct io_file *f = io_file_get(self, fh, &rc);

    if (!f)
        return rc;
    mpi_info_create(self, info_used);
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
        mpi_info_set(self, *info_used, usual[i][0], usual[i][1]);
    set_number(self, *info_used, "cb_nodes", f->s->comm->group->size);
    add_all(self, *info_used, f->hints);
    set_number(self, *info_used, "striping_factor", f->s->factor);
    set_number(self, *info_used, "striping_unit", f->s->stripe);
    return MPI_SUCCESS;
}
