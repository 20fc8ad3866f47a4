/*
 * services.c - the table of services (p2p/service.h): each is in a room above the queue that calls it.
 */
#include "mpi/dynamic/ports.h"
#include "mpi/dynamic/spawn.h"
#include "mpi/io/io_internal.h"
#include "mpi/p2p/service.h"
#include "mpi/rma/rma.h"

const struct mpi_service_ops mpi_services[MPI_SERVICE_COUNT] = {
    [MPI_SERVICE_RMA] = {rma_serve, rma_reply, rma_sent},
    [MPI_SERVICE_IO] = {io_serve, io_reply, NULL},
    [MPI_SERVICE_NAMES] = {ports_serve, ports_reply, NULL},
    [MPI_SERVICE_SPAWN] = {spawn_serve, spawn_reply, NULL},
};
