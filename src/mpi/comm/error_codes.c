/*
 * error_codes.c - error classes and codes, and their texts.
 *
 * A predefined class is its own code. Classes and codes that a rank adds are numbered from
 * MPI_ERR_LASTCODE + 1 on, for each rank by itself, as they are in real processes; ranks that add
 * none have no table.
 */
#include <string.h>

#include "base/mem.h"
#include "mpi/check.h"
#include "mpi/comm/errhandler.h"
#include "mpi/state.h"
#include "mpi_impl.h"

#define ADDED_FIRST (MPI_ERR_LASTCODE + 1)

struct added {
    int error_class; /* MPI_SUCCESS: deleted, the number may be used again */
    char *text;      /* NULL: none yet */
};

/* What one rank has added. */
struct own_codes {
    int last; /* MPI_LASTUSEDCODE */
    int count;
    int deleted; /* how many of them are deleted */
    struct added *at;
};

static int last_predefined = MPI_ERR_LASTCODE;

/* MPICH's texts for the common ones; a class without a text is not in use. */
// clang-format off
#define CLASS(name, text) [name] = {#name, text},
static const struct {
    const char *name, *text;
} classes[] = {
    CLASS(MPI_SUCCESS, "No MPI error")
    CLASS(MPI_ERR_BUFFER, "Invalid buffer pointer")
    CLASS(MPI_ERR_COUNT, "Invalid count")
    CLASS(MPI_ERR_TYPE, "Invalid datatype")
    CLASS(MPI_ERR_TAG, "Invalid tag")
    CLASS(MPI_ERR_COMM, "Invalid communicator")
    CLASS(MPI_ERR_RANK, "Invalid rank")
    CLASS(MPI_ERR_ROOT, "Invalid root")
    CLASS(MPI_ERR_TRUNCATE, "Message truncated")
    CLASS(MPI_ERR_GROUP, "Invalid group")
    CLASS(MPI_ERR_OP, "Invalid MPI_Op")
    CLASS(MPI_ERR_REQUEST, "Invalid MPI_Request")
    CLASS(MPI_ERR_TOPOLOGY, "Invalid topology")
    CLASS(MPI_ERR_DIMS, "Invalid dimension argument")
    CLASS(MPI_ERR_ARG, "Invalid argument")
    CLASS(MPI_ERR_OTHER, "Other MPI error")
    CLASS(MPI_ERR_UNKNOWN, "Unknown error")
    CLASS(MPI_ERR_INTERN, "Internal MPI error")
    CLASS(MPI_ERR_IN_STATUS, "See the MPI_ERROR field in MPI_Status for the error code")
    CLASS(MPI_ERR_PENDING, "Pending request (no error)")
    CLASS(MPI_ERR_ACCESS, "access to the file is denied")
    CLASS(MPI_ERR_AMODE, "the access mode of the file cannot be used")
    CLASS(MPI_ERR_BAD_FILE, "the file name cannot be used")
    CLASS(MPI_ERR_CONVERSION, "data conversion failed")
    CLASS(MPI_ERR_DUP_DATAREP, "the data representation exists already")
    CLASS(MPI_ERR_FILE_EXISTS, "the file exists already")
    CLASS(MPI_ERR_FILE_IN_USE, "the file is in use")
    CLASS(MPI_ERR_FILE, "Invalid MPI_File")
    CLASS(MPI_ERR_IO, "input or output failed")
    CLASS(MPI_ERR_NO_SPACE, "no space is left for the file")
    CLASS(MPI_ERR_NO_SUCH_FILE, "the file does not exist")
    CLASS(MPI_ERR_READ_ONLY, "the file can only be read")
    CLASS(MPI_ERR_UNSUPPORTED_DATAREP, "the data representation is not supported")
    CLASS(MPI_ERR_INFO, "Invalid MPI_Info")
    CLASS(MPI_ERR_INFO_KEY, "the info key cannot be used")
    CLASS(MPI_ERR_INFO_VALUE, "the info value cannot be used or does not fit")
    CLASS(MPI_ERR_INFO_NOKEY, "the info key is not set")
    CLASS(MPI_ERR_NAME, "the service name is not published")
    CLASS(MPI_ERR_NO_MEM, "memory is short")
    CLASS(MPI_ERR_NOT_SAME, "the ranks disagree on an argument of a collective call")
    CLASS(MPI_ERR_PORT, "Invalid port")
    CLASS(MPI_ERR_QUOTA, "the quota is used up")
    CLASS(MPI_ERR_SERVICE, "the service name cannot be used")
    CLASS(MPI_ERR_SPAWN, "Error in spawn call")
    CLASS(MPI_ERR_UNSUPPORTED_OPERATION, "the operation is not supported")
    CLASS(MPI_ERR_WIN, "Invalid MPI_Win")
    CLASS(MPI_ERR_BASE, "Invalid base address")
    CLASS(MPI_ERR_LOCKTYPE, "Invalid locktype argument")
    CLASS(MPI_ERR_KEYVAL, "Invalid keyval")
    CLASS(MPI_ERR_RMA_CONFLICT, "window accesses are in conflict")
    CLASS(MPI_ERR_RMA_SYNC, "window synchronisation calls do not match")
    CLASS(MPI_ERR_SIZE, "the size cannot be used")
    CLASS(MPI_ERR_DISP, "the displacement cannot be used")
    CLASS(MPI_ERR_ASSERT, "Invalid assert argument")
    CLASS(MPI_ERR_RMA_RANGE, "the target memory is not in the window")
    CLASS(MPI_ERR_RMA_ATTACH, "the memory cannot be attached")
    CLASS(MPI_ERR_RMA_SHARED, "the memory cannot be shared")
    CLASS(MPI_ERR_RMA_FLAVOR, "the window is of the wrong flavour")
    CLASS(MPI_ERR_SESSION, "the session cannot be used")
    CLASS(MPI_ERR_PROC_ABORTED, "a process has aborted")
    CLASS(MPI_ERR_VALUE_TOO_LARGE, "the value is too large for its type")
};
// clang-format on
#undef CLASS
#define CLASS_COUNT ((int)(sizeof classes / sizeof classes[0]))

int *mpi_errcode_last(const struct mpi_rank *self)
{
    struct own_codes *own = mpi_state_error_codes(self);

    return own ? &own->last : &last_predefined;
}

static struct added *added_get(const struct mpi_rank *self, int code)
{
    struct own_codes *own = mpi_state_error_codes(self);
    int64_t i = (int64_t)code - ADDED_FIRST;

    return own && i >= 0 && i < own->count && own->at[i].error_class ? &own->at[i] : NULL;
}

static int is_predefined(int code)
{
    return code >= 0 && code < CLASS_COUNT && classes[code].text;
}

const char *mpi_errcode_name(int code)
{
    return is_predefined(code) ? classes[code].name : "an error of the program";
}

/* A new code of the class; with class 0 the code is a class itself. */
static int add(struct mpi_rank *self, int error_class)
{
    struct own_codes *own = mpi_state_make(self, MPI_STATE_error_codes, sizeof *own);
    int i = 0;

    while (own->deleted && own->at[i].error_class)
        i++;
    if (own->deleted) {
        own->deleted--;
    } else {
        i = own->count++;
        own->at = mem_realloc(own->at, (size_t)own->count * sizeof *own->at);
        own->last = ADDED_FIRST + i;
    }
    own->at[i] = (struct added){error_class ? error_class : ADDED_FIRST + i, NULL};
    return ADDED_FIRST + i;
}

static int bad_code(struct mpi_rank *self, int code)
{
    return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_ARG, "%d is not an error code", code);
}

int mpi_add_error_class(struct mpi_rank *self, int *errorclass)
{
    *errorclass = add(self, 0);
    return MPI_SUCCESS;
}

int mpi_add_error_code(struct mpi_rank *self, int errorclass, int *errorcode)
{
    struct added *own = added_get(self, errorclass);

    if (!is_predefined(errorclass) && !(own && own->error_class == errorclass))
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_ARG, "%d is not an error class", errorclass);
    *errorcode = add(self, errorclass);
    return MPI_SUCCESS;
}

int mpi_add_error_string(struct mpi_rank *self, int errorcode, const char *string)
{
    struct added *own = added_get(self, errorcode);
    size_t n;

    if (!own)
        return bad_code(self, errorcode);
    n = strnlen(string, MPI_MAX_ERROR_STRING - 1);
    own->text = mem_realloc(own->text, n + 1);
    memcpy(own->text, string, n);
    own->text[n] = '\0';
    return MPI_SUCCESS;
}

int mpi_error_class(struct mpi_rank *self, int errorcode, int *errorclass)
{
    struct added *own = added_get(self, errorcode);

    if (!own && !is_predefined(errorcode))
        return bad_code(self, errorcode);
    *errorclass = own ? own->error_class : errorcode;
    return MPI_SUCCESS;
}

int mpi_error_string(struct mpi_rank *self, int errorcode, char *string, int *resultlen)
{
    struct added *own = added_get(self, errorcode);
    const char *text;

    if (!own && !is_predefined(errorcode))
        return bad_code(self, errorcode);
    text = own ? (own->text ? own->text : "") : classes[errorcode].text;
    *resultlen = (int)strlen(text);
    memcpy(string, text, (size_t)*resultlen + 1);
    return MPI_SUCCESS;
}

/* ---- deleting, an extension of MPICH ---- */

static void discard(struct mpi_rank *self, struct added *own)
{
    mem_free(own->text);
    *own = (struct added){MPI_SUCCESS, NULL};
    mpi_state_error_codes(self)->deleted++;
}

int mpix_delete_error_class(struct mpi_rank *self, int errorclass)
{
    struct added *own = added_get(self, errorclass);

    if (!own || own->error_class != errorclass)
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_OTHER, "%d is not an added error class",
                         errorclass);
    discard(self, own);
    return MPI_SUCCESS;
}

int mpix_delete_error_code(struct mpi_rank *self, int errorcode)
{
    struct added *own = added_get(self, errorcode);

    if (!own || own->error_class == errorcode)
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_OTHER, "%d is not an added error code",
                         errorcode);
    discard(self, own);
    return MPI_SUCCESS;
}

int mpix_delete_error_string(struct mpi_rank *self, int errorcode)
{
    struct added *own = added_get(self, errorcode);

    if (!own)
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_OTHER, "%d is not an added error code",
                         errorcode);
    mem_free(own->text);
    own->text = NULL;
    return MPI_SUCCESS;
}
