/*
 * version.c - names and versions of the library and the machine.
 */
#include <stdio.h>
#include <string.h>

#include "mpi/check.h"
#include "mpi/rank.h"
#include "mpi_impl.h"

int mpi_get_version(struct mpi_rank *self, int *version, int *subversion)
{
    (void)self;
    *version = MPI_VERSION;
    *subversion = MPI_SUBVERSION;
    return MPI_SUCCESS;
}

int mpi_get_library_version(struct mpi_rank *self, char *version, int *resultlen)
{
    static const char text[] = "Orrery " ORRERY_VERSION ", virtual MPI with the MPICH ABI "
                               "(libmpich.so.12)";

    (void)self;
    memcpy(version, text, sizeof text);
    *resultlen = (int)sizeof text - 1;
    return MPI_SUCCESS;
}

int mpi_get_processor_name(struct mpi_rank *self, char *name, int *resultlen)
{
    *resultlen = snprintf(name, MPI_MAX_PROCESSOR_NAME, "node%u",
                          net_node(&mpi_world.net, mpi_rank_id(self)));
    return MPI_SUCCESS;
}

/* ---- extensions of MPICH: there are no GPUs ---- */

int mpix_gpu_query_support(struct mpi_rank *self, int gpu_type, int *is_supported)
{
    if (gpu_type != MPIX_GPU_SUPPORT_CUDA && gpu_type != MPIX_GPU_SUPPORT_ZE &&
        gpu_type != MPIX_GPU_SUPPORT_HIP)
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_ARG, "%d is not a kind of GPU", gpu_type);
    *is_supported = 0;
    return MPI_SUCCESS;
}

int mpix_query_cuda_support(struct mpi_rank *self)
{
    (void)self;
    return 0;
}

int mpix_query_ze_support(struct mpi_rank *self)
{
    (void)self;
    return 0;
}

int mpix_query_hip_support(struct mpi_rank *self)
{
    (void)self;
    return 0;
}
