/*
 * tool_cvar.c - control variables of the tool information interface: the settings of the machine.
 *
 * Each is the text that --set takes (MPI_CHAR), the same for all ranks, and cannot be changed while
 * the program runs.
 */
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "mpi/rank.h"
#include "mpi/tool/tool_internal.h"
#include "mpi_impl.h"
#include "platform/config.h"

#define LIVE 0x63766172u /* an allocated handle */

struct MPIR_T_cvar_handle_s {
    uint32_t live;
    size_t index;
};

/* The value with its terminating null. */
static void value_of(size_t index, struct buf *out)
{
    buf_init(out);
    platform_config_value(&mpi_world.opt->platform, index, out);
    buf_add(out, "", 1);
}

static int check_handle(const struct mpi_rank *self, MPI_T_cvar_handle handle)
{
    if (!tool_ready(self))
        return MPI_T_ERR_NOT_INITIALIZED;
    return handle && handle->live == LIVE ? MPI_SUCCESS : MPI_T_ERR_INVALID_HANDLE;
}

int mpi_t_cvar_get_num(struct mpi_rank *self, int *num_cvar)
{
    if (!tool_ready(self))
        return MPI_T_ERR_NOT_INITIALIZED;
    if (!num_cvar)
        return MPI_T_ERR_INVALID;
    *num_cvar = (int)platform_config_count();
    return MPI_SUCCESS;
}

int mpi_t_cvar_get_info(struct mpi_rank *self, int cvar_index, char *name, int *name_len,
                        int *verbosity, MPI_Datatype *datatype, MPI_T_enum *enumtype, char *desc,
                        int *desc_len, int *bind, int *scope)
{
    if (!tool_ready(self))
        return MPI_T_ERR_NOT_INITIALIZED;
    if (cvar_index < 0 || (size_t)cvar_index >= platform_config_count())
        return MPI_T_ERR_INVALID_INDEX;
    tool_text(platform_config_key((size_t)cvar_index), name, name_len);
    tool_text(platform_config_text((size_t)cvar_index), desc, desc_len);
    tool_tell(verbosity, MPI_T_VERBOSITY_USER_BASIC);
    tool_tell(datatype, MPI_CHAR);
    if (enumtype)
        *enumtype = MPI_T_ENUM_NULL;
    tool_tell(bind, MPI_T_BIND_NO_OBJECT);
    tool_tell(scope, MPI_T_SCOPE_CONSTANT);
    return MPI_SUCCESS;
}

int mpi_t_cvar_get_index(struct mpi_rank *self, const char *name, int *cvar_index)
{
    if (!tool_ready(self))
        return MPI_T_ERR_NOT_INITIALIZED;
    if (!name || !cvar_index)
        return MPI_T_ERR_INVALID;
    for (size_t i = 0; i < platform_config_count(); i++)
        if (strcmp(platform_config_key(i), name) == 0) {
            *cvar_index = (int)i;
            return MPI_SUCCESS;
        }
    return MPI_T_ERR_INVALID_NAME;
}

int mpi_t_cvar_handle_alloc(struct mpi_rank *self, int cvar_index, void *obj_handle,
                            MPI_T_cvar_handle *handle, int *count)
{
    struct buf value;

    (void)obj_handle;
    if (!tool_ready(self))
        return MPI_T_ERR_NOT_INITIALIZED;
    if (cvar_index < 0 || (size_t)cvar_index >= platform_config_count())
        return MPI_T_ERR_INVALID_INDEX;
    if (!handle || !count)
        return MPI_T_ERR_INVALID;
    *handle = mem_alloc(sizeof **handle);
    **handle = (struct MPIR_T_cvar_handle_s){LIVE, (size_t)cvar_index};
    value_of((size_t)cvar_index, &value);
    *count = (int)value.len;
    buf_fini(&value);
    return MPI_SUCCESS;
}

int mpi_t_cvar_handle_free(struct mpi_rank *self, MPI_T_cvar_handle *handle)
{
    int rc = check_handle(self, handle ? *handle : NULL);

    if (rc)
        return rc;
    (*handle)->live = 0;
    mem_free(*handle);
    *handle = MPI_T_CVAR_HANDLE_NULL;
    return MPI_SUCCESS;
}

int mpi_t_cvar_read(struct mpi_rank *self, MPI_T_cvar_handle handle, void *buf)
{
    int rc = check_handle(self, handle);
    struct buf value;

    if (rc)
        return rc;
    if (!buf)
        return MPI_T_ERR_INVALID;
    value_of(handle->index, &value);
    memcpy(buf, value.data, value.len);
    buf_fini(&value);
    return MPI_SUCCESS;
}

int mpi_t_cvar_write(struct mpi_rank *self, MPI_T_cvar_handle handle, const void *buf)
{
    int rc = check_handle(self, handle);

    (void)buf;
    return rc ? rc : MPI_T_ERR_CVAR_SET_NEVER;
}
