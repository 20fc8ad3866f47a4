/*
 * known.h - what Orrery knows about an MPI symbol that a program imports, in the spelling of any
 * language.
 */
#ifndef PROGRAM_KNOWN_H
#define PROGRAM_KNOWN_H

enum program_known {
    PROGRAM_KNOWN_OTHER, /* not an MPI symbol, or one that the Fortran bindings provide */
    PROGRAM_KNOWN_SUPPORTED,
    PROGRAM_KNOWN_UNSUPPORTED, /* in MPI, but not yet in Orrery */
    PROGRAM_KNOWN_MISSING,     /* looks like MPI, but no MPI of this ABI has it */
};

/*
 * Classifies a dynamic symbol: "MPI_Send", "PMPI_Send", Fortran "mpi_send_", "mpi_send__" and
 * "MPI_SEND", mpi_f08 "mpi_send_f08_", "mpi_send_f08ts_" and their "_large_" forms. *name is the
 * C name without a leading P where it is known (static), else the symbol itself. Linear in the
 * number of MPI functions.
 * *needs: parts of the simulator that a program with this import needs (enum mpi_need).
 */
enum program_known program_known_find(const char *symbol, const char **name, unsigned *needs);

#endif
