/*
 * tool_event.c - events of the tool information interface (MPI-4.0 15.3.8): there are none, and no
 * sources of them.
 *
 * So every index and name is wrong, and no handle or event can be valid.
 */
#include "mpi/tool/tool_internal.h"
#include "mpi_impl.h"

/* What is returned for any index, name or handle, once the interface is in use. */
static int refuse(const struct mpi_rank *self, int code)
{
    return tool_ready(self) ? code : MPI_T_ERR_NOT_INITIALIZED;
}

static int none(const struct mpi_rank *self, int *num)
{
    if (!tool_ready(self))
        return MPI_T_ERR_NOT_INITIALIZED;
    if (!num)
        return MPI_T_ERR_INVALID;
    *num = 0;
    return MPI_SUCCESS;
}

int mpi_t_event_callback_get_info(struct mpi_rank *self,
                                  MPI_T_event_registration event_registration,
                                  MPI_T_cb_safety cb_safety, MPI_Info *info_used)
{
    (void)event_registration;
    (void)cb_safety;
    (void)info_used;
    return refuse(self, MPI_T_ERR_INVALID_HANDLE);
}

int mpi_t_event_callback_set_info(struct mpi_rank *self,
                                  MPI_T_event_registration event_registration,
                                  MPI_T_cb_safety cb_safety, MPI_Info info)
{
    (void)event_registration;
    (void)cb_safety;
    (void)info;
    return refuse(self, MPI_T_ERR_INVALID_HANDLE);
}

int mpi_t_event_copy(struct mpi_rank *self, MPI_T_event_instance event_instance, void *buffer)
{
    (void)event_instance;
    (void)buffer;
    return refuse(self, MPI_T_ERR_INVALID_HANDLE);
}

int mpi_t_event_get_index(struct mpi_rank *self, const char *name, int *event_index)
{
    (void)name;
    (void)event_index;
    return refuse(self, MPI_T_ERR_INVALID_NAME);
}

int mpi_t_event_get_info(struct mpi_rank *self, int event_index, char *name, int *name_len,
                         int *verbosity, MPI_Datatype array_of_datatypes[],
                         MPI_Aint array_of_displacements[], int *num_elements, MPI_T_enum *enumtype,
                         MPI_Info *info, char *desc, int *desc_len, int *bind)
{
    (void)event_index;
    (void)name;
    (void)name_len;
    (void)verbosity;
    (void)array_of_datatypes;
    (void)array_of_displacements;
    (void)num_elements;
    (void)enumtype;
    (void)info;
    (void)desc;
    (void)desc_len;
    (void)bind;
    return refuse(self, MPI_T_ERR_INVALID_INDEX);
}

int mpi_t_event_get_num(struct mpi_rank *self, int *num_events)
{
    return none(self, num_events);
}

int mpi_t_event_get_source(struct mpi_rank *self, MPI_T_event_instance event_instance,
                           int *source_index)
{
    (void)event_instance;
    (void)source_index;
    return refuse(self, MPI_T_ERR_INVALID_HANDLE);
}

int mpi_t_event_get_timestamp(struct mpi_rank *self, MPI_T_event_instance event_instance,
                              MPI_Count *event_timestamp)
{
    (void)event_instance;
    (void)event_timestamp;
    return refuse(self, MPI_T_ERR_INVALID_HANDLE);
}

int mpi_t_event_handle_alloc(struct mpi_rank *self, int event_index, void *obj_handle,
                             MPI_Info info, MPI_T_event_registration *event_registration)
{
    (void)event_index;
    (void)obj_handle;
    (void)info;
    (void)event_registration;
    return refuse(self, MPI_T_ERR_INVALID_INDEX);
}

int mpi_t_event_handle_free(struct mpi_rank *self, MPI_T_event_registration event_registration,
                            void *user_data, MPI_T_event_free_cb_function free_cb_function)
{
    (void)event_registration;
    (void)user_data;
    (void)free_cb_function;
    return refuse(self, MPI_T_ERR_INVALID_HANDLE);
}

int mpi_t_event_handle_get_info(struct mpi_rank *self, MPI_T_event_registration event_registration,
                                MPI_Info *info_used)
{
    (void)event_registration;
    (void)info_used;
    return refuse(self, MPI_T_ERR_INVALID_HANDLE);
}

int mpi_t_event_handle_set_info(struct mpi_rank *self, MPI_T_event_registration event_registration,
                                MPI_Info info)
{
    (void)event_registration;
    (void)info;
    return refuse(self, MPI_T_ERR_INVALID_HANDLE);
}

int mpi_t_event_read(struct mpi_rank *self, MPI_T_event_instance event_instance, int element_index,
                     void *buffer)
{
    (void)event_instance;
    (void)element_index;
    (void)buffer;
    return refuse(self, MPI_T_ERR_INVALID_HANDLE);
}

int mpi_t_event_register_callback(struct mpi_rank *self,
                                  MPI_T_event_registration event_registration,
                                  MPI_T_cb_safety cb_safety, MPI_Info info, void *user_data,
                                  MPI_T_event_cb_function event_cb_function)
{
    (void)event_registration;
    (void)cb_safety;
    (void)info;
    (void)user_data;
    (void)event_cb_function;
    return refuse(self, MPI_T_ERR_INVALID_HANDLE);
}

int mpi_t_event_set_dropped_handler(struct mpi_rank *self,
                                    MPI_T_event_registration event_registration,
                                    MPI_T_event_dropped_cb_function dropped_cb_function)
{
    (void)event_registration;
    (void)dropped_cb_function;
    return refuse(self, MPI_T_ERR_INVALID_HANDLE);
}

int mpi_t_source_get_info(struct mpi_rank *self, int source_index, char *name, int *name_len,
                          char *desc, int *desc_len, MPI_T_source_order *ordering,
                          MPI_Count *ticks_per_second, MPI_Count *max_ticks, MPI_Info *info)
{
    (void)source_index;
    (void)name;
    (void)name_len;
    (void)desc;
    (void)desc_len;
    (void)ordering;
    (void)ticks_per_second;
    (void)max_ticks;
    (void)info;
    return refuse(self, MPI_T_ERR_INVALID_INDEX);
}

int mpi_t_source_get_num(struct mpi_rank *self, int *num_sources)
{
    return none(self, num_sources);
}

int mpi_t_source_get_timestamp(struct mpi_rank *self, int source_index, MPI_Count *timestamp)
{
    (void)source_index;
    (void)timestamp;
    return refuse(self, MPI_T_ERR_INVALID_INDEX);
}
