/*
 * fortran.c - data and helpers that MPICH's Fortran and C++ binding libraries import.
 *
 * Only addresses matter: the bindings compare what a program passed with the address of an object
 * here (or the one stored here by the binding at start) to recognise the special constants of
 * Fortran. Sizes and types are part of the ABI. Helpers for features that are not supported yet are
 * generated from the list of MPI calls and end the run with a message.
 */
#include "mpi_impl.h"
#include "vp/vp.h"

/* Weights arguments of MPI_Dist_graph_create*. */
static int unweighted, weights_empty;
int *const MPI_UNWEIGHTED = &unweighted;
int *const MPI_WEIGHTS_EMPTY = &weights_empty;
int *MPIR_C_MPI_UNWEIGHTED = &unweighted;
int *MPIR_C_MPI_WEIGHTS_EMPTY = &weights_empty;

/* Set by the mpif.h binding when it starts. */
VP_OWN MPI_Fint *MPI_F_STATUS_IGNORE;
VP_OWN MPI_Fint *MPI_F_STATUSES_IGNORE;

/* The mpi_f08 binding links to these objects. */
MPI_F08_status MPIR_F08_MPI_STATUS_IGNORE_OBJ;
MPI_F08_status MPIR_F08_MPI_STATUSES_IGNORE_OBJ[1];
int MPIR_F08_MPI_IN_PLACE;
int MPIR_F08_MPI_BOTTOM;
MPI_F08_status *MPI_F08_STATUS_IGNORE = &MPIR_F08_MPI_STATUS_IGNORE_OBJ;
MPI_F08_status *MPI_F08_STATUSES_IGNORE = &MPIR_F08_MPI_STATUSES_IGNORE_OBJ[0];

/* The tool interface's "all handles". */
static int all_handles;
struct MPIR_T_pvar_handle_s
    *const MPI_T_PVAR_ALL_HANDLES = (struct MPIR_T_pvar_handle_s *)(void *)&all_handles;

_Static_assert(sizeof(MPI_F08_status) == 20, "the ABI's Fortran 2008 status is 20 bytes");

/* MPI_DUP_FN and similar functions: copies the attribute's value unchanged. */
int MPIR_Dup_fn(MPI_Comm oldcomm, int keyval, void *extra_state, void *attribute_val_in,
                void *attribute_val_out, int *flag)
{
    (void)oldcomm;
    (void)keyval;
    (void)extra_state;
    *(void **)attribute_val_out = attribute_val_in;
    *flag = 1;
    return MPI_SUCCESS;
}
