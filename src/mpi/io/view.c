/*
 * view.c - file views: which bytes of the file a rank sees, and how it counts them (MPI-4.0 14.3).
 *
 *     file    |..disp..|[filetype][filetype][filetype]...
 *     stream            the data of the filetypes, without their holes
 *
 * An offset of the program counts etypes; inside, positions count stream bytes.
 */
#include "mpi/io/io_internal.h"

#include <string.h>

#include "mpi/coll/coll.h"
#include "mpi/datatype/runs.h"
#include "mpi_impl.h"

void io_view_init(struct io_view *v)
{
    struct mpi_type *byte = mpi_type_get(MPI_BYTE);

    *v = (struct io_view){.etype = byte,
                          .filetype = byte,
                          .layout = byte,
                          .etype_bytes = 1,
                          .rep = io_datarep_find(NULL, "native")};
}

void io_view_fini(struct io_view *v)
{
    mpi_type_unref(v->etype);
    mpi_type_unref(v->filetype);
    mpi_type_unref(v->layout);
}

/* Byte offset in the file of a stream byte. */
static int64_t offset_of(const struct io_view *v, int64_t at)
{
    return v->disp + (v->layout->size ? mpi_type_disp_at(v->layout, (uint64_t)at) : 0);
}

int64_t io_view_end(const struct io_file *f)
{
    const struct io_view *v = &f->view;
    int64_t size = io_size(f), bytes = (int64_t)v->etype_bytes, at;

    if (size <= v->disp || !v->layout->size)
        return 0;
    at = v->layout->contig ? size - v->disp : (int64_t)mpi_type_first_at(v->layout, size - v->disp);
    return (at + bytes - 1) / bytes * bytes;
}

/* ---- setting ---- */

static int check_type(struct mpi_rank *self, const struct io_file *f, MPI_File fh,
                      MPI_Datatype type, const char *what, struct mpi_type **out)
{
    enum mpi_type_order order;

    *out = mpi_type_get(type);
    if (!*out)
        return mpi_raise_file(self, fh, MPI_ERR_TYPE, "the %s 0x%08x is not a datatype", what,
                              (unsigned)type);
    if (!(*out)->committed)
        return mpi_raise_file(self, fh, MPI_ERR_TYPE, "the %s is not committed", what);
    order = mpi_type_order(*out);
    if (order == MPI_TYPE_DECREASES)
        return mpi_raise_file(self, fh, MPI_ERR_IO,
                              "the %s has negative or decreasing displacements", what);
    if (order == MPI_TYPE_OVERLAPS && !(f->s->amode & MPI_MODE_RDONLY))
        return mpi_raise_file(self, fh, MPI_ERR_IO,
                              "the %s overlaps itself, and '%s' is open for writing", what,
                              f->s->name);
    return MPI_SUCCESS;
}

static int check_disp(struct mpi_rank *self, const struct io_file *f, MPI_File fh, MPI_Offset disp)
{
    int sequential = (f->s->amode & MPI_MODE_SEQUENTIAL) != 0;

    if (sequential != (disp == MPI_DISPLACEMENT_CURRENT))
        return mpi_raise_file(self, fh, MPI_ERR_ARG,
                              "MPI_DISPLACEMENT_CURRENT goes with MPI_MODE_SEQUENTIAL only");
    if (!sequential && disp < 0)
        return mpi_raise_file(self, fh, MPI_ERR_ARG, "the displacement %lld is negative",
                              (long long)disp);
    return MPI_SUCCESS;
}

/* Fills a view except its displacement; takes refs on its types. */
static int make_view(struct mpi_rank *self, const struct io_file *f, MPI_File fh,
                     MPI_Datatype etype, MPI_Datatype filetype, const char *datarep,
                     struct io_view *v)
{
    int rc = check_type(self, f, fh, etype, "etype", &v->etype);

    if (!rc)
        rc = check_type(self, f, fh, filetype, "filetype", &v->filetype);
    if (rc)
        return rc;
    if (!v->etype->size || v->filetype->size % v->etype->size)
        return mpi_raise_file(self, fh, MPI_ERR_ARG,
                              "a filetype of %llu bytes is not made of etypes of %llu bytes",
                              (unsigned long long)v->filetype->size,
                              (unsigned long long)v->etype->size);
    v->rep = datarep ? io_datarep_find(self, datarep) : NULL;
    if (!v->rep)
        return mpi_raise_file(self, fh, MPI_ERR_UNSUPPORTED_DATAREP,
                              "there is no data representation '%s'", datarep ? datarep : "");
    v->etype_bytes = io_datarep_size(self, v->rep, v->etype, &rc);
    if (!rc)
        v->layout = io_datarep_layout(self, v->rep, v->filetype, &rc);
    if (rc)
        return mpi_raise_file(self, fh, rc, "the types cannot be represented as '%s'", datarep);
    mpi_type_ref(v->etype);
    mpi_type_ref(v->filetype);
    return MPI_SUCCESS;
}

int mpi_file_set_view(struct mpi_rank *self, MPI_File fh, MPI_Offset disp, MPI_Datatype etype,
                      MPI_Datatype filetype, const char *datarep, MPI_Info info)
{
    struct io_view v = {.disp = disp};
    struct io_file *f;
    int64_t before = 0;
    int rc;

    f = io_file_get(self, fh, &rc);
    if (!rc)
        rc = check_disp(self, f, fh, disp);
    if (!rc)
        rc = make_view(self, f, fh, etype, filetype, datarep, &v);
    if (rc)
        return rc;
    io_collective(self, f);
    rc = mpi_coll_barrier(self, f->s->comm);
    if (!rc && io_my_rank(self, f) == 0)
        before = io_pointer(self, f, IO_POINTER_SET, 0);
    if (!rc)
        rc = io_bcast(self, f, &before, sizeof before);
    if (disp == MPI_DISPLACEMENT_CURRENT)
        v.disp = offset_of(&f->view, before);
    io_view_fini(&f->view);
    f->view = v;
    f->position = 0;
    if (info != MPI_INFO_NULL)
        mpi_file_set_info(self, fh, info);
    return rc ? mpi_raise_file(self, fh, rc, "cannot set the view") : MPI_SUCCESS;
}

/* ---- queries ---- */

/* A handle for the program to free. */
static MPI_Datatype share_type(struct mpi_type *t)
{
    MPI_Datatype h;

    if (t->builtin)
        return t->handle;
    mpi_type_ref(t);
    h = mpi_type_publish(t);
    mpi_type_set_committed(t);
    return h;
}

int mpi_file_get_view(struct mpi_rank *self, MPI_File fh, MPI_Offset *disp, MPI_Datatype *etype,
                      MPI_Datatype *filetype, char *datarep)
{
    int rc;
    struct io_file *f = io_file_get(self, fh, &rc);

    if (!f)
        return rc;
    *disp = f->view.disp;
    *etype = share_type(f->view.etype);
    *filetype = share_type(f->view.filetype);
    strcpy(datarep, io_datarep_name(f->view.rep));
    return MPI_SUCCESS;
}

int mpi_file_get_byte_offset(struct mpi_rank *self, MPI_File fh, MPI_Offset offset,
                             MPI_Offset *disp)
{
    int rc;
    struct io_file *f = io_file_get(self, fh, &rc);

    if (!f)
        return rc;
    if (offset < 0)
        return mpi_raise_file(self, fh, MPI_ERR_ARG, "the offset %lld is negative",
                              (long long)offset);
    if (f->s->amode & MPI_MODE_SEQUENTIAL)
        return mpi_raise_file(self, fh, MPI_ERR_UNSUPPORTED_OPERATION,
                              "the file is sequential (MPI_MODE_SEQUENTIAL)");
    *disp = offset_of(&f->view, offset * (int64_t)f->view.etype_bytes);
    return MPI_SUCCESS;
}

int mpi_file_get_type_extent_c(struct mpi_rank *self, MPI_File fh, MPI_Datatype datatype,
                               MPI_Count *extent)
{
    int rc;
    struct io_file *f = io_file_get(self, fh, &rc);
    struct mpi_type *t = mpi_type_get(datatype);
    int64_t n;

    if (!f)
        return rc;
    if (!t)
        return mpi_raise_file(self, fh, MPI_ERR_TYPE, "0x%08x is not a datatype",
                              (unsigned)datatype);
    n = io_datarep_extent(self, f->view.rep, t, &rc);
    if (rc)
        return mpi_raise_file(self, fh, rc, "the extent is not known in this representation");
    *extent = n;
    return MPI_SUCCESS;
}

int mpi_file_get_type_extent(struct mpi_rank *self, MPI_File fh, MPI_Datatype datatype,
                             MPI_Aint *extent)
{
    MPI_Count n = 0;
    int rc = mpi_file_get_type_extent_c(self, fh, datatype, extent ? &n : NULL);

    if (!rc)
        *extent = (MPI_Aint)n;
    return rc;
}
